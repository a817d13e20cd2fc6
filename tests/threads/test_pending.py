import unittest

from modeltest.threads.pending import Hang, Pending
from tests.consumer.models import PATIENCE


class TestPending(unittest.TestCase):
    def test_gives_its_outcome(self):
        error = ValueError()
        for outcome in None, error:
            pending = Pending("x", list)
            self.assertFalse(pending.done)
            pending.finish(outcome)
            self.assertTrue(pending.done)
            self.assertIs(pending.wait(PATIENCE), outcome)

    def test_a_hang_says_what_and_where(self):
        pending = Pending("next()", lambda: ["a.py:1 in f: x()"])
        with self.assertRaises(Hang) as raised:
            pending.wait(0)
        self.assertEqual(str(raised.exception), "next() did not return within 0.0 s")
        self.assertEqual(raised.exception.operation, "next()")
        self.assertEqual(raised.exception.frames, ["a.py:1 in f: x()"])
