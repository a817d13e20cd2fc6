"""Deadlines are counted in fair time: by clocks that the tests turn themselves."""

import threading
import unittest
from collections.abc import Callable

from modeltest.clock import BEAT, COUNTED, LINGER, MOST, FairClock


class Hands:
    """The real time, turned by the test, and a thread that never runs by itself."""

    def __init__(self) -> None:
        self.time = 100.0
        self.started: list[Callable[[], None]] = []
        self.clock = FairClock(lambda: self.time, self.pause, self.start)

    def pause(self, seconds: float) -> None:
        self.time += seconds

    def start(self, run: Callable[[], None]) -> threading.Thread:
        self.started.append(run)
        return threading.current_thread()

    def pass_by(self, seconds: float, *, beats: int) -> None:
        for _ in range(beats):
            self.time += seconds / beats
            self.clock.beat()


class TestFairClock(unittest.TestCase):
    def setUp(self) -> None:
        self.hands = Hands()
        self.clock = self.hands.clock

    def test_a_process_that_runs_is_given_what_was_promised(self) -> None:
        with self.clock.deadline(2) as limit:
            self.hands.pass_by(1.5, beats=300)
            self.assertAlmostEqual(limit.left, 0.5)
            self.hands.pass_by(0.51, beats=102)
            self.assertTrue(limit.over)

    def test_a_process_that_stands_still_is_given_more(self) -> None:
        with self.clock.deadline(2) as limit:
            self.hands.pass_by(3, beats=1)
            self.assertAlmostEqual(limit.left, 2 - COUNTED)

    def test_a_process_that_is_given_a_tenth_is_given_ten_times_as_long(self) -> None:
        with self.clock.deadline(2) as limit:
            self.hands.pass_by(19, beats=190)
            self.assertFalse(limit.over)
            self.hands.pass_by(1.1, beats=11)
            self.assertTrue(limit.over)

    def test_nothing_is_waited_for_for_ever(self) -> None:
        with self.clock.deadline(2) as limit:
            self.hands.pass_by(2 * MOST - 0.1, beats=1)
            self.assertFalse(limit.over)
            self.assertLessEqual(limit.left, 0.11)
            self.hands.pass_by(0.2, beats=1)
            self.assertTrue(limit.over)

    def test_it_beats_while_somebody_waits_and_ends_a_little_later(self) -> None:
        self.assertEqual(self.hands.started, [])
        with self.clock.deadline(1), self.clock.deadline(2):
            self.assertEqual(len(self.hands.started), 1)
            self.assertTrue(all(self.clock.beat() for _ in range(3 * LINGER)))
        self.assertTrue(self.clock.beat())
        before = self.hands.time
        self.hands.started[0]()  # it comes back
        self.assertAlmostEqual(self.hands.time - before, (LINGER - 1) * BEAT)
        self.hands.time += 1000
        with self.clock.deadline(1) as limit:
            self.assertEqual(len(self.hands.started), 2)
            self.clock.beat()
            self.assertAlmostEqual(limit.left, 1)  # what passed before was waited for by nobody

    def test_a_wait_goes_on_until_its_time_is_over(self) -> None:
        asked: list[float] = []

        def wait(seconds: float) -> bool:
            asked.append(seconds)
            self.hands.pass_by(seconds, beats=1 if len(asked) == 1 else 1000)
            return False

        with self.clock.deadline(2) as limit:
            self.assertFalse(limit.wait(wait))
        self.assertAlmostEqual(asked[0], 2)
        self.assertAlmostEqual(asked[1], 2 - COUNTED)

    def test_what_comes_is_told(self) -> None:
        with self.clock.deadline(0) as limit:
            self.assertTrue(limit.wait(lambda seconds: True))  # noqa: ARG005
            self.assertFalse(limit.wait(lambda seconds: seconds > 0))
