"""Mistral's chat completions, as the mistralai package reads them."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Iterator
from typing import Any

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import MistralChat
from tests.real.wire.reading import (
    CALLED,
    KEY,
    PARAMETERS,
    TOOL,
    Failed,
    Said,
    SpeaksTheFormat,
    arguments_of,
    ended,
)

try:
    from mistralai.client import Mistral
except ImportError as error:
    raise unittest.SkipTest("needs the mistralai package: install modeltest-kit[real]") from error

_REQUEST: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


class TestMistralChat(SpeaksTheFormat, unittest.TestCase):
    wires = (MistralChat(),)

    def connect(self, url: str) -> Any:
        return Mistral(api_key=KEY, server_url=url)

    def read(self, client: Any) -> Iterator[Said]:
        calls = itertools.count()
        with client.chat.stream(**_REQUEST) as events:
            for event in events:
                yield from self.said(event.data, calls)

    def said(self, chunk: Any, calls: Iterator[int]) -> Iterator[Said]:
        if chunk.usage:
            yield Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        for choice in chunk.choices:
            yield from _content(choice.delta.content)
            for call in choice.delta.tool_calls or ():  # each is a whole call
                arguments = arguments_of(call.function.arguments)
                yield ToolCallDelta(next(calls), call.id, call.function.name, arguments)
            if choice.finish_reason == "error":  # the package raises nothing
                raise Failed(choice)
            if choice.finish_reason:
                yield ended(choice.finish_reason)

    def ask(self, client: Any) -> str:
        return str(client.chat.complete(**_REQUEST).choices[0].message.content)

    def call(self, client: Any) -> None:
        function = {"name": CALLED, "arguments": "{}"}
        client.chat.complete(
            model="m",
            messages=[
                *_REQUEST["messages"],
                {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]},
                {"role": "tool", "tool_call_id": "c", "content": "noon"},
            ],
            tools=[{"type": "function", "function": {"name": TOOL, "parameters": PARAMETERS}}],
            tool_choice="required",
        )


def _content(content: Any) -> Iterator[Said]:
    if isinstance(content, str):
        yield TextDelta(content)
        return
    for piece in content or ():
        if piece.type == "text":
            yield TextDelta(piece.text)
        elif piece.type == "thinking":
            yield ReasoningDelta("".join(part.text for part in piece.thinking))
