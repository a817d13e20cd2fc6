"""The listening side: accepts connections, and watches those that are being answered."""

from __future__ import annotations

import collections
import contextlib
import selectors
import socket
import socketserver
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from modeltest.backend.exchange import Leaving

_PATIENCE = 5.0
"""Seconds to wait for the loop, which needs microseconds; an upper limit, so as not to hang."""


class Server(ThreadingHTTPServer):
    """An HTTP server whose one loop accepts connections and notices peers that leave.

    The standard `serve_forever` polls for its end, twice a second; this loop is woken.
    """

    daemon_threads = True
    request_queue_size = 1024

    def __init__(
        self, address: tuple[str, int], handler: Callable[..., BaseHTTPRequestHandler]
    ) -> None:
        self.stopping = threading.Event()
        self.errors: list[BaseException] = []
        self._ended = False
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        self._commands: collections.deque[Callable[[], object]] = collections.deque()
        self._selector = selectors.DefaultSelector()
        self._waker, self._woken = socket.socketpair()
        self._waker.setblocking(False)
        self._loop = threading.Thread(target=self._run, name="modeltest backend", daemon=True)
        try:
            super().__init__(address, handler)
        except BaseException:
            self._close_loop()
            raise
        # An author's socket.setdefaulttimeout() is not meant for the kit's sockets.
        self.socket.settimeout(None)

    def server_bind(self) -> None:
        """Bind without HTTPServer's look-up of the host's full name, which may ask a DNS."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def start(self) -> None:
        """Begin to accept connections."""
        self._loop.start()

    def stop(self, timeout: float) -> list[threading.Thread]:
        """Close everything; return the handlers still alive after `timeout` seconds."""
        self.stopping.set()
        self._do(lambda: self._selector.unregister(self.socket))
        with self._lock:
            connections = dict(self._connections)
        for connection in connections:
            # Wakes a handler that is blocked in a read or a write.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in connections.values():
            thread.join(timeout)
        # Last of all, for the handlers need the loop to stop watching their connections.
        self._ended = True
        self._do(lambda: None)
        self._loop.join(timeout)
        self.server_close()
        self._close_loop()
        return [thread for thread in connections.values() if thread.is_alive()]

    def watch(self, connection: socket.socket, left: Callable[[Leaving], None]) -> None:
        """Call `left(how)` as soon as the peer leaves, until `unwatch`."""

        def register() -> None:
            self._selector.register(connection, selectors.EVENT_READ, left)

        self._do(register)

    def unwatch(self, connection: socket.socket) -> None:
        """Stop watching; when this returns the loop does not touch the connection any more."""
        done = threading.Event()

        def unregister() -> None:
            with contextlib.suppress(KeyError):  # it left, or sent something, meanwhile
                self._selector.unregister(connection)
            done.set()

        self._do(unregister)
        done.wait(_PATIENCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection on a thread of its own."""
        request.settimeout(None)
        thread = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name="modeltest backend connection",
            daemon=True,
        )
        with self._lock:
            self._connections[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        """Close a connection whose handler is done."""
        with self._lock:
            self._connections.pop(request, None)
        # No shutdown() before close(), unlike the base class: it would turn a RST into a FIN.
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Keep an exception of a handler, instead of printing it."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.errors.append(error)

    def _do(self, command: Callable[[], object]) -> None:
        """Run `command` on the loop."""
        self._commands.append(command)
        with contextlib.suppress(OSError):  # full: it will wake anyway; closed: it has ended
            self._waker.send(b"x")

    def _run(self) -> None:
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._selector.register(self.socket, selectors.EVENT_READ)
        while not self._ended:
            for key, _ in self._selector.select():
                if key.fileobj is self._woken:
                    self._woken.recv(4096)
                elif key.fileobj is self.socket:
                    self._handle_request_noblock()  # type: ignore[attr-defined]
                else:
                    self._notice(key.fileobj, key.data)
            while self._commands:
                self._commands.popleft()()

    def _notice(self, connection: Any, left: Callable[[Leaving], None]) -> None:
        """Tell why a watched connection became readable: FIN, RST, or unasked-for data."""
        self._selector.unregister(connection)
        try:
            if connection.recv(1, socket.MSG_PEEK) == b"":
                left(Leaving.FIN)
        except OSError:
            left(Leaving.RST)

    def _close_loop(self) -> None:
        self._selector.close()
        self._waker.close()
        self._woken.close()
