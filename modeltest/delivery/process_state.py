"""What belongs to the whole process, and is given back as it was after each check."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FunctionType
from typing import Any

from modeltest.harness import Evidence, Failure
from modeltest.text import short_repr
from modeltest.threads import calling_place, copies_came_back, is_adapter_thread, other_threads

_Slot = tuple[Callable[[], Any], Callable[[Any], object]]


@contextmanager
def process_state_kept() -> Iterator[list[str]]:
    """Give back, at the end of the block, what an adapter changed for the whole process.

    A library that changes it, changes it for all of its user's program; and for the tests that
    follow. Meanwhile `os._exit()` does not end the process, with a status that says that all is
    well: it ends the thread.

    Yields:
        What the adapter did, each in words; complete at the end of the block.
    """
    changes: list[str] = []
    with _beside_others() as block:
        if block.shared:
            yield changes
            return
        before = {name: read() for name, (read, _) in _SLOTS.items()}
        copies_came_back()  # those of the check before, too late for it
        real, stand_in = os._exit, _Exit(changes)
        os._exit = stand_in  # type: ignore[assignment] # it never returns either
        try:
            yield changes
        finally:
            if os._exit is not stand_in and not block.shared:
                changes.append(_changed("os._exit", os._exit))
            os._exit = real
            if not block.shared:
                changes += _put_back(before)
            if copies_came_back():
                changes.append(
                    "the adapter forked, and the child came back to its consumer, which then "
                    "exists twice."
                )


def failure_of(changes: list[str]) -> Failure:
    """Return the failure that says what was done to the process."""
    first, *others = dict.fromkeys(changes)
    also = (Evidence("also", "\n".join(others)),) if others else ()
    return Failure(first, also, fix=_LEAVE_ALONE)


_LEAVE_ALONE = (
    "let the adapter change, close and end only what it made itself: a timeout is set on its own "
    "client, an error is raised, a child is ended with os._exit() or run by subprocess; what the "
    "tests need changed for all, change in setUp"
)


class _Block:
    """A block of `process_state_kept`; it is `shared` once another one has overlapped it."""

    shared = False


_lock = threading.Lock()
_blocks: list[_Block] = []


@contextmanager
def _beside_others() -> Iterator[_Block]:
    """Note which blocks overlap: in those nobody can say who made a change."""
    mine = _Block()
    with _lock:
        _blocks.append(mine)
        if len(_blocks) > 1:
            for block in _blocks:
                block.shared = True
    try:
        yield mine
    finally:
        with _lock:
            _blocks.remove(mine)


def _put_back(before: Mapping[str, object]) -> Iterator[str]:
    """Give back what was changed, and say what it was changed to."""
    for name, (read, write) in _SLOTS.items():
        value = read()
        if not _same(value, before[name]):
            yield _changed(name, value)
            write(before[name])


class _Exit:
    """Stands in for `os._exit` while a check runs."""

    def __init__(self, changes: list[str]) -> None:
        self._changes = changes
        self._real = os._exit
        self._process = os.getpid()
        # Test runners have threads that end the process when a test takes too long.
        self._foreign = {
            thread
            for thread in other_threads()
            if not is_adapter_thread(thread) and thread.ident != threading.get_ident()
        }

    def __call__(self, status: int) -> None:
        here = threading.get_ident()
        is_foreign = any(thread.ident == here and thread.is_alive() for thread in self._foreign)
        if is_foreign or os.getpid() != self._process:
            self._real(status)
        place = calling_place(sys._getframe(1))
        self._changes.append(
            f"os._exit({short_repr(status)}) was called at {place}; the process, and with it the "
            "test run, is not an adapter's to end."
        )
        raise SystemExit("modeltest ends the thread that calls os._exit(), not the process")


def _changed(name: str, value: object) -> str:
    return (
        f"{name} was changed to {_named(value)}; it belongs to the whole process, and is given "
        "back as it was."
    )


def _named(value: object) -> str:
    """Return what a function or class is called; its address says nothing."""
    if isinstance(value, type | FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    return short_repr(value)


def _same(value: object, before: object) -> bool:
    if type(value) is type(before) and isinstance(value, str | float):
        return value == before
    return value is before  # what it compares equal to is its own affair


def _attribute(owner: Any, name: str) -> _Slot:
    return lambda: getattr(owner, name), lambda value: setattr(owner, name, value)


def _directory() -> str:
    with suppress(OSError):  # it was removed
        return os.getcwd()  # noqa: PTH109 - a str, to be compared
    return ""


def _go_to(directory: str) -> None:
    with suppress(OSError):
        os.chdir(directory)


_SLOTS: dict[str, _Slot] = {
    "socket.socket": _attribute(socket, "socket"),
    "socket.create_connection": _attribute(socket, "create_connection"),
    "socket.getaddrinfo": _attribute(socket, "getaddrinfo"),
    "socket.getdefaulttimeout()": (socket.getdefaulttimeout, socket.setdefaulttimeout),
    "threading.Thread.start": _attribute(threading.Thread, "start"),
    "threading.excepthook": _attribute(threading, "excepthook"),
    "time.sleep": _attribute(time, "sleep"),
    "time.monotonic": _attribute(time, "monotonic"),
    "time.time": _attribute(time, "time"),
    "sys.unraisablehook": _attribute(sys, "unraisablehook"),
    "sys.stdout": _attribute(sys, "stdout"),
    "sys.stderr": _attribute(sys, "stderr"),
    "the working directory": (_directory, _go_to),
}
"""What is looked at. Left out is what libraries may well set when they are first used, such as
warning filters, and what only the main thread can change, such as signal handlers."""
