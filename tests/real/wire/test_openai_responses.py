"""OpenAI Responses, as the openai package reads them."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import OpenAIResponses
from tests.real.openai_clients import openai
from tests.real.wire.reading import (
    CALLED,
    KEY,
    PARAMETERS,
    TOOL,
    WHOLE,
    EventsHaveTypes,
    Failed,
    ReadsBodies,
    Said,
    SpeaksTheFormat,
    ended,
)


class TestOpenAIResponses(EventsHaveTypes, SpeaksTheFormat, unittest.TestCase):
    event_type = openai.types.responses.ResponseStreamEvent
    wires = (OpenAIResponses(),)

    def connect(self, url: str) -> Any:
        return openai.OpenAI(base_url=url, api_key=KEY, max_retries=0)

    def read(self, client: Any) -> Iterator[Said]:
        calls: dict[int, int] = {}
        with client.responses.create(model="m", input="hi", stream=True) as events:
            for event in events:
                yield from self.said(event, calls)

    def said(self, event: Any, calls: dict[int, int]) -> Iterator[Said]:
        match event.type:
            case "response.output_text.delta":
                yield TextDelta(event.delta)
            case "response.reasoning_summary_text.delta":
                yield ReasoningDelta(event.delta)
            case "response.output_item.added" if event.item.type == "function_call":
                index = calls[event.output_index] = len(calls)
                yield ToolCallDelta(index, event.item.call_id, event.item.name)
            case "response.function_call_arguments.delta":
                yield ToolCallDelta(calls[event.output_index], arguments=event.delta)
            case "response.completed" | "response.incomplete":
                yield from _closed(event.response)
            case "response.failed":  # the package raises for neither
                raise Failed(event.response.error)
            case "error":
                raise Failed(event)

    def ask(self, client: Any) -> str:
        return client.responses.create(model="m", input="hi").output_text

    def call(self, client: Any) -> None:
        call = {"type": "function_call", "call_id": "c", "name": CALLED, "arguments": "{}"}
        client.responses.create(
            model="m",
            input=[
                {"role": "user", "content": "hi"},
                call,
                {"type": "function_call_output", "call_id": "c", "output": "noon"},
            ],
            tools=[{"type": "function", "name": TOOL, "parameters": PARAMETERS, "strict": False}],
            tool_choice="required",
        )


class TestOpenAIResponsesHelper(ReadsBodies, unittest.TestCase):
    """The package's own assembly, `responses.stream()`: one response at the end."""

    wires = TestOpenAIResponses.wires
    cases = WHOLE
    differs: ClassVar = dict.fromkeys(
        ("max_output_tokens", "content_filter", "max_messages", "steered"),
        "it knows one end, response.completed, and raises RuntimeError at response.incomplete",
    )
    connect = TestOpenAIResponses.connect

    def read(self, client: Any) -> Iterator[Said]:
        with client.responses.stream(model="m", input="hi") as events:
            for event in events:
                if event.type in ("error", "response.failed"):
                    raise Failed(event)
            response = events.get_final_response()
        for index, item in enumerate(response.output):
            yield from _whole(item, index)
        yield from _closed(response)


def _whole(item: Any, index: int) -> Iterator[Said]:
    match item.type:
        case "message":
            yield TextDelta("".join(part.text for part in item.content))
        case "reasoning":
            yield ReasoningDelta("".join(part.text for part in item.summary))
        case "function_call":
            yield ToolCallDelta(index, item.call_id, item.name, item.arguments)


def _closed(response: Any) -> Iterator[Said]:
    if usage := response.usage:
        cached = usage.input_tokens_details.cached_tokens
        yield Usage(usage.input_tokens - cached, usage.output_tokens, cached)
    details = response.incomplete_details
    yield ended(details.reason if details else response.status)
