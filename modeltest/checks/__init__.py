"""The clauses of the contract, one module a group.

`ALL` holds every check, in the order of the contract; `BY_NAME` finds one by id or method.
"""

from types import ModuleType

from modeltest.checks import (
    calls,
    credentials,
    cuts,
    delivery,
    faults,
    finish,
    framing,
    isolation,
    release,
    truncation,
)
from modeltest.checks.check import Check, Level, Need, check
from modeltest.checks.failure import Evidence, Failure, Skip
from modeltest.checks.run import Outcome, Status, run
from modeltest.checks.subject import SetUpError, Subject
from modeltest.checks.trial import Trial


def _checks_of(module: ModuleType) -> tuple[Check, ...]:
    return tuple(value for value in vars(module).values() if isinstance(value, Check))


ALL: tuple[Check, ...] = (
    *_checks_of(release),
    *_checks_of(delivery),
    *_checks_of(truncation),
    *_checks_of(cuts),
    *_checks_of(finish),
    *_checks_of(calls),
    *_checks_of(framing),
    *_checks_of(faults),
    *_checks_of(credentials),
    *_checks_of(isolation),
)
"""Every check, in the order of the contract."""

BY_NAME: dict[str, Check] = {check.id: check for check in ALL} | {
    check.method: check for check in ALL
}
"""Every check, by its id and by its test method."""

__all__ = [
    "ALL",
    "BY_NAME",
    "Check",
    "Evidence",
    "Failure",
    "Level",
    "Need",
    "Outcome",
    "SetUpError",
    "Skip",
    "Status",
    "Subject",
    "Trial",
    "check",
    "run",
]
