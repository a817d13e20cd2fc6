"""`python -m tests.soak`: see the package's description."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import unittest
from collections.abc import Callable, Sequence
from typing import TextIO

from tests.soak.busy import busy_loops
from tests.soak.memory import Growth, Holdings
from tests.soak.suites import Tally, TestAcme, acme, examples, repeat

WARM_UP = 5
"""Rounds of the suite before memory counts: imports, caches, a malloc arena for each thread."""


def main(arguments: Sequence[str] | None = None, out: TextIO = sys.stdout) -> int:
    """Soak; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description="Run the example suites on a busy machine, then see whether memory grows.",
    )
    busy = 4 * (os.cpu_count() or 1)
    parser.add_argument("--runs", type=int, default=200, help="of the suites (%(default)s)")
    parser.add_argument("--busy", type=int, default=busy, help="loops beside them (%(default)s)")
    parser.add_argument("--checks", type=int, default=1000, help="to watch (%(default)s)")
    parser.add_argument(
        "--quick", action="store_true", help="a little of each, too little to judge memory"
    )
    options = parser.parse_args(arguments)
    if options.quick:
        steady = soak(_few, 2, 1, out)
        watch_memory(_few, 6, out)
    else:
        steady = soak(examples, options.runs, options.busy, out)
        steady &= not watch_memory(acme, options.checks, out)
    return 0 if steady else 1


def soak(make: Callable[[], unittest.TestSuite], runs: int, busy: int, out: TextIO) -> bool:
    """Run a suite `runs` times beside `busy` busy loops; return whether none failed."""
    say(out, f"{runs} runs beside {busy} busy loops on {os.cpu_count()} processors")
    tally = Tally()
    try:
        with busy_loops(busy):
            for _ in repeat(make, runs, tally):
                seconds, failures = tally.seconds[-1], tally.failures.total()
                say(out, f"  run {len(tally.seconds)}: {seconds:.1f} s, failures so far {failures}")
    finally:
        say(out, str(tally))  # when it is interrupted, what was seen so far is worth having
    return not tally.failures


def watch_memory(make: Callable[[], unittest.TestSuite], checks: int, out: TextIO) -> bool:
    """Run a suite over and over, until `checks` tests were run; return whether anything grew."""
    tally = Tally()
    numbers, holdings = [], []
    rounds = -(-checks // make().countTestCases())
    for _ in repeat(make, WARM_UP + rounds, tally):
        gc.collect()
        if len(tally.seconds) >= WARM_UP:
            numbers.append(tally.tests)
            holdings.append(Holdings.now())
    growth = Growth(numbers, holdings)
    say(out, str(growth))
    if tally.failures:
        raise AssertionError(f"expected the suite to pass\n{tally}")
    return not growth.flat


def say(out: TextIO, text: str) -> None:
    """Print at once: a soak is watched, and may be stopped."""
    out.write(f"{text}\n")
    out.flush()


def _few() -> unittest.TestSuite:
    return unittest.TestSuite(map(TestAcme, ("test_break_releases", "test_truncated_is_an_error")))


if __name__ == "__main__":
    sys.exit(main())
