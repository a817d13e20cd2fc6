"""Bytes in, server-sent events out, as the WHATWG HTML standard reads them. No input or output.

The parts of the standard about reconnecting (`id`, `retry`) are left out on purpose: a model's
answer cannot be resumed, and repeating the request would be paid for twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from modeltest import ResponseTooLargeError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event.

    Attributes:
        type: the last `event` field, or "message".
        data: the `data` fields, joined by line feeds.
    """

    type: str
    data: str


class SSEDecoder:
    """Turns the pieces of one response body, cut anywhere, into its events.

    An event is given as soon as its blank line is there. What is left at the end of the body
    without one is no event, so there is nothing to flush.
    """

    def __init__(self, *, limit: int = 32 * 1024 * 1024) -> None:
        """Start a body; an event or a line of more than `limit` bytes is an error."""
        self._limit = limit
        self._line = bytearray()
        self._first_line = True
        self._after_cr = False
        self._type = b""
        self._data: list[bytes] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Take the next bytes of the body and return the events that they complete.

        Raises:
            ResponseTooLargeError: a line or an event is larger than the limit.
        """
        if not chunk:
            return []
        # A CR ends its line at once. The LF that may follow it, perhaps in the next chunk,
        # ends no other: waiting for it would hold the event back until the next one comes.
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        # Split while these are bytes: str.splitlines would also split at U+2028 and others,
        # which JSON allows within a string.
        *lines, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events = [event for line in lines if (event := self._end_line(line)) is not None]
        self._grow_line(rest)
        return events

    def _grow_line(self, piece: bytes) -> None:
        self._line += piece
        size = len(self._line) + self._data_size
        if size > self._limit:
            raise ResponseTooLargeError(
                f"expected events of at most {self._limit} bytes, got {size} bytes without an end"
            )

    def _end_line(self, piece: bytes) -> ServerSentEvent | None:
        self._grow_line(piece)
        line = bytes(self._line)
        self._line.clear()
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        self._take_field(line)
        return None

    def _take_field(self, line: bytes) -> None:
        # A comment begins with its colon: its name is empty, and like any other name that
        # the standard does not know it is passed over.
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._data_size += len(value) + 1
        elif name == b"event":
            self._type = value

    def _dispatch(self) -> ServerSentEvent | None:
        type_, data = self._type, self._data
        self._type, self._data, self._data_size = b"", [], 0
        if not data:
            return None
        # Always UTF-8, whatever the Content-Type says, and never an exception.
        return ServerSentEvent(
            type=type_.decode("utf-8", "replace") or "message",
            data=b"\n".join(data).decode("utf-8", "replace"),
        )
