"""What an error says: in its text, in what it carries, and in what it was raised from.

An error is the adapter's own object: any look at it runs the adapter's code, which may raise, or
read on from a response that never ends.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from modeltest.text import in_one_line
from modeltest.threads.bounded import call_within

_PATIENCE = 5.0
"""Seconds that a look may take; it takes microseconds."""

_DEPTH, _ITEMS = 3, 50
"""How deep the objects that an error carries are looked into, and how many items of a list."""

_filters = threading.Lock()
"""The process's warning filters: of two threads that keep them and give them back, the second would
give back the first one's."""

_PLAIN = (str, bytes, bytearray, int, float, complex, type(None), type)


def text_of(error: BaseException) -> str:
    """Return an error's text, even if its `str` raises."""
    return _guarded(lambda: str(error), "str()")


def repr_of(value: object) -> str:
    """Return the `repr` of an object, even if it raises."""
    return _guarded(lambda: repr(value), "repr()")


def shown(error: BaseException) -> str:
    """Return an error's type and text, shortened."""
    text = in_one_line(text_of(error), 300)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def all_said(error: BaseException) -> str:
    """Return an error's text, its notes, and what it carries in public attributes."""
    return " ".join([text_of(error), notes_of(error), carried_by(error)])


def notes_of(error: BaseException) -> str:
    """Return the notes that were added to an error, as a traceback prints them."""
    return _guarded(lambda: " ".join(map(str, getattr(error, "__notes__", ()))), "notes")


def carried_by(error: BaseException) -> str:
    """Return the public attributes of an error, and what those that are objects hold, as text."""
    return " ".join(text for _, text in parts_carried_by(error))


def parts_carried_by(error: BaseException) -> list[tuple[str, str]]:
    """Return the same, part by part: each with the name of the error's attribute it is found in."""

    def look() -> list[tuple[str, str]]:
        seen: dict[int, Any] = {id(error): error}
        return [
            (name, text)
            for name, value in _attributes(error)
            for text in _told(value, _DEPTH, seen)
        ]

    with _filters, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of attributes that are deprecated: nobody uses them here
        return call_within(_PATIENCE, "an error's attributes", look)


def chain_of(error: BaseException | None) -> list[BaseException]:
    """Return an error and all that a traceback prints with it: causes, and members of a group."""
    links: list[BaseException] = []
    pending = [error]
    while pending:
        link = pending.pop()
        if link is None or any(link is known for known in links):
            continue
        links.append(link)
        pending.append(link.__cause__ or (None if link.__suppress_context__ else link.__context__))
        if isinstance(link, BaseExceptionGroup):
            pending.extend(link.exceptions)
    return links


def _told(value: Any, depth: int, seen: dict[int, Any]) -> Iterator[str]:
    """Yield what a value says, and what its public attributes, or its items, say."""
    if callable(value):
        return
    yield _or_raised(lambda: repr(value), "repr()")
    if depth == 0 or isinstance(value, _PLAIN) or id(value) in seen:
        return
    seen[id(value)] = value  # held, or what a property makes next could have the same number
    for held in _held(value):
        yield from _told(held, depth - 1, seen)


def _held(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from list(value.values())[:_ITEMS]
    elif isinstance(value, list | tuple | set | frozenset):
        yield from list(value)[:_ITEMS]
    else:
        yield from (held for _, held in _attributes(value))


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    names: list[str] = []
    with suppress(Exception):
        names = [name for name in dir(value) if not name.startswith("_")]
    yield from ((name, _attribute(value, name)) for name in names)


def _attribute(value: Any, name: str) -> Any:
    with suppress(Exception):  # a property of the author's
        return getattr(value, name, None)
    return None


def _guarded(make: Callable[[], str], what: str) -> str:
    return call_within(_PATIENCE, f"an error's {what}", lambda: _or_raised(make, what))


def _or_raised(make: Callable[[], str], what: str) -> str:
    try:
        return make()
    except KeyboardInterrupt:
        raise
    except BaseException as second:
        return f"<its {what} raised {type(second).__name__}>"


def without_tracebacks(error: BaseException) -> BaseException:
    """Remove the tracebacks of `error` and of all it is chained to.

    A traceback keeps the frames it passed through alive, and in them the adapter's response:
    a kit that kept one would cause the leak it looks for, or hide how it ends.
    """
    pending: list[object] = [error]
    seen: set[int] = set()
    while pending:
        link = pending.pop()
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        # By the base class: an error's own attributes may raise, or be frozen.
        BaseException.with_traceback(link, None)
        # HTTP libraries hand on the error they translate as an argument, not only as a cause.
        pending += [_own(link, name) for name in ("__cause__", "__context__")]
        pending += _own(link, "args")
        if isinstance(link, BaseExceptionGroup):
            pending += BaseExceptionGroup.exceptions.__get__(link)
    return error


def _own(error: BaseException, name: str) -> Any:
    """Return an attribute that every exception has, whatever the class makes of it."""
    return getattr(BaseException, name).__get__(error)


def ending_of(error: BaseException | None, *, ended: bool) -> str:
    """Say how a stream ended, which raised `error` if it is not None."""
    if error is not None:
        return f"it raised {shown(error)}"
    return "it ended" if ended else "it is still open"
