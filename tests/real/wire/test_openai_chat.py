"""OpenAI Chat Completions, as the openai package reads them."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import OpenAIChat
from tests.real.openai_clients import openai
from tests.real.wire.reading import (
    CALLED,
    KEY,
    PARAMETERS,
    TOOL,
    WHOLE,
    EventsHaveTypes,
    ReadsBodies,
    Said,
    SpeaksTheFormat,
    ended,
)

INDEX_IS_IDENTITY = (
    "the package tells calls apart by their index alone: `ChoiceDeltaToolCall.index` is required"
)
_MESSAGES: Any = [{"role": "user", "content": "hi"}]


class TestOpenAIChat(EventsHaveTypes, SpeaksTheFormat, unittest.TestCase):
    event_type = openai.types.chat.ChatCompletionChunk
    wires = (OpenAIChat(), OpenAIChat(reasoning="reasoning_content"))
    differs: ClassVar = dict.fromkeys(
        (
            "the same index for two calls",
            "null indexes",
            "no indexes",
            "the same index for two calls in fragments",
        ),
        INDEX_IS_IDENTITY,
    )

    def connect(self, url: str) -> Any:
        return openai.OpenAI(base_url=url, api_key=KEY, max_retries=0)

    def read(self, client: Any) -> Iterator[Said]:
        with client.chat.completions.create(model="m", messages=_MESSAGES, stream=True) as chunks:
            for chunk in chunks:
                yield from self.said(chunk)

    def said(self, chunk: Any) -> Iterator[Said]:
        if chunk.usage:
            yield _usage(chunk.usage)
        for choice in chunk.choices:
            # No field of the type: other servers' reasoning is kept beside the fields.
            if thought := (choice.delta.model_extra or {}).get("reasoning_content"):
                yield ReasoningDelta(thought)
            if choice.delta.content:
                yield TextDelta(choice.delta.content)
            for call in choice.delta.tool_calls or ():
                function = call.function
                yield ToolCallDelta(
                    call.index, call.id or "", function.name or "", function.arguments or ""
                )
            if choice.finish_reason:
                yield ended(choice.finish_reason)

    def ask(self, client: Any) -> str:
        answer = client.chat.completions.create(model="m", messages=_MESSAGES)
        return answer.choices[0].message.content or ""

    def call(self, client: Any) -> None:
        function = {"name": CALLED, "arguments": "{}"}
        client.chat.completions.create(
            model="m",
            messages=[
                *_MESSAGES,
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "noon"},
            ],
            tools=[{"type": "function", "function": {"name": TOOL, "parameters": PARAMETERS}}],
            tool_choice="required",
        )


class TestOpenAIChatHelper(ReadsBodies, unittest.TestCase):
    """The package's own assembly, `chat.completions.stream()`: one message, in no order."""

    wires = TestOpenAIChat.wires
    cases = WHOLE
    differs: ClassVar = {
        "usage before the finish": "the null usage of a later chunk replaces the counts",
        "the id repeated on later fragments": "it appends the id to itself",
        "the name repeated on later fragments": "it appends the name to itself",
        "a null id on later fragments": "it raises AssertionError in the package's own code",
    }
    in_order = False
    connect = TestOpenAIChat.connect

    def read(self, client: Any) -> Iterator[Said]:
        with client.chat.completions.stream(model="m", messages=_MESSAGES) as events:
            for _ in events:
                pass
            yield from self.assembled(events.current_completion_snapshot)

    def assembled(self, whole: Any) -> Iterator[Said]:
        if whole.usage:
            yield _usage(whole.usage)
        for choice in whole.choices:
            message = choice.message
            if thought := (message.model_extra or {}).get("reasoning_content"):
                yield ReasoningDelta(thought)
            if message.content:
                yield TextDelta(message.content)
            for index, call in enumerate(message.tool_calls or ()):
                function = call.function
                yield ToolCallDelta(index, call.id, function.name, function.arguments or "")
            if choice.finish_reason:
                yield ended(choice.finish_reason)


def _usage(usage: Any) -> Usage:
    details = usage.prompt_tokens_details
    cached = (details and details.cached_tokens) or 0
    return Usage(usage.prompt_tokens - cached, usage.completion_tokens, cached)
