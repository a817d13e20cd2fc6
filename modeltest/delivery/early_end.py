"""Keeping the process alive where an adapter would end it: the run would be over, and look green.

What cannot be seen from inside: an `os._exit` that was bound before the check began in another
place than a module's own names (a default argument, an attribute, a closure), one that is called
by C code, and a process that is killed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from modeltest.text import short_repr
from modeltest.threads import calling_place, is_adapter_thread, other_threads

_system: Any = sys.modules.get("posix") or sys.modules.get("nt")
"""The module that `os` takes it from; `from posix import _exit` passes `os` by."""
_real = os._exit


class _Watch:
    """Notes in `changes` what would end the process, while a check runs."""

    def __init__(self, changes: list[str]) -> None:
        self._changes = changes
        self._process = os.getpid()
        # Test runners have threads that end the process when a test takes too long.
        self._foreign = {
            thread
            for thread in other_threads()
            if not is_adapter_thread(thread) and thread.ident != threading.get_ident()
        }

    def prevent(self, what: str) -> None:
        """Note it and end the thread, unless somebody does it whose right it is.

        Raises:
            SystemExit: it is prevented.
        """
        here = threading.get_ident()
        is_foreign = any(thread.ident == here and thread.is_alive() for thread in self._foreign)
        if is_foreign or os.getpid() != self._process:
            return
        self._changes.append(
            f"{what} was called at {calling_place(sys._getframe(2))}; the process, and with it the "
            "test run, is not an adapter's to end."
        )
        raise SystemExit("modeltest ends the thread that would end the process")


_watches: tuple[_Watch, ...] = ()
_before: Callable[[int], object] = _real
"""What `os._exit` was before: a test runner may have one of its own."""
_lock = threading.Lock()


def _exit(status: int) -> None:
    """Stand in for `os._exit`; also for whoever took it by name while a check ran."""
    for watch in _watches[-1:]:
        watch.prevent(f"os._exit({short_repr(status)})")
    _before(status)


@contextmanager
def process_kept_alive(changes: list[str]) -> Iterator[Callable[[int], None]]:
    """Let nothing in the block end the process, but for threads that were there before.

    Args:
        changes: what was prevented is added, in words.

    Yields:
        What stands in for `os._exit` meanwhile.
    """
    global _watches, _before  # noqa: PLW0603 - replaced, never changed: nobody reads with a lock
    watch = _Watch(changes)
    with _lock:
        if not _watches:
            _before = os._exit
        _watches = (*_watches, watch)
        _install_hook()
        os._exit = _system._exit = _exit  # type: ignore[assignment] # it never returns either
        _rebind(_real, _exit)
    try:
        yield _exit
    finally:
        with _lock:
            _watches = tuple(other for other in _watches if other is not watch)
            if not _watches:
                os._exit = _before  # type: ignore[assignment]
                _system._exit = _real
                _rebind(_exit, _real)


_OURS = ("modeltest", "os", _system.__name__)
_sizes: dict[str, int] = {}
"""Module → how many names it had when it was looked through: thousands of them cost."""
_bound: list[tuple[dict[str, Any], str]] = []
"""Where a module has the function among its own names, as after `from os import _exit`."""


def _rebind(before: object, after: object) -> None:
    """Replace one function by another where modules have it among their own names."""
    for module in tuple(sys.modules.values()):
        if isinstance(module, ModuleType):
            # Not vars(): a module may be one that is loaded by any look at it.
            _look_through(object.__getattribute__(module, "__dict__"))
    for names, name in _bound:
        if names.get(name) is before:
            names[name] = after


def _look_through(names: dict[str, Any]) -> None:
    module = str(names.get("__name__"))
    if _sizes.get(module) == len(names) or module.partition(".")[0] in _OURS:
        return
    _sizes[module] = len(names)
    found = [name for name, value in tuple(names.items()) if value is _real or value is _exit]
    _bound.extend((names, name) for name in found if not _is_known(names, name))


def _is_known(names: dict[str, Any], name: str) -> bool:
    return any(known is names and other == name for known, other in _bound)


_installed = False


def _install_hook() -> None:
    """Install the hook once, and not before the first check: it cannot be removed."""
    global _installed  # noqa: PLW0603 - once a process
    if not _installed:
        sys.addaudithook(_audit_hook)
        _installed = True


def _audit_hook(event: str, args: tuple[Any, ...]) -> None:
    """Refuse to become another program, by whatever name the function is called."""
    if event == "os.exec" and _watches:
        _watches[-1].prevent(f"os.exec*({short_repr(args[0])})")


# Without this mark the interpreter turns tracing off in audit hooks, coverage included.
_audit_hook.__cantrace__ = True  # type: ignore[attr-defined]
