"""What a format must say of itself, and what follows from that alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from modeltest.interface import Finish, FinishReason, ToolCallDelta, Usage
from modeltest.wire.framing import Framing, to_json
from modeltest.wire.pieces import Role
from modeltest.wire.script import Unsupported, UsagePlacement
from modeltest.wire.tools import Path, ToolNameRule, pluck

_NO_USAGE = Usage()


class Facts:
    """The attributes of a wire format; `WireFormat` is what to subclass.

    Raises:
        TypeError: when an instance is made: the class lacks something of `required`, or its
            `reasons` say something that is no reason.
    """

    required: ClassVar[Mapping[str, str]] = {
        "name": "what the format is called, such as 'Acme Chat'",
        "content_type": "the media type of its responses, such as 'text/event-stream'",
        "framing": "a modeltest.wire.Framing: how its events are told apart",
        "reasons": "a mapping from each of its finish reasons to the FinishReason it means, "
        "or to itself where it means none",
    }
    """What a subclass must define, and what each is."""

    name: str
    content_type: str
    framing: Framing
    reasons: ClassVar[Mapping[str, str]]

    source: str = ""
    """Where the shape of the events is documented."""

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

    optional_call_ids: bool = False
    """Whether calls may come without an id, so that an adapter may make up its own."""

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
        missing = [f"  {name}: {what}" for name, what in cls.required.items() if cls._lacks(name)]
        if missing:
            raise TypeError(
                "\n".join([f"{cls.__name__} is no wire format yet; it lacks", *missing])
            )
        for word, reason in cls.reasons.items():
            if reason not in set(FinishReason) and reason != word:
                raise TypeError(
                    f"{cls.__name__}.reasons[{word!r}]: expected a FinishReason, or the word "
                    f"itself where it is passed through; got {reason!r}"
                )
        return super().__new__(cls)

    @classmethod
    def _lacks(cls, name: str) -> bool:
        # Abstract methods without ABCMeta: its own message would say less than ours.
        return getattr(getattr(cls, name, None), "__isabstractmethod__", not hasattr(cls, name))

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

    def accepted_reasons(self, finish: Finish, *, has_calls: bool) -> frozenset[str]:
        """Return every reason that is right where `finish` is expected.

        A call under an ordinary stop may be reported as either: what counts is that it is kept.
        """
        accepted = {str(finish.reason)} | self.other_reasons.get(finish.raw, frozenset())
        if has_calls and finish.reason == FinishReason.STOP:
            accepted.add(str(FinishReason.TOOL_USE))
        return frozenset(accepted)

    @property
    def sample_usage(self) -> Usage:
        """Token counts, each different, of every kind that the format tells; zero if none."""
        counts = Usage(23, 11, 5, 3).counts()
        told = self.usage_counts if self.usage_placements else ()
        return Usage(**{name: counts[name] for name in told})

    def call_id(self, index: int) -> str:
        """Return an id for the turn's `index`-th call, in the provider's style."""
        return f"call_{index}"

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
        return (start, *(ToolCallDelta(index, arguments=piece) for piece in fragments))

    def sent_tool_names(self, request: Any) -> tuple[str, ...]:
        """Return the names of the tools in a request's parsed JSON body, in order."""
        return self._sent(request, self.tool_name_paths)

    def sent_tool_choices(self, request: Any) -> tuple[Any, ...]:
        """Return what a request's parsed JSON body says of the choice; empty: nothing."""
        return self._sent(request, self.tool_choice_paths)

    def sent_call_names(self, request: Any) -> tuple[str, ...]:
        """Return the names of the calls that a request's parsed JSON body replays, in order."""
        return self._sent(request, self.call_name_paths)

    def _sent(self, request: Any, paths: tuple[Path, ...]) -> tuple[Any, ...]:
        return tuple(found for path in paths for found in pluck(request, path))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"
