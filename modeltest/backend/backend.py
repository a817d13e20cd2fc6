"""The backend: a loopback HTTP server that answers by script and keeps the evidence."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from modeltest.backend.exchange import Exchange
from modeltest.backend.handler import Handler
from modeltest.backend.response import Response
from modeltest.backend.server import Server, SocketsLost
from modeltest.text import short_repr

if TYPE_CHECKING:
    from modeltest.backend.connection import Connection
    from modeltest.backend.request import Request
    from modeltest.backend.steps import Step


STOP_TIMEOUT = 10.0
"""Seconds a handler may take to end once its connection is shut; an upper limit, none takes any."""


class BackendError(Exception):
    """The kit's own fault, not the adapter's: the port cannot be bound, or a script raised."""


class SocketsClosed(BackendError):  # noqa: N818 - a verdict about the adapter
    """The adapter, or what it calls, closed the server's sockets."""


class Backend:
    """A server on loopback that plays one `Response` a request and records an `Exchange` each.

    Usable as a context manager, which raises the backend's own faults at its end. It answers
    any method and path.

    Attributes:
        exchanges: the requests received so far, in order.
        server: what serves its connections; None while it is not running.
        malformed: what came that was no HTTP/1 request, in words; such as "it broke off after
            5 of 10 bytes of body". It was answered with status 400.
    """

    def __init__(self, *responses: Response, host: str = "127.0.0.1", port: int = 0) -> None:
        """Prepare to answer with `responses` in turn; the last one answers all that follow.

        Args:
            responses: the scripts.
            host: an IPv4 loopback address to listen on.
            port: TCP port; 0 takes a free one.
        """
        self.exchanges: list[Exchange] = []
        self.malformed: list[str] = []
        self._responses = responses
        self._first = 0
        self._address = (host, port)
        self._faults: list[BackendError] = []
        self._connections = 0
        self._changed = threading.Condition()
        self.server: Server | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port it listens on.

        Raises:
            BackendError: it is not running.
        """
        if self.server is None:
            raise BackendError("the backend is not running: call start(), or use it in a with")
        return self.server.address

    @property
    def url(self) -> str:
        """Its `http://host:port`, without a slash at the end.

        Raises:
            BackendError: it is not running.
        """
        host, port = self.address
        return f"http://{host}:{port}"

    @property
    def connections(self) -> int:
        """How many TCP connections were accepted."""
        return self._connections

    def start(self) -> Self:
        """Listen; requests are answered from now on.

        Raises:
            BackendError: the address cannot be bound, or it is running already.
        """
        if self.server is not None:
            raise BackendError("the backend is running already: stop() it first")
        host, port = self._address
        if not 0 <= port < 65536:
            raise BackendError(f"cannot listen on {host}:{port}: expected a port below 65536")
        try:
            self.server = Server(self._address, self._serve)
        except OSError as error:
            raise BackendError(f"cannot listen on {host}:{port}: {error}") from error
        return self

    def stop(self) -> None:
        """Close every connection, end every thread; harmless when it is not running."""
        server, self.server = self.server, None
        if server is None:
            return
        stuck = server.stop(STOP_TIMEOUT)
        self._faults += [BackendError(f"the script on {thread.name} hangs") for thread in stuck]
        self._faults += map(_fault, server.errors)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        # Also while another exception passes, which the fault may well have caused.
        self.raise_faults()

    def play(self, *responses: Response) -> None:
        """Answer the next requests with `responses` in turn, the last one again and again."""
        with self._changed:
            self._responses = responses
            self._first = len(self.exchanges)

    def raise_faults(self) -> None:
        """Raise what went wrong in the backend itself.

        Raises:
            BackendError: a script raised; the step is named and the error chained.
        """
        # Sockets that are gone explain what else went wrong.
        closed = [fault for fault in self._faults if isinstance(fault, SocketsClosed)]
        for fault in closed or self._faults:
            raise fault

    def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait until `condition()` holds, at most `timeout` seconds; return whether it holds.

        It is tried again whenever a request comes or an exchange changes.
        """
        with self._changed:
            return self._changed.wait_for(condition, timeout)

    # What follows is for the handlers, each on a thread of its own.

    def begin(self, connection: int, request: Request) -> tuple[Exchange, Response]:
        """Record a request, and return the response to play."""
        with self._changed:
            exchange = Exchange(
                len(self.exchanges),
                connection,
                request.method,
                request.path,
                request.headers,
                request.body,
                self._notify,
            )
            self.exchanges.append(exchange)
            turn = exchange.index - self._first
            responses = self._responses or (Response(status=500),)
        self._notify()
        return exchange, responses[min(turn, len(responses) - 1)]

    def note_malformed(self, what: str) -> None:
        """Record what came instead of a request."""
        self.malformed.append(what)
        self._notify()

    def note_fault(self, exchange: Exchange, step: Step, error: BaseException) -> None:
        """Keep what a script raised."""
        fault = BackendError(
            f"the script of request {exchange.index} raised {error!r} "
            f"at step {short_repr(step, 300)}"
        )
        fault.__cause__ = error
        self._faults.append(fault)

    def _serve(self, connection: Connection) -> None:
        with self._changed:
            number, self._connections = self._connections, self._connections + 1
        Handler(self, connection, number).run()

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()


def _fault(error: BaseException) -> BackendError:
    if isinstance(error, SocketsLost):
        return SocketsClosed(str(error))
    return BackendError(f"the server failed: {error!r}")
