"""Attaching test methods to subclasses of a test case that has none itself."""

from __future__ import annotations

import difflib
import inspect
import unittest
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from modeltest.harness import Level

if TYPE_CHECKING:
    from modeltest.harness import Check


__unittest = True  # keeps this module's lines out of a failure's traceback


_MARK = "_by_modeltest"
"""On a method attached here: the method itself. A wrapper of the author's copies it."""


def attach(cls: type, name: str, method: Callable[..., None]) -> None:
    """Add a test method, unless the class or a base of it in the author's code has its own."""
    existing = getattr(cls, name, method)
    if existing is not method and getattr(existing, _MARK, False) is not existing:
        return
    setattr(method, _MARK, method)
    method.__name__ = name
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)


def attach_check(
    cls: type,
    check: Check,
    judge: Callable[[Any], str],
    *,
    expected: str | None,
    skipped: str | None,
) -> None:
    """Add the test method of one check.

    Args:
        cls: the test case's class.
        check: what the method is called, and says of itself.
        judge: `(test case)` → the text of the failure, "" if there is none.
        expected: why it is expected to fail, if it is.
        skipped: why it is skipped, if it is.
    """
    level = "" if check.level is Level.MUST else f" [{check.level}]"
    reason = f" (expected to fail: {expected})" if expected else ""
    method = judging_method(f"{check.requirement}{level}{reason}\n\n{check.why}\n", judge)
    if skipped is not None:
        method = unittest.skip(skipped)(method)
    elif expected is not None:
        method = unittest.expectedFailure(method)
    attach(cls, check.method, method)


def judging_method(doc: str, judge: Callable[[Any], str]) -> Callable[..., None]:
    """Return a test method that fails with the text that `judge(test case)` returns, if any."""

    def method(self: unittest.TestCase) -> None:
        text = judge(self)
        if text:
            raise self.failureException(text)

    method.__doc__ = doc
    return method


def reasons_of(
    cls: type, attribute: str, methods: Mapping[str, tuple[str, ...]], listing: str
) -> dict[str, str]:
    """Return the attribute of a test case's class that maps checks to reasons, by their methods.

    Args:
        cls: the test case's class.
        attribute: such as "skips".
        methods: what a check may be called → the test methods that this means.
        listing: where the names are listed, for whoever mistyped one.

    Raises:
        TypeError: it is no mapping, names a check that does not exist, or gives no reason.
    """
    given = getattr(cls, attribute)
    what = f"{cls.__name__}.{attribute}"
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}: expected a dict of check name → reason, got {given!r}")
    for name, reason in given.items():
        if name not in methods:
            close = difflib.get_close_matches(str(name), map(str, methods), 1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{what} names {name!r}, which is no check; see {listing}{meant}")
        if not isinstance(reason, str) or not reason.strip():
            raise TypeError(f"{what}[{name!r}] needs a reason, got {reason!r}")
    # What names fewer checks says it last: a check's own reason goes before its group's.
    ordered = sorted(given.items(), key=lambda item: -len(methods[item[0]]))
    return {method: reason for name, reason in ordered for method in methods[name]}


def warn_of_slips(cls: type, read: Iterable[str], category: type[Warning]) -> None:
    """Warn of attributes whose names look like one that is read, mistyped: nobody reads them.

    Args:
        cls: the test case's class; what a base defines may be overridden, or was reported there.
        read: the attributes that are read.
        category: of the warning.
    """
    wanted = [*read]
    for name in vars(cls):
        if name in wanted or name.startswith(("_", "test")) or hasattr(super(cls, cls), name):
            continue
        for meant in difflib.get_close_matches(name, wanted, 1, _ALIKE):
            if name != f"{meant}s":  # a collection of the author's own
                text = f"{cls.__name__}.{name} is not read; did you mean {meant!r}?"
                warn_at(cls, category, text)


_ALIKE = 0.85
"""How much of two names is the same if one is a slip of the other: "idle_timout" has 0.96."""


def warn_at(cls: type, category: type[Warning], text: str) -> None:
    """Warn, and point at the author's class: the kit's own line would say nothing."""
    file, line = _place_of(cls)
    warnings.warn_explicit(text, category, file, line, module=cls.__module__)


def _place_of(cls: Any) -> tuple[str, int]:
    try:
        return inspect.getsourcefile(cls) or __file__, inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):  # it was made at run time
        return __file__, 0
