"""The checks of the contract, one module a group.

`ALL` holds every check, in the order of the contract; `BY_NAME` finds one by id or method. A
rule that is tried from two sides has two checks of one id, each with a method of its own:
`METHODS` says what such a name, or that of a group, stands for; `name_of` gives one that names a
check alone.
"""

from collections import Counter
from collections.abc import Mapping
from types import ModuleType

from modeltest.checks import (
    calls,
    delivery,
    faults,
    faults_key,
    faults_retry,
    finish,
    framing,
    isolation,
    reader,
    release,
    tools,
    truncation,
)
from modeltest.harness import Check


def _checks_of(module: ModuleType) -> tuple[Check, ...]:
    return tuple(value for value in vars(module).values() if isinstance(value, Check))


ALL: tuple[Check, ...] = (
    *_checks_of(release),
    *_checks_of(delivery),
    *_checks_of(truncation),
    *_checks_of(finish),
    *_checks_of(calls),
    *_checks_of(framing),
    *_checks_of(faults),
    *_checks_of(faults_retry),
    *_checks_of(faults_key),
    *_checks_of(tools),
    *_checks_of(isolation),
)
"""Every check, in the order of the contract."""

IN_MEMORY: tuple[Check, ...] = (
    *_checks_of(reader),
    *(check for check in ALL if check.in_memory),
)
"""What a stream parser is held to by itself."""

_TIMES = Counter(check.id for check in ALL)


def name_of(check: Check) -> str:
    """Return what names this check alone: its id, or its test method where two share the id."""
    return check.id if _TIMES[check.id] == 1 else check.method


def _names(check: Check) -> tuple[str, ...]:
    return check.id, check.method, f"{check.group}/*"


BY_NAME: Mapping[str, Check] = {
    name: check for check in ALL for name in (name_of(check), check.method)
}
"""Every check, by its test method, and by its id where no other check has that."""

METHODS: Mapping[str, tuple[str, ...]] = {
    name: tuple(check.method for check in ALL if name in _names(check))
    for name in sorted({name for check in ALL for name in _names(check)})
}
"""What checks may be called, by id, test method, or group as "tools/*" → the methods it means."""

__all__ = ["ALL", "BY_NAME", "IN_MEMORY", "METHODS", "name_of"]
