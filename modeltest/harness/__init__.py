"""What a check is, what it may ask for, and how its verdict reads; no client, no socket."""

from modeltest.harness.answer import Answer, Asked, Declares, ErrorTypes, Transcript
from modeltest.harness.check import Check, Example, Level, Need, check
from modeltest.harness.context import CheckContext, FailedCase, needed
from modeltest.harness.failure import (
    Evidence,
    Failure,
    SetUpError,
    Skip,
    count,
    hung,
    refused,
    report,
    size,
)
from modeltest.harness.outcome import ContractWarning, Outcome, Status
from modeltest.harness.secret import SHORTEST, Secret

__all__ = [
    "SHORTEST",
    "Answer",
    "Asked",
    "Check",
    "CheckContext",
    "ContractWarning",
    "Declares",
    "ErrorTypes",
    "Evidence",
    "Example",
    "FailedCase",
    "Failure",
    "Level",
    "Need",
    "Outcome",
    "Secret",
    "SetUpError",
    "Skip",
    "Status",
    "Transcript",
    "check",
    "count",
    "hung",
    "needed",
    "refused",
    "report",
    "size",
]
