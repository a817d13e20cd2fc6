"""Getting rid of threads that compute for ever."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Collection, Iterable

_never = threading.Event()
"""Waited for as a pause: an adapter's tests may stop the clock of the `time` module."""


def unwind(*threads: threading.Thread) -> bool:
    """Ask threads that compute for ever to end, by raising SystemExit in them; wait a moment.

    They would otherwise slow down all that follows. A thread that is blocked, in a system call
    or on a lock, is left behind: it costs nothing, and would not notice. Only CPython can do
    this, and only where a thread's own clock can be read; elsewhere nothing is done.

    Returns:
        Whether any was asked.
    """
    raise_in = getattr(getattr(ctypes, "pythonapi", None), "PyThreadState_SetAsyncExc", None)
    if raise_in is None or sys.gettrace() is not None or sys.getprofile() is not None:
        # CPython 3.11 goes round in circles in every traced thread until the exception has
        # been raised in its own: under coverage or a debugger that could be for ever.
        return False
    busy = computing(threads)
    for thread in busy:
        if thread.is_alive():  # else its number may be another's by now
            raise_in(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
    for thread in busy:
        thread.join(_GRACE / len(busy))
    return bool(busy)


def computing(threads: Iterable[threading.Thread]) -> set[threading.Thread]:
    """Return those that use the processor.

    Looked at for long enough that each has its turn, on a busy machine too.
    """
    used = {thread: _processor_time(thread) for thread in threads}
    found: set[threading.Thread] = set()
    for _ in range(_LOOKS):
        if len(found) == len(used):
            break
        _never.wait(_LOOK_INTERVAL)  # nothing else tells a busy thread from a blocked one
        found |= {thread for thread in used if _processor_time(thread) > used[thread]}
    return found


def waits(thread: threading.Thread) -> bool | None:
    """Tell whether a thread waits for something; None if nobody can tell."""
    return waiting([thread])[thread]


def waiting(threads: Collection[threading.Thread]) -> dict[threading.Thread, bool | None]:
    """Tell of each thread whether it waits for something; None if nobody can tell.

    One that only looks now and then whether something has come waits for it.
    """
    before = {thread: _processor_time(thread) for thread in threads if _can_be_read(thread)}
    told: dict[threading.Thread, bool | None] = dict.fromkeys(threads) | dict.fromkeys(before, True)
    for _ in range(_LOOKS):
        if True not in told.values():
            break
        _never.wait(_LOOK_INTERVAL)
        for thread, used in before.items():
            if _processor_time(thread) - used > _COMPUTED:
                told[thread] = False
    return told


_LOOKS, _LOOK_INTERVAL = 30, 0.005
_COMPUTED = 0.004
"""Seconds of a processor's that a thread uses, in so many looks, only if it computes."""
_GRACE = 0.2
"""Seconds in which threads that were asked to end may do so."""


def _can_be_read(thread: threading.Thread) -> bool:
    return hasattr(time, "pthread_getcpuclockid") and thread.is_alive()


def _processor_time(thread: threading.Thread) -> float:
    """Return how many seconds it has computed, by its own clock; 0 if that cannot be read."""
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    if clock_of is None or thread.ident is None or not thread.is_alive():
        return 0.0
    try:
        return time.clock_gettime(clock_of(thread.ident))
    except OSError:
        return 0.0  # it has just ended
