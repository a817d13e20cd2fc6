"""`WireFormat`: how one provider spells a turn, and every body that the checks ask of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from modeltest.interface import Finish, FinishReason, TextDelta
from modeltest.wire.body import Body
from modeltest.wire.call_cases import CallCases
from modeltest.wire.framing import Framing
from modeltest.wire.pieces import Broken, ErrorResponse, Payload, Piece, Role, WireError
from modeltest.wire.samples import TEXT
from modeltest.wire.script import Unsupported

_STOP = Finish(FinishReason.STOP)


class WireFormat(CallCases):
    """How one provider spells a turn.

    A subclass gives the attributes and hooks named in `required`, and overrides what else its
    provider can say: `reasoning_event`, `call_event`, `usage_event`, `start_events`,
    `end_events`, `merge` (several things in one event), `errors`, `error_response`,
    `json_answer`, `unknown_events`. Everything else follows.

    What a format cannot spell it says by raising `Unsupported` with the reason, and a check then
    skips. A method that returns several bodies leaves out what cannot be spelled, and raises when
    nothing is left.
    """

    def event_text(self, i: int) -> str:
        """Return the text of the i-th event of an endless answer."""
        return f"word{i} "

    def event(self, i: int) -> bytes:
        """Return the i-th event of an endless answer: one text each, the turn not ended.

        The first is preceded by what the format sends before its first text.
        """
        pieces, _ = self.pieces_of(*(TextDelta(self.event_text(n)) for n in (0, i)))
        start = next(n for n, piece in enumerate(pieces) if piece.role is Role.TEXT)
        if i == 0:
            return b"".join(self.frame(p.payload, n) for n, p in enumerate(pieces[: start + 1]))
        return self.frame(pieces[start + 1].payload, start + i)

    @property
    def keep_alive(self) -> bytes:
        """Bytes between events that mean nothing, such as a comment.

        Raises:
            Unsupported: the framing has none.
        """
        if self.framing is Framing.EVENT_STREAM:
            raise Unsupported(f"{self.name}: every byte belongs to an event")
        return b": keep-alive\n\n" if self.framing is Framing.SSE else b"\n"

    def good_endings(self) -> tuple[Body, ...]:
        """Return a turn with each ending that the format calls complete."""
        finish = Finish(FinishReason.STOP, usage=self.sample_usage)
        return (self.spell(*TEXT, finish, name="the usual ending"),)

    def incomplete_endings(self) -> tuple[Body, ...]:
        """Return bodies that look like whole turns, but lack what would make them so."""
        raise Unsupported(f"{self.name}: nothing but a finish looks like one")

    def malformed_bodies(self) -> tuple[Body, ...]:
        """Return turns with a spoiled event: between good texts, and in place of the last."""
        pieces, events = self.pieces_of(*TEXT, _STOP)
        _, second, last = (n for n, piece in enumerate(pieces) if piece.role is Role.TEXT)
        return tuple(
            self.render(
                f"{name} {where}",
                [*pieces[:at], Piece(Role.MALFORMED, payload), *pieces[at + 1 :]],
                events,
            )
            for where, at in (("between good events", second), ("as the last text", last))
            for name, payload in self.malformed_events(pieces[at].payload).items()
        )

    def malformed_events(self, payload: Any) -> Mapping[str, Payload]:
        """Return `payload` spoiled, in each way that its frame lets through.

        Raises:
            Unsupported: it is no JSON, so that only the format knows what would spoil it.
        """
        if not isinstance(payload, Mapping):
            raise Unsupported(f"{self.name} does not say what a malformed event is")
        return {"broken JSON": Broken(payload)}

    def unknown_bodies(self) -> tuple[Body, ...]:
        """Return whole turns with events, content and fields that an adapter must skip."""
        pieces, events = self.pieces_of(*TEXT, _STOP)
        fields = [Piece(piece.role, self.add_field(piece.payload)) for piece in pieces]
        bodies = [self.render("an unknown field", fields, events)]
        roles = [piece.role for piece in pieces]
        after_a_text = roles.index(Role.TEXT) + 1
        before_the_finish = roles.index(Role.FINISH)
        for at, extras in (
            (after_a_text, self.unknown_events()),
            (before_the_finish, self.unknown_blocks()),
        ):
            for name, payloads in extras.items():
                extra = [Piece(Role.OTHER, payload) for payload in payloads]
                bodies.append(self.render(name, [*pieces[:at], *extra, *pieces[at:]], events))
        return tuple(bodies)

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return events that an adapter skips, to come between two texts."""
        return {}

    def unknown_blocks(self) -> Mapping[str, Sequence[Payload]]:
        """Return content that an adapter skips, to come after the text."""
        return {}

    def add_field(self, payload: Payload) -> Payload:
        """Return `payload` with a field that the format does not define, if it is a mapping."""
        if not isinstance(payload, Mapping):
            return payload
        return {**payload, "modeltest_unknown": {"text": "no text", "list": [1, None]}}

    def errors(self) -> tuple[WireError, ...]:
        """Return every shape in which the provider fails in mid-stream."""
        raise Unsupported(f"{self.name} defines no error in mid-stream (errors)")

    def error_bodies(self) -> tuple[Body, ...]:
        """Return every error in mid-stream, after no text and after two."""
        return tuple(
            self.spell(*TEXT[:count], error, name=f"{error.name}, after {count} texts")
            for error in self.errors()
            for count in (0, 2)
        )

    def error_response(self, status: int) -> ErrorResponse:
        """Return the provider's answer with this HTTP status, 400 or more."""
        raise Unsupported(f"{self.name} defines no body for HTTP {status} (error_response)")

    def json_answer(self) -> bytes:
        """Return a whole answer as the provider gives it to a request that asks for no stream."""
        raise Unsupported(f"{self.name} defines no answer that is not streamed (json_answer)")
