"""The three checks that the Go original has."""

from __future__ import annotations

import time
from collections.abc import Iterator

from modeltest.checks import BY_NAME
from tests.benchmarks.measure import Table, compare, in_turns, timed
from tests.benchmarks.targets import openai_chat, passed

CHECKS = ("release/break", "release/cancel", "truncation/clean")


def tables(*, quick: bool) -> Iterator[Table]:
    """Run them together, and each by itself."""
    target = openai_chat()

    def run(*names: str) -> None:
        for name in names:
            passed(BY_NAME[name], target)

    actions = {
        "all three": timed(lambda: run(*CHECKS)),
        "all three, CPU": timed(lambda: run(*CHECKS), time.process_time),
    }
    actions |= {name: timed(lambda name=name: run(name)) for name in CHECKS}
    note = "aim: below 12 ms, the Go original's time, of which 10 are its own pauses"
    yield compare("the original's checks", in_turns(3 if quick else 100, actions), note)
