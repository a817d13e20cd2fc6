"""`python -m tests.soak`: see the package's description."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import unittest
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TextIO

from tests.soak.busy import busy_loops
from tests.soak.memory import ENOUGH, Growth, Holdings
from tests.soak.suites import TestAcme, acme, waiting
from tests.soak.tally import Tally

WARM_UP = 5
"""Rounds of the suite before memory counts: imports, caches, a malloc arena for each thread."""

FEW = ("test_break_releases", "test_truncated_is_an_error")


def main(arguments: Sequence[str] | None = None, out: TextIO = sys.stdout) -> int:
    """Soak; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description="Run the example suites on a busy machine, then see whether memory grows.",
    )
    busy = 4 * (os.cpu_count() or 1)
    parser.add_argument("names", nargs="*", metavar="TEST", help="modules; all the examples")
    parser.add_argument("--at-once", type=int, default=1, help="runs side by side (%(default)s)")
    parser.add_argument("--runs", type=int, default=200, help="of the suites (%(default)s)")
    parser.add_argument("--busy", type=int, default=busy, help="loops beside them (%(default)s)")
    parser.add_argument("--checks", type=int, default=1000, help="to watch memory (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="a little of each, to see it work")
    options = parser.parse_args(arguments)
    try:
        if options.quick:
            steady = soak([f"{TestAcme.__module__}.TestAcme.{name}" for name in FEW], 2, 1, out)
            grows = watch_memory(lambda: unittest.TestSuite(map(TestAcme, FEW)), 6, out)
        else:
            steady = soak(options.names, options.runs, options.busy, out, options.at_once)
            # Without the tests that wait for nothing: Hypothesis keeps what it has made.
            grows = watch_memory(lambda: waiting(acme()), options.checks, out)
    except KeyboardInterrupt:
        return 130
    return 0 if steady and not grows else 1


def soak(names: Sequence[str], runs: int, busy: int, out: TextIO, at_once: int = 1) -> bool:
    """Run tests beside busy loops; return whether none failed.

    Args:
        names: of the tests; none means all the examples.
        runs: how often.
        busy: how many busy loops.
        out: where the figures go.
        at_once: runs that go on side by side, which makes the machine busier still.
    """
    beside = f"beside {busy} busy loops on {os.cpu_count()} processors"
    say(out, f"{runs} runs, {at_once} at once, {beside}")
    tally = Tally()
    try:
        with busy_loops(busy), ThreadPoolExecutor(at_once) as pool:
            for number, seconds in enumerate(pool.map(tally.run, [names] * runs), 1):
                failures = tally.failures.total()
                say(out, f"  run {number}: {seconds:.1f} s, failures so far: {failures}")
    finally:
        say(out, str(tally))  # when it is interrupted, what was seen so far is worth having
    return not tally.failures


def watch_memory(make: Callable[[], unittest.TestSuite], checks: int, out: TextIO) -> bool:
    """Run a suite over and over in this process; return whether anything grew.

    Args:
        make: gives the suite.
        checks: how many tests to run at least, besides those to warm up.
        out: where the figures go.

    Raises:
        AssertionError: a test failed; what it holds says nothing then.
    """
    size = make().countTestCases()
    numbers, holdings = [], []
    for number in range(1, WARM_UP + -(-checks // size) + 1):
        _expect_to_pass(make())
        gc.collect()
        if number >= WARM_UP:
            numbers.append(number * size)
            holdings.append(Holdings.now())
    growth = Growth(numbers, holdings)
    say(out, str(growth))
    return growth.number >= ENOUGH and not growth.flat


def _expect_to_pass(suite: unittest.TestSuite) -> None:
    result = unittest.TestResult()  # a fresh one: it keeps each test that was skipped
    suite.run(result)
    for _, text in (*result.failures, *result.errors):
        raise AssertionError(f"expected the suite to pass, got {text}")


def say(out: TextIO, text: str) -> None:
    """Print at once: a soak is watched, and may be stopped."""
    out.write(f"{text}\n")
    out.flush()


if __name__ == "__main__":
    sys.exit(main())
