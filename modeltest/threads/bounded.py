"""A call into the adapter's code that is waited for only so long."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from modeltest.threads.kit import Worker, outcome
from modeltest.threads.pending import Hang, Pending
from modeltest.threads.stacks import stack
from modeltest.threads.unwinding import unwind

T = TypeVar("T")


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
    pending = Pending(operation, lambda: stack(worker.thread))
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
