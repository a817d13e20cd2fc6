"""What a green run does not say: how many checks did not apply, and why, in one line."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

from modeltest.harness import Cause, Status
from modeltest.testcases.attach import warn_at

if TYPE_CHECKING:
    from modeltest.harness import Outcome


__unittest = True  # keeps this module's lines out of a failure's traceback


class NotApplied(UserWarning):
    """Says at the end of a class how many checks did not apply; under pytest alone."""


class Tally:
    """The checks of one class that were run, and those that did not apply."""

    def __init__(self) -> None:
        self.run = 0
        self._causes: Counter[Cause] = Counter()

    def note(self, outcome: Outcome) -> None:
        """Note how a check ended."""
        self.run += 1
        if outcome.status is Status.SKIPPED:
            self._causes[outcome.cause or Cause.OTHER] += 1

    def line(self, name: str) -> str:
        """Return the line, "" where every check applied."""
        number = sum(self._causes.values())
        if not number:
            return ""
        why = "; ".join(f"{self._causes[cause]} {cause}" for cause in Cause if self._causes[cause])
        return f"{name}: {number} of {self.run} checks did not apply: {why}"


def tell(cls: type, tally: Tally) -> None:
    """Say it once: on stderr; under pytest, which keeps that to itself, in its summary."""
    line = tally.line(cls.__name__)
    if not line:
        return
    if "PYTEST_CURRENT_TEST" in os.environ:
        try:
            warn_at(cls, NotApplied, line)
        except NotApplied:  # under -W error it would be a failure, and it is none
            pass
        else:
            return
    sys.stderr.write(f"\n{line}\n")
