"""The bodies that the finish/* checks ask of a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from modeltest.interface import Event, Finish, FinishReason, ReasoningDelta, TextDelta, Usage
from modeltest.wire.body import Body
from modeltest.wire.framing import Framing
from modeltest.wire.pieces import Payload, Piece, Role
from modeltest.wire.samples import ALPHABETS, ARGUMENTS, TEXT
from modeltest.wire.script import Item, Together, Unsupported, UsagePlacement, events_of
from modeltest.wire.spelling import Spelling


class FinishCases(Spelling):
    """Whole turns, and the ways in which a turn ends."""

    def bodies(self) -> tuple[Body, ...]:
        """Return whole turns of each kind that the format can spell, with usage if it tells any."""
        call = self.tool_call(0, "get_weather", ARGUMENTS)
        other = self.tool_call(1, "get_time", {"zone": "Europe/Oslo"})
        thought = (ReasoningDelta("Let me "), ReasoningDelta("think."), *self.reasoning_proof())
        stop = Finish(FinishReason.STOP, usage=self.sample_usage)
        tool_use = Finish(FinishReason.TOOL_USE, usage=self.sample_usage)
        return self.spell_all(
            {
                "text": (*TEXT, stop),
                "reasoning, then text": (*thought, *TEXT, stop),
                "one tool call": (*call, tool_use),
                "two tool calls": (*call, *other, tool_use),
                "text, then a tool call": (*TEXT, *call, tool_use),
                "text of several alphabets": (*ALPHABETS, stop),
            }
        )

    def prefix_bodies(self) -> tuple[Body, ...]:
        """Return a short turn of each kind that the format can spell, to be cut at every byte.

        A field that no reader needs would only be cut a thousand times more: see `lean`.
        """
        texts = (TextDelta("Gr\u00fc\u00dfe "), TextDelta("\U0001f30d"))
        thought = (ReasoningDelta("Hm"), *self.reasoning_proof())
        call = self.tool_call(0, "f", {"city": "\u4e16", "days": 30})
        other = self.tool_call(1, "g", {"n": 12})
        stop = Finish(FinishReason.STOP, usage=self.sample_usage)
        tool_use = Finish(FinishReason.TOOL_USE, usage=self.sample_usage)
        return self.spell_all(
            {
                "a short text": (*texts, stop),
                "short reasoning, then text": (*thought, *texts, stop),
                "a short tool call": (*call, tool_use),
                "two short tool calls": (*call, *other, tool_use),
            },
            self.spell_lean,
        )

    def reasoning_proof(self) -> tuple[ReasoningDelta, ...]:
        """Return what ends a stretch of reasoning, such as its signature; nothing by default."""
        return ()

    def lean(self, payload: Payload) -> Payload:
        """Return `payload` without the fields that no reader needs; as it is unless overridden."""
        return payload

    def spell_lean(self, *script: Item, name: str = "") -> Body:
        """Return the body that says `script` in as few bytes as the provider's readers accept."""
        pieces, events = self.pieces_of(*script)
        lean = [replace(piece, payload=self.lean(piece.payload)) for piece in pieces]
        return self.render(name, lean, events)

    def spell_all(
        self,
        scripts: Mapping[str, Sequence[Item]],
        spell: Callable[..., Body] | None = None,
    ) -> tuple[Body, ...]:
        """Return the bodies of those `scripts` that can be spelled, by their names.

        Args:
            scripts: by the names that their bodies get.
            spell: what spells one, as `spell` does; that by default.

        Raises:
            Unsupported: none can; with the first reason.
        """
        spell = spell or self.spell
        bodies: list[Body] = []
        refusals: list[Unsupported] = []
        for name, script in scripts.items():
            try:
                bodies.append(spell(*script, name=name))
            except Unsupported as refusal:
                refusals.append(refusal)
        if not bodies:
            raise refusals[0]
        return tuple(bodies)

    def reason_bodies(self) -> tuple[Body, ...]:
        """Return one turn for every finish reason of the format."""
        return self.spell_all({word: self.reason_script(word) for word in self.reasons})

    def reason_script(self, word: str) -> Sequence[Item]:
        """Return a turn that ends with the provider's `word`; a call if it means tool use."""
        if self.reasons[word] == FinishReason.TOOL_USE:
            return (*self.tool_call(0, "get_weather", ARGUMENTS), self.finish(word))
        return (*TEXT, self.finish(word))

    def unknown_reason_body(self) -> Body:
        """Return a turn whose finish reason the format does not define."""
        return self.spell(*TEXT, self.finish(self.unknown_reason), name="an unknown finish reason")

    def absent_reason_bodies(self) -> tuple[Body, ...]:
        """Return turns that end without a reason, or have an empty one before their end."""
        raise Unsupported(f"{self.name}: a turn never ends without a reason")

    def usage_bodies(self) -> tuple[Body, ...]:
        """Return turns with token counts in every place, and one with counts but no finish."""
        if not self.usage_placements:
            raise Unsupported(f"{self.name} tells no usage (usage_placements, usage_event)")
        finish = Finish(FinishReason.STOP, usage=self.sample_usage)
        bodies = [
            self.spell(*TEXT, finish, name=f"usage {place}", usage=place)
            for place in self.usage_placements
        ]
        if "cache_read_tokens" in self.usage_counts:
            cached = Finish(FinishReason.STOP, usage=Usage(0, 11, cache_read_tokens=23))
            bodies.append(self.spell(*TEXT, cached, name="usage, the whole prompt cached"))
        pieces, _ = self.pieces_of(*TEXT, finish)
        if any(piece.role is Role.USAGE for piece in pieces):
            kept = [piece for piece in pieces if piece.role not in (Role.FINISH, Role.END)]
            bodies.append(self.render("usage, but no finish", kept, TEXT))
        return tuple(bodies)

    def after_finish_bodies(self) -> tuple[Body, ...]:
        """Return turns that go on after their finish: protocol errors."""
        stop, call = Finish(FinishReason.STOP), self.tool_call(0, "get_weather", ARGUMENTS)
        return self.spell_all(
            {
                "text after the finish": (*TEXT, stop, TextDelta("more")),
                "a tool call after the finish": (*TEXT, stop, *call),
            }
        )

    def duplicate_bodies(self) -> tuple[Body, ...]:
        """Return whole turns whose finish event, or end marker, comes twice: one Finish each."""
        pieces, events = self.pieces_of(*TEXT, Finish(FinishReason.STOP))
        bodies = []
        for n, piece in enumerate(pieces):
            # What closes a JSON array cannot come twice: the body would be no JSON.
            closes = piece.role is Role.END and self.framing is Framing.JSON_ARRAY
            if piece.role in (Role.FINISH, Role.END) and not closes:
                twice = [*pieces[: n + 1], *pieces[n:]]
                bodies.append(self.render(f"the {piece.role} twice", twice, events))
        return tuple(bodies)

    def finish_beside_content_bodies(self) -> tuple[Body, ...]:
        """Return turns whose finish shares an event with content, or follows an empty text."""
        stop, tool_use = Finish(FinishReason.STOP), Finish(FinishReason.TOOL_USE)
        *texts, last = TEXT
        *deltas, end = self.tool_call(0, "get_weather", ARGUMENTS)
        return self.spell_all(
            {
                "finish beside the last text": (*texts, Together((last, stop))),
                "finish beside the only text": (Together((last, stop)),),
                "finish beside a tool call": (*deltas, Together((end, tool_use))),
                "finish after an empty text": (*TEXT, TextDelta(""), stop),
                "finish after text of many kinds": (*ALPHABETS, stop),
            }
        )

    def pieces_of(self, *script: Item) -> tuple[list[Piece], tuple[Event, ...]]:
        """Return the events of a body before they are framed, and what they mean."""
        settled = self.settled(script)
        place = next(iter(self.usage_placements), UsagePlacement.AFTER)
        return list(self.compose(settled, place)), tuple(events_of(settled))
