"""`python -m modeltest demo`: the contract on a careful adapter and on a naive one."""

from __future__ import annotations

import inspect
import textwrap
import time
import unittest
import warnings
from typing import Any, TextIO

from modeltest.checks import ALL
from modeltest.harness import ContractWarning

_CASES = ("modeltest.demo.cases.TestAcme", "modeltest.demo.cases.TestNaive")
"""By name, as `python -m unittest` takes them."""

_CAREFUL = """\
A model adapter sends one request to a provider and turns the streamed answer into events.
modeltest plays the provider, from a server on this machine, and looks at what the adapter does
when its user stops reading, when the answer is cut off, when two streams run side by side.

1. A careful adapter, modeltest/demo/acme.py. This is the whole of its test case:

{case}

"""
_NAIVE = """
2. The adapter that is usually written first, modeltest/demo/naive.py. It passes every test that
   mocks its HTTP client. With the same test case:

"""
_AS_ANNOUNCED = """
As announced: the careful adapter passes, the naive one fails.
`python -m modeltest checks` lists all that is checked. Next: docs/quickstart.md, your own adapter.
"""
_NOT_AS_ANNOUNCED = "\nThis is not as announced: modeltest is at fault; please report it.\n"


def run(out: TextIO) -> bool:
    """Run the demo, and write it to `out`.

    Returns:
        Whether it went as announced: the careful adapter passes, the naive one fails.
    """
    careful, naive = (unittest.defaultTestLoader.loadTestsFromName(name) for name in _CASES)
    source = inspect.getsource(type(next(iter(careful)))).rstrip()
    out.write(_CAREFUL.format(case=textwrap.indent(source, "    ")))
    for_acme = _run(careful, out)
    out.write(_NAIVE)
    for_naive = _run(naive, out)
    as_announced = for_acme.wasSuccessful() and bool(for_naive.failures) and not for_naive.errors
    out.write(_AS_ANNOUNCED if as_announced else _NOT_AS_ANNOUNCED)
    return as_announced


class _Result(unittest.TestResult):
    """Keeps of a failure the text alone: it says all that a traceback would."""

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802 - unittest's
        self.failures.append((test, str(err[1])))


def _run(suite: unittest.TestSuite, out: TextIO) -> unittest.TestResult:
    out.flush()  # it takes seconds
    began, result = time.monotonic(), _Result()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ContractWarning)
        suite.run(result)
    texts = [str(w.message) for w in warned if issubclass(w.category, ContractWarning)]
    _report(result, texts, time.monotonic() - began, out)
    return result


def _report(result: unittest.TestResult, warned: list[str], seconds: float, out: TextIO) -> None:
    out.write(
        f"   {result.testsRun} tests in {seconds:.1f} s: {len(result.failures)} failed, "
        f"{len(warned)} warned, {len(result.skipped)} skipped. Most\n"
        "   of the skipped tests need a wire format: how the provider encodes a whole turn.\n"
    )
    out.writelines(f"\nERROR: {_title(test)}\n{text}\n" for test, text in result.errors)
    first, others = _by_group(result.failures)
    out.writelines(f"\nFAIL: {_title(test)}\n{text}\n" for test, text in first)
    if others:
        out.write("\nThe others, in short:\n\n")
        out.write("".join(f"FAIL: {_title(test)}\n" for test, _ in others))
    if warned:
        out.write(
            "\nThese checks are advice (SHOULD): what fails is a warning, with `strict = True` a\n"
            "failure. In short:\n\n"
        )
        out.write("".join(f"{text.splitlines()[0]}\n" for text in warned))


_Failures = list[tuple[unittest.TestCase, str]]


def _by_group(failures: _Failures) -> tuple[_Failures, _Failures]:
    """Return the first failure of each group of checks, and the others, in the contract's order."""
    order = {check.method: number for number, check in enumerate(ALL)}
    ordered = sorted(failures, key=lambda failure: order.get(_method(failure[0]), -1))
    first = {text.partition("/")[0]: (test, text) for test, text in reversed(ordered)}
    return list(reversed(first.values())), [f for f in ordered if f not in first.values()]


def _method(test: unittest.TestCase) -> str:
    return test.id().rpartition(".")[2]


def _title(test: unittest.TestCase) -> str:
    return f"{_method(test)} — {test.shortDescription()}"
