"""Every format beside its reference decoder, and what is compared."""

import json
from collections.abc import Iterable
from typing import Any

from modeltest import Event, Finish, ReasoningDelta, TextDelta, ToolCallDelta, corpus
from modeltest.wire import FORMATS as CLASSES
from modeltest.wire import Body, Unsupported, WireFormat
from tests.adapters.home_made_wire import AcmeLines
from tests.wire import decoders
from tests.wire.home_made import AcmeDecoder

FORMATS: list[tuple[WireFormat, type[decoders.Decoder]]] = [
    *(
        (kind(**options), decoders.BY_FORMAT[name])
        for name, kind in CLASSES.items()
        for options in kind.variants
    ),
    (AcmeLines(), AcmeDecoder),
]
"""Each variant of the kit's formats, and the home-made one as the last."""

CASES = (
    "whole_bodies",
    "short_bodies",
    "reason_bodies",
    "unknown_reason_bodies",
    "absent_reason_bodies",
    "usage_bodies",
    "after_finish_bodies",
    "duplicate_bodies",
    "finish_beside_content_bodies",
    "parallel_call_bodies",
    "index_bodies",
    "identity_bodies",
    "empty_argument_bodies",
    "tool_reason_bodies",
    "invalid_argument_bodies",
    "cut_argument_bodies",
    "good_endings",
    "incomplete_endings",
    "malformed_bodies",
    "unknown_bodies",
    "error_bodies",
)
"""The functions of the corpus that return bodies, but for that of a large one."""


def bodies_of(wire: WireFormat, case: str) -> tuple[Body, ...]:
    """Return the bodies of one of `CASES`.

    Raises:
        Unsupported: the format has none.
    """
    bodies: tuple[Body, ...] = getattr(corpus, case)(wire)
    return bodies


def all_bodies(wire: WireFormat) -> list[Body]:
    """Return every body the format offers."""
    bodies: list[Body] = []
    for case in CASES:
        try:
            bodies += bodies_of(wire, case)
        except Unsupported:
            continue
    return bodies


def meaning(events: Iterable[Event]) -> list[Any]:
    """Return what events say, adjacent deltas merged and arguments parsed; usage too."""
    said: list[Any] = []
    calls: dict[int, list[Any]] = {}
    for event in events:
        match event:
            case TextDelta() | ReasoningDelta() if said and type(said[-1]) is type(event):
                said[-1] = _merged(said[-1], event)
            case TextDelta(text="") | ReasoningDelta(text="", signature="", redacted=""):
                pass
            case ToolCallDelta():
                if event.index not in calls:
                    calls[event.index] = ["", "", ""]
                    said.append(calls[event.index])
                call = calls[event.index]
                call[:2] = call[0] or event.id, call[1] or event.name
                call[2] += event.arguments
            case _:
                said.append(event)
    for call in calls.values():
        call[2] = _parsed(call[2])
    return said


def _merged(first: Any, second: Any) -> Any:
    if isinstance(first, TextDelta):
        return TextDelta(first.text + second.text)
    if first.signature or first.redacted or second.redacted:
        raise AssertionError("blocks of reasoning are not next to each other in any body")
    return ReasoningDelta(first.text + second.text, second.signature)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def without_usage(events: Iterable[Any]) -> list[Any]:
    """Return `events` with no token counts in the Finish."""
    return [Finish(e.reason, e.raw) if isinstance(e, Finish) else e for e in events]
