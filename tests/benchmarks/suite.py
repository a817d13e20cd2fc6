"""The whole suite, as an author runs it: with `event` alone, and with a wire."""

from __future__ import annotations

import statistics
import time
import unittest
from collections.abc import Iterator, Sequence

import tests.adapters.test_openai_chat as example
import tests.adapters.test_openai_chat_wire as wire
from modeltest import corpus
from modeltest.checks import BY_NAME
from modeltest.testcases.adapter import target_of
from tests.benchmarks.measure import Series, Table, in_turns, milliseconds, timed
from tests.benchmarks.targets import passed

QUICK = ("test_break_releases", "test_truncated_is_an_error")


def tables(*, quick: bool) -> Iterator[Table]:
    """Say what each suite takes, and which tests take the most of it."""
    yield from _of(example.TestOpenAIChat, "its event alone", "aim: at most 3 s", quick=quick)
    yield from _of(wire.TestOpenAIChatWire, "a wire", "aim: at most 8 s", quick=quick)
    yield _cuts(quick=quick)


def _of(case: type[unittest.TestCase], given: str, aim: str, *, quick: bool) -> Iterator[Table]:
    names = QUICK if quick else unittest.defaultTestLoader.getTestCaseNames(case)
    runs = [_run(case, names) for _ in range(1 if quick else 5)]
    wall = Series(tuple(sum(seconds for seconds, _ in run.values()) for run in runs))
    cpu = Series(tuple(sum(seconds for _, seconds in run.values()) for run in runs))
    yield Table(
        f"{len(names)} tests of the example over requests with {given}, by unittest",
        ("", "median s", "most s", "n"),
        [
            (name, f"{series.median:.2f}", f"{series.p99:.2f}", str(len(runs)))
            for name, series in {"wall clock": wall, "CPU of the process": cpu}.items()
        ],
        aim,
    )
    yield _slowest(runs, wall.median)


_Times = dict[str, tuple[float, float]]
"""Each test's wall-clock and CPU seconds, by its method."""


def _cuts(*, quick: bool) -> Table:
    """Say what the in-process check of every cut takes: the whole adapter, without a socket."""
    target = target_of(wire.TestOpenAIChatWire())
    cuts = sum(len(body.data) for body in corpus.short_bodies(target.wire))
    check = BY_NAME["truncation/prefix"]
    runs = in_turns(1 if quick else 5, {"all": timed(lambda: passed(check, target))})["all"]
    each = runs.median / cuts
    rows = [
        (f"{cuts} cuts", f"{runs.median:.2f}", f"{runs.p99:.2f}"),
        ("2000 cuts", f"{each * 2000:.2f}", f"{runs.p99 / cuts * 2000:.2f}"),
    ]
    title = "truncation/prefix of the example over requests"
    return Table(title, ("", "median s", "most s"), rows, "aim: 2000 cuts in at most 3 s")


def _slowest(runs: Sequence[_Times], whole: float) -> Table:
    medians = {
        name: [statistics.median(run[name][clock] for run in runs) for clock in (0, 1)]
        for name in runs[0]
    }
    ten = sorted(medians.items(), key=lambda item: item[1], reverse=True)[:10]
    rows = [
        (name, milliseconds(wall), milliseconds(cpu), f"{wall / whole:.0%}")
        for name, (wall, cpu) in ten
    ]
    return Table("the ten slowest", ("", "median ms", "CPU ms", "share"), rows)


class _TimedResult(unittest.TestResult):
    def __init__(self) -> None:
        super().__init__()
        self.times: _Times = {}

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._began = time.perf_counter(), time.process_time()

    def stopTest(self, test: unittest.TestCase) -> None:
        wall, cpu = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        self.times[test.id().rpartition(".")[2]] = wall, cpu
        super().stopTest(test)


def _run(case: type[unittest.TestCase], names: Sequence[str]) -> _Times:
    result = _TimedResult()
    unittest.TestSuite(map(case, names)).run(result)
    if not result.wasSuccessful():
        raise AssertionError(
            f"expected the example to pass, got {result.failures or result.errors}"
        )
    return result.times
