"""A thread on which one thing after the other is done, and which can be left behind."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from modeltest.threads.kit import KitThread, leave_copy

Job = Callable[[], object]
T = TypeVar("T")


class Worker:
    """A thread that does what it is given, in turn, until it is told to end.

    Attributes:
        thread: the thread.
    """

    def __init__(self) -> None:
        """Start the thread."""
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.thread: threading.Thread = KitThread(work, self._jobs, name="modeltest consumer")
        self.thread.start()

    def do(self, job: Job) -> None:
        """Do `job` once all that was given before is over; it sees to its own exceptions."""
        self._jobs.put(job)

    def end(self) -> None:
        """End once all that was given before is over. Harmless if it is done twice."""
        self._jobs.put(None)


def outcome(make: Callable[[], T], made: list[T]) -> BaseException | None:
    """Put what `make()` gives into `made`; return what it raised, None if nothing."""
    try:
        made.append(make())
    except BaseException as error:
        return error
    return None


def work(jobs: queue.SimpleQueue[Job | None]) -> None:
    """Do the jobs in turn, until one is None."""
    over = False
    while not over:
        # The SystemExit of `unwind` may come when the job that hung has just returned.
        with contextlib.suppress(SystemExit):
            job = jobs.get()
            over = job is None
            if job is not None:
                job()
                leave_copy()
            del job  # it refers to the stream
