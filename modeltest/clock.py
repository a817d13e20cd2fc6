"""Time: real, whatever is made of the `time` module, and fair.

Tests of retries stop the clock and skip sleeps. A deadline that is read from a stopped clock
never comes.

On a starved machine a deadline in real time passes while nothing of the adapter has run. So
deadlines are counted in fair time: a thread of the kit's own wakes every few milliseconds, and each
wake counts for no more than a little. A process that is stopped, or waits for a processor, has no
wakes, and is given more real time. An adapter that computes lets go of the interpreter often enough
for the heartbeat to go on.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

# Not as names of this module: tools that stop the clock replace those in every module.
_REAL: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep)
_start_thread = threading.Thread.start


def now() -> float:
    """Return the monotonic time, in seconds."""
    return _REAL[0]()


def pause(seconds: float) -> None:
    """Wait so many seconds."""
    _REAL[1](seconds)


BEAT = 0.005
"""Seconds between two beats."""
COUNTED = 0.01
"""Seconds that one beat counts for at most: the pause, and one turn of another thread."""
MOST = 30
"""Real seconds that a second of fair time may take: the kit never hangs."""
LINGER = 100
"""Beats without a deadline after which the thread ends; to start one for each wait costs more."""
_SHORTEST = 0.005


class FairClock:
    """Counts fair time while somebody waits for a deadline.

    Attributes:
        seconds: counted so far.
    """

    def __init__(
        self,
        now: Callable[[], float] = now,
        pause: Callable[[float], object] = pause,
        start: Callable[[Callable[[], None]], threading.Thread] | None = None,
    ) -> None:
        """Begin at 0.

        Args:
            now: tells the real time.
            pause: waits so many seconds.
            start: starts a thread that calls what it is given.
        """
        self.seconds = 0.0
        self._now, self._pause, self._start = now, pause, start or _start
        self._lock = threading.RLock()  # a finalizer may wait for something, too
        self._waiting = 0
        self._idle = 0
        self._last = 0.0
        self._thread: threading.Thread | None = None

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Deadline]:
        """Count inside the block, and give what tells how much of `seconds` is left."""
        with self._lock:
            self._waiting += 1
            self._go_on()
        try:
            yield Deadline(self, seconds)
        finally:
            with self._lock:
                self._waiting -= 1

    def real(self) -> float:
        """Return the real time, in seconds."""
        return self._now()

    def beat(self) -> bool:
        """Count what has passed since the last beat; return whether to go on."""
        with self._lock:
            last, self._last = self._last, self._now()
            self.seconds += min(self._last - last, COUNTED)
            self._idle = 0 if self._waiting else self._idle + 1
            if self._idle < LINGER:
                return True
            self._thread = None
            return False

    def _go_on(self) -> None:
        # A thread of this process's parent is none here.
        if self._thread is None or not self._thread.is_alive():
            self._idle, self._last = 0, self._now()
            self._thread = self._start(self._run)

    def _run(self) -> None:
        going = True
        while going:
            self._pause(BEAT)
            going = self.beat()


class Deadline:
    """So many seconds of fair time from its making on, and not for ever in real time."""

    def __init__(self, clock: FairClock, seconds: float) -> None:
        """Begin to count by `clock`."""
        self._clock = clock
        self._until = clock.seconds + seconds
        self._at_last = clock.real() + MOST * seconds

    @property
    def left(self) -> float:
        """How many seconds are left; as many pass in real time at least, but for the last."""
        at_last = self._at_last - self._clock.real()
        return max(0.0, min(self._until - self._clock.seconds, at_last))

    @property
    def over(self) -> bool:
        """Whether none are left."""
        return self.left <= 0

    def wait(self, wait: Callable[[float], bool]) -> bool:
        """Call `wait(seconds)`, which tells whether it came, until it did or none are left."""
        while not wait(self.left and max(self.left, _SHORTEST)):
            if self.over:
                return False
        return True


class Heartbeat(threading.Thread):
    """The thread that counts: one of the kit's."""


def _start(run: Callable[[], None]) -> threading.Thread:
    thread = Heartbeat(target=run, name="modeltest heartbeat", daemon=True)
    _start_thread(thread)  # whatever an adapter has put in its place
    return thread


_clock = FairClock()


def deadline(seconds: float) -> AbstractContextManager[Deadline]:
    """Give, for the block, a deadline of so many seconds of fair time."""
    return _clock.deadline(seconds)


def wait_fairly(wait: Callable[[float], bool], seconds: float) -> bool:
    """Wait for so many seconds of fair time at most; return whether it came.

    Args:
        wait: waits for it, at most so many real seconds, and tells whether it came.
        seconds: of fair time.
    """
    if wait(0):
        return True
    with deadline(seconds) as limit:
        return limit.wait(wait)


def join_fairly(thread: threading.Thread, seconds: float) -> bool:
    """Wait for the end of a thread, for so many seconds of fair time; return whether it came."""

    def join(real: float) -> bool:
        thread.join(real)
        return not thread.is_alive()

    return wait_fairly(join, seconds)


def _renew() -> None:
    """Begin anew in a child of this process: another thread may have held the lock."""
    global _clock  # noqa: PLW0603 - so it is, for all of the child
    _clock = FairClock()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew)
