"""urllib3 pools whose connections keep a ledger; requests stands on urllib3, so one serves both.

Only urllib3's own points of extension are used: `PoolManager.pool_classes_by_scheme`,
`HTTPConnectionPool.ConnectionCls` and `QueueCls`, keyword arguments for connections, and the
public methods of the connection and of the queue.
"""

from __future__ import annotations

import queue
import weakref
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.poolmanager import PoolManager
from urllib3.response import HTTPResponse

from modeltest.transports.base import Transport

if TYPE_CHECKING:
    from modeltest.transports.ledger import Connection, Ledger


@dataclass(frozen=True)
class PooledTransport(Transport):
    """A transport whose clients pool connections, with the library's own settings by default.

    Attributes:
        pool_size: how many connections to one host the pool keeps; None leaves the library's
            own number, and its way of opening more when they are all in use.
        pool_block: with a `pool_size`, whether a request waits for a connection to come back
            when they are all in use, rather than open one more. A connection that leaks then
            blocks the next request for ever, which is what such a check is after.

    Raises:
        ValueError: `pool_size` is below 1.
    """

    pool_size: int | None = None
    pool_block: bool = True

    def __post_init__(self) -> None:
        if self.pool_size is not None and self.pool_size < 1:
            raise ValueError(f"expected a pool_size of 1 or more, or None, got {self.pool_size}")


class TrackedHTTPConnection(HTTPConnection):
    """An HTTP connection that tells the ledger of each socket it opens.

    One such object may open several sockets, one after the other: urllib3 keeps it in the pool
    and reconnects it. Each socket is a `Connection` of the ledger.
    """

    def __init__(self, *args: Any, ledger: Ledger, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ledger = ledger
        self._ledger_entry: Connection | None = None
        self._last_response: weakref.ref[HTTPResponse] | None = None

    def connect(self) -> None:
        """Connect, and record it; what fails to connect is no connection."""
        self._ledger_entry = None
        super().connect()
        self._ledger_entry = self._ledger.opened((self.host, self.port), self.sock)

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send a request; one that fails half-way was sent too: a server may have seen it."""
        try:
            super().request(*args, **kwargs)
        finally:
            if self._ledger_entry is not None:
                self._ledger_entry.request_sent()

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]
        """Return the response, which may already be read to its end."""
        response = super().getresponse()
        # After the call: http.client closes the connection within it, and leaves the socket
        # to the response, when the server says that it will close.
        self._last_response = weakref.ref(response)
        return response

    def close(self) -> None:
        """Close; a response still being read is thereby dropped."""
        super().close()
        self._last_response = None
        if self._ledger_entry is not None:
            self._ledger_entry.changed()

    def given_back(self) -> None:
        """Note that the connection goes back to its pool.

        Its response was read to the end if the response's file is closed and nobody closed the
        connection under it. That is what http.client goes by before it sends the next request,
        and it holds for every way to read and every kind of body. So a response without a
        body (HEAD, 204, 304) counts as unread until somebody reads it: the next request on
        the connection fails until then. urllib3's own counters, `length_remaining` and
        `chunk_left`, are no use here: they lag behind, or stay unset.
        """
        response = None if self._last_response is None else self._last_response()
        complete = response is not None and response.isclosed()
        if self._ledger_entry is not None:
            self._ledger_entry.given_back(complete=complete)

    def taken_out(self) -> None:
        """Note that the connection leaves its pool."""
        if self._ledger_entry is not None:
            self._ledger_entry.taken_out()


class TrackedHTTPSConnection(TrackedHTTPConnection, HTTPSConnection):
    """The same over TLS; it counts as opened once the handshake is done."""


class TrackedQueue(queue.LifoQueue[Any]):
    """The free connections of a pool; None stands for one that is yet to be made."""

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002 - the signature of queue.Queue
        """Take a connection back.

        Noted before it is done, so that a thread that takes it out at once has the last word.
        A full queue refuses it, and urllib3 then closes the connection.
        """
        if item is not None:
            item.given_back()
        super().put(item, block, timeout)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: FBT001, FBT002 - as above
        """Hand a connection out."""
        item = super().get(block, timeout)
        if item is not None:
            item.taken_out()
        return item


class TrackedHTTPConnectionPool(HTTPConnectionPool):
    """A pool for one host."""

    ConnectionCls = TrackedHTTPConnection
    QueueCls = TrackedQueue


class TrackedHTTPSConnectionPool(HTTPSConnectionPool):
    """A pool for one host, over TLS."""

    ConnectionCls = TrackedHTTPSConnection
    QueueCls = TrackedQueue


def track(manager: PoolManager, ledger: Ledger) -> None:
    """Make `manager` record in `ledger` the connections it opens from now on."""
    # A pool hands keyword arguments it does not know to its connections.
    manager.pool_classes_by_scheme = {
        "http": partial(TrackedHTTPConnectionPool, ledger=ledger),  # type: ignore[dict-item]
        "https": partial(TrackedHTTPSConnectionPool, ledger=ledger),  # type: ignore[dict-item]
    }
