"""The bodies that checks ask of a wire format, by what is special about them.

Each function takes a wire format and gives bodies, each with a name and what it means.

Raises, all of them: Unsupported, where the format cannot say such a thing.
"""

from __future__ import annotations

from modeltest.wire import Body, WireFormat

LARGE = 1_200_000
"""Bytes of arguments: a file written by a tool."""


def whole_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return whole turns of each kind that the format can say."""
    return tuple(wire.bodies())


def short_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a short turn of each kind, to be cut at every byte."""
    return tuple(wire.prefix_bodies())


def good_endings(wire: WireFormat) -> tuple[Body, ...]:
    """Return a turn with each ending that the format calls complete."""
    return tuple(wire.good_endings())


def incomplete_endings(wire: WireFormat) -> tuple[Body, ...]:
    """Return bodies that look like whole turns, but lack what would make them so."""
    return tuple(wire.incomplete_endings())


def reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return one turn for every finish reason of the format."""
    return tuple(wire.reason_bodies())


def absent_reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns that end without a reason, or have an empty one before their end."""
    return tuple(wire.absent_reason_bodies())


def usage_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns with token counts in every place, and one with counts but no finish."""
    return tuple(wire.usage_bodies())


def after_finish_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns that go on after their finish."""
    return tuple(wire.after_finish_bodies())


def duplicate_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return whole turns whose finish event, or end marker, comes twice."""
    return tuple(wire.duplicate_bodies())


def finish_beside_content_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns whose finish shares an event with content."""
    return tuple(wire.finish_beside_content_bodies())


def parallel_call_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of two calls, their fragments mixed."""
    return tuple(wire.parallel_call_bodies())


def index_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of two calls whose index does not tell them apart."""
    return tuple(wire.index_bodies())


def identity_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of one call whose id or name comes again with later fragments."""
    return tuple(wire.identity_bodies())


def empty_argument_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of one call without arguments, in every way to say it."""
    return tuple(wire.empty_argument_bodies())


def tool_reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a whole call under an ordinary stop, and a finish for tool use without a call."""
    return tuple(wire.tool_reason_bodies())


def invalid_argument_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of one call whose arguments are no JSON object."""
    return tuple(wire.invalid_argument_bodies())


def cut_argument_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns whose only call is cut, under every kind of end."""
    return tuple(wire.cut_argument_bodies())


def malformed_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns with an event that cannot be read."""
    return tuple(wire.malformed_bodies())


def unknown_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return whole turns with events, content and fields that an adapter must skip."""
    return tuple(wire.unknown_bodies())


def error_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return every error in mid-stream, after no text and after two."""
    return tuple(wire.error_bodies())


def unknown_reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a turn whose finish reason the format does not define."""
    return (wire.unknown_reason_body(),)


def large_call_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a turn of one call with `LARGE` bytes of arguments."""
    return (wire.large_call_body(LARGE),)
