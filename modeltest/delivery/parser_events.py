"""Whether something that a reader yields is one of the contract's events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from modeltest.interface import Finish, ReasoningDelta, TextDelta, ToolCallDelta, Usage


def is_event(event: Any) -> bool:
    """Tell whether `event` is an event, its fields of the right types."""
    if isinstance(event, Finish):
        return _is_finish(event)
    return any(isinstance(event, kind) and fits(event) for kind, fits in DELTAS.items())


# Thousands of bodies are read in a second, and each event is judged here: no loops, no generators.


def _is_text(event: Any) -> bool:
    return isinstance(event.text, str)


def _is_reasoning(event: Any) -> bool:
    return (
        isinstance(event.text, str)
        and isinstance(event.signature, str)
        and isinstance(event.redacted, str)
    )


def _is_call(event: Any) -> bool:
    return (
        isinstance(event.arguments, str)
        and isinstance(event.index, int)
        and isinstance(event.id, str)
        and isinstance(event.name, str)
    )


def _is_finish(event: Any) -> bool:
    return (
        isinstance(event.reason, str)
        and isinstance(event.raw, str)
        and _is_usage(event.usage)
        and _is_usage(event.discarded)
    )


def _is_usage(usage: Any) -> bool:
    return isinstance(usage, Usage) and all(isinstance(n, int) for n in usage.counts().values())


DELTAS: dict[type, Callable[[Any], bool]] = {
    TextDelta: _is_text,
    ToolCallDelta: _is_call,
    ReasoningDelta: _is_reasoning,
}
"""Kind of delta → whether the fields of one are of the right types."""
