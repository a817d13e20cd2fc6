"""Whose threads are whose, and getting rid of those that hang."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_kit_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def kit_thread(target: Callable[..., object], *args: Any, name: str) -> threading.Thread:
    """Return a daemon thread, not started, that is not taken for one of the adapter's."""
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    _kit_threads.add(thread)
    return thread


def is_kit_thread(thread: threading.Thread) -> bool:
    """Tell whether the kit started `thread`."""
    return thread in _kit_threads or thread.name.startswith("modeltest backend")


def other_threads() -> set[threading.Thread]:
    """Return the live threads that are not the kit's."""
    return {thread for thread in threading.enumerate() if not is_kit_thread(thread)}


def unwind(thread: threading.Thread) -> None:
    """Ask a thread that hangs to end, by raising SystemExit in it.

    It works for a loop without I/O, which would otherwise slow down all that follows; a
    thread blocked in a system call gets it when the call returns. Only CPython can do this;
    elsewhere the thread is simply left behind.
    """
    raise_in = getattr(getattr(ctypes, "pythonapi", None), "PyThreadState_SetAsyncExc", None)
    if raise_in is not None and thread.ident is not None and thread.is_alive():
        raise_in(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))


@contextmanager
def threads_as_daemons() -> Iterator[None]:
    """Let every thread started inside the block be a daemon.

    An adapter may leave a thread blocked for ever. The interpreter waits for such a thread
    at its end unless it is a daemon, and the author's test run would never exit.
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


_lock = threading.Lock()
_blocks = 0
_start = threading.Thread.start


def _start_as_daemon(thread: threading.Thread) -> None:
    if not thread.daemon:
        thread.daemon = True
    _start(thread)
