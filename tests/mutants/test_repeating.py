"""An adapter with two answers to the same bytes is told so once, and of nothing else."""

import unittest
from typing import Any

from modeltest.checks import ALL, BY_NAME
from modeltest.delivery import Target, run
from modeltest.harness import Status

from . import parrot, repeating

# Of bytes that are none of its provider's, a parrot makes what it likes: the correct one as well.
CHECKS = [
    check
    for check in ALL
    if check.group in ("framing", "isolation") and check.id != "framing/any-bytes"
]


def failing(model: Any) -> set[str]:
    """Return the checks of the two groups that the model fails, or is warned by."""
    target = Target(new_model=model, event=parrot.event)
    outcomes = [run(check, target) for check in CHECKS]
    bad = (Status.FAILED, Status.WARNED)
    return {outcome.check.id for outcome in outcomes if outcome.status in bad}


class TestRepeating(unittest.TestCase):
    def test_text_of_its_own_is_told_once(self) -> None:
        self.assertEqual(failing(repeating.NumbersItsAnswers), {"isolation/repeat"})

    def test_what_differs_is_shown(self) -> None:
        target = Target(new_model=repeating.NumbersItsAnswers, event=parrot.event)
        text = run(BY_NAME["isolation/repeat"], target).text
        self.assertIn("the same bytes gave two different answers", text)

    def test_estimated_usage_is_none_of_the_kits_business(self) -> None:
        self.assertEqual(failing(repeating.CountsAsItLikes), set())
