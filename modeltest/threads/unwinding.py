"""Getting rid of threads that compute for ever."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Iterable

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


_LOOKS, _LOOK_INTERVAL = 30, 0.005
_GRACE = 0.2
"""Seconds in which threads that were asked to end may do so."""


def _processor_time(thread: threading.Thread) -> float:
    """Return how many seconds it has computed, by its own clock; 0 if that cannot be read."""
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    if clock_of is None or thread.ident is None or not thread.is_alive():
        return 0.0
    try:
        return time.clock_gettime(clock_of(thread.ident))
    except OSError:
        return 0.0  # it has just ended
