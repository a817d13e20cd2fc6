"""Cohere's v2 chat, as the cohere package reads it."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import CohereChat
from tests.real.wire.reading import (
    CALLED,
    KEY,
    PARAMETERS,
    TOOL,
    EventsHaveTypes,
    Failed,
    Said,
    SpeaksTheFormat,
    ended,
)

try:
    import cohere
    from cohere import V2ChatStreamResponse
except ImportError as error:
    raise unittest.SkipTest("needs the cohere package: install modeltest-kit[real]") from error

_REQUEST: Any = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "request_options": {"max_retries": 0},
}


class TestCohereChat(EventsHaveTypes, SpeaksTheFormat, unittest.TestCase):
    event_type = V2ChatStreamResponse
    wires = (CohereChat(),)
    differs: ClassVar = dict.fromkeys(
        ("broken JSON between good events", "broken JSON as the last text"),
        "an event that is no JSON is skipped, with a line in the log",
    )

    def connect(self, url: str) -> cohere.ClientV2:
        return cohere.ClientV2(api_key=KEY, base_url=url)

    def read(self, client: Any) -> Iterator[Said]:
        for event in client.chat_stream(**_REQUEST):
            yield from self.said(event)

    def said(self, event: Any) -> Iterator[Said]:
        match event.type:
            case "content-delta":
                content = event.delta.message.content
                if content.thinking:
                    yield ReasoningDelta(content.thinking)
                if content.text:
                    yield TextDelta(content.text)
            case "tool-call-start":
                call = event.delta.message.tool_calls
                function = call.function
                yield ToolCallDelta(event.index, call.id, function.name, function.arguments or "")
            case "tool-call-delta":
                function = event.delta.message.tool_calls.function
                yield ToolCallDelta(event.index, arguments=function.arguments)
            case "message-end":
                yield from self.closed(event.delta)

    def closed(self, delta: Any) -> Iterator[Said]:
        if delta.finish_reason in ("ERROR", "TIMEOUT"):  # the package raises for neither
            raise Failed(delta)
        if delta.usage:
            counts = delta.usage.tokens
            yield Usage(int(counts.input_tokens), int(counts.output_tokens))
        yield ended(delta.finish_reason)

    def ask(self, client: Any) -> str:
        (block,) = client.chat(**_REQUEST).message.content or ()
        return getattr(block, "text", "")

    def call(self, client: Any) -> None:
        function = {"name": CALLED, "arguments": "{}"}
        client.chat(
            model="m",
            messages=[
                *_REQUEST["messages"],
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": "c", "content": "noon"},
            ],
            tools=[{"type": "function", "function": {"name": TOOL, "parameters": PARAMETERS}}],
            tool_choice="REQUIRED",
            request_options={"max_retries": 0},
        )
