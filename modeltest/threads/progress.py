"""A counter that two sides share: what the consumer has taken, the script may wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Progress:
    """Counts the events one consumer has taken; thread-safe.

    A script step waits for it (`Await`), so that the server sends an event only once the
    consumer has the one before.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._listeners: list[Callable[[], object]] = []

    @property
    def count(self) -> int:
        """How many events were taken."""
        return self._count

    def advance(self) -> None:
        """Count one more event, and wake whoever waits for it."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()
            listeners = tuple(self._listeners)
        # Outside the lock: a listener takes one of its own.
        for listener in listeners:
            listener()

    def wait(self, count: int, timeout: float) -> bool:
        """Wait at most `timeout` seconds until so many were taken; return whether they were."""
        with self._changed:
            return self._changed.wait_for(lambda: self._count >= count, timeout)

    @contextmanager
    def subscribe(self, listener: Callable[[], object]) -> Iterator[None]:
        """Inside the block, call `listener()` after each `advance`, on the advancing thread."""
        with self._changed:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._changed:
                self._listeners.remove(listener)
