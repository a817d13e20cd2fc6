"""Running an `SSEReaderTestCase` from within a test."""

from __future__ import annotations

import unittest
import warnings
from collections.abc import Callable
from typing import Any

from modeltest import ContractWarning, SSEReaderTestCase


def case_of(reader: Callable[..., Any] | None = None, **attributes: Any) -> type[SSEReaderTestCase]:
    """Return a test case for `reader`."""
    if reader is not None:
        attributes["stream_sse"] = staticmethod(reader)
    return type("TestReader", (SSEReaderTestCase,), attributes)


def names_of(case: type[unittest.TestCase]) -> list[str]:
    return list(unittest.defaultTestLoader.getTestCaseNames(case))


def run(case: type[unittest.TestCase], *names: str) -> unittest.TestResult:
    """Run the tests named, or all; the kit's own warnings are left out."""
    result = unittest.TestResult()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        unittest.TestSuite(map(case, names or names_of(case))).run(result)
    return result


def failed(case: type[unittest.TestCase], *names: str) -> dict[str, str]:
    """Run them; return test method → the text of its failure or error."""
    result = run(case, *names)
    return {test.id().rpartition(".")[2]: text for test, text in result.failures + result.errors}


def skipped(case: type[unittest.TestCase], *names: str) -> dict[str, str]:
    """Run them; return test method → why it was skipped."""
    return {test.id().rpartition(".")[2]: why for test, why in run(case, *names).skipped}
