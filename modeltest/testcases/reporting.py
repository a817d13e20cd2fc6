"""How a test case reports: the same under unittest and under pytest, which says less by itself."""

from __future__ import annotations

import inspect
import unittest
from types import FunctionType
from typing import Any, NoReturn

from modeltest.harness import Evidence

__unittest = True  # keeps this module's lines out of a failure's traceback
__tracebackhide__ = True  # the same, for pytest

REASON, CHECK, RULE = "_modeltest_reason", "_modeltest_check", "_modeltest_rule"
"""On a test method: why it is expected to fail, the id of its check, and the requirement."""


class ReportingTestCase(unittest.TestCase):
    """A test case whose failures, skips and known faults say what they are about."""

    _shows_rules = False
    _error: BaseException

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run the test method; see `unittest.TestCase.run`."""
        method = getattr(self, self._testMethodName)
        if result is None or not _takes_reason(result) or not hasattr(method, CHECK):
            return super().run(result)
        self._shows_rules = True
        told: Any = _WithReasons(result, getattr(method, CHECK), getattr(method, REASON))
        return super().run(told)

    def _end_with(self, error: BaseException) -> None:
        """Let the test end with `error` although unittest expects it to fail.

        It takes what the test raises for the failure that is expected; one more in a cleanup,
        where none is, counts.
        """
        self.addCleanup(self._raise_here, error)

    def _raise_here(self, error: BaseException) -> NoReturn:
        """Raise `error`; under pytest, which shows the line, from the author's class."""
        self._error = error
        if self._shows_rules and isinstance(error, self.failureException):
            getattr(self, self._testMethodName).__wrapped__(self)
        raise error

    def _failure(self, text: str) -> BaseException:
        """Return a failure; with the rule in it where the runner does not print it."""
        if self._shows_rules:
            rule = Evidence("rule", getattr(getattr(self, self._testMethodName), RULE))
            before, fix, after = text.partition("\n  fix ")
            text = f"{before}\n{rule}{fix}{after}"
        return self.failureException(text)


class _WithReasons:
    """A runner's result that is told more: pytest's, which has room for a reason."""

    def __init__(self, result: Any, check: str, reason: str | None) -> None:
        self._result = result
        self._check = check
        self._reason = reason or ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)

    def addExpectedFailure(self, test: Any, error: Any) -> None:  # noqa: N802 - unittest's
        """Say why the failure was expected."""
        self._result.addExpectedFailure(test, error, f"{self._check}: {self._reason}")

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802 - unittest's
        """Say which check was skipped: all methods that were attached stand at one line."""
        self._result.addSkip(test, f"{self._check}: {reason}")


def _takes_reason(result: Any) -> bool:
    """Tell whether a result wants to know why a failure was expected."""
    try:
        return "reason" in inspect.signature(result.addExpectedFailure).parameters
    except (AttributeError, TypeError, ValueError):
        return False


def raising_at(file: str, line: int, cls: type) -> FunctionType:
    """Return a function that raises a test's error, and stands where the author's class does.

    pytest shows where a test's function is, and the line that raised.
    """

    # fmt: off
    def method(self: ReportingTestCase) -> None: raise self._error
    # fmt: on

    code = method.__code__.replace(
        co_filename=file, co_firstlineno=max(line, 1), co_name=cls.__name__
    )
    return FunctionType(code, {"__name__": cls.__module__}, cls.__name__)
