"""Ways for bytes to reach what is under test."""

from modeltest.delivery.context import CheckContext
from modeltest.delivery.elsewhere import Caught, caught_elsewhere
from modeltest.delivery.in_process import body_reader
from modeltest.delivery.process_state import commons_kept, failure_of
from modeltest.delivery.runner import Outcome, Status, run
from modeltest.delivery.scenario import Scenario, ending, expect_events

__all__ = [
    "Caught",
    "CheckContext",
    "Outcome",
    "Scenario",
    "Status",
    "body_reader",
    "caught_elsewhere",
    "commons_kept",
    "ending",
    "expect_events",
    "failure_of",
    "run",
]
