"""How each provider encodes a turn: the bytes its server sends, and what each body means."""

from collections.abc import Mapping
from types import MappingProxyType

from modeltest.encoding import (
    COMMON_TOOL_NAMES,
    Body,
    ErrorResponse,
    Framing,
    Item,
    Malformed,
    Payload,
    Role,
    RolePayload,
    SameEvent,
    ToolNameRule,
    Unsupported,
    UsagePlacement,
    WireError,
    WireFormat,
    WirePart,
    ndjson_line,
    sse_event,
)
from modeltest.wire.anthropic import AnthropicMessages
from modeltest.wire.bedrock import BedrockConverse
from modeltest.wire.blocks import Block, BlockFormat
from modeltest.wire.cohere import CohereChat
from modeltest.wire.gemini import Gemini
from modeltest.wire.mistral import MistralChat
from modeltest.wire.ollama import OllamaChat
from modeltest.wire.openai_chat import OpenAIChat
from modeltest.wire.openai_responses import OpenAIResponses

FORMATS: Mapping[str, type[WireFormat]] = MappingProxyType(
    {
        made.__name__: made
        for made in (
            OpenAIChat,
            OpenAIResponses,
            AnthropicMessages,
            Gemini,
            OllamaChat,
            CohereChat,
            MistralChat,
            BedrockConverse,
        )
    }
)
"""Every format of the kit, by the name of its class. Tests and pages derive theirs from here."""

# Names of earlier versions.
Broken = Malformed
CannotSpell = Unsupported
Piece = RolePayload
Together = SameEvent

__all__ = [
    "COMMON_TOOL_NAMES",
    "FORMATS",
    "AnthropicMessages",
    "BedrockConverse",
    "Block",
    "BlockFormat",
    "Body",
    "Broken",
    "CannotSpell",
    "CohereChat",
    "ErrorResponse",
    "Framing",
    "Gemini",
    "Item",
    "Malformed",
    "MistralChat",
    "OllamaChat",
    "OpenAIChat",
    "OpenAIResponses",
    "Payload",
    "Piece",
    "Role",
    "RolePayload",
    "SameEvent",
    "Together",
    "ToolNameRule",
    "Unsupported",
    "UsagePlacement",
    "WireError",
    "WireFormat",
    "WirePart",
    "ndjson_line",
    "sse_event",
]
