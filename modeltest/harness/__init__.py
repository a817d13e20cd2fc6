"""Declares checks, runs them, and words what they find."""

from modeltest.harness.check import Check, Example, Level, Need, check
from modeltest.harness.error_text import (
    all_said,
    carried_by,
    chain_of,
    notes_of,
    parts_carried_by,
    repr_of,
    shown,
    text_of,
)
from modeltest.harness.failure import Evidence, Failure, Skip, count, hung, refused, report, size
from modeltest.harness.secret import SHORTEST, Secret
from modeltest.harness.target import SetUpError, Target

__all__ = [
    "SHORTEST",
    "Check",
    "Evidence",
    "Example",
    "Failure",
    "Level",
    "Need",
    "Secret",
    "SetUpError",
    "Skip",
    "Target",
    "all_said",
    "carried_by",
    "chain_of",
    "check",
    "count",
    "hung",
    "notes_of",
    "parts_carried_by",
    "refused",
    "report",
    "repr_of",
    "shown",
    "size",
    "text_of",
]
