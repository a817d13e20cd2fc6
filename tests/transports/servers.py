"""A small HTTP server for these tests: a script is played to each connection."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

PATIENCE = 10.0
"""Seconds a test waits for what should be immediate: an upper limit, reached only by a fault."""

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


class PeerLeft(Exception):
    """The client closed the connection, or the server is being closed."""


class Peer:
    """The server's end of one connection."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._received = b""
        self.left = threading.Event()
        """The client closed the connection."""
        self.gone = threading.Event()
        """The server closed it."""
        self.requests: list[bytes] = []

    def read_request(self) -> bytes:
        """Return the head of the next request; these tests send no bodies."""
        while b"\r\n\r\n" not in self._received:
            self._receive()
        request, _, self._received = self._received.partition(b"\r\n\r\n")
        self.requests.append(request)
        return request

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def wait_until_left(self) -> None:
        while True:
            self._receive()

    def end(self) -> None:
        """Wake a script that waits in another thread."""
        with suppress(OSError):  # it may have gone already
            self._sock.shutdown(socket.SHUT_RDWR)

    def play(self, script: Callable[[Peer], None], tls: ssl.SSLContext | None) -> None:
        if tls is not None:
            self._sock = tls.wrap_socket(self._sock, server_side=True)
        with self._sock:
            try:
                script(self)
            except (PeerLeft, OSError):
                self.left.set()
        self.gone.set()

    def _receive(self) -> None:
        data = self._sock.recv(65536)
        if not data:
            raise PeerLeft
        self._received += data


class Server:
    """Plays `script` to every connection, each on a thread of its own."""

    def __init__(self, script: Callable[[Peer], None], tls: ssl.SSLContext | None = None) -> None:
        self._script = script
        self._tls = tls
        self._stopping = False
        self._threads: list[threading.Thread] = []
        self.peers: list[Peer] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address: tuple[str, int] = self._listener.getsockname()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.address[1]}/"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._acceptor.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stopping = True
        socket.create_connection(self.address).close()  # wakes accept()
        self._acceptor.join(PATIENCE)
        self._listener.close()
        for peer in self.peers:
            peer.end()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _accept(self) -> None:
        while True:
            sock, _ = self._listener.accept()
            if self._stopping:
                sock.close()
                return
            peer = Peer(sock)
            self.peers.append(peer)
            thread = threading.Thread(target=peer.play, args=(self._script, self._tls), daemon=True)
            self._threads.append(thread)
            thread.start()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def chunked(*pieces: bytes, head: bytes = HEAD) -> bytes:
    """A whole chunked response."""
    body = b"".join(map(chunk, pieces)) + b"0\r\n\r\n"
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + body


def sized(body: bytes, head: bytes = HEAD) -> bytes:
    """A whole response with a Content-Length."""
    return head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


BODY = b"data: one\n\ndata: two\n\n"
GZIPPED = gzip.compress(BODY)
GZIP_HEAD = HEAD + b"Content-Encoding: gzip\r\n"


def answers(*responses: bytes) -> Callable[[Peer], None]:
    """Answer requests in order, the last response again and again, and keep the connection."""

    def script(peer: Peer) -> None:
        for response in responses:
            peer.read_request()
            peer.send(response)
        while True:
            peer.read_request()
            peer.send(responses[-1])

    return script


def answers_and_closes(response: bytes) -> Callable[[Peer], None]:
    """Answer one request and close."""

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(response)

    return script


def starts(head: bytes = HEAD) -> Callable[[Peer], None]:
    """Send the first event of a chunked answer, then nothing until the client leaves."""

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"data: one\n\n"))
        peer.wait_until_left()

    return script


def silent(peer: Peer) -> None:
    """Send headers and not one byte of the body."""
    peer.read_request()
    peer.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    peer.wait_until_left()
