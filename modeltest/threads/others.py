"""Whose threads are whose, and getting rid of those that hang."""

from __future__ import annotations

import concurrent.futures.thread
import threading
import weakref
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager

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
