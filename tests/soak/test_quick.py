"""The soak works: loops end, failures count, growth is seen."""

import io
import os
import unittest
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

from tests.soak.__main__ import main, soak, watch_memory
from tests.soak.busy import busy_loops
from tests.soak.memory import ENOUGH, Growth, Holdings
from tests.soak.suites import acme, each, examples, waiting
from tests.soak.tally import Tally

kept: list[bytearray] = []


class Sample(unittest.TestCase):
    """Tests for the soak to run; no runner finds them by their names."""

    def passes(self) -> None:
        pass

    def fails(self) -> None:
        self.fail("on purpose")

    def warns(self) -> None:
        warnings.warn("on purpose", stacklevel=1)

    @unittest.expectedFailure
    def passes_unexpectedly(self) -> None:
        pass

    def dies(self) -> None:
        os._exit(3)

    def grows(self) -> None:
        kept.append(bytearray(100_000))


def suite(*names: str) -> Callable[[], unittest.TestSuite]:
    return lambda: unittest.TestSuite(map(Sample, names))


def named(*names: str) -> list[str]:
    return [f"{__name__}.Sample.{name}" for name in names]


class TestBusyLoops(unittest.TestCase):
    def test_they_run_inside_the_block(self) -> None:
        with busy_loops(2) as loops:
            self.assertEqual([loop.poll() for loop in loops], [None, None])
        self.assertNotIn(None, [loop.poll() for loop in loops])

    def test_they_end_when_it_is_interrupted(self) -> None:
        with self.assertRaises(KeyboardInterrupt), busy_loops(2) as loops:
            raise KeyboardInterrupt
        self.assertNotIn(None, [loop.poll() for loop in loops])

    def test_they_end_with_whoever_started_them(self) -> None:
        with busy_loops(1) as (loop,):
            loop.stdin.close()  # as the system does when a process ends, even by SIGKILL
            self.assertEqual(loop.wait(timeout=20), 0)


class TestSoak(unittest.TestCase):
    def test_quick(self) -> None:
        out = io.StringIO()
        self.assertEqual(main(["--quick"], out), 0)
        self.assertIn("2 runs, 4 tests, 0 failures", out.getvalue())
        self.assertIn("6 checks after 10 to warm up: too few to tell", out.getvalue())

    def test_failures_are_counted_by_test(self) -> None:
        out = io.StringIO()
        names = named("passes", "fails", "warns", "passes_unexpectedly")
        self.assertFalse(soak(names, 2, 0, out))
        self.assertIn("2 runs, 8 tests, 6 failures", out.getvalue())
        for name in names[1:]:
            self.assertIn(f"2 times {name}\n2 times ", out.getvalue())
        self.assertNotIn(f"{names[0]}\n", out.getvalue())

    def test_a_process_that_dies_is_a_failure(self) -> None:
        out = io.StringIO()
        self.assertFalse(soak(named("dies"), 1, 0, out))
        self.assertIn("1 times the run itself\n1 times exit status 3", out.getvalue())

    def test_what_was_seen_is_told_when_it_is_interrupted(self) -> None:
        out = io.StringIO()
        run = Tally.run

        def interrupted(tally: Tally, _names: object) -> float:
            if tally.seconds:
                raise KeyboardInterrupt
            return run(tally, named("fails"))

        with mock.patch.object(Tally, "run", interrupted):
            self.assertEqual(main(["--runs", "2", "--busy", "0"], out), 130)
        self.assertIn("1 runs, 1 tests, 1 failures", out.getvalue())

    def test_the_suites_are_all_there(self) -> None:
        names = {test.id() for test in each(examples())}
        self.assertIn("docs.examples.test_openai_chat.TestOpenAIChat.test_break_releases", names)
        self.assertTrue({test.id() for test in each(acme())} < names)
        self.assertFalse([name for name in names if "_FailedTest" in name])

    def test_what_waits_for_nothing_is_left_out(self) -> None:
        kept = {test.id().rpartition(".")[2] for test in each(waiting(examples()))}
        self.assertIn("test_break_releases", kept)
        self.assertNotIn("test_every_prefix_is_an_error_or_the_same_turn", kept)

    def test_several_at_once(self) -> None:
        out = io.StringIO()
        self.assertFalse(soak(named("fails"), 5, 0, out, at_once=3))
        self.assertIn("5 runs, 5 tests, 5 failures", out.getvalue())


class TestMemory(unittest.TestCase):
    def test_growth_is_seen(self) -> None:
        self.addCleanup(kept.clear)
        out = io.StringIO()
        self.assertTrue(watch_memory(suite("grows"), ENOUGH, out))
        self.assertIn("100 checks after 5 to warm up: NOT FLAT", out.getvalue())

    def test_a_suite_that_fails_says_nothing_about_memory(self) -> None:
        with self.assertRaisesRegex(AssertionError, "on purpose"):
            watch_memory(suite("fails"), 1, io.StringIO())

    def test_each_kind_counts(self) -> None:
        before = Holdings(resident=50_000_000, blocks=150_000, descriptors=5, threads=1)
        steady = Holdings(resident=50_400_000, blocks=150_400, descriptors=5, threads=1)
        self.assertTrue(Growth((100, 1100), (before, steady)).flat)
        for kind, value in {
            "resident": 54_200_000,
            "blocks": 150_600,
            "descriptors": 6,
            "threads": 2,
        }.items():
            with self.subTest(kind):
                after = replace(steady, **{kind: value})
                self.assertFalse(Growth((100, 1100), (before, after)).flat)

    def test_holdings(self) -> None:
        before = Holdings.now()
        self.assertGreaterEqual(before.threads, 1)
        with Path(__file__).open("rb"):
            opened = Holdings.now().descriptors - before.descriptors
        self.assertEqual(opened, 1 if before.descriptors else 0)

    def test_where_there_is_no_proc(self) -> None:
        with mock.patch("tests.soak.memory.Path", side_effect=FileNotFoundError):
            holdings = Holdings.now()
        self.assertEqual(holdings.descriptors, 0)
        self.assertGreaterEqual(holdings.resident, 0)
