"""The shapes of an adapter. A generator function is already a complete `Model.stream`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from modeltest.interface.events import Event
    from modeltest.interface.request import Request


@runtime_checkable
class Model(Protocol):
    """A synchronous adapter.

    `stream` returns something that can be iterated once and closed with `close()`. It may
    take a second parameter, `cancel: CancelToken`. Errors are raised at the call or while
    iterating.
    """

    def stream(self, request: Request, /) -> Iterable[Event]:
        """Send the request and return the events of its answer."""
        ...


@runtime_checkable
class AsyncModel(Protocol):
    """An asynchronous adapter.

    `stream` returns an async iterator with `aclose()`, or a coroutine that gives one.
    """

    def stream(
        self, request: Request, /
    ) -> AsyncIterator[Event] | Coroutine[Any, Any, AsyncIterator[Event]]:
        """Send the request and return the events of its answer."""
        ...
