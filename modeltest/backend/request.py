"""Reading one HTTP/1 request. What is none is named, for it is evidence about the adapter."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler

from modeltest.text import shortened

_LINE = 64 * 1024
"""Bytes a line may have, as in the standard library."""
_PIECE = 64 * 1024
_TLS_HANDSHAKE = b"\x16"
_HEX = re.compile(rb"[0-9A-Fa-f]+")


class MalformedRequest(Exception):  # noqa: N818 - what the peer sent, not an error of ours
    """What came is no HTTP/1 request; the text says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request, as it came.

    Attributes:
        method: "POST", …
        path: the request target, query included.
        version: "HTTP/1.0" or "HTTP/1.1".
        headers: look-ups ignore case.
        body: decoded from its chunks, if it came in any.
        keep_alive: whether the peer means to use the connection again.
    """

    method: str
    path: str
    version: str
    headers: Message
    body: bytes
    keep_alive: bool


def read_request(file: io.BufferedReader, send: Callable[[bytes], object]) -> Request | None:
    """Return the next request, None if the file ends before one begins.

    Args:
        file: what the peer sends.
        send: sends bytes to the peer, which may wait for a "100 Continue".

    Raises:
        MalformedRequest: what came is none.
    """
    head = _read_head(file)
    if head is None:
        return None
    parsed = _Head(head)
    if parsed.expects_continue:
        send(b"HTTP/1.1 100 Continue\r\n\r\n")
    return Request(
        method=parsed.command,
        # Not parsed.path: the standard library makes "/" of a leading "//", and a URL that is
        # put together wrongly would look right.
        path=parsed.requestline.split()[1],
        version=parsed.request_version,
        headers=parsed.headers,
        body=_read_body(file, parsed.headers),
        keep_alive=not parsed.close_connection,
    )


class _Head(BaseHTTPRequestHandler):
    """A request's first line and headers, as `http.server` reads them.

    The base's constructor would serve a connection; only its parser is wanted.
    """

    protocol_version = "HTTP/1.1"

    def __init__(self, head: bytes) -> None:
        self.expects_continue = False
        line, newline, fields = head.partition(b"\n")
        self.raw_requestline = line + newline
        self.rfile = io.BytesIO(fields)
        self.parse_request()
        if self.request_version == self.default_request_version:
            raise MalformedRequest(f"no HTTP version in {self.requestline!r:.200}")

    def send_error(
        self,
        code: int,
        message: str | None = None,
        explain: str | None = None,  # noqa: ARG002 - the base's signature
    ) -> None:
        raise MalformedRequest(shortened(f"{message or code}"))

    def handle_expect_100(self) -> bool:
        self.expects_continue = True
        return True


def _read_head(file: io.BufferedReader) -> bytes | None:
    """Return all up to the blank line, None if the file ends before anything comes."""
    if file.peek(1)[:1] == _TLS_HANDSHAKE:
        raise MalformedRequest("a TLS handshake; the backend's URL begins with http://")
    # RFC 9112, 2.2: blank lines before a request are passed over.
    while (line := file.readline(_LINE)) in (b"\r\n", b"\n"):
        pass
    if not line:
        return None
    head = bytearray()
    while line not in (b"\r\n", b"\n"):
        head += _whole(line)
        line = file.readline(_LINE)
    return bytes(head + line)


def _read_body(file: io.BufferedReader, headers: Message) -> bytes:
    if headers.get("Transfer-Encoding", "").strip().lower() == "chunked":
        return b"".join(_read_chunks(file))
    length = headers.get("Content-Length", "0").strip()
    if not (length.isascii() and length.isdecimal()):
        raise MalformedRequest(f"Content-Length {length!r:.80} is no number of bytes")
    return _read_exactly(file, int(length))


def _read_chunks(file: io.BufferedReader) -> Iterator[bytes]:
    while size := _read_chunk_size(file):
        yield _read_exactly(file, size)
        if line := _whole(file.readline(_LINE)).strip():
            raise MalformedRequest(f"expected the end of a chunk, got {line!r:.80}")
    while _whole(file.readline(_LINE)).strip():
        pass  # trailers


def _read_chunk_size(file: io.BufferedReader) -> int:
    size = _whole(file.readline(_LINE)).partition(b";")[0].strip()
    if not _HEX.fullmatch(size):
        raise MalformedRequest(f"expected a chunk's size in hexadecimal, got {size!r:.80}")
    return int(size, 16)


def _read_exactly(file: io.BufferedReader, size: int) -> bytes:
    """Return `size` bytes. Read in pieces, for file.read(size) sets all the memory aside first."""
    data = bytearray()
    while len(data) < size:
        piece = file.read1(min(_PIECE, size - len(data)))
        if not piece:
            raise MalformedRequest(f"it broke off after {len(data)} of {size} bytes of body")
        data += piece
    return bytes(data)


def _whole(line: bytes) -> bytes:
    """Return a line that was read if it is whole."""
    if line.endswith(b"\n"):
        return line
    if len(line) >= _LINE:
        raise MalformedRequest(f"a line of more than {_LINE} bytes: {line!r:.80}")
    raise MalformedRequest(f"it broke off after {line!r:.80}")
