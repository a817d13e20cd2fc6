"""The events of an OpenAI Chat Completions stream → the events of a turn. No input or output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from modeltest import (
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    Usage,
)

from .http_errors import api_error
from .payload import decode_object, get_count, get_index, get_object, get_objects, get_text
from .sse import ServerSentEvent
from .tool_call import PartialCall

_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "content_filter": FinishReason.FILTERED,
}


class ChatTurn:
    """Reads one turn.

    The answer ends with a `finish_reason`; usage may follow it, and `[DONE]` ends the turn.
    Some servers send only one of the two, and either will do.
    """

    def __init__(self, *, secret: str = "") -> None:
        """Start a turn; no error quotes `secret`, even if the provider repeats it."""
        self.over = False
        self._secret = secret
        self._answered = False
        self._reason = ""
        self._usage = Usage()
        self._calls: list[PartialCall] = []
        self._calls_by_id: dict[str, PartialCall] = {}
        self._calls_by_index: dict[int, PartialCall] = {}

    @property
    def complete(self) -> bool:
        """Whether the answer has ended. `[DONE]` with no answer before it ends nothing."""
        return bool(self._reason) or (self.over and self._answered)

    def take(self, event: ServerSentEvent) -> Iterator[Event]:
        """Yield what the event adds to the answer.

        Raises:
            StreamProtocolError: it is no chunk of the format, or contradicts an earlier one.
            APIError: it is an error.
        """
        data = event.data.strip()
        if self.over or not data:
            return
        if data.startswith("[DONE]"):
            self.over = True
            return
        chunk = decode_object(data)
        if chunk.get("error") or "error" in (event.type, chunk.get("object")):
            raise api_error(chunk, secret=self._secret)
        # The last total counts: some servers send a running one with every chunk.
        if usage := get_object(chunk, "usage"):
            self._usage = _usage(usage)
        for choice in get_objects(chunk, "choices"):
            # One answer was asked for; other choices are not part of it.
            if not get_index(choice):
                yield from self._take_choice(choice)

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, the Finish last.

        Raises:
            IncompleteResponseError: it has not ended.
            TruncatedToolArgumentsError: a tool call is not whole.
            StreamProtocolError: it ended for a tool call that it does not carry.
        """
        if not self.complete:
            raise IncompleteResponseError("expected a finish_reason or [DONE], got neither")
        reason = _REASONS.get(self._reason, self._reason)
        for call in self._calls:
            if delta := call.end(reason):
                yield delta
        if reason == FinishReason.TOOL_USE and not self._calls:
            raise StreamProtocolError(f"finish_reason {self._reason!r}, but no tool call came")
        yield Finish(reason or FinishReason.STOP, raw=self._reason, usage=self._usage)

    def _take_choice(self, choice: dict[str, Any]) -> Iterator[Event]:
        self._answered = True
        for event in self._content(get_object(choice, "delta")):
            if self._reason:
                raise StreamProtocolError(f"content after finish_reason {self._reason!r}")
            yield event
        reason = get_text(choice, "finish_reason")
        if reason and self._reason and reason != self._reason:
            raise StreamProtocolError(f"finish_reason {self._reason!r}, then {reason!r}")
        self._reason = reason or self._reason

    def _content(self, delta: dict[str, Any]) -> Iterator[Event]:
        # Two names for the same thing; a server in transition sends both.
        reasoning = get_text(delta, "reasoning_content") or get_text(delta, "reasoning")
        if reasoning:
            yield ReasoningDelta(reasoning)
        # A refusal is what the model says to its user, in place of the answer: text.
        for name in ("content", "refusal"):
            if text := get_text(delta, name):
                yield TextDelta(text)
        for piece in get_objects(delta, "tool_calls"):
            yield from self._take_call(piece)
        # The older form: one call, with neither index nor id.
        if function := get_object(delta, "function_call"):
            yield from self._take_call({"index": 0, "function": function})

    def _take_call(self, piece: dict[str, Any]) -> Iterator[Event]:
        function = get_object(piece, "function")
        arguments = function.get("arguments") or ""
        # A string by the format; some compatible servers send the object itself.
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        id_, name = get_text(piece, "id"), get_text(function, "name")
        call = self._call(get_index(piece), id_, name)
        delta = call.add(id=id_, name=name, arguments=arguments)
        if delta != ToolCallDelta(call.index):
            yield delta

    def _call(self, index: int | None, id_: str, name: str) -> PartialCall:
        """Return the call that a fragment belongs to; a new one if it begins one.

        The index does not tell by itself: servers repeat it for every call, or leave it out.
        """
        call = self._calls_by_id.get(id_)
        if call is None:
            last = self._calls[-1] if self._calls else None
            call = last if index is None else self._calls_by_index.get(index)
            # Every call begins with its name. With a name, a second id tells two calls
            # apart, and so does having neither an id nor an index.
            if call and call.name and name and (call.id if id_ else index is None):
                call = None
        if call is None:
            call = PartialCall(len(self._calls))
            self._calls.append(call)
        if id_:
            self._calls_by_id[id_] = call
        if index is not None:
            self._calls_by_index[index] = call
        return call


def _usage(usage: dict[str, Any]) -> Usage:
    cached = get_count(get_object(usage, "prompt_tokens_details"), "cached_tokens")
    return Usage(
        # prompt_tokens includes what the cache gave; the neutral counts are disjoint.
        input_tokens=max(0, get_count(usage, "prompt_tokens") - cached),
        output_tokens=get_count(usage, "completion_tokens"),
        cache_read_tokens=cached,
    )
