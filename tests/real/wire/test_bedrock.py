"""Bedrock's ConverseStream, as botocore reads it."""

from __future__ import annotations

import base64
import unittest
from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import BedrockConverse
from tests.real.wire.reading import CALLED, PARAMETERS, TOOL, Said, SpeaksTheFormat, ended

try:
    import botocore.config
    import botocore.session
except ImportError as error:
    raise unittest.SkipTest("needs botocore: install modeltest-kit[real]") from error

_REQUEST: Any = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "hi"}]}]}
_COUNTS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


class TestBedrockConverse(SpeaksTheFormat, unittest.TestCase):
    wires = (BedrockConverse(),)
    differs: ClassVar = dict.fromkeys(
        ("broken JSON between good events", "broken JSON as the last text"),
        "a payload that is no JSON is taken for one without fields: the frame was whole",
    )

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.session = (
            botocore.session.get_session()
        )  # it reads files that are large, and keeps them

    def connect(self, url: str) -> Any:
        return self.session.create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=url,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=botocore.config.Config(retries={"total_max_attempts": 1}),
        )

    def read(self, client: Any) -> Iterator[Said]:
        calls: dict[int, int] = {}
        for event in client.converse_stream(**_REQUEST)["stream"]:
            yield from self.said(event, calls)

    def said(self, event: Any, calls: dict[int, int]) -> Iterator[Said]:
        match event:
            case {"contentBlockStart": {"contentBlockIndex": at, "start": {"toolUse": call}}}:
                index = calls[at] = len(calls)
                yield ToolCallDelta(index, call["toolUseId"], call["name"])
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}}:
                yield from _delta(delta, calls.get(at))
            case {"messageStop": {"stopReason": word}}:
                yield ended(word)
            case {"metadata": {"usage": usage}}:
                yield Usage(*(usage[name] for name in _COUNTS))

    def ask(self, client: Any) -> str:
        answer = client.converse(**_REQUEST)
        (block,) = answer["output"]["message"]["content"]
        return block["text"]

    def call(self, client: Any) -> None:
        call = {"toolUseId": "c", "name": CALLED, "input": {}}
        result = {"toolUseId": "c", "content": [{"text": "noon"}]}
        client.converse(
            modelId="m",
            messages=[
                *_REQUEST["messages"],
                {"role": "assistant", "content": [{"toolUse": call}]},
                {"role": "user", "content": [{"toolResult": result}]},
            ],
            toolConfig={
                "tools": [{"toolSpec": {"name": TOOL, "inputSchema": {"json": PARAMETERS}}}],
                "toolChoice": {"any": {}},
            },
        )


def _delta(delta: Any, call: int | None) -> Iterator[Said]:
    match delta:
        case {"text": text}:
            yield TextDelta(text)
        case {"toolUse": {"input": arguments}} if call is not None:
            yield ToolCallDelta(call, arguments=arguments)
        case {"reasoningContent": {"text": text}}:
            yield ReasoningDelta(text)
        case {"reasoningContent": {"signature": signature}}:
            yield ReasoningDelta(signature=signature)
        case {"reasoningContent": {"redactedContent": data}}:
            # The package decodes the bytes; the wire has them in base64.
            yield ReasoningDelta(redacted=base64.b64encode(data).decode())
