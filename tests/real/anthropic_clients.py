"""Two adapters over the anthropic package: as people write it, and with care."""

from __future__ import annotations

import json
import unittest
from collections.abc import Iterator
from typing import Any

try:
    import anthropic
    from anthropic.types import RawMessageStreamEvent
except ImportError as error:
    raise unittest.SkipTest("needs the anthropic package: install modeltest-kit[real]") from error

from docs.examples.anthropic_messages_request import messages_request
from docs.examples.openai_chat_stream import ChatStream
from modeltest import (
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from tests.real.careful import SDKBody, model_errors

_MODEL = "claude-sonnet-5"
_MAX_TOKENS = 1024

_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_USE,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.FILTERED,
}


class NaiveAnthropicModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.client = anthropic.Anthropic(base_url=base_url, api_key=api_key, max_retries=0)

    def stream(self, request: Request) -> Iterator[Event]:
        with self.client.messages.stream(
            model=_MODEL,
            max_tokens=_MAX_TOKENS,
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
        ) as stream:
            for text in stream.text_stream:
                yield TextDelta(text)
        yield Finish(FinishReason.STOP)


class CarefulAnthropicModel:
    """Releases the response on every way out, and takes no answer without its end for one."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._api_key = api_key
        self._client = anthropic.Anthropic(base_url=base_url, api_key=api_key, max_retries=0)

    def stream(self, request: Request) -> ChatStream:
        payload = json.loads(messages_request(_MODEL, _MAX_TOKENS, request))
        with model_errors(self._api_key):
            events = self._client.messages.create(**payload)
        return ChatStream(SDKBody(events.response), self._read(events))

    def _read(self, events: anthropic.Stream[RawMessageStreamEvent]) -> Iterator[Event]:
        with model_errors(self._api_key):
            yield from message_events(events)


def message_events(events: anthropic.Stream[RawMessageStreamEvent]) -> Iterator[Event]:
    reason, usage = "", Usage()
    calls: dict[int, int] = {}  # the number of a block → that of its call
    for event in events:
        match event.type:
            case "message_start":
                usage = _updated(usage, event.message.usage)
            case "content_block_start":
                yield from _block(event.content_block, event.index, calls)
            case "content_block_delta":
                yield from _delta(event.delta, calls.get(event.index))
            case "message_delta":
                usage = _updated(usage, event.usage)
                reason = event.delta.stop_reason or reason
            case "message_stop" if reason:
                yield Finish(_REASONS.get(reason, reason), raw=reason, usage=usage)
                return
    # The package ends its loop the same way after message_stop and at the end of a cut body.
    raise IncompleteResponseError("the response ended before message_stop and a stop_reason")


def _block(block: Any, index: int, calls: dict[int, int]) -> Iterator[Event]:
    match block.type:
        case "text" if block.text:
            yield TextDelta(block.text)
        case "redacted_thinking":
            yield ReasoningDelta(redacted=block.data)
        case "tool_use":
            calls[index] = len(calls)
            yield ToolCallDelta(calls[index], id=block.id, name=block.name)


def _delta(delta: Any, call: int | None) -> Iterator[Event]:
    match delta.type:
        case "text_delta":
            yield TextDelta(delta.text)
        case "thinking_delta":
            yield ReasoningDelta(delta.thinking)
        case "signature_delta":
            yield ReasoningDelta(signature=delta.signature)
        case "input_json_delta" if call is not None:  # else of a tool that the provider runs
            yield ToolCallDelta(call, arguments=delta.partial_json)


def _updated(usage: Usage, counts: Any) -> Usage:
    """Return the totals so far: a later count replaces an earlier one, and None says nothing."""

    def latest(name: str, earlier: int) -> int:
        count = getattr(counts, name, None)
        return earlier if count is None else count

    return Usage(
        input_tokens=latest("input_tokens", usage.input_tokens),
        output_tokens=latest("output_tokens", usage.output_tokens),
        cache_read_tokens=latest("cache_read_input_tokens", usage.cache_read_tokens),
        cache_write_tokens=latest("cache_creation_input_tokens", usage.cache_write_tokens),
    )
