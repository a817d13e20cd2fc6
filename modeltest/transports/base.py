"""What a transport is: where the HTTP client comes from that an adapter is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from modeltest.transports.ledger import Ledger


class Transport(ABC):
    """A factory of HTTP clients: every test gets a fresh client and a fresh ledger.

    Attributes:
        tracks: whether the clients record their connections in the ledger. Where they do not,
            only what the server sees tells whether a connection was released.
        plays_in_process: whether `responses` can answer the clients without a socket.
    """

    tracks: ClassVar[bool] = True
    plays_in_process: ClassVar[bool] = False

    def in_process(
        self, base_url: str, content_type: str
    ) -> AbstractContextManager[Callable[[bytes], None]]:
        """Return a context manager that answers the clients without a socket.

        It gives a function that takes the next answers' body.

        Raises:
            NotImplementedError: the transport does not play in process; see `plays_in_process`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not play in process")

    @abstractmethod
    def client(self, ledger: Ledger) -> AbstractContextManager[Any]:
        """Return a context manager that gives a fresh client and closes it on exit."""


class OwnTransport(Transport):
    """No client: the adapter brings its own, is given None, and the ledger stays empty."""

    tracks = False

    @contextmanager
    def client(self, ledger: Ledger) -> Iterator[None]:  # noqa: ARG002 - nothing to record
        """Give None."""
        yield None

    def __repr__(self) -> str:
        return "OwnTransport()"
