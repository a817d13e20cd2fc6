"""Bytes in, lines of JSON out: newline-delimited JSON. No input or output."""

from __future__ import annotations

from modeltest import ResponseTooLargeError

from .sse import ServerSentEvent


class LineDecoder:
    """Turns the pieces of one response body, cut anywhere, into its lines.

    A line is given as an event of type "message", so that what reads a turn need not know how
    its events are framed. What is left at the end of the body without an LF is no line: it may
    be half a number.
    """

    def __init__(self, *, limit: int = 32 * 1024 * 1024) -> None:
        """Start a body; a line of more than `limit` bytes is an error."""
        self._limit = limit
        self._line = bytearray()

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Take the next bytes of the body and return the lines that they complete.

        Empty lines are left out.

        Raises:
            ResponseTooLargeError: a line is larger than the limit.
        """
        # Split while these are bytes: str.splitlines would also split at U+2028 and others,
        # which JSON allows within a string.
        *lines, rest = chunk.split(b"\n")
        events = [event for line in lines if (event := self._end_line(line)) is not None]
        self._grow(rest)
        return events

    def _end_line(self, piece: bytes) -> ServerSentEvent | None:
        self._grow(piece)
        line = self._line.decode("utf-8", "replace").strip(" \t\r")
        self._line.clear()
        return ServerSentEvent("message", line) if line else None

    def _grow(self, piece: bytes) -> None:
        self._line += piece
        if len(self._line) > self._limit:
            raise ResponseTooLargeError(
                f"expected lines of at most {self._limit} bytes, got {len(self._line)} bytes "
                "without an end"
            )
