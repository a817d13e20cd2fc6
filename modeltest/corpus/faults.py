"""Turns in which something fails: an event that is none, an error of the provider.

Each function takes a wire format and gives bodies, each with a name and what it means.

Raises, all of them: Unsupported, where the format cannot say such a thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.corpus.once import once
from modeltest.encoding import TEXT, Role, RolePayload
from modeltest.interface import Finish, FinishReason

if TYPE_CHECKING:
    from modeltest.encoding import Body, WireFormat


@once
def malformed_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns with a spoiled event: between good texts, and in place of the last."""
    payloads, events = wire.payloads_of(*TEXT, Finish(FinishReason.STOP))
    _, second, last = (n for n, one in enumerate(payloads) if one.role is Role.TEXT)
    return tuple(
        wire.render(
            f"{name} {where}",
            [*payloads[:at], RolePayload(Role.MALFORMED, spoiled), *payloads[at + 1 :]],
            events,
        )
        for where, at in (("between good events", second), ("as the last text", last))
        for name, spoiled in wire.malformed_events(payloads[at].payload).items()
    )


@once
def error_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return every error in mid-stream, after no text and after two."""
    return tuple(
        wire.encode(*TEXT[:count], error, name=f"{error.name}, after {count} texts")
        for error in wire.errors()
        for count in (0, 2)
    )
