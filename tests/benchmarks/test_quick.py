"""The benchmarks run, and compare like with like. What they measure is not asserted."""

import contextlib
import io
import unittest
from itertools import count

from modeltest.checks import BY_NAME
from tests.benchmarks import cpu
from tests.benchmarks.__main__ import BENCHMARKS, main
from tests.benchmarks.measure import Series, Table, in_turns
from tests.benchmarks.targets import openai_chat


class TestBenchmarks(unittest.TestCase):
    def test_each_prints_its_figures(self) -> None:
        for name, tables in BENCHMARKS.items():
            with self.subTest(name):
                for table in tables(quick=True):
                    self.assertTrue(table.rows)
                    for row in table.rows:
                        self.assertEqual(len(row), len(table.columns))
                        self.assertRegex(row[1], r"^\d+\.\d+$")

    def test_by_name(self) -> None:
        out = io.StringIO()
        main(["verdict", "--quick"], out)
        self.assertIn("from the consumer's stop to the verdict", out.getvalue())
        self.assertNotIn("start + stop", out.getvalue())

    def test_unknown_name(self) -> None:
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit):
            main(["verdikt"])
        self.assertIn("no benchmark verdikt; there are start-stop, verdict,", errors.getvalue())

    def test_a_replay_sends_what_the_kit_sent(self) -> None:
        target = openai_chat()
        for name in cpu.QUICK:
            with self.subTest(name):
                comparison = cpu.compare(BY_NAME[name], target, rounds=1)
                self.assertGreater(comparison.recorded.answers, 0)
                self.assertEqual(comparison.replayed, comparison.recorded)


class TestMeasure(unittest.TestCase):
    def test_in_turns(self) -> None:
        clock = count()
        series = in_turns(3, {"a": lambda: next(clock), "b": lambda: next(clock)})
        self.assertEqual(series, {"a": Series((0, 3, 4)), "b": Series((1, 2, 5))})

    def test_series(self) -> None:
        hundred = Series(tuple(range(1, 101)))
        self.assertEqual((hundred.median, hundred.p99), (50.5, 100))
        thousand = Series(tuple(range(1, 1001)))
        self.assertEqual(thousand.p99, 991)
        self.assertEqual(Series((3, 1, 2)).p99, 3)

    def test_table(self) -> None:
        table = Table("title", ("", "ms"), [("long name", "1"), ("x", "22")], "a note")
        self.assertEqual(
            str(table), "title\n             ms\n  long name   1\n  x          22\n  a note"
        )
