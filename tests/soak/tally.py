"""Runs, and what is kept of them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from tests.soak.suites import ROOT

NO_RESULT = "the run itself"
"""The name under which a process that came to no result is counted."""


@dataclass
class Tally:
    """What came of the runs so far.

    Attributes:
        tests: how many tests were run.
        seconds: what each run took.
        failures: how often each test failed.
        texts: each test's different failure texts, and how often each came.
        lock: held while a run is counted, for several may end at once.
    """

    tests: int = 0
    seconds: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    texts: dict[str, Counter[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def run(self, names: Sequence[str]) -> float:
        """Run tests in a fresh process, as an author does, and count what comes of it.

        What an adapter imports when it is first used, it imports in every run, and no run
        profits or suffers from what is remembered of the one before. Warnings are errors: a
        SHOULD that is not kept counts as a failure, too.

        Args:
            names: of tests; none means all the examples.

        Returns:
            How many seconds it took.
        """
        command = [sys.executable, "-W", "error", "-m", "tests.soak.one_run", *names]
        began = time.monotonic()
        run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - began
        try:
            result = json.loads(run.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            result = {"tests": 0, "failed": [(NO_RESULT, f"exit status {run.returncode}")]}
        with self.lock:
            self.seconds.append(seconds)
            self.tests += result["tests"]
            for test, text in result["failed"]:
                self.failures[test] += 1
                self.texts.setdefault(test, Counter())[text] += 1
        return seconds

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
