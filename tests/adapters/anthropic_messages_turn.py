"""The events of an Anthropic Messages stream → the events of a turn. No input or output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from modeltest import (
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    Usage,
)

from .http_errors import api_error
from .payload import decode_object, get_count, get_index, get_object, get_text
from .sse import ServerSentEvent
from .tool_call import PartialCall

_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_USE,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.FILTERED,
}

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class MessagesTurn:
    """Reads one turn: `message_start`, blocks, `message_delta` with the reason, `message_stop`.

    What an event is stands in its data. The `event:` line repeats it, and some proxies drop it.
    """

    def __init__(self, *, secret: str = "") -> None:
        """Start a turn; no error quotes `secret`, even if the provider repeats it."""
        self.over = False
        self._secret = secret
        self._reason = ""
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._calls: list[PartialCall] = []
        # The open blocks by index: a call, or the type of another block.
        self._blocks: dict[int | None, PartialCall | str] = {}

    @property
    def complete(self) -> bool:
        """Whether the answer has ended: no earlier than the turn."""
        return self.over

    def take(self, event: ServerSentEvent) -> Iterator[Event]:
        """Yield what the event adds to the answer; unknown types add nothing.

        Raises:
            StreamProtocolError: it is no event of the format, or contradicts an earlier one.
            APIError: it is an error.
        """
        if self.over or not event.data.strip():
            return
        data = decode_object(event.data)
        kind = get_text(data, "type") or event.type
        if kind == "error" or data.get("error"):
            raise api_error(data, secret=self._secret)
        match kind:
            case "message_start":
                self._count(get_object(get_object(data, "message"), "usage"))
            case "content_block_start":
                yield from self._content(self._start_block(data))
            case "content_block_delta":
                yield from self._content(self._extend_block(data))
            case "message_delta":
                self._count(get_object(data, "usage"))
                self._stop(get_text(get_object(data, "delta"), "stop_reason"))
            case "message_stop":
                self.over = True

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, the Finish last.

        Raises:
            IncompleteResponseError: it has not ended.
            TruncatedToolArgumentsError: a tool call is not whole.
            StreamProtocolError: it ended without a reason, or for a tool call that it does
                not carry.
        """
        if not self.over:
            raise IncompleteResponseError("the response ended before message_stop")
        if not self._reason:
            raise StreamProtocolError("message_stop came without a stop_reason before it")
        reason = _REASONS.get(self._reason, self._reason)
        for call in self._calls:
            if delta := call.end(reason):
                yield delta
        if reason == FinishReason.TOOL_USE and not self._calls:
            raise StreamProtocolError(f"stop_reason {self._reason!r}, but no tool call came")
        yield Finish(reason, raw=self._reason, usage=self._usage())

    def _content(self, event: Event | None) -> Iterator[Event]:
        if event is None or event in (TextDelta(""), ReasoningDelta()):
            return
        if self._reason:
            raise StreamProtocolError(f"content after stop_reason {self._reason!r}")
        yield event

    def _start_block(self, data: dict[str, Any]) -> Event | None:
        block = get_object(data, "content_block")
        kind = self._blocks[get_index(data)] = get_text(block, "type")
        match kind:
            case "text":
                return TextDelta(get_text(block, "text"))
            case "thinking":
                return ReasoningDelta(get_text(block, "thinking"), get_text(block, "signature"))
            case "redacted_thinking":
                return ReasoningDelta(redacted=get_text(block, "data"))
            case "tool_use":
                return self._start_call(get_index(data), block)
        return None

    def _start_call(self, index: int | None, block: dict[str, Any]) -> Event:
        call = PartialCall(len(self._calls))
        self._calls.append(call)
        self._blocks[index] = call
        # Empty, to be filled by deltas; some compatible servers send it whole.
        arguments = json.dumps(block["input"]) if block.get("input") else ""
        return call.add(id=get_text(block, "id"), name=get_text(block, "name"), arguments=arguments)

    def _extend_block(self, data: dict[str, Any]) -> Event | None:
        delta = get_object(data, "delta")
        block = self._blocks.get(get_index(data))
        match get_text(delta, "type"):
            # Within a block of a type that the format does not define, text is not text.
            case "text_delta" if block in ("text", None):
                return TextDelta(get_text(delta, "text"))
            case "thinking_delta" if block in ("thinking", None):
                return ReasoningDelta(get_text(delta, "thinking"))
            case "signature_delta" if block in ("thinking", None):
                return ReasoningDelta(signature=get_text(delta, "signature"))
            case "input_json_delta" if isinstance(block, PartialCall):
                return block.add(arguments=get_text(delta, "partial_json"))
            case "input_json_delta" if block is None:
                raise StreamProtocolError("arguments came for a tool call that never began")
        # Unknown, or of a tool that runs at the provider and is not called here.
        return None

    def _stop(self, reason: str) -> None:
        if reason and self._reason and reason != self._reason:
            raise StreamProtocolError(f"stop_reason {self._reason!r}, then {reason!r}")
        self._reason = reason or self._reason

    def _count(self, usage: dict[str, Any]) -> None:
        # Cumulative: a later count replaces an earlier one, and null says nothing new.
        for name in _COUNTS:
            if usage.get(name) is not None:
                self._counts[name] = get_count(usage, name)

    def _usage(self) -> Usage:
        return Usage(
            input_tokens=self._counts["input_tokens"],
            output_tokens=self._counts["output_tokens"],
            cache_read_tokens=self._counts["cache_read_input_tokens"],
            cache_write_tokens=self._counts["cache_creation_input_tokens"],
        )
