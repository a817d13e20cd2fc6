"""A provider on loopback, for the examples' own tests: one thread a connection, one script."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

PATIENCE = 20.0  # seconds; only how long a failing test takes to say so


class Exchange:
    """One request, and the writing of its answer."""

    def __init__(self, sock: socket.socket, head: bytes, body: bytes) -> None:
        self._sock = sock
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = lines[0].split(" ", 2)
        self.headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        self.body = body
        self.left = threading.Event()
        self.keep_alive = False

    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    def raw(self, data: bytes) -> None:
        self._sock.sendall(data)

    def head(self, *headers: str, status: int = 200, media: str = "text/event-stream") -> None:
        lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {media}", *headers, "", ""]
        self.raw("\r\n".join(lines).encode())

    def chunked(self, *headers: str, media: str = "text/event-stream") -> None:
        self.head("Transfer-Encoding: chunked", *headers, media=media)

    def chunk(self, data: bytes | str) -> None:
        data = data.encode() if isinstance(data, str) else data
        self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        self.raw(b"0\r\n\r\n")
        self.keep_alive = True

    def reset(self) -> None:
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._sock.close()

    def wait_until_left(self) -> None:
        """Send nothing until the client closes."""
        self._sock.settimeout(PATIENCE)
        try:
            while self._sock.recv(4096):
                pass
        except TimeoutError:
            return
        except OSError:
            pass
        self.left.set()


Script = Callable[[Exchange], None]


class Provider:
    """Plays `script` for every request, and keeps what was asked."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.exchanges: list[Exchange] = []
        self.connections = 0
        self.faults: list[BaseException] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        for sock in [self._listener, *self._sockets]:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            self._sockets.append(sock)
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        with sock:
            while (exchange := self._next(sock)) is not None:
                try:
                    self.script(exchange)
                except OSError:
                    exchange.left.set()
                    return
                except BaseException as fault:
                    self.faults.append(fault)
                    return
                if not exchange.keep_alive:
                    return

    def _next(self, sock: socket.socket) -> Exchange | None:
        received = b""
        try:
            while b"\r\n\r\n" not in received:
                piece = sock.recv(65536)
                if not piece:
                    return None
                received += piece
            head, _, body = received.partition(b"\r\n\r\n")
            size = int(dict(_fields(head)).get(b"content-length", b"0"))
            while len(body) < size:
                body += sock.recv(65536)
        except OSError:
            return None
        exchange = Exchange(sock, head, body)
        self.exchanges.append(exchange)
        return exchange


def _fields(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        yield name.lower(), value.strip()


@contextmanager
def provider(script: Script) -> Iterator[Provider]:
    server = Provider(script)
    try:
        yield server
    finally:
        server.close()
    if server.faults:
        raise server.faults[0]


def answer(*pieces: bytes | str) -> Script:
    """A whole chunked body, one piece a chunk, on a connection that stays open."""

    def script(exchange: Exchange) -> None:
        exchange.chunked()
        for piece in pieces:
            exchange.chunk(piece)
        exchange.end()

    return script
