"""How a check ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeltest.harness.check import Check
    from modeltest.transports import Attempt


class ContractWarning(UserWarning):
    """A SHOULD of the contract is not kept; under `strict` it fails the test instead.

    Or the test case holds something doubtful: a client that the adapter does not use, an attribute
    that nobody reads.
    """


class Status(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    """Every case that can be judged holds, and there is one."""
    FAILED = "failed"
    WARNED = "warned"
    """Only SHOULD cases failed."""
    SKIPPED = "skipped"
    """No case can be judged."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes:
        check: the check.
        status: how it ended.
        text: the failure; else why cases could not be judged, if any.
        attempts: connections to elsewhere that were refused.
    """

    check: Check
    status: Status
    text: str = ""
    attempts: tuple[Attempt, ...] = ()
