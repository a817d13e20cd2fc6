"""The kit's own threads, and which they are."""

from __future__ import annotations

import contextlib
import mmap
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_start = threading.Thread.start
_exit = os._exit
_returned = mmap.mmap(-1, 1)
"""A byte that the process has in common with the copies that are forked of it."""
_is_copy = False


class KitThread(threading.Thread):
    """A thread of the kit: never taken for one of the adapter's, whatever its name.

    It is a daemon: if the code that it runs hangs, the process can exit all the same.

    Attributes:
        when_forked: called in the child, if this thread is where the adapter forks.
    """

    def __init__(self, target: Callable[..., object], *args: Any, name: str) -> None:
        """Prepare to call `target(*args)`; it is not started yet."""
        super().__init__(target=target, args=args, name=name, daemon=True)
        self.when_forked: Callable[[], object] = _nothing

    def start(self) -> None:
        """Start it, whatever an adapter has put in the place of `Thread.start`."""
        _start(self)

    def run(self) -> None:
        """Call the target; a SystemExit ends the thread without a word, whatever hooks are set."""
        with contextlib.suppress(SystemExit):
            super().run()


def leave_copy() -> None:
    """End this process if it is a copy: called where the adapter's code comes back to the kit's.

    A child that the adapter forks has the thread that forked, and in it the check. It may do
    there what it likes, and exit; going on, it would be a second test run, read what is sent
    to the first, and keep its sockets open.
    """
    if _is_copy:
        _returned[0] = 1
        _exit(1)


def copies_came_back() -> bool:
    """Tell, once, whether a child that the adapter forked came back to the kit."""
    came, _returned[0] = bool(_returned[0]), 0
    return came


def _note_copy() -> None:
    global _is_copy  # noqa: PLW0603 - so it is, for all of the child
    thread = threading.current_thread()
    if isinstance(thread, KitThread):
        _is_copy = True
        thread.when_forked()


def _nothing() -> None: ...


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_note_copy)


Job = Callable[[], object]
T = TypeVar("T")


class Worker:
    """A thread that does what it is given, in turn, until it is asked to end.

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
