"""The least that plays a recording: a blocking socket server, and plain calls of the adapter."""

from __future__ import annotations

import collections
import contextlib
import socket
import struct
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import requests

from modeltest.delivery import Target
from modeltest.interface import Request
from tests.benchmarks.tape import Answer, Scene

PATIENCE = 0.5
"""Seconds to wait for the server's writes: a kernel may buffer less than it did before."""


class BareServer:
    """One listening socket, one thread that accepts, one for each connection.

    Attributes:
        address: host and port it listens on.
        url: the same as a URL.
        answered: how many requests were answered.
        sent: how many bytes were written, heads and framing included.
    """

    def __init__(self) -> None:
        self.answered = 0
        self.sent = 0
        self._answers: collections.deque[Answer] = collections.deque()
        self._writing = 0
        self._stopping = False
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address = host, port = self._listener.getsockname()
        self.url = f"http://{host}:{port}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping = True
        socket.create_connection(self.address).close()  # wakes accept(), which close() does not
        self._thread.join()
        self._listener.close()

    def play(self, answers: Sequence[Answer]) -> None:
        """Give these answers to the next requests, in turn."""
        self._answers = collections.deque(answers)

    def wait(self) -> None:
        """Wait until the answers that have begun are written."""
        with self._changed:
            self._changed.wait_for(lambda: not self._writing, PATIENCE)

    def _accept(self) -> None:
        while not self._stopping:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # the peer has left
            while _read_request(connection) and self._answers:
                answer = self._answers.popleft()
                self._write(connection, answer)
                if answer.resets:
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return
                if answer.closes:
                    connection.shutdown(socket.SHUT_WR)

    def _write(self, connection: socket.socket, answer: Answer) -> None:
        sent = 0
        self._count_writing(1)
        try:
            for data in answer.writes:
                connection.sendall(data)
                sent += len(data)
        finally:
            self._count_writing(-1, sent)

    def _count_writing(self, change: int, sent: int = 0) -> None:
        with self._changed:
            self._writing += change
            self.answered += change < 0
            self.sent += sent
            self._changed.notify_all()


def _read_request(connection: socket.socket) -> bool:
    """Read one request; return whether there was one."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return False
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
    while len(body) < length:
        body += connection.recv(65536)
    return True


def replay(scenes: Sequence[Scene], target: Target, server: BareServer) -> None:
    """Do to the adapter what was recorded, each scene with a fresh session and model."""
    for scene in scenes:
        server.play(scene.answers)
        with requests.Session() as session:
            session.trust_env = False  # as the kit's
            model = target.new_model(server.url, session)
            hands: dict[int, _Hand] = {}
            for use in scene.uses:
                hand = hands.setdefault(use.stream, _Hand(model, target.request, server))
                with contextlib.suppress(Exception):  # the adapter's errors were recorded, too
                    getattr(hand, use.verb)(*use.arguments)
            server.wait()


class _Hand:
    """The verbs of `modeltest.consumer.Stream`, as an agent loop on this thread has them."""

    def __init__(self, model: Any, request: Request, server: BareServer) -> None:
        self._model = model
        self._request = request
        self._server = server

    def open(self) -> None:
        self._stream = self._model.stream(self._request)

    def take(self, count: int) -> None:
        for _ in zip(range(count), self._stream, strict=False):
            pass

    def drain(self) -> None:
        for _ in self._stream:
            pass

    def read(self) -> None:
        self.open()
        self.drain()
        self.close()

    def break_loop(self) -> None:
        """Do nothing: no loop of this thread refers to the stream."""

    def close(self) -> None:
        self._server.wait()
        self._stream.close()

    def drop(self) -> None:
        self._server.wait()
        del self._stream

    def within(self, own_manager: bool, count: int, leave_by: str) -> None:
        with contextlib.closing(self._stream):
            self.take(count)
            self._server.wait()
