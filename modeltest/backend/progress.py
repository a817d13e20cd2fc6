"""A counter that two sides share: what the consumer has taken, the script may wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Progress:
    """Counts the events one consumer has taken; thread-safe.

    A script step waits for it (`Await`), so that the server sends an event only once the
    consumer has the one before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._listeners: list[Callable[[], object]] = []

    @property
    def count(self) -> int:
        """How many events were taken."""
        return self._count

    def advance(self) -> None:
        """Count one more event, and wake whoever waits for it."""
        with self._lock:
            self._count += 1
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()

    def listen(self, listener: Callable[[], object]) -> None:
        """Call `listener()` after each `advance`, on the advancing thread."""
        with self._lock:
            self._listeners.append(listener)

    def unlisten(self, listener: Callable[[], object]) -> None:
        """Stop calling `listener`."""
        with self._lock:
            self._listeners.remove(listener)
