"""Cancelling a stream from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable


class CancelToken:
    """Tells a running stream, from any thread, that nobody wants the rest of it.

    An adapter that takes `cancel: CancelToken` adds a callback that wakes its blocked read;
    with requests and urllib3 that is `response.raw.shutdown()`.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may cancel inside add_callback()
        self._cancelled = False
        self._callbacks: list[Callable[[], object]] = []

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Cancel, and run the callbacks on the calling thread; a second call does nothing.

        Raises:
            ExceptionGroup: what callbacks raised, after all of them have run.
        """
        with self._lock:
            self._cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        errors: list[Exception] = []
        for callback in callbacks:
            try:
                callback()
            except Exception as error:
                errors.append(error)
        if errors:
            raise ExceptionGroup("cancel callbacks failed", errors)

    def add_callback(self, callback: Callable[[], object]) -> None:
        """Call `callback()` once on cancellation; at once if that has already happened."""
        with self._lock:
            if not self._cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def remove_callback(self, callback: Callable[[], object]) -> None:
        """Forget `callback`, so that a finished stream is not kept alive; harmless if unknown."""
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def __repr__(self) -> str:
        return f"<CancelToken {'cancelled' if self._cancelled else 'active'}>"
