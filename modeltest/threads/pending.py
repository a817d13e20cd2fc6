"""An operation under way on a consumer's thread or loop, which is waited for only so long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from modeltest.clock import wait_fairly
from modeltest.threads.kit import Worker, outcome
from modeltest.threads.stacks import stack
from modeltest.threads.unwinding import unwind, waits

T = TypeVar("T")


class Hang(Exception):  # noqa: N818 - a verdict about the adapter
    """The adapter did not come back in time.

    Attributes:
        operation: what it was asked to do.
        seconds: how long it was waited for, in fair time.
        frames: where it stands, innermost last.
        waits: whether it waits there; False if it computes, None if nobody can tell.
    """

    def __init__(
        self, operation: str, seconds: float, frames: list[str], *, waits: bool | None = None
    ) -> None:
        super().__init__(f"{operation} did not return within {seconds:.1f} s")
        self.operation = operation
        self.seconds = seconds
        self.frames = frames
        self.waits = waits


class Pending:
    """The outcome of an operation, once it has one."""

    def __init__(
        self,
        operation: str | Callable[[], str],
        frames: Callable[[], list[str]],
        waiting: Callable[[], bool | None] | None = None,
    ) -> None:
        """Begin without an outcome.

        Args:
            operation: what the adapter is asked to do, or what tells what that is by now.
            frames: tells where it stands, for a `Hang`.
            waiting: tells whether it waits there, for a `Hang`.
        """
        self._operation = operation
        self._frames: Callable[[], list[str]] = frames
        self._waits: Callable[[], bool | None] = waiting or _nobody_knows
        self._done = threading.Event()
        self._error: BaseException | None = None

    @property
    def done(self) -> bool:
        """Whether the operation has returned."""
        return self._done.is_set()

    def finish(self, error: BaseException | None) -> None:
        """Record what the adapter raised, None if nothing."""
        self._error = error
        # What knew the frames may know this, too: no cycle is left.
        self._frames, self._waits = list, _nobody_knows
        self._done.set()

    def wait(self, seconds: float) -> BaseException | None:
        """Return what the adapter raised, None if nothing.

        Raises:
            Hang: it is not over after so many seconds of fair time.
        """
        if not wait_fairly(self._done.wait, seconds):
            operation = self._operation
            name = operation if isinstance(operation, str) else operation()
            raise Hang(name, seconds, self._frames(), waits=self._waits())
        return self._error


def call_within(seconds: float, operation: str, call: Callable[[], T]) -> T:
    """Return what `call()` gives, called on a thread of its own, which is left behind if it hangs.

    Args:
        seconds: how long it is waited for.
        operation: what it is called in a `Hang`.
        call: runs code of the adapter's.

    Raises:
        Hang: it did not return.

    Whatever `call` raises passes through.
    """
    made: list[T] = []
    worker = Worker()
    pending = Pending(operation, lambda: stack(worker.thread), lambda: waits(worker.thread))
    worker.do(lambda: pending.finish(outcome(call, made)))
    worker.end()
    try:
        error = pending.wait(seconds)
    except Hang:
        unwind(worker.thread)
        raise
    if error is not None:
        raise error
    return made[0]


def _nobody_knows() -> None:
    """Tell nothing."""
