"""The bodies that checks ask of a wire format."""

from modeltest.corpus.answers import error_answer, html_page, json_answer
from modeltest.corpus.fuzz import retyped_bodies, try_bodies
from modeltest.corpus.reencode import Respelling, respellings
from modeltest.corpus.tool_cases import (
    MADE_UP,
    WEATHER,
    bad_choices,
    bad_names,
    good_choices,
    good_names,
    histories,
    named,
    request_for,
    rule_of,
    shown_name,
)

__all__ = [
    "MADE_UP",
    "WEATHER",
    "Respelling",
    "bad_choices",
    "bad_names",
    "error_answer",
    "good_choices",
    "good_names",
    "histories",
    "html_page",
    "json_answer",
    "named",
    "request_for",
    "respellings",
    "retyped_bodies",
    "rule_of",
    "shown_name",
    "try_bodies",
]
