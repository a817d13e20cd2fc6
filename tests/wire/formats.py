"""Every format beside its reference decoder, and what is compared."""

import json
from collections.abc import Iterable
from typing import Any

from modeltest import Event, Finish, ReasoningDelta, TextDelta, ToolCallDelta
from modeltest.wire.anthropic import AnthropicMessages
from modeltest.wire.base import WireFormat
from modeltest.wire.bedrock import BedrockConverse
from modeltest.wire.body import Body
from modeltest.wire.cohere import CohereChat
from modeltest.wire.gemini import Gemini
from modeltest.wire.mistral import MistralChat
from modeltest.wire.ollama import OllamaChat
from modeltest.wire.openai_chat import OpenAIChat
from modeltest.wire.openai_responses import OpenAIResponses
from modeltest.wire.script import Unsupported
from tests.adapters.home_made_wire import AcmeLines
from tests.wire import decoders
from tests.wire.home_made import AcmeDecoder

FORMATS: list[tuple[WireFormat, type[decoders.Decoder]]] = [
    (OpenAIChat(), decoders.ChatDecoder),
    (OpenAIChat(reasoning="reasoning_content"), decoders.ChatDecoder),
    (OpenAIResponses(), decoders.ResponsesDecoder),
    (AnthropicMessages(), decoders.AnthropicDecoder),
    (Gemini(), decoders.GeminiDecoder),
    (Gemini(array=True), decoders.GeminiDecoder),
    (OllamaChat(), decoders.OllamaDecoder),
    (CohereChat(), decoders.CohereDecoder),
    (MistralChat(), decoders.ChatDecoder),
    (BedrockConverse(), decoders.BedrockDecoder),
    (AcmeLines(), AcmeDecoder),
]

CASES = (
    "bodies",
    "prefix_bodies",
    "reason_bodies",
    "absent_reason_bodies",
    "usage_bodies",
    "after_finish_bodies",
    "duplicate_bodies",
    "finish_beside_content_bodies",
    "parallel_call_bodies",
    "index_bodies",
    "identity_bodies",
    "empty_argument_bodies",
    "tool_reason_bodies",
    "invalid_argument_bodies",
    "cut_argument_bodies",
    "good_endings",
    "incomplete_endings",
    "malformed_bodies",
    "unknown_bodies",
    "error_bodies",
)
"""The methods of a format that return bodies."""


def all_bodies(wire: WireFormat) -> list[Body]:
    """Return every body the format offers."""
    bodies = [wire.unknown_reason_body()]
    for case in CASES:
        try:
            bodies += getattr(wire, case)()
        except Unsupported:
            continue
    return bodies


def meaning(events: Iterable[Event]) -> list[Any]:
    """Return what events say, adjacent deltas merged and arguments parsed; usage too."""
    said: list[Any] = []
    calls: dict[int, list[Any]] = {}
    for event in events:
        match event:
            case TextDelta() | ReasoningDelta() if said and type(said[-1]) is type(event):
                said[-1] = _merged(said[-1], event)
            case TextDelta(text="") | ReasoningDelta(text="", signature="", redacted=""):
                pass
            case ToolCallDelta():
                if event.index not in calls:
                    calls[event.index] = ["", "", ""]
                    said.append(calls[event.index])
                call = calls[event.index]
                call[:2] = call[0] or event.id, call[1] or event.name
                call[2] += event.arguments
            case _:
                said.append(event)
    for call in calls.values():
        call[2] = _parsed(call[2])
    return said


def _merged(first: Any, second: Any) -> Any:
    if isinstance(first, TextDelta):
        return TextDelta(first.text + second.text)
    if first.signature or first.redacted or second.redacted:
        raise AssertionError("blocks of reasoning are not next to each other in any body")
    return ReasoningDelta(first.text + second.text, second.signature)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def without_usage(events: Iterable[Any]) -> list[Any]:
    """Return `events` with no token counts in the Finish."""
    return [Finish(e.reason, e.raw) if isinstance(e, Finish) else e for e in events]
