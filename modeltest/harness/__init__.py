"""Declares checks, runs them, and words what they find."""

from modeltest.harness.check import Check, Level, Need, Rule, check
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
from modeltest.harness.target import SetUpError, Subject

__all__ = [
    "SHORTEST",
    "Check",
    "Evidence",
    "Failure",
    "Level",
    "Need",
    "Rule",
    "Secret",
    "SetUpError",
    "Skip",
    "Subject",
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
