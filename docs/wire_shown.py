"""Bytes and scripts as the pages of the contract show them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.backend import (
    Await,
    Close,
    CloseInsideChunk,
    End,
    Framing,
    Repeat,
    Reset,
    Send,
    Stall,
)
from modeltest.encoding import ARGUMENTS, to_json
from modeltest.interface import ToolCallDelta
from modeltest.wire import OpenAIChat

if TYPE_CHECKING:
    from modeltest.backend import Response, Step
    from modeltest.interface import Usage
    from modeltest.wire import Payload


_LONGEST, _START, _END = 200, 120, 25
"""Characters of a line that is shown whole, and of what is left of a longer one."""

_SHORT_ARGUMENTS: Mapping[str, Any] = {"city": "Paris", "days": 30}


class ShortChat(OpenAIChat):
    """OpenAI Chat Completions without the fields that no reader needs, and with short values."""

    envelope: ClassVar[Mapping[str, Any]] = {}

    def chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        """Return a chunk with its delta, and its finish reason if there is one."""
        reason = {} if finish_reason is None else {"finish_reason": finish_reason}
        return {"choices": [{"delta": delta, **reason}]}

    def start_events(self, script: object) -> Iterable[Payload]:
        """Return nothing: the chunk that gives the role has no part in any fault."""
        del script
        return ()

    def usage_event(self, usage: Usage) -> Payload:
        """Return the counts that every check compares."""
        cached = {"prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens}}
        return {"choices": [], "usage": {**self.usage_object(usage), **cached}}

    def lean(self, payload: Payload) -> Payload:
        """Return the payload as it is: it is lean."""
        return payload

    def call_id(self, index: int) -> str:
        """Return a short id."""
        return f"call_{index + 1}"

    def tool_call(
        self,
        index: int,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        id: str = "",  # noqa: A002 - as in the method it overrides
    ) -> tuple[ToolCallDelta, ...]:
        """Return a call; the usual arguments, which are to trip a reader, are shortened."""
        short = _SHORT_ARGUMENTS if arguments is ARGUMENTS else arguments
        return super().tool_call(index, name, short, id=id)

    def tool_call_entry(self, delta: ToolCallDelta) -> dict[str, Any]:
        """Return an entry of `tool_calls` without its type, the usual arguments shortened."""
        if delta.arguments == to_json(ARGUMENTS):
            short = to_json(_SHORT_ARGUMENTS)
            delta = ToolCallDelta(delta.index, delta.id, delta.name, short)
        entry = super().tool_call_entry(delta)
        return {key: value for key, value in entry.items() if key != "type"}


def visible(data: bytes) -> str:
    r"""Return bytes as text: what would not show as `\r`, `\n` or `\xNN`.

    Line ends are written out where not all of them are LF, and where blank lines follow another.
    """
    text = data.decode("utf-8", "surrogateescape")
    if "\r" in text or "\n\n\n" in text or text.startswith("\n"):
        text = re.sub("\r\n|\r|\n", lambda end: f"{end[0]!r}"[1:-1] + "\n", text)
    shown = "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)
    return "\n".join(shorten(line) for line in shown.split("\n")).strip("\n")


def shorten(line: str) -> str:
    """Return a line that fits, how much was left out of its middle said."""
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_START]} … {len(line) - _START - _END:,} characters more … {line[-_END:]}"


def _escaped(char: str) -> str:
    return "".join(rf"\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def played(response: Response) -> str:
    """Return all that the server sends, the head included, and in parentheses what else it does."""
    runs = _runs(response)
    if response.framing is Framing.LENGTH:
        whole = sum(len(step.data) for step in response.steps if isinstance(step, Send))
        if missing := response.body_length() - whole:
            runs.append(f"(the connection closes, {missing} bytes short of the Content-Length)")
    elif not response.steps or isinstance(response.steps[-1], Send):
        runs.append(f"({_done(End(), response)})")
    return "\n\n".join([head(response), *runs])


def head(response: Response) -> str:
    """Return the status line and headers."""
    return visible(response.head(response.framing).replace(b"\r\n", b"\n"))


def _runs(response: Response) -> list[str]:
    """Return bytes sent one after the other as one text, and what the server does besides."""
    runs: list[str] = []
    sent = b""
    for step in response.steps:
        if isinstance(step, Send) and not step.cuts:
            sent += step.data
            continue
        if sent:
            runs.append(visible(sent))
            sent = b""
        if isinstance(step, Send):
            runs.append("\n".join(map(repr, _pieces(step))))
        else:
            runs.append(f"({_done(step, response)})")
    if sent:
        runs.append(visible(sent))
    return runs


def _pieces(send: Send) -> list[bytes]:
    """Return what each write of a step holds."""
    edges = (0, *send.cuts, len(send.data))
    return [send.data[start:stop] for start, stop in itertools.pairwise(edges)]


def described(response: Response) -> str:
    """Return in words what the server does."""
    if response.status != 200:
        return f"HTTP {response.status}"
    said: list[str] = []
    sends = [step for step in response.steps if isinstance(step, Send)]
    if number := sum(step.events for step in sends):
        torn = "" if sends[-1].data.endswith(b"\n\n") else " and half of the next"
        said.append(f"{number} event{'s' * (number > 1)}{torn}")
    said += [_done(step, response) for step in response.steps if not isinstance(step, Send | Await)]
    return ", then ".join(said)


def _done(step: Step, response: Response) -> str:
    """Return in words what a step does that sends no body bytes."""
    match step:
        case End() if response.framing is Framing.CLOSE:
            words = "the connection closes, which ends the body"
        case End():
            words = "the last chunk, which ends the body"
        case Close():
            words = "the connection closes; the last chunk never came"
        case CloseInsideChunk():
            size = len(step.data) + step.missing
            words = f"{len(step.data)} byte of a chunk of {size}, then the connection closes"
        case Reset():
            words = "the connection is reset by a RST"
        case Stall():
            words = "silence, the connection open"
        case Await():
            words = f"waits until the consumer has {step.count} event{'s' * (step.count != 1)}"
        case Repeat():
            words = f"an event every {step.interval * 1000:.0f} ms, without end"
        case _:
            raise TypeError(f"no words for {step!r}")
    return words
