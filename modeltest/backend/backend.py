"""The backend: a loopback HTTP server that answers by script and keeps the evidence."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from email.message import Message
from types import TracebackType
from typing import Self

from modeltest.backend.exchange import Exchange
from modeltest.backend.handler import Handler
from modeltest.backend.script import Response, Step
from modeltest.backend.server import Server

STOP_TIMEOUT = 2.0
"""Seconds a handler may take to end once its connection is shut; none should take any."""


class BackendError(Exception):
    """The kit's own fault, not the adapter's: the port cannot be bound, or a script raised."""


class Backend:
    """A server on loopback that plays one `Response` a request and records an `Exchange` each.

    Usable as a context manager. It answers any method and path.

    Attributes:
        exchanges: the requests received so far, in order.
    """

    def __init__(self, *responses: Response, host: str = "127.0.0.1", port: int = 0) -> None:
        """Prepare to answer with `responses` in turn; the last one answers all that follow.

        Args:
            responses: the scripts.
            host: a loopback address to listen on.
            port: TCP port; 0 takes a free one.
        """
        self.exchanges: list[Exchange] = []
        self._responses = responses
        self._address = (host, port)
        self._faults: list[BackendError] = []
        self._connections = 0
        self._changed = threading.Condition()
        self._server: Server | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port it listens on.

        Raises:
            BackendError: it was not started.
        """
        if self._server is None:
            raise BackendError("the backend is not running: call start(), or use it in a with")
        host, port = self._server.server_address[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        """Its `http://host:port`, without a slash at the end."""
        host, port = self.address
        return f"http://{host}:{port}"

    @property
    def connections(self) -> int:
        """How many TCP connections were accepted."""
        return self._connections

    def start(self) -> Self:
        """Listen; requests are answered from now on.

        Raises:
            BackendError: the address cannot be bound.
        """
        try:
            self._server = Server(self._address, functools.partial(Handler, self))
        except OSError as error:
            host, port = self._address
            raise BackendError(f"cannot listen on {host}:{port}: {error}") from error
        self._server.start()
        return self

    def stop(self) -> None:
        """Close every connection, end every thread; harmless when it is not running."""
        server, self._server = self._server, None
        if server is None:
            return
        server.stopping.set()
        for exchange in tuple(self.exchanges):
            exchange.wake()
        stuck = server.stop(STOP_TIMEOUT)
        self._faults += [BackendError(f"handler {thread.name} did not end") for thread in stuck]
        self._faults += [BackendError(f"a handler raised {error!r}") for error in server.errors]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

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
        if self._faults:
            raise self._faults[0]

    def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait until `condition()` holds, at most `timeout` seconds; return whether it holds.

        It is tried again whenever a request comes, an answer is over or a peer leaves.
        """
        with self._changed:
            return self._changed.wait_for(condition, timeout)

    # What follows is for the handlers.

    _first = 0

    def changed(self) -> None:
        """Let everyone who waits look again."""
        with self._changed:
            self._changed.notify_all()

    def number_connection(self) -> int:
        """Return the number of a new connection."""
        with self._changed:
            self._connections += 1
            return self._connections - 1

    def begin(
        self, connection: int, method: str, path: str, headers: Message, body: bytes
    ) -> tuple[Exchange, Response]:
        """Record a request, and return the response to play."""
        with self._changed:
            exchange = Exchange(len(self.exchanges), connection, method, path, headers, body)
            self.exchanges.append(exchange)
            turn = exchange.index - self._first
            responses = self._responses or (Response(status=500),)
            self._changed.notify_all()
        return exchange, responses[min(turn, len(responses) - 1)]

    def note_fault(self, exchange: Exchange, step: Step, error: BaseException) -> None:
        """Keep what a script raised."""
        fault = BackendError(
            f"the script of request {exchange.index} raised {error!r} at step {step!r}"
        )
        fault.__cause__ = error
        self._faults.append(fault)
