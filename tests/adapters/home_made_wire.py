"""A wire format for an invented provider: lines of JSON such as {"say": "Hello"} and {"over": "done"}."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from modeltest.interface import FinishReason, ToolCallDelta, Usage
from modeltest.wire import Framing, Payload, UsagePlacement, WireError, WireFormat


class AcmeLines(WireFormat):
    """How Acme's server encodes a turn. Each hook returns the object of one line."""

    name = "Acme Lines"
    framing = Framing.NDJSON
    content_type = "application/x-acme-lines"
    end_marker = 'the line with "over"'
    stops_at_finish = True
    reasons: ClassVar[Mapping[str, str]] = {
        "done": FinishReason.STOP,
        "full": FinishReason.LENGTH,
        "tool": FinishReason.TOOL_USE,
        "handed over": "handed over",  # no neutral reason: passed through
    }
    usage_placements = (UsagePlacement.ON,)

    def text_event(self, text: str) -> Payload:
        """Return a line with text."""
        return {"say": text}

    def call_event(self, delta: ToolCallDelta) -> Payload:
        """Return a line with a fragment of a tool call; the first has its id and name."""
        begun = {"id": delta.id, "tool": delta.name} if delta.name else {}
        return {"call": delta.index, **begun, "json": delta.arguments}

    def finish_event(self, word: str) -> Payload:
        """Return the last line."""
        return {"over": word}

    def usage_event(self, usage: Usage) -> Payload:
        """Return the counts, which share the last line."""
        return {"tokens": [usage.input_tokens, usage.output_tokens]}

    def merge(self, payloads: Sequence[Any]) -> Payload:
        """Return one line that holds all of `payloads`, if their fields differ."""
        return self.join(payloads)

    def errors(self) -> tuple[WireError, ...]:
        """Return the one way in which Acme fails in mid-stream."""
        line = {"broken": "overloaded", "why": "try again later"}
        return (WireError("a broken line", "overloaded", "try again later", (line,)),)
