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
    """The outcome of an operation, once it has one."""

    def __init__(self, operation: str | Callable[[], str], frames: Callable[[], list[str]]) -> None:
        """Begin without an outcome.

        Args:
            operation: what the adapter is asked to do, or what tells what that is by now.
            frames: tells where it stands, for a `Hang`.
        """
        self._operation = operation
        self._frames: Callable[[], list[str]] = frames
        self._done = threading.Event()
        self._error: BaseException | None = None

    @property
    def done(self) -> bool:
        """Whether the operation has returned."""
        return self._done.is_set()

    def finish(self, error: BaseException | None) -> None:
        """Record what the adapter raised, None if nothing."""
        self._error = error
        self._frames = list  # what knew the frames may know this, too: no cycle is left
        self._done.set()

    def wait(self, seconds: float) -> BaseException | None:
        """Return what the adapter raised, None if nothing.

        Raises:
            Hang: it is not over after so many seconds.
        """
        if not self._done.wait(seconds):
            operation = self._operation
            raise Hang(
                operation if isinstance(operation, str) else operation(), seconds, self._frames()
            )
        return self._error
