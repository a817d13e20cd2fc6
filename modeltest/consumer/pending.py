"""An operation under way on a consumer's thread or loop."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Hang(Exception):  # noqa: N818 - a verdict about the adapter
    """The adapter did not come back in time.

    Attributes:
        operation: what it was asked to do.
        seconds: how long it was waited for.
        frames: where it stands, innermost last.
    """

    def __init__(self, operation: str, seconds: float, frames: list[str]) -> None:
        super().__init__(f"{operation} did not return within {seconds:.1f} s")
        self.operation = operation
        self.seconds = seconds
        self.frames = frames


class Pending:
    """The result of an operation, once it has one."""

    def __init__(self, operation: str, frames: Callable[[], list[str]]) -> None:
        self._operation = operation
        self._frames = frames
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._fault: BaseException | None = None

    @property
    def done(self) -> bool:
        """Whether the operation has returned."""
        return self._done.is_set()

    def finish(self, error: BaseException | None, fault: BaseException | None = None) -> None:
        """Record what the adapter raised, or a fault of the kit."""
        self._error, self._fault = error, fault
        self._done.set()

    def wait(self, seconds: float) -> BaseException | None:
        """Return what the adapter raised, None if nothing.

        Raises:
            Hang: it is not over after so many seconds.
        """
        if not self._done.wait(seconds):
            raise Hang(self._operation, seconds, self._frames())
        if self._fault is not None:
            raise self._fault
        return self._error
