"""A body: the bytes of one response, event by event, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modeltest.encoding.framing import Framing
from modeltest.encoding.payloads import Role, Unsupported, WirePart
from modeltest.interface import Finish, TextDelta, Usage

if TYPE_CHECKING:
    from modeltest.encoding.payloads import WireError
    from modeltest.encoding.script import Item
    from modeltest.interface import Event


@dataclass(frozen=True, slots=True)
class Body:
    """One response's body, and what an adapter must make of it.

    Attributes:
        name: what is special about it, for a report.
        parts: its events in order.
        events: what it says in the contract's events; no Finish where it does not end the turn.
        framing: how its events are separated.
        source: where the shape of its events is documented.
        complete: how many parts end the turn: a body cut after fewer is no answer. None where
            no cut is an answer: the body does not end the turn, or fails.
        error: what the provider says in it when it fails in mid-stream.
        accepted_reasons: every finish reason that is right, the one in `events` included.
        accepted_raws: every `Finish.raw` that is right, the one in `events` included.

    Raises:
        TypeError: a part is no WirePart.
    """

    name: str
    parts: tuple[WirePart, ...]
    events: tuple[Event, ...]
    framing: Framing
    source: str = ""
    complete: int | None = None
    error: WireError | None = None
    accepted_reasons: frozenset[str] = frozenset()
    accepted_raws: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, WirePart):
                raise TypeError(f"a body is made of WireParts, got {part!r:.80}")

    @property
    def data(self) -> bytes:
        """The whole body."""
        return b"".join(part.data for part in self.parts)

    @property
    def chunks(self) -> tuple[bytes, ...]:
        """The body, one event a chunk."""
        return tuple(part.data for part in self.parts)

    @property
    def text(self) -> str:
        """The answer's text, joined."""
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def finish(self) -> Finish | None:
        """The Finish an adapter must give, or None where it must not give one."""
        finishes = [event for event in self.events if isinstance(event, Finish)]
        return finishes[0] if finishes else None

    @property
    def boundaries(self) -> tuple[int, ...]:
        """The byte offset after each part: the cuts between events."""
        offsets, offset = [], 0
        for part in self.parts:
            offset += len(part.data)
            offsets.append(offset)
        return tuple(offsets)

    @property
    def complete_at(self) -> int | None:
        """The byte offset from which a cut body may be accepted; before it, it must fail.

        It lies before the completing event's line ends: whether an event whose blank line is
        missing counts is left to the reader (a strict server-sent events reader says no).
        """
        if self.complete is None:
            return None
        start = sum(len(part.data) for part in self.parts[: self.complete - 1])
        last = self.parts[self.complete - 1].data
        if self.framing is not Framing.EVENT_STREAM:
            last = last.rstrip(b" \r\n")
        return start + len(last)

    def incomplete_prefixes(self) -> tuple[bytes, ...]:
        """Return the body cut at every event boundary before the end of the turn, b"" first.

        Each must fail. A body that does not end the turn is itself the last of them.
        """
        offsets = (0, *self.boundaries)
        end = len(self.parts) + 1 if self.complete is None else self.complete
        data = self.data
        return tuple(data[:offset] for offset in offsets[:end])

    def first(self, role: Role) -> int | None:
        """Return the place of the first part with this role, or None."""
        return next((n for n, part in enumerate(self.parts) if part.role is role), None)

    def until(self, count: int, name: str) -> Body:
        """Return the body cut after `count` parts, which must be enough to end the turn.

        Its Finish has no usage where the part that reports it is cut off.
        """
        reported = any(part.role is Role.USAGE for part in self.parts[count:])
        events = tuple(
            replace(event, usage=Usage()) if reported and isinstance(event, Finish) else event
            for event in self.events
        )
        return replace(self, name=name, parts=self.parts[:count], events=events)

    def renewed(self, name: str, parts: tuple[WirePart, ...]) -> Body:
        """Return a body of other `parts` that means the same and is complete after as many."""
        return replace(self, name=name, parts=parts)

    def __repr__(self) -> str:
        return f"<Body {self.name!r}: {len(self.parts)} events, {len(self.data)} bytes>"


def encode_each(
    scripts: Mapping[str, Sequence[Item]], encode: Callable[..., Body]
) -> tuple[Body, ...]:
    """Return the bodies of those `scripts` that can be encoded, by their names.

    Args:
        scripts: by the names that their bodies get.
        encode: what makes a body of one, such as the method of a format.

    Raises:
        Unsupported: none can; with the first reason.
    """
    bodies: list[Body] = []
    refusals: list[Unsupported] = []
    for name, script in scripts.items():
        try:
            bodies.append(encode(*script, name=name))
        except Unsupported as refusal:
            refusals.append(refusal)
    if not bodies:
        raise refusals[0]
    return tuple(bodies)
