"""Anthropic Messages, as the anthropic package reads them."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import AnthropicMessages
from tests.real.anthropic_clients import anthropic
from tests.real.wire.reading import (
    CALLED,
    KEY,
    PARAMETERS,
    TOOL,
    WHOLE,
    EventsHaveTypes,
    NotWhole,
    ReadsBodies,
    Said,
    SpeaksTheFormat,
    arguments_of,
    ended,
)

_REQUEST: Any = {
    "model": "m",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": "hi"}],
}
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class TestAnthropicMessages(EventsHaveTypes, SpeaksTheFormat, unittest.TestCase):
    event_type = anthropic.types.RawMessageStreamEvent
    wires = (AnthropicMessages(),)
    differs: ClassVar = dict.fromkeys(
        (
            "an error without its event line, after 0 texts",
            "an error without its event line, after 2 texts",
        ),
        "the package goes by the event line alone, and skips what has none",
    )

    def connect(self, url: str) -> anthropic.Anthropic:
        return anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)

    def read(self, client: Any) -> Iterator[Said]:
        turn = _Turn()
        with client.messages.create(**_REQUEST, stream=True) as events:
            for event in events:
                yield from turn.said(event)
        if not turn.stopped:
            yield NotWhole()

    def ask(self, client: Any) -> str:
        (block,) = client.messages.create(**_REQUEST).content
        assert block.type == "text"
        return block.text

    def call(self, client: Any) -> None:
        call = {"type": "tool_use", "id": "c", "name": CALLED, "input": {}}
        result = {"type": "tool_result", "tool_use_id": "c", "content": "noon"}
        client.messages.create(
            model="m",
            max_tokens=1024,
            messages=[
                *_REQUEST["messages"],
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ],
            tools=[{"name": TOOL, "input_schema": PARAMETERS}],
            tool_choice={"type": "any"},
        )


class TestAnthropicMessagesHelper(ReadsBodies, unittest.TestCase):
    """The package's own assembly, `messages.stream()`."""

    wires = TestAnthropicMessages.wires
    cases = WHOLE
    connect = TestAnthropicMessages.connect

    def read(self, client: Any) -> Iterator[Said]:
        stopped = False
        with client.messages.stream(**_REQUEST) as events:
            for event in events:
                stopped = stopped or event.type == "message_stop"
            message = events.current_message_snapshot
        for index, block in enumerate(message.content):
            yield from _whole(block, index)
        yield Usage(*(getattr(message.usage, name) or 0 for name in _COUNTS))
        if message.stop_reason and stopped:
            yield ended(message.stop_reason)


def _whole(block: Any, index: int) -> Iterator[Said]:
    match block.type:
        case "text":
            yield TextDelta(block.text)
        case "thinking":
            yield ReasoningDelta(block.thinking, block.signature)
        case "redacted_thinking":
            yield ReasoningDelta(redacted=block.data)
        case "tool_use":
            yield ToolCallDelta(index, block.id, block.name, arguments_of(block.input))


class _Turn:
    def __init__(self) -> None:
        self.calls: dict[int, int] = {}
        self.counts: dict[str, int] = {}
        self.stopped = False

    def said(self, event: Any) -> Iterator[Said]:
        match event.type:
            case "message_start":
                self.count(event.message.usage)
            case "content_block_start":
                yield from self.begun(event)
            case "content_block_delta":
                yield from self.added(event)
            case "message_delta":
                self.count(event.usage)
                if event.delta.stop_reason:
                    yield ended(event.delta.stop_reason)
            case "message_stop":
                yield Usage(*(self.counts[name] for name in _COUNTS))
                self.stopped = True

    def count(self, usage: Any) -> None:
        told = {name: getattr(usage, name) for name in _COUNTS}
        self.counts |= {name: count for name, count in told.items() if count is not None}

    def begun(self, event: Any) -> Iterator[Said]:
        block = event.content_block
        if block.type == "tool_use":
            self.calls[event.index] = len(self.calls)
            yield ToolCallDelta(self.calls[event.index], block.id, block.name)
        elif block.type == "redacted_thinking":
            yield ReasoningDelta(redacted=block.data)

    def added(self, event: Any) -> Iterator[Said]:
        match event.delta.type:
            case "text_delta":
                yield TextDelta(event.delta.text)
            case "thinking_delta":
                yield ReasoningDelta(event.delta.thinking)
            case "signature_delta":
                yield ReasoningDelta(signature=event.delta.signature)
            case "input_json_delta" if event.index in self.calls:
                index = self.calls[event.index]
                yield ToolCallDelta(index, arguments=event.delta.partial_json)
