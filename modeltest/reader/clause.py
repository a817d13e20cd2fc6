"""What a clause is, as far as a reader can be held to it by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from modeltest.harness import Check, Level
from modeltest.reader.trial import ReaderTrial

Run = Callable[[ReaderTrial], None]


@dataclass(frozen=True)
class Clause:
    """One clause of the contract, judged in memory; its id is the check's where it is the same.

    Attributes:
        run: judges; what fails is kept in its trial.
    """

    id: str
    method: str
    level: Level
    requirement: str
    why: str
    fix: str

    run: Run


def clause(id: str, method: str, *, fix: str) -> Callable[[Run], Clause]:  # noqa: A002 - as Check's
    """Make a clause of a function; its docstring gives the requirement and the why."""

    def make(run: Run) -> Clause:
        requirement, _, why = (run.__doc__ or "").partition("\n")
        return Clause(id, method, Level.MUST, requirement, " ".join(why.split()), fix, run)

    return make


def same_as(check: Check) -> Callable[[Run], Clause]:
    """Make a clause of a function that judges of a reader what `check` judges of an adapter."""

    def make(run: Run) -> Clause:
        return Clause(
            check.id, check.method, check.level, check.requirement, check.why, check.fix, run
        )

    return make
