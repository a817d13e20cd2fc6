"""What comes back, below the meaning of an event: bytes, JSON, calls in pieces, errors."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn, TypeVar

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from .events import Call, ChatError, Object

T = TypeVar("T")
LIMIT = 32 * 1024 * 1024  # bytes of one event


class SSEDecoder:
    """Server-sent events, wherever the network cuts the bytes; one without its blank line is none.

    Split as bytes: str.splitlines() would split at U+2028 too, which JSON allows in a string.
    """

    def __init__(self) -> None:
        self._line, self._data, self._size = bytearray(), list[bytes](), 0
        self._first, self._after_cr = True, False

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the data of each event that `chunk` completes."""
        # A CR ends its line at once; an LF behind it, perhaps in the next chunk, ends no other.
        piece = chunk.removeprefix(b"\n") if self._after_cr else chunk
        self._after_cr = chunk.endswith(b"\r") if chunk else self._after_cr
        *ended, begun = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for end in ended:
            self._line += end
            yield from self._take(bytes(self._line))
            self._line.clear()
        self._line += begun
        if len(self._line) + self._size > LIMIT:
            raise ChatError(f"expected events of at most {LIMIT} bytes")

    def _take(self, line: bytes) -> Iterator[str]:
        if self._first:
            line, self._first = line.removeprefix(b"\xef\xbb\xbf"), False
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)
        elif not line:
            data, self._data, self._size = self._data, [], 0
            # Always UTF-8, whatever the header says.
            yield b"\n".join(data).decode("utf-8", "replace")


def parsed(text: str) -> dict[str, Any]:
    """Return the object of a JSON text. The error quotes nothing: the text may be anything."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise ChatError("expected JSON") from None
    if not isinstance(value, dict):
        raise ChatError(f"expected a JSON object, got {type(value).__name__}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")  # NaN and Infinity, which Python would read


def get(parent: Object, name: str, kind: type[T]) -> T:
    """Return a field, empty if it is missing or null. By its type: the network wrote it."""
    value = parent.get(name)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise ChatError(f"expected {name} to be {kind.__name__}, got {type(value).__name__}")
    if isinstance(value, str) and not value.isascii():
        # An emoji escaped as two halves, one in each delta: no half is given out, for none can
        # be encoded.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # type: ignore[return-value]
    return value


def objects(parent: Object, name: str) -> list[dict[str, Any]]:
    """Return a list of objects, empty if it is missing or null."""
    items = get(parent, name, list)
    if not all(isinstance(item, dict) for item in items):
        raise ChatError(f"expected {name} to hold objects")
    return items


def count(parent: Object, name: str) -> int:
    """Return a number of tokens."""
    return max(0, get(parent, name, int))


@dataclass
class PartCall:
    """A tool call while its pieces come."""

    index: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    def add(self, id_: str = "", name: str = "", arguments: str = "") -> Iterator[Call]:
        """Take a piece, and yield what is new in it: providers repeat the id and the name."""
        if self.name and name and name != self.name:
            raise ChatError(f"the tool call {self.name!r} changed its name to {name!r}")
        new = Call(self.index, "" if self.id else id_, "" if self.name else name, arguments)
        self.id, self.name = self.id or id_, self.name or name
        self.pieces.append(arguments)
        if new != Call(self.index):
            yield new

    def end(self, reason: str) -> Iterator[Call]:
        """Refuse half a call, and do not repair it: it must not run."""
        if not self.name:
            raise ChatError(f"tool call {self.index} never had a name")
        text = "".join(self.pieces)
        # No arguments are `{}`, but only after an end that vouches that nothing was cut.
        if not text and reason in ("stop", "tool_use"):
            yield Call(self.index, arguments="{}")
            return
        try:
            parsed(text)
        except ChatError as error:
            raise ChatError(f"the arguments of {self.name!r} are not whole: {error}") from None


def whole_call(index: int, id_: str, name: str, arguments: Any) -> Iterator[Call]:
    """Yield a call whose arguments came as a JSON value, null for none."""
    try:
        text = json.dumps({} if arguments is None else arguments, allow_nan=False)
    except ValueError:  # 1e999, which Python reads as infinity
        raise ChatError(f"the arguments of {name!r} are no JSON") from None
    call = PartCall(index, id_, name, [text])
    yield from call.end("")
    yield Call(index, id_, name, text)


def chunks(raw: BaseHTTPResponse, key: str) -> Iterator[bytes]:
    """Yield the bytes of a body as they come.

    read1() gives what is there; read() and requests' iter_content() may wait for a full block.
    """
    while True:
        try:
            chunk, failure = raw.read1(65536, decode_content=True), None
        except (OSError, HTTPError) as error:
            chunk, failure = b"", connection_failed(error, key)
        if failure:  # not within `except`, as above
            raise failure
        if not chunk:
            return
        yield chunk


def rest(raw: BaseHTTPResponse, size: int, seconds: float) -> bytes:
    """Return what comes of a body in time, about `size` bytes at most; never raises."""
    body, end = b"", time.monotonic() + seconds
    # urllib3 sets the time-out anew for the next request on the connection.
    if sock := getattr(raw.connection, "sock", None):
        with suppress(OSError):
            sock.settimeout(seconds)
    with suppress(OSError, HTTPError):
        while len(body) < size and time.monotonic() < end:
            if not (chunk := raw.read1(65536, decode_content=True)):
                break
            body += chunk
    return body


def is_stream(status: int, headers: Mapping[str, str], media_type: str) -> bool:
    """Return whether an answer is a stream, from what precedes its body."""
    given = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return status == 200 and given == media_type


def connection_failed(error: Exception, key: str) -> ChatError:
    """Return the error for one of an HTTP library's."""
    return ChatError(f"the connection failed: {without(key, f'{type(error).__name__}: {error}')}")


def status_error(status: int, headers: Mapping[str, str], start: bytes, key: str) -> ChatError:
    """Return the error for an HTTP answer that is no stream, from the start of its body."""
    body = without(key, start.decode("utf-8", "replace"))
    words = ""
    with suppress(ChatError):
        words = said(parsed(body.strip().removeprefix("[").removesuffix("]")))
    wait = seconds_of(headers.get("Retry-After", ""))
    return ChatError((words or body or "no stream")[:500], status, wait, body[:500])


def stream_error(payload: Object, key: str) -> ChatError:
    """Return the error for one that the provider reports within a stream."""
    return ChatError(without(key, said(payload) or "the provider reports an error")[:500])


def said(payload: Object) -> str:
    """Return the words of `{"error": {"type", "code", "message"}}` and of its like."""
    error = payload.get("error") or payload
    if not isinstance(error, dict):
        return str(error)
    names = ("type", "status", "code", "message", "detail")
    return ": ".join(str(error[name]) for name in names if isinstance(error.get(name), str | int))


def without(key: str, text: str) -> str:
    """Return `text` without the API key: some providers repeat it when they refuse it."""
    return text.replace(key, "[the API key]") if key else text


def seconds_of(retry_after: str) -> float | None:
    """Return what a Retry-After header asks for: a number of seconds, or the time to a date."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", retry_after.strip()):
        return float(retry_after)
    with suppress(ValueError, TypeError, OverflowError):
        date = parsedate_to_datetime(retry_after)
        # The second that is named has to be over: a date has no fractions.
        return max(0.0, date.timestamp() - datetime.now(UTC).timestamp() + 1.0)
    return None
