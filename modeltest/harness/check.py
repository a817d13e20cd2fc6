"""What a check is: one function, with its id, level, needs, reason and fix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeltest.delivery import Trial


class Level(StrEnum):
    """How much a failure weighs."""

    MUST = "MUST"
    """It fails the test."""
    SHOULD = "SHOULD"
    """It warns; under `strict` it fails the test."""


class Need(StrEnum):
    """What a check cannot do without; the value is the attribute that gives it."""

    WIRE = "wire"
    RETRIES = "retries"
    IDLE_TIMEOUT = "idle_timeout"
    REFUSED_TOOL_NAMES = "refused_tool_names"
    ACCEPTED_TOOL_NAMES = "accepted_tool_names"
    EVENT_LOOP = "event_loop"
    """Not to be set: an asynchronous adapter runs on one."""


@dataclass(frozen=True)
class Rule:
    """What a clause says, whoever is held to it.

    Attributes:
        id: "group/name", as in the contract.
        method: the test method that runs it.
        level: MUST or SHOULD; single cases of it may be SHOULD where it is MUST.
        requirement: one sentence; the first line of the test method's docstring.
        why: what goes wrong in practice when it is broken.
        fix: what to do about it.
    """

    id: str
    method: str
    level: Level
    requirement: str
    why: str
    fix: str


@dataclass(frozen=True)
class Check(Rule):
    """One clause of the contract, for an adapter.

    Attributes:
        needs: what the test case must set for it.
        run: the function that judges; it raises `Failure` through its trial.
    """

    needs: tuple[Need, ...]
    run: Callable[[Trial], None]

    @property
    def group(self) -> str:
        """The first half of the id."""
        return self.id.partition("/")[0]


def check(
    id: str,  # noqa: A002 - the contract's word
    method: str,
    level: Level = Level.MUST,
    *,
    fix: str,
    needs: tuple[Need, ...] = (),
) -> Callable[[Callable[[Trial], None]], Check]:
    """Make a `Check` of a function; its docstring gives the requirement and the why."""

    def make(function: Callable[[Trial], None]) -> Check:
        requirement, _, why = (function.__doc__ or "").partition("\n")
        if not requirement or not why.strip():
            raise TypeError(f"check {id}: the docstring gives a requirement, then the why")
        return Check(
            id, method, level, requirement.strip(), " ".join(why.split()), fix, needs, function
        )

    return make
