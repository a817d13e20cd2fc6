"""The suites that are run again and again, and what is kept of it."""

from __future__ import annotations

import time
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import requests

from modeltest import ModelContractTestCase
from modeltest.demo.acme import AcmeModel

ROOT = Path(__file__).parents[2]


class TestAcme(ModelContractTestCase):
    """The demo's adapter, whose test case exists only while the demo runs."""

    strict = True

    def new_model(self, base_url: str, client: requests.Session) -> AcmeModel:
        return AcmeModel(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        return f'data: {{"text": "word {i} "}}\n\n'


def acme() -> unittest.TestSuite:
    """Return the demo's suite."""
    return unittest.TestLoader().loadTestsFromTestCase(TestAcme)


def examples() -> unittest.TestSuite:
    """Return the suites of docs/examples, as discovery finds them, and the demo's."""
    found = unittest.TestLoader().discover(str(ROOT / "docs" / "examples"), top_level_dir=str(ROOT))
    return unittest.TestSuite([found, acme()])


@dataclass
class Tally:
    """What came of the runs so far.

    Attributes:
        tests: how many tests were run.
        seconds: what each run took.
        failures: how often each test failed.
        texts: each test's different failure texts, and how often each came.
    """

    tests: int = 0
    seconds: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    texts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, result: unittest.TestResult, seconds: float) -> None:
        """Count one run."""
        self.tests += result.testsRun
        self.seconds.append(seconds)
        failed = [*result.failures, *result.errors]
        failed += [(test, "unexpected success") for test in result.unexpectedSuccesses]
        for test, text in failed:
            self.failures[test.id()] += 1
            self.texts.setdefault(test.id(), Counter())[text] += 1

    def __str__(self) -> str:
        if not self.seconds:
            return "no run was completed"
        runs, total = len(self.seconds), self.failures.total()
        times = f"{median(self.seconds):.1f} s (median), {max(self.seconds):.1f} s at most"
        lines = [f"{runs} runs, {self.tests} tests, {total} failures; a run took {times}"]
        for test, number in self.failures.most_common():
            lines.append(f"\n{number} times {test}")
            lines += [f"{n} times {text}" for text, n in self.texts[test].most_common()]
        return "\n".join(lines)


def repeat(make: Callable[[], unittest.TestSuite], runs: int, tally: Tally) -> Iterator[None]:
    """Run a fresh suite `runs` times into `tally`; yield after each.

    Warnings are errors: a SHOULD that is not kept counts as a failure, too.
    """
    for _ in range(runs):
        began = time.monotonic()
        result = unittest.TestResult()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make().run(result)
        tally.add(result, time.monotonic() - began)
        yield
