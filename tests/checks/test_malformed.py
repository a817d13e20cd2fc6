"""Checks that play a malformed event, where nobody knows how to spoil one."""

import unittest
from typing import Any

from modeltest.checks import BY_NAME
from modeltest.delivery import Target, run
from modeltest.harness import Status
from tests.mutants import failing, parrot, revealing, sharing


def event(index: int) -> bytes:
    """Return an event that does not end with its JSON."""
    return parrot.event(index).removesuffix(b"\n") + b": the end\n\n"


class TestMalformed(unittest.TestCase):
    """All other cases are tried all the same."""

    def judge(self, name: str, model: Any) -> Any:
        return run(BY_NAME[name], Target(new_model=model, event=event, deadline=5.0))

    def test_a_fault_of_another_case_is_seen(self) -> None:
        for name, model in (
            ("faults/secret", revealing.SaysItOfNoAnswer),
            ("isolation/reuse", sharing.BreaksItsCircuitWithoutAnAnswer),
            ("faults/no-repeat", failing.BeginsAgain),
        ):
            with self.subTest(name):
                outcome = self.judge(name, model)
                self.assertIn(outcome.status, (Status.FAILED, Status.WARNED), outcome.text)

    def test_nothing_is_left_unjudged(self) -> None:
        for name in ("faults/secret", "isolation/reuse", "faults/no-repeat"):
            with self.subTest(name):
                outcome = self.judge(name, parrot.Parrot)
                self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))


if __name__ == "__main__":
    unittest.main()
