"""A client made of a bare socket: it shows every byte, and leaves in the way it is told to."""

from __future__ import annotations

import re
import socket
import struct
from typing import Self

from modeltest.backend.backend import Backend

PATIENCE = 30.0  # seconds; only how long a failing test takes to say so

POST = b"POST /v1/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"


class Client:
    """One connection to a backend."""

    def __init__(self, backend: Backend) -> None:
        self.socket = socket.create_connection(backend.address, PATIENCE)
        self._received = b""

    def send(self, data: bytes = POST) -> Self:
        self.socket.sendall(data)
        return self

    def head(self) -> str:
        """Read and return the status line and the headers."""
        return self.until(b"\r\n\r\n").decode("latin-1")

    def until(self, mark: bytes) -> bytes:
        """Read and return all up to `mark`, which is included."""
        while mark not in self._received:
            piece = self.socket.recv(65536)
            if not piece:
                raise AssertionError(f"expected {mark!r}, got {self._received!r} and the end")
            self._received += piece
        found, _, self._received = self._received.partition(mark)
        return found + mark

    def exactly(self, size: int) -> bytes:
        """Read and return so many bytes."""
        while len(self._received) < size:
            piece = self.socket.recv(65536)
            if not piece:
                raise AssertionError(f"expected {size} bytes, got {self._received!r} and the end")
            self._received += piece
        found, self._received = self._received[:size], self._received[size:]
        return found

    def rest(self) -> bytes:
        """Read and return all up to the end of the connection.

        Raises:
            ConnectionResetError: it ended in a RST.
        """
        while piece := self.socket.recv(65536):
            self._received += piece
        found, self._received = self._received, b""
        return found

    def close(self) -> None:
        """Leave by a FIN, or a RST if there is something unread."""
        self.socket.close()

    def reset(self) -> None:
        """Leave by a RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.socket.close()


def chunks(body: bytes) -> list[bytes]:
    """Return the chunks of a whole chunked body; the last one is empty."""
    found: list[bytes] = []
    while body:
        match = re.match(rb"([0-9a-f]+)\r\n", body)
        assert match, body
        size, start = int(match[1], 16), match.end()
        found.append(body[start : start + size])
        assert body[start + size : start + size + 2] == b"\r\n", body
        body = body[start + size + 2 :]
    return found
