"""A body as whatever a reader takes: a binary file, chunks, lines, a response of an HTTP client."""

from __future__ import annotations

import bisect
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import requests
import urllib3
from requests.utils import get_encoding_from_headers

EVENT_STREAM = "text/event-stream"
"""The media type of server-sent events."""

_READS_AT_END = 1_000
"""Reads that may find the end of a body. One is needed, and a few more do no harm."""

_EOL = re.compile(rb"\r\n|\r|\n")


class EndlessReading(BaseException):
    """The reader reads on at the end of the body, and would for ever.

    Not an `Exception`: a reader that catches those and tries again would never end.
    """


class BodyFile(io.BytesIO):
    """A body as a binary file: `read`, `readline`, iteration and all else a file has."""

    _at_end = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most `size` bytes; all that are left when it is negative or None."""
        return super().read(size) or self._nothing(size)

    def read1(self, size: int | None = -1, /) -> bytes:
        """Return the same: nothing is waited for in memory."""
        return super().read1(size) or self._nothing(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line, its LF included."""
        return super().readline(size) or self._nothing(size)

    def readinto(self, buffer: Any, /) -> int:
        """Fill `buffer`; return how many bytes there were."""
        count = super().readinto(buffer)
        if not count:
            self._nothing(len(buffer))
        return count

    def _nothing(self, size: int | None) -> bytes:
        """Return what a read at the end gives.

        Raises:
            EndlessReading: it was one too many.
        """
        if size != 0:
            self._at_end += 1
            if self._at_end > _READS_AT_END:
                raise EndlessReading
        return b""


class PiecewiseFile(BodyFile):
    """A body that comes in pieces: no read goes across the end of one.

    So do the files of sockets. A line is read whole, as those do too.
    """

    def __init__(self, body: bytes, cuts: Sequence[int]) -> None:
        """Let no read go across one of these byte offsets, unless it asks for all."""
        super().__init__(body)
        self._cuts = sorted(cuts)

    def _left(self) -> int:
        """Return how many bytes are left of the piece."""
        at = self.tell()
        following = bisect.bisect_right(self._cuts, at)
        end = self._cuts[following] if following < len(self._cuts) else len(self.getbuffer())
        return max(0, end - at)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return bytes of one piece; all that are left when `size` is negative or None."""
        return super().read(size if size is None or size < 0 else min(size, self._left() or size))

    def read1(self, size: int | None = -1, /) -> bytes:
        """Return bytes of one piece."""
        left = self._left()
        return super().read1(left if size is None or size < 0 else min(size, left or size))

    def readinto(self, buffer: Any, /) -> int:
        """Put bytes of one piece into `buffer`; return how many."""
        view = memoryview(buffer).cast("B")
        return super().readinto(view[: self._left() or len(view)])


def as_chunks(body: BinaryIO, size: int = 64 * 1024) -> Iterator[bytes]:
    """Yield `body` in chunks of `size` bytes, the last one shorter.

    For a reader that takes an iterable of bytes, such as `httpx.Response.iter_bytes()` gives.

    Raises:
        ValueError: `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"expected chunks of 1 byte or more, got size={size!r}")
    return iter(lambda: body.read(size), b"")


def as_lines(body: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of `body` without their ends, the unfinished last one too if it has any.

    Lines end at LF, CR LF and CR and at nothing else, as the standard of server-sent events has
    it. For a reader that takes lines; one that takes them as `str` gets
    `(line.decode("utf-8", "replace") for line in as_lines(body))`.
    """
    *lines, rest = _EOL.split(body.read())
    yield from lines
    if rest:
        yield rest


def as_urllib3_response(
    body: BinaryIO, *, content_type: str = EVENT_STREAM
) -> urllib3.HTTPResponse:
    """Return a response of urllib3 with status 200 whose body is still to be read."""
    return urllib3.HTTPResponse(
        body, {"Content-Type": content_type}, status=200, reason="OK", preload_content=False
    )


def as_requests_response(body: BinaryIO, *, content_type: str = EVENT_STREAM) -> requests.Response:
    """Return a response of requests with status 200, as `stream=True` gives it.

    Its `encoding` is what requests makes of the content type: ISO-8859-1 for a text that names
    no charset, though server-sent events are always UTF-8.
    """
    response = requests.Response()
    response.status_code = 200
    response.reason = "OK"
    response.raw = as_urllib3_response(body, content_type=content_type)
    response.headers["Content-Type"] = content_type
    response.encoding = get_encoding_from_headers(response.headers)
    return response
