"""Ollama's chat, as the ollama package reads it."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import OllamaChat
from tests.real.wire.reading import (
    CALLED,
    PARAMETERS,
    TOOL,
    Said,
    SpeaksTheFormat,
    arguments_of,
    ended,
)

try:
    import ollama
except ImportError as error:
    raise unittest.SkipTest("needs the ollama package: install modeltest-kit[real]") from error

_MESSAGES = [{"role": "user", "content": "hi"}]


class TestOllamaChat(SpeaksTheFormat, unittest.TestCase):
    wires = (OllamaChat(),)
    drops_call_ids = "its `Message.ToolCall` has no field for one; the server sends it"

    def connect(self, url: str) -> Any:
        return ollama.Client(host=url)

    def read(self, client: Any) -> Iterator[Said]:
        calls = 0
        for line in client.chat(model="m", messages=_MESSAGES, stream=True):
            message = line.message
            if message.thinking:
                yield ReasoningDelta(message.thinking)
            if message.content:
                yield TextDelta(message.content)
            for call in message.tool_calls or ():
                arguments = arguments_of(call.function.arguments)
                yield ToolCallDelta(calls, getattr(call, "id", ""), call.function.name, arguments)
                calls += 1
            if line.done:
                yield Usage(line.prompt_eval_count or 0, line.eval_count or 0)
                yield ended(line.done_reason)
                return

    def ask(self, client: Any) -> str:
        return str(client.chat(model="m", messages=_MESSAGES).message.content)

    def call(self, client: Any) -> None:
        call = {"function": {"name": CALLED, "arguments": {}}}
        client.chat(
            model="m",
            messages=[
                *_MESSAGES,
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_name": CALLED, "content": "noon"},
            ],
            tools=[{"type": "function", "function": {"name": TOOL, "parameters": PARAMETERS}}],
        )
