"""Whose threads are whose, and getting rid of those that hang."""

from __future__ import annotations

import concurrent.futures.thread
import ctypes
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import contextmanager

from modeltest.clock import now, pause
from modeltest.threads.kit import KitThread


def is_kit_thread(thread: threading.Thread) -> bool:
    """Tell whether the kit started `thread`."""
    return isinstance(thread, KitThread)


def is_adapter_thread(thread: threading.Thread) -> bool:
    """Tell whether `thread` was started while an adapter was tested, and not by the kit."""
    return thread in _theirs


def adapter_threads() -> tuple[threading.Thread, ...]:
    """Return the live threads that were started while an adapter was tested, not by the kit."""
    with _lock:
        return tuple(thread for thread in _theirs if thread.is_alive())


def other_threads() -> set[threading.Thread]:
    """Return the live threads that are not the kit's."""
    return {thread for thread in threading.enumerate() if not is_kit_thread(thread)}


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
    until = now() + _GRACE
    for thread in busy:
        thread.join(max(0.0, until - now()))
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
        pause(_LOOK_INTERVAL)  # nothing else tells a busy thread from a blocked one
        found |= {thread for thread in used if _processor_time(thread) > used[thread]}
    return found


_LOOKS, _LOOK_INTERVAL = 30, 0.005
_GRACE = 0.2
"""Seconds in which threads that were told to end may do so."""


def _processor_time(thread: threading.Thread) -> float:
    """Return how many seconds it has computed, by its own clock; 0 if that cannot be read."""
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    if clock_of is None or thread.ident is None or not thread.is_alive():
        return 0.0
    try:
        return time.clock_gettime(clock_of(thread.ident))
    except OSError:
        return 0.0  # it has just ended


@contextmanager
def threads_as_daemons() -> Iterator[None]:
    """Let no thread started inside the block keep the process from exiting.

    An adapter may leave a thread blocked for ever. The interpreter waits for such a thread
    at its end unless it is a daemon, and the author's test run would never exit. It waits for
    the threads of every `ThreadPoolExecutor` too, daemons or not.
    """
    global _blocks  # noqa: PLW0603 - several checks may run side by side
    with _lock:
        _blocks += 1
        threading.Thread.start = _start_as_daemon  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                threading.Thread.start = _start  # type: ignore[method-assign]
                _drop_executors()


_lock = threading.RLock()  # a finalizer may start a thread where it is held
_blocks = 0
_start = threading.Thread.start
_started: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
_theirs: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
"""All of them, also those of blocks that are over."""


def _start_as_daemon(thread: threading.Thread) -> None:
    if thread.ident is None:  # else it was started before, which start() complains about
        thread.daemon = True
        with _lock:  # a set that grows cannot be gone through
            _started.add(thread)
            _theirs.add(thread)
    _start(thread)


def _drop_executors() -> None:
    """Keep `concurrent.futures` from joining the threads started inside the block at exit."""
    joined: MutableMapping[threading.Thread, object] = getattr(
        concurrent.futures.thread, "_threads_queues", {}
    )
    for thread in tuple(_started):
        joined.pop(thread, None)
    _started.clear()
