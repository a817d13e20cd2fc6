"""From a script of contract events to the bytes of a body: the engine under every format."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from modeltest.interface import (
    Event,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from modeltest.wire.body import Body
from modeltest.wire.facts import Facts
from modeltest.wire.framing import Framing, array_item, ndjson_line, sse_event, to_json
from modeltest.wire.pieces import Broken, Payload, Piece, Role, WireError, WirePart
from modeltest.wire.script import (
    Item,
    Together,
    Unsupported,
    UsagePlacement,
    check_script,
    events_of,
)

DELTA_ROLES = {
    TextDelta: Role.TEXT,
    ReasoningDelta: Role.REASONING,
    ToolCallDelta: Role.CALL,
}


class Spelling(Facts):
    """The hooks a format overrides, and the engine that calls them."""

    required: ClassVar[Mapping[str, str]] = {
        **Facts.required,
        "text_event": "text_event(text) -> payload: one piece of the answer",
        "finish_event": "finish_event(word) -> payload: the end of the answer, with its reason",
    }

    named_events: bool = False
    """Server-sent events: whether each has an `event:` line that equals its payload's "type"."""

    eol: str = "\n"
    """Server-sent events: the line end."""

    separators: tuple[str, str] = (",", ":")
    """How JSON is spaced."""

    def start_events(self, script: Sequence[Item]) -> Iterable[Payload]:
        """Return what precedes the content of `script`; nothing unless overridden."""
        del script
        return ()

    @abstractmethod
    def text_event(self, text: str) -> Payload:
        """Return the event that adds `text` to the answer."""
        ...

    def reasoning_event(self, delta: ReasoningDelta) -> Payload:
        """Return the event that adds to the reasoning. Raises Unsupported unless overridden."""
        raise Unsupported(f"{self.name} sends no reasoning such as {delta!r:.80} (reasoning_event)")

    def call_event(self, delta: ToolCallDelta) -> Payload:
        """Return the event that adds to a tool call. Raises Unsupported unless overridden."""
        raise Unsupported(f"{self.name} sends no call such as {delta!r:.80} (call_event)")

    @abstractmethod
    def finish_event(self, word: str) -> Payload:
        """Return the event that gives the finish reason, in the provider's own word."""
        ...

    def usage_event(self, usage: Usage) -> Payload:
        """Return the event that gives the token counts. Raises Unsupported unless overridden."""
        raise Unsupported(f"{self.name} does not say how it sends {usage!r} (usage_event)")

    def end_events(self) -> Iterable[Payload]:
        """Return what follows a whole answer: the end marker; nothing unless overridden."""
        return ()

    def merge(self, payloads: Sequence[Any]) -> Payload:
        """Return one event that says all of `payloads`. Raises Unsupported unless overridden."""
        raise Unsupported(f"{self.name}: one event says one thing, not {len(payloads)} (merge)")

    def join(self, payloads: Sequence[Mapping[str, Any]]) -> Payload:
        """Return one mapping with the fields of all: what `merge` may be where that will do.

        Raises:
            Unsupported: two of them have the same field.
        """
        joined: dict[str, Any] = {}
        for payload in payloads:
            if twice := joined.keys() & payload.keys():
                raise Unsupported(
                    f"{self.name}: one event cannot say {sorted(twice)} twice; leave it to one of "
                    "the hooks, or override merge"
                )
            joined |= payload
        return joined

    def spell(self, *script: Item, name: str = "", usage: UsagePlacement | None = None) -> Body:
        """Return the body that says `script`.

        Args:
            script: what it says, in order. Without a Finish or a WireError the body stops where
                the script does: the turn is not over. A Finish's `raw` is the provider's word;
                where it is empty, the first word for the reason. Usage of zeros is not sent.
            name: what is special about the body.
            usage: where the token counts stand; the provider's own way when None.

        Raises:
            Unsupported: the format has no way to say it.
            TypeError: a step of the script is none, or a hook returned no payload.
            ValueError: a Finish's reason and raw contradict each other.
        """
        items = self.settled(check_script(script))
        placement = usage or next(iter(self.usage_placements), UsagePlacement.AFTER)
        error = next((item for item in items if isinstance(item, WireError)), None)
        pieces = list(self.compose(items, placement))
        return self.render(name, pieces, tuple(events_of(items)), error=error)

    def compose(self, script: Sequence[Item], placement: UsagePlacement) -> Iterator[Piece]:
        """Yield the events of a body, before they are framed."""
        finish = next((event for event in events_of(script) if isinstance(event, Finish)), None)
        self._check(script, finish, placement)
        yield from (Piece(Role.START, payload) for payload in self.start_events(script))
        content = self.content(script, placement)
        if finish and finish.usage != Usage() and placement is UsagePlacement.EVERY:
            yield from self._count_on_every(list(content), finish.usage)
        else:
            yield from content
        if finish:
            yield from (Piece(Role.END, payload) for payload in self.end_events())

    def content(self, script: Sequence[Item], placement: UsagePlacement) -> Iterator[Piece]:
        """Yield the events between the start and the end marker."""
        for item in script:
            match item:
                case Piece():
                    yield item
                case WireError():
                    yield from item.pieces()
                case Together():
                    yield from self._join(item, placement)
                case Finish():
                    yield from self._close(item, placement)
                case _:
                    yield Piece(DELTA_ROLES[type(item)], self._delta(item))

    def render(
        self,
        name: str,
        pieces: Sequence[Piece],
        events: Sequence[Event],
        *,
        error: WireError | None = None,
    ) -> Body:
        """Return the body of `pieces`, which mean `events`."""
        finish = next((event for event in events if isinstance(event, Finish)), None)
        has_calls = any(isinstance(event, ToolCallDelta) for event in events)
        roles = [piece.role for piece in pieces]
        complete = None
        if finish and not error and Role.MALFORMED not in roles:
            last = self.completes if self.completes in roles else Role.END
            complete = roles.index(last) + 1
        return Body(
            name=name,
            parts=tuple(WirePart(p.role, self.frame(p.payload, n)) for n, p in enumerate(pieces)),
            events=tuple(events),
            framing=self.framing,
            source=self.source,
            complete=complete,
            error=error,
            accepted_reasons=(
                self.accepted_reasons(finish, has_calls=has_calls) if finish else frozenset()
            ),
            accepted_raws=self.accepted_raws(finish.raw) if finish else frozenset(),
        )

    def frame(self, payload: Payload, n: int) -> bytes:
        """Return the bytes of the `n`-th event of a body. A format of another framing overrides it.

        Raises:
            TypeError: `payload` is none, or the framing is not one that is known here.
        """
        if isinstance(payload, bytes):
            return payload
        whole = payload.payload if isinstance(payload, Broken) else payload
        text = self.encode(whole)
        if whole is not payload:
            text = text[:-1]
        match self.framing:
            case Framing.SSE:
                return sse_event(text, event=self.event_name(whole), eol=self.eol)
            case Framing.NDJSON:
                return ndjson_line(text)
            case Framing.JSON_ARRAY:
                return array_item(text, first=n == 0)
        raise TypeError(f"{type(self).__name__} must override frame(): framing {self.framing!r}")

    def encode(self, payload: Payload) -> str:
        """Return the text of a payload that is not framed yet.

        Raises:
            TypeError: `payload` is none: a hook returned something else.
        """
        match payload:
            case str():
                return payload
            case Mapping():
                return to_json(payload, separators=self.separators)
        raise TypeError(
            f"{self.name}: a hook returned {payload!r:.80}; expected a mapping (sent as JSON), "
            "a str (sent as it is) or bytes (already framed)"
        )

    def event_name(self, payload: Payload) -> str:
        """Return what stands in the `event:` line of a server-sent event; empty: no such line."""
        return str(payload["type"]) if self.named_events and isinstance(payload, Mapping) else ""

    def settled(self, script: Sequence[Item]) -> tuple[Item, ...]:
        """Return `script` with the provider's word, and what it means, in every Finish."""
        has_calls = any(isinstance(event, ToolCallDelta) for event in events_of(script))

        def settle(item: Any) -> Any:
            if isinstance(item, Together):
                return Together(tuple(settle(event) for event in item.events))
            return self._settle(item, has_calls) if isinstance(item, Finish) else item

        return tuple(settle(item) for item in script)

    def _settle(self, finish: Finish, has_calls: bool) -> Finish:  # noqa: FBT001
        tool_use, by_calls = FinishReason.TOOL_USE, self.calls_mean_tool_use and has_calls
        wanted = FinishReason.STOP if by_calls and finish.reason == tool_use else finish.reason
        word = finish.raw or self.word(wanted)
        meant = self.reasons.get(word, word)
        if meant != wanted:
            raise ValueError(
                f"{self.name} means {str(meant)!r} by {word!r}, the script says {wanted!r}"
            )
        reason = tool_use if by_calls and meant == FinishReason.STOP else meant
        return replace(finish, reason=reason, raw=word)

    def _check(
        self, script: Sequence[Item], finish: Finish | None, placement: UsagePlacement
    ) -> None:
        events = list(events_of(script))
        if finish and self.stops_at_finish and events[-1] is not finish:
            raise Unsupported(f"{self.name}: a reader stops at {self.end_marker}")
        if finish is None or finish.usage == Usage():
            return
        for name, count in finish.usage.counts().items():
            if count and name not in self.usage_counts:
                raise Unsupported(f"{self.name} does not tell {name}")
        if placement not in self.usage_placements:
            raise Unsupported(f"{self.name} never tells its usage {placement}")

    def _delta(self, event: Event) -> Payload:
        match event:
            case TextDelta():
                return self.text_event(event.text)
            case ReasoningDelta():
                return self.reasoning_event(event)
            case ToolCallDelta():
                return self.call_event(event)
        raise Unsupported(f"{self.name}: a Finish is the last thing that its event says")

    def _join(self, item: Together, placement: UsagePlacement) -> Iterator[Piece]:
        *events, last = item.events
        payloads = [self._delta(event) for event in events]
        if isinstance(last, Finish):
            yield from self._close(last, placement, payloads)
        else:
            yield Piece(DELTA_ROLES[type(last)], self.merge([*payloads, self._delta(last)]))

    def _close(
        self, finish: Finish, placement: UsagePlacement, beside: Sequence[Payload] = ()
    ) -> Iterator[Piece]:
        payload = self.finish_event(finish.raw)
        payload = self.merge([*beside, payload]) if beside else payload
        if finish.usage == Usage():
            yield Piece(Role.FINISH, payload)
            return
        usage = self.usage_event(finish.usage)
        if placement in (UsagePlacement.ON, UsagePlacement.EVERY):
            yield Piece(Role.FINISH, self.merge([payload, usage]))
            return
        pair = [Piece(Role.FINISH, payload), Piece(Role.USAGE, usage)]
        yield from reversed(pair) if placement is UsagePlacement.BEFORE else pair

    def _count_on_every(self, pieces: Sequence[Piece], total: Usage) -> Iterator[Piece]:
        """Yield the pieces, each content event with the tokens generated so far."""
        for n, piece in enumerate(pieces):
            if piece.role in DELTA_ROLES.values():
                so_far = replace(total, output_tokens=min(n + 1, total.output_tokens))
                yield Piece(piece.role, self.merge([piece.payload, self.usage_event(so_far)]))
            else:
                yield piece
