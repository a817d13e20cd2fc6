"""The client is a `urllib3.PoolManager`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import urllib3

from modeltest.transports.pools import PooledTransport, track

if TYPE_CHECKING:
    from modeltest.transports.ledger import Ledger


class Urllib3Transport(PooledTransport):
    """Gives a `urllib3.PoolManager` that records its connections.

    In everything else it is what `urllib3.PoolManager()` gives an author: up to three retries,
    which cover failed connects and, for GET and the like but not for POST, broken reads;
    redirects followed; no timeout; one connection kept for each host and more opened when
    that one is in use; proxy variables of the environment not looked at.
    """

    @contextmanager
    def client(self, ledger: Ledger) -> Iterator[urllib3.PoolManager]:
        """Give the pool manager; its idle connections are closed on exit."""
        options: dict[str, Any] = {}
        if self.pool_size is not None:
            options = {"maxsize": self.pool_size, "block": self.pool_block}
        with urllib3.PoolManager(**options) as manager:
            track(manager, ledger)
            yield manager
