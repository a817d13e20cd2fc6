"""The listening side: one loop accepts connections, takes what they send, sees them disconnect."""

from __future__ import annotations

import collections
import contextlib
import errno
import functools
import selectors
import socket
import threading
from collections.abc import Callable

from modeltest.backend.connection import Connection
from modeltest.threads import KitThread

_BACKLOG = 1024
_LOOK = 0.5
"""Seconds after which the loop, if nothing wakes it, looks whether it has its sockets still."""


_LOST: list[selectors.BaseSelector] = []
"""Selectors of servers that lost their sockets: collected, they would close what is not theirs."""


class SocketsLost(Exception):  # noqa: N818 - named as what it says of the server
    """Someone else closed a socket of the server."""

    def __init__(self) -> None:
        super().__init__(
            "the sockets of the test server were closed, by the adapter or by what it calls"
        )


class Server:
    """Serves each connection on a thread of its own, and does all else on one loop.

    The loop alone accepts, reads and closes sockets, so no two threads ever race for one. The
    standard library's server has a loop that looks for its end twice a second; this one is
    woken.

    Attributes:
        address: host and port it listens on.
        stopping: set once it is asked to stop.
        errors: what went wrong in the server itself.
        loop: the thread of the loop.
        handlers: each connection's thread.
        listener: the socket that listens.
        selector: what the loop waits at.
        waker: the socket that wakes the loop.
        woken: its other end.
    """

    def __init__(self, address: tuple[str, int], serve: Callable[[Connection], None]) -> None:
        """Listen at `address`, and begin to serve.

        Args:
            address: host and port; port 0 takes a free one.
            serve: answers one connection, on a thread of its own.

        Raises:
            OSError: the address cannot be bound, or there are no descriptors left.
        """
        self.stopping = threading.Event()
        self.errors: list[BaseException] = []
        self._serve = serve
        self.handlers: dict[Connection, threading.Thread] = {}
        self._commands: collections.deque[Callable[[], object]] = collections.deque()
        self._shutting = self._abandoned = False
        with contextlib.ExitStack() as opened:
            self.listener = opened.enter_context(socket.create_server(address, backlog=_BACKLOG))
            self.selector = opened.enter_context(selectors.DefaultSelector())
            self.waker, self.woken = map(opened.enter_context, socket.socketpair())
            # Never blocked, and whatever an author's socket.setdefaulttimeout() says.
            for sock in (self.listener, self.waker, self.woken):
                sock.setblocking(False)
            self._opened = opened.pop_all()
        self.address: tuple[str, int] = self.listener.getsockname()[:2]
        self.loop = KitThread(self._run, name="modeltest backend")
        self.loop.start()

    def stop(self, timeout: float) -> list[threading.Thread]:
        """Close everything; return the handlers still alive after `timeout` seconds."""
        self.stopping.set()
        self._do(self._shut)
        self.loop.join(timeout)  # it ends with the last handler
        if self.loop.is_alive():
            self._do(self._abandon)
            self.loop.join()
        return list(self.handlers.values())

    # What follows runs on the loop, apart from `_do` and `_handle`.

    def _run(self) -> None:
        try:
            self._go_round()
        except OSError as error:  # of the selector: who calls a socket sees to its errors
            self._give_up(SocketsLost() if error.errno == errno.EBADF else error)
        except (
            SocketsLost,
            KeyError,
            ValueError,
        ):  # it knows the number still, or is closed itself
            self._give_up(SocketsLost())
        else:
            with contextlib.suppress(OSError):  # someone was quicker
                self._opened.close()
        for connection in self.handlers:
            connection.socket.close()

    def _go_round(self) -> None:
        register = self.selector.register
        register(self.woken, selectors.EVENT_READ, self._drain_woken)
        register(self.listener, selectors.EVENT_READ, self._accept)
        while not self._abandoned and (self.handlers or not self._shutting):
            ready = self.selector.select(_LOOK)
            for key, _ in ready:
                key.data()
            # Afterwards, for a command may close a socket that select() has just named.
            while self._commands:
                self._commands.popleft()()
            if not ready:
                self._expect_sockets()

    def _expect_sockets(self) -> None:
        sockets = [self.waker, self.woken, *(c.socket for c in self.handlers)]
        sockets += [] if self._shutting else [self.listener]
        if any(sock.fileno() < 0 for sock in sockets):
            raise SocketsLost

    def _give_up(self, error: BaseException) -> None:
        """Give up, and let the handlers end.

        Nothing is closed: a descriptor that someone closed may be another's by now.
        """
        self.errors.append(error)
        self.stopping.set()
        _LOST.append(self.selector)
        for sock in (self.listener, self.waker, self.woken):
            sock.detach()
        for connection, thread in tuple(self.handlers.items()):
            connection.abort()
            thread.join(_LOOK)
            if not thread.is_alive():
                del self.handlers[connection]

    def _do(self, command: Callable[[], object]) -> None:
        """Run `command` on the loop soon."""
        self._commands.append(command)
        with contextlib.suppress(OSError):  # full: it will wake anyway; closed: it has ended
            self.waker.send(b"x")

    def _drain_woken(self) -> None:
        if not self.woken.recv(4096):
            raise SocketsLost  # only who closed the other end can have done that

    def _accept(self) -> None:
        try:
            sock, _ = self.listener.accept()
        except (BlockingIOError, ConnectionError):
            return  # it disconnected again before it was accepted
        except OSError as error:  # no descriptors left: it would fail again and again
            if error.errno == errno.EBADF:
                raise
            self.errors.append(error)
            self._stop_listening()
            return
        sock.settimeout(None)
        with contextlib.suppress(OSError):  # macOS, if the peer has already disconnected
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._begin(Connection(sock, self.stopping))

    def _begin(self, connection: Connection) -> None:
        thread = KitThread(self._handle, connection, name="modeltest backend connection")
        try:
            thread.start()
        except RuntimeError as error:  # no threads left
            self.errors.append(error)
            connection.socket.close()
            return
        self.handlers[connection] = thread
        receive = functools.partial(self._receive, connection)
        self.selector.register(connection.socket, selectors.EVENT_READ, receive)

    def _receive(self, connection: Connection) -> None:
        if not connection.receive():
            self._stop_watching(connection.socket)

    def _handle(self, connection: Connection) -> None:
        try:
            self._serve(connection)
        except BaseException as error:
            self.errors.append(error)
        finally:
            self._do(functools.partial(self._close, connection))

    def _close(self, connection: Connection) -> None:
        self._stop_watching(connection.socket)
        connection.socket.close()
        # To send this command was the last that the thread did. Joined, so that none is left
        # when the loop has ended.
        self.handlers.pop(connection).join()

    def _stop_listening(self) -> None:
        self._stop_watching(self.listener)
        self.listener.close()

    def _stop_watching(self, sock: socket.socket) -> None:
        """Look no more at `sock`, if it still is looked at: asking is cheaper than a KeyError."""
        if sock.fileno() >= 0 and sock.fileno() in self.selector.get_map():
            self.selector.unregister(sock)

    def _shut(self) -> None:
        self._stop_listening()
        for connection in self.handlers:
            connection.shut()
        self._shutting = True

    def _abandon(self) -> None:
        self._abandoned = True
