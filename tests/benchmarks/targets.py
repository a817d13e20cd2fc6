"""The example adapter that is measured, as its own test case gives it."""

from __future__ import annotations

from collections.abc import Callable

import tests.adapters.test_openai_chat as example
from modeltest.delivery import ServedContext, Target, run
from modeltest.harness import Check, Level, Outcome, Status


def openai_chat() -> Target:
    """Return the example over requests, with its `event` alone: no wire."""
    case = example.TestOpenAIChat()
    return Target(new_model=case.new_model, event=lambda index: case.event(index).encode())


def passed(check: Check, target: Target) -> Outcome:
    """Run a check; a figure that a failure made would mean nothing."""
    outcome = run(check, target)
    if outcome.status in (Status.FAILED, Status.WARNED):
        raise AssertionError(f"expected the example to pass, got {outcome.text}")
    return outcome


def as_check(judge: Callable[[ServedContext], None]) -> Check:
    """Return a check of the benchmarks' own, for measuring inside one."""
    return Check("benchmark", Level.MUST, "", "", "", (), None, judge)
