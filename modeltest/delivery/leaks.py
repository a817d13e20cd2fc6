"""What an adapter leaks into the interpreter while a check runs."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modeltest.threads import KitThread, Place, is_kit_thread

_CONSUMER = str(Path(__file__).parents[1] / "consumer")
"""Where the kit uses the adapter: no line there raises anything."""


class Leaks:
    """Unraisable exceptions, and exceptions that end a thread.

    Attributes:
        found: each as one line.
        expected: whether there will be more when the collector comes by.
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        self.expected = False
        self._known = set(threading.enumerate())

    def unraisable(self, args: Any) -> None:
        """Note an exception that could not be raised, as from a generator's `finally`."""
        where = args.err_msg or f"in {getattr(args.object, '__qualname__', args.object)!r}"
        self.found.append(f"unraisable exception {where}: {_shown(args)}")

    def may_be_of_adapter(self, thread: threading.Thread | None) -> bool:
        """Tell whether a thread is neither the kit's nor was there before."""
        return thread is None or not (thread in self._known or is_kit_thread(thread))

    def ended_thread(self, args: Any) -> None:
        """Note an exception that nobody caught and that ended a thread."""
        name = args.thread.name if args.thread is not None else "a thread"
        self.found.append(f"exception that ended {name!r}: {_shown(args)}")


@contextmanager
def caught_leaks() -> Iterator[Leaks]:
    """Collect what is leaked inside the block, instead of printing it.

    The hooks belong to the whole process: of blocks that overlap, in one thread or several, the
    newest collects, and the last to end gives the hooks back.
    """
    global _hooks  # noqa: PLW0603 - so are the hooks
    leaks = Leaks()
    with _lock:
        if not _collecting:
            _hooks = sys.unraisablehook, threading.excepthook
            sys.unraisablehook, threading.excepthook = _unraisable, _ended_thread
        _collecting.append(leaks)
    try:
        yield leaks
    finally:
        if leaks.expected:
            _collect()
        with _lock:
            _collecting.remove(leaks)
            if not _collecting:
                sys.unraisablehook, threading.excepthook = _hooks


_lock = threading.Lock()
_collecting: list[Leaks] = []
_hooks = (sys.unraisablehook, threading.excepthook)


def _unraisable(args: Any) -> None:
    # Without the lock: a finalizer may run anywhere, also where it is held.
    for leaks in _collecting[-1:]:
        leaks.unraisable(args)
        return
    _hooks[0](args)


def _ended_thread(args: Any) -> None:
    for leaks in _collecting[-1:]:
        if leaks.may_be_of_adapter(args.thread):
            leaks.ended_thread(args)
            return
    _hooks[1](args)


def _collect() -> None:
    """Let the collector come by now: later, what it leaks would disturb some other test.

    On a thread that can be left behind, for it runs the adapter's finalizers.
    """
    thread = KitThread(gc.collect, name="modeltest collector")
    thread.start()
    thread.join(_PATIENCE)


_PATIENCE = 2.0
"""Seconds that finalizers may take."""


def _shown(args: Any) -> str:
    """Return the exception of a hook's arguments, and the line that raised it."""
    if args.exc_value is None:
        return str(args.exc_type.__name__)
    # Unlike f"{value}" it does not raise where the adapter's `__str__` does.
    text = "".join(traceback.format_exception_only(args.exc_value)).strip()
    frames = traceback.extract_tb(args.exc_traceback)
    raised = [frame for frame in frames if not frame.filename.startswith(_CONSUMER)][-1:]
    return text + "".join(f", raised at {_place(frame)}" for frame in raised)


def _place(frame: traceback.FrameSummary) -> Place:
    return Place(frame.filename, frame.lineno or 0, frame.name)
