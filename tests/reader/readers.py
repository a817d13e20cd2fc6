"""Correct readers, each in another style, of OpenAI Chat Completions unless it says otherwise."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import requests

from modeltest import (
    Event,
    Finish,
    IncompleteResponseError,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    TruncatedToolArgumentsError,
    Usage,
)
from modeltest.delivery import as_chunks, as_lines, as_requests_response, as_urllib3_response
from tests.adapters.anthropic_messages_turn import MessagesTurn
from tests.adapters.file_body import FileBody
from tests.adapters.openai_chat_turn import ChatTurn
from tests.adapters.read_turn import read_turn
from tests.adapters.sse import ServerSentEvent, SSEDecoder


def generator(body: BinaryIO) -> Iterator[Event]:
    """The documentation's."""
    return read_turn(FileBody(body), ChatTurn())


def anthropic(body: BinaryIO) -> Iterator[Event]:
    """The documentation's, of Anthropic Messages."""
    return read_turn(FileBody(body), MessagesTurn())


class IteratorReader:
    """An iterator without a generator: it remembers by itself that it is over."""

    def __init__(self, body: BinaryIO) -> None:
        self._body = body
        self._decoder = SSEDecoder()
        self._turn = ChatTurn()
        self._events: list[Event] = []
        self._error: Exception | None = None
        self._over = False

    def __iter__(self) -> IteratorReader:
        return self

    def __next__(self) -> Event:
        while not self._events and not self._over:
            try:
                self._read()
            except Exception as error:
                self._error, self._over = error, True
        if self._events:  # those that came before an error come before it here, too
            return self._events.pop(0)
        raise self._ended()

    def _ended(self) -> Exception:
        error, self._error = self._error, None
        return error or StopIteration()

    def _read(self) -> None:
        chunk = b"" if self._turn.over else self._body.read(512)
        for event in self._decoder.feed(chunk):
            for delta in self._turn.take(event):
                self._events.append(delta)
        if not chunk:
            self._events += self._turn.finish()
            self._over = True


class RepeatsItsError(IteratorReader):
    """An iterator that raises its error again when it is asked again: it is over, too."""

    def _ended(self) -> Exception:
        return self._error or StopIteration()


def from_lines(lines: Iterable[str]) -> Iterator[Event]:
    """Reads lines that someone else has told apart."""
    turn = ChatTurn()
    data: list[str] = []
    for number, line in enumerate(lines):
        name, _, value = line.removeprefix("\ufeff" * (not number)).partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield from turn.take(ServerSentEvent("message", "\n".join(data)))
            data.clear()
    yield from turn.finish()


def over_lines(body: BinaryIO) -> Iterator[Event]:
    return from_lines(line.decode("utf-8", "replace") for line in as_lines(body))


def from_chunks(chunks: Iterable[bytes]) -> Iterator[Event]:
    """Reads chunks, wherever they are cut."""
    decoder, turn = SSEDecoder(), ChatTurn()
    for chunk in chunks:
        for event in decoder.feed(chunk):
            yield from turn.take(event)
    yield from turn.finish()


def over_chunks(body: BinaryIO) -> Iterator[Event]:
    return from_chunks(as_chunks(body, 5))


def over_iteration(body: BinaryIO) -> Iterator[Event]:
    """`for line in file`, which ends lines at LF only; the decoder joins and splits again."""
    return from_chunks(body)


def over_readline(body: BinaryIO) -> Iterator[Event]:
    return from_chunks(iter(body.readline, b""))


def over_readinto(body: BinaryIO) -> Iterator[Event]:
    buffer = bytearray(100)

    def chunks() -> Iterator[bytes]:
        while count := body.readinto(buffer):  # type: ignore[attr-defined]
            yield bytes(buffer[:count])

    return from_chunks(chunks())


def over_buffered(body: BinaryIO) -> Iterator[Event]:
    """A buffer of one's own around the file, closed at the end."""
    with io.BufferedReader(body) as buffered:  # type: ignore[type-var]
        yield from from_chunks(iter(lambda: buffered.read1(64), b""))


def from_response(response: requests.Response) -> Iterator[Event]:
    """Reads what `requests.post(..., stream=True)` returns."""
    with response:
        yield from from_chunks(response.iter_content(64))


def over_requests(body: BinaryIO) -> Iterator[Event]:
    return from_response(as_requests_response(body))


def over_urllib3(body: BinaryIO) -> Iterator[Event]:
    raw = as_urllib3_response(body)
    return from_chunks(iter(lambda: raw.read1(64), b""))


def as_a_list(body: BinaryIO) -> list[Event]:
    """Reads all before it gives anything, and raises at the call."""
    return list(generator(body))


class JSONLines:
    """A format that knows no server-sent events: {"say": …}, {"call": …}, {"over": …} a line."""

    reasons = {"done": "stop", "full": "length", "tool": "tool_use"}

    def __call__(self, body: BinaryIO) -> Iterator[Event]:
        calls: dict[int, list[str]] = {}
        for line in body:
            if not line.endswith(b"\n"):
                break
            if line.strip():
                yield from self.take(self.load(line), calls)
                if b'"over"' in line:
                    return
        raise IncompleteResponseError("the body ended too early")

    def load(self, line: bytes) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise StreamProtocolError(f"no JSON: {error}") from error
        if not isinstance(value, dict):
            raise StreamProtocolError("no object")
        return value

    def take(self, said: dict[str, Any], calls: dict[int, list[str]]) -> Iterator[Event]:
        if "broken" in said:
            raise StreamProtocolError(f"{said['broken']}: {said.get('why')}")
        yield from self.take_text(said.get("say", ""))
        if "call" in said:
            yield from self.take_call(said, calls)
        if "over" in said:
            for name, *pieces in calls.values():
                self.check(name, "".join(pieces))
            yield self.end(said["over"], said.get("tokens"), bool(calls))

    def take_text(self, text: Any) -> Iterator[Event]:
        if not isinstance(text, str):
            raise StreamProtocolError("a text that is none")
        yield TextDelta(text)

    def take_call(self, said: dict[str, Any], calls: dict[int, list[str]]) -> Iterator[Event]:
        match said:
            case {"call": int(index), "json": str(json_)}:
                name = str(said.get("tool", ""))
                calls.setdefault(index, [name]).append(json_)
                yield ToolCallDelta(index, str(said.get("id", "")), name, json_)
            case _:
                raise StreamProtocolError("a call that is none")

    def check(self, name: str, text: str) -> None:
        try:
            whole = isinstance(json.loads(text or "{}"), dict)
        except (ValueError, RecursionError):
            whole = False
        if not whole or "NaN" in text:
            raise TruncatedToolArgumentsError(f"the arguments of {name!r} are no JSON object")

    def end(self, word: Any, tokens: Any, called: bool) -> Finish:
        match tokens:
            case [int(sent), int(made)] if min(sent, made) >= 0:
                usage = Usage(sent, made)
            case None:
                usage = Usage()
            case _:
                raise StreamProtocolError("tokens are no counts")
        if not isinstance(word, str) or not word:
            raise StreamProtocolError("a reason that is none")
        reason = self.reasons.get(word, word)
        if reason == "tool_use" and not called:
            raise StreamProtocolError("a tool finish without a call")
        return Finish(reason, raw=word, usage=usage)


READERS = {
    "a generator": generator,
    "an iterator": IteratorReader,
    "an iterator that raises again": RepeatsItsError,
    "over lines": over_lines,
    "over chunks": over_chunks,
    "over the file's own lines": over_iteration,
    "over readline": over_readline,
    "over readinto": over_readinto,
    "over a buffer": over_buffered,
    "over requests": over_requests,
    "over urllib3": over_urllib3,
    "a list": as_a_list,
}
"""Style → a correct reader of OpenAI Chat Completions."""
