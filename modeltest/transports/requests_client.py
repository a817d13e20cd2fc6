"""The client is a `requests.Session`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter

from modeltest.transports.in_process import answered_in_process
from modeltest.transports.pools import PooledTransport, track

if TYPE_CHECKING:
    from modeltest.transports.ledger import Ledger


class RequestsTransport(PooledTransport):
    """Gives a `requests.Session` that records its connections.

    It differs from `requests.Session()` in one more thing: `trust_env` is off, so that proxy
    variables, `.netrc` and certificate variables of the author's machine change nothing.
    An adapter under test that mounts an `HTTPAdapter` of its own is not tracked.
    """

    plays_in_process = True

    def in_process(
        self, base_url: str, content_type: str
    ) -> AbstractContextManager[Callable[[bytes], None]]:
        """Return what answers requests below `base_url` without a socket."""
        return answered_in_process(base_url, content_type)

    @contextmanager
    def client(self, ledger: Ledger) -> Iterator[requests.Session]:
        """Give the session; its idle connections are closed on exit."""
        options: dict[str, Any] = {}
        if self.pool_size is not None:
            options = {"pool_maxsize": self.pool_size, "pool_block": self.pool_block}
        with requests.Session() as session:
            session.trust_env = False
            adapter = _TrackedAdapter(ledger, **options)
            session.mount("https://", adapter)
            session.mount("http://", adapter)
            yield session


class _TrackedAdapter(HTTPAdapter):
    """An adapter whose pools, those towards a proxy included, keep the ledger."""

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        # Before the base class is set up: that makes the pool manager.
        self._ledger = ledger
        super().__init__(**options)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        track(self.poolmanager, self._ledger)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        track(manager, self._ledger)
        return manager
