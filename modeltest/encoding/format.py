"""`WireFormat`: what a provider's format says of itself, and how a turn becomes its bytes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from modeltest.encoding.body import Body
from modeltest.encoding.complete import check_complete
from modeltest.encoding.framing import Framing, array_item, ndjson_line, sse_event, to_json
from modeltest.encoding.payloads import (
    Malformed,
    Role,
    RolePayload,
    Unsupported,
    UsagePlacement,
    WireError,
    WirePart,
)
from modeltest.encoding.samples import ARGUMENTS, TEXT
from modeltest.encoding.script import (
    DELTA_ROLES,
    SameEvent,
    accepted_reasons,
    check_sayable,
    check_script,
    closing,
    count_on_every,
    delta_event,
    events_of,
    finish_of,
    merged,
    settled,
)
from modeltest.encoding.tools import ToolNameRule, pluck_all
from modeltest.interface import Finish, FinishReason, TextDelta, ToolCallDelta, Usage

if TYPE_CHECKING:
    from modeltest.encoding.payloads import ErrorResponse, Payload
    from modeltest.encoding.script import Item
    from modeltest.encoding.tools import Path
    from modeltest.interface import Event, ReasoningDelta


_NO_USAGE = Usage()


class WireFormat:
    """How one provider encodes a turn.

    A subclass gives the attributes and hooks named in `required`, and overrides what else its
    provider can say: `reasoning_event`, `call_event`, `usage_event`, `start_events`,
    `end_events`, `merge` (several things in one event), `errors`, `error_response`,
    `json_answer`, `unknown_events`. Everything else follows.

    What a format cannot encode it says by raising `Unsupported` with the reason.

    Raises:
        TypeError: when an instance is made: the class lacks something of `required`, or its
            `reasons` say something that is no reason.
    """

    required: ClassVar[Mapping[str, str]] = {
        "name": "what the format is called, such as 'Acme Chat'",
        "content_type": "the media type of its responses, such as 'text/event-stream'",
        "framing": "a modeltest.wire.Framing: how its events are separated",
        "reasons": "a mapping from each of its finish reasons to the FinishReason it means, "
        "or to itself where it means none",
        "text_event": "text_event(text) -> payload: a delta of the answer",
        "finish_event": "finish_event(word) -> payload: the end of the answer, with its reason",
    }
    """What a subclass must define, and what each is."""

    # Facts.

    name: str
    content_type: str
    framing: Framing
    reasons: ClassVar[Mapping[str, str]]

    source: str = ""
    """Where the shape of the events is documented."""

    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ({},)
    """The options that its instances are made with, one set for each variant of the format."""

    named_events: bool = False
    """Server-sent events: whether each has an `event:` line that equals its payload's "type"."""

    eol: str = "\n"
    """Server-sent events: the line end."""

    separators: tuple[str, str] = (",", ":")
    """How JSON is spaced."""

    end_marker: str = ""
    """What ends a reader's work, in words; empty where only the end of the response does."""

    completes: Role = Role.FINISH
    """Which event, once whole, makes the answer whole."""

    stops_at_finish: bool = False
    """Whether a reader may stop at the finish event, and so never see what follows it."""

    usage_placements: tuple[UsagePlacement, ...] = ()
    """Where token counts may stand, the provider's own way first; empty: it sends none."""

    usage_counts: tuple[str, ...] = ("input_tokens", "output_tokens")
    """Which fields of `Usage` the format can tell."""

    streams_arguments: bool = True
    """Whether a call's arguments come in fragments; if not, a call comes whole in one event."""

    calls_mean_tool_use: bool = False
    """Whether a call alone turns the reason for an ordinary stop into TOOL_USE."""

    other_reasons: ClassVar[Mapping[str, frozenset[str]]] = {}
    """For some finish reasons, other readings of them that are right as well."""

    unknown_reason: str = "modeltest_unknown"
    """A finish reason that the provider does not define, in its style."""

    tool_names: ToolNameRule = ToolNameRule(None, None)
    """Which tool names the provider takes."""

    tool_choices: frozenset[str] = frozenset({"auto", "none", "required", "tool"})
    """Which `ToolChoice` modes a request can express."""

    tool_name_paths: tuple[Path, ...] = ()
    """Where a request names its tools."""

    tool_choice_paths: tuple[Path, ...] = ()
    """Where a request says how to choose among them."""

    call_name_paths: tuple[Path, ...] = ()
    """Where a request names the tools of earlier calls."""

    def __new__(cls, *_args: object, **_options: object) -> Self:
        """Check that the class says all that is `required`."""
        check_complete(cls)
        return super().__new__(cls)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    # Hooks: the events of an answer.

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

    def call_id(self, index: int) -> str:
        """Return an id for the turn's `index`-th call, in the provider's style."""
        return f"call_{index}"

    def reasoning_proof(self) -> tuple[ReasoningDelta, ...]:
        """Return what ends a stretch of reasoning, such as its signature; nothing by default."""
        return ()

    def reason_script(self, word: str) -> Sequence[Item]:
        """Return a turn that ends with the provider's `word`; a call if it means tool use."""
        if self.reasons[word] == FinishReason.TOOL_USE:
            return (*self.tool_call(0, "get_weather", ARGUMENTS), self.finish(word))
        return (*TEXT, self.finish(word))

    def event_text(self, i: int) -> str:
        """Return the text of the i-th event of an endless answer."""
        return f"word{i} "

    # Hooks: bytes.

    def frame(self, payload: Payload, n: int) -> bytes:
        """Return the bytes of the `n`-th event of a body. A format of another framing overrides it.

        Raises:
            TypeError: `payload` is none, or the framing is not one that is known here.
        """
        if isinstance(payload, bytes):
            return payload
        whole = payload.payload if isinstance(payload, Malformed) else payload
        text = self.serialize(whole)
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

    def serialize(self, payload: Payload) -> str:
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

    def lean(self, payload: Payload) -> Payload:
        """Return `payload` without the fields that no reader needs; as it is unless overridden."""
        return payload

    # Hooks: what only this provider sends. Each gives whole bodies, none unless overridden.

    def special_turns(self) -> tuple[Body, ...]:
        """Return whole turns that hold what only this provider sends."""
        return ()

    def blocked_turns(self) -> tuple[Body, ...]:
        """Return answers that were withheld before they began, and their reason ends them."""
        return ()

    def other_endings(self) -> tuple[Body, ...]:
        """Return turns whose ending is not the usual one, but complete."""
        return ()

    def incomplete_endings(self) -> tuple[Body, ...]:
        """Return bodies that look like whole turns, but lack what would make them so."""
        return ()

    def turns_without_reason(self) -> tuple[Body, ...]:
        """Return turns that end without a reason, or have an empty one before their end."""
        return ()

    def usage_variants(self) -> tuple[Body, ...]:
        """Return turns that tell their token counts in a way other than by placement."""
        return ()

    def misleading_indexes(self) -> tuple[Body, ...]:
        """Return turns of two calls whose index does not tell them apart."""
        return ()

    def repeated_identities(self) -> tuple[Body, ...]:
        """Return turns of one call whose id or name comes again with later fragments."""
        return ()

    def missing_arguments(self) -> tuple[Body, ...]:
        """Return turns of one call whose arguments are not there at all, or null: each means {}."""
        return ()

    def malformed_events(self, payload: Any) -> Mapping[str, Payload]:
        """Return `payload` spoiled, in each way that its frame lets through.

        Raises:
            Unsupported: it is no JSON, so that only the format knows what would spoil it.
        """
        if not isinstance(payload, Mapping):
            raise Unsupported(f"{self.name} does not say what a malformed event is")
        return {"broken JSON": Malformed(payload)}

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

    def error_response(self, status: int) -> ErrorResponse:
        """Return the provider's answer with this HTTP status, 400 or more."""
        raise Unsupported(f"{self.name} defines no body for HTTP {status} (error_response)")

    def json_answer(self) -> bytes:
        """Return a whole answer as the provider gives it to a request that asks for no stream."""
        raise Unsupported(f"{self.name} defines no answer that is not streamed (json_answer)")

    # What follows from the facts.

    def word(self, reason: str) -> str:
        """Return the provider's first word for a neutral reason; any other word is its own.

        Raises:
            Unsupported: the provider has no word for it.
        """
        for word, neutral in self.reasons.items():
            if neutral == reason:
                return word
        if reason in set(FinishReason):
            raise Unsupported(f"{self.name} has no finish reason that means {str(reason)!r}")
        return reason

    def finish(self, word: str, usage: Usage = _NO_USAGE) -> Finish:
        """Return the Finish that the provider's `word` means in a turn without calls."""
        return Finish(self.reasons.get(word, word), word, usage)

    def accepted_raws(self, word: str) -> frozenset[str]:
        """Return every `Finish.raw` that is right where the provider says `word`, or nothing."""
        return frozenset({word} if word else {"", self.word(FinishReason.STOP)})

    @property
    def sample_usage(self) -> Usage:
        """Token counts, each different, of every kind that the format tells; zero if none."""
        counts = Usage(23, 11, 5, 3).counts()
        reported = self.usage_counts if self.usage_placements else ()
        return Usage(**{name: counts[name] for name in reported})

    def tool_call(
        self,
        index: int,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        id: str = "",  # noqa: A002 - the providers' word for it
    ) -> tuple[ToolCallDelta, ...]:
        """Return the deltas of one call as this format sends it: in fragments, or whole.

        Args:
            index: which call of the turn it is.
            name: the tool's name.
            arguments: an object, or JSON text that is sent as it is.
            id: the call's id; one in the provider's style when empty.
        """
        text = arguments if isinstance(arguments, str) else to_json(dict(arguments))
        start = ToolCallDelta(index, id or self.call_id(index), name)
        if not self.streams_arguments:
            return (ToolCallDelta(index, start.id, name, text),)
        step = max(1, -(-len(text) // 3))
        fragments = [text[at : at + step] for at in range(0, len(text), step)]
        return (start, *(ToolCallDelta(index, arguments=fragment) for fragment in fragments))

    def sent_tool_names(self, request: Any) -> tuple[str, ...]:
        """Return the names of the tools in a request's parsed JSON body, in order."""
        return pluck_all(request, self.tool_name_paths)

    def sent_tool_choices(self, request: Any) -> tuple[Any, ...]:
        """Return what a request's parsed JSON body says of the choice; empty: nothing."""
        return pluck_all(request, self.tool_choice_paths)

    def sent_call_names(self, request: Any) -> tuple[str, ...]:
        """Return the names of the calls that a request's parsed JSON body replays, in order."""
        return pluck_all(request, self.call_name_paths)

    @property
    def keep_alive(self) -> bytes:
        """Bytes between events that mean nothing, such as a comment.

        Raises:
            Unsupported: the framing has none.
        """
        if self.framing is Framing.EVENT_STREAM:
            raise Unsupported(f"{self.name}: every byte belongs to an event")
        return b": keep-alive\n\n" if self.framing is Framing.SSE else b"\n"

    # The engine.

    def event(self, i: int) -> bytes:
        """Return the i-th event of an endless answer: one text each, the turn not ended.

        The first is preceded by what the format sends before its first text.
        """
        payloads, _ = self.payloads_of(*(TextDelta(self.event_text(n)) for n in (0, i)))
        start = next(n for n, one in enumerate(payloads) if one.role is Role.TEXT)
        if i == 0:
            return b"".join(
                self.frame(one.payload, n) for n, one in enumerate(payloads[: start + 1])
            )
        return self.frame(payloads[start + 1].payload, start + i)

    def encode(self, *script: Item, name: str = "", usage: UsagePlacement | None = None) -> Body:
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
        error = next((item for item in script if isinstance(item, WireError)), None)
        return self.render(name, *self.payloads_of(*script, usage=usage), error=error)

    spell = encode
    """Its name in earlier versions."""

    def payloads_of(
        self, *script: Item, usage: UsagePlacement | None = None
    ) -> tuple[list[RolePayload], tuple[Event, ...]]:
        """Return the events of a body before they are framed, and what they mean."""
        items = settled(self, check_script(script))
        placement = usage or next(iter(self.usage_placements), UsagePlacement.AFTER)
        finish = finish_of(items)
        check_sayable(self, items, finish, placement)
        payloads = [RolePayload(Role.START, payload) for payload in self.start_events(items)]
        content = self.content(items, placement)
        if finish and finish.usage != Usage() and placement is UsagePlacement.EVERY:
            content = count_on_every(self, list(content), finish.usage)
        payloads += content
        if finish:
            payloads += [RolePayload(Role.END, payload) for payload in self.end_events()]
        return payloads, tuple(events_of(items))

    def content(self, script: Sequence[Item], placement: UsagePlacement) -> Iterator[RolePayload]:
        """Yield the events between the start and the end marker."""
        for item in script:
            match item:
                case RolePayload():
                    yield item
                case WireError():
                    yield from item.in_roles()
                case SameEvent():
                    yield from merged(self, item, placement)
                case Finish():
                    yield from closing(self, item, placement)
                case _:
                    yield RolePayload(DELTA_ROLES[type(item)], delta_event(self, item))

    def render(
        self,
        name: str,
        payloads: Sequence[RolePayload],
        events: Sequence[Event],
        *,
        error: WireError | None = None,
    ) -> Body:
        """Return the body of `payloads`, which mean `events`."""
        finish = finish_of(events)
        roles = [one.role for one in payloads]
        complete = None
        if finish and not error and Role.MALFORMED not in roles:
            last = self.completes if self.completes in roles else Role.END
            complete = roles.index(last) + 1
        return Body(
            name=name,
            parts=tuple(
                WirePart(one.role, self.frame(one.payload, n)) for n, one in enumerate(payloads)
            ),
            events=tuple(events),
            framing=self.framing,
            source=self.source,
            complete=complete,
            error=error,
            accepted_reasons=accepted_reasons(self, finish, events) if finish else frozenset(),
            accepted_raws=self.accepted_raws(finish.raw) if finish else frozenset(),
        )
