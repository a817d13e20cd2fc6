"""How each provider spells a turn: the bytes its server sends, and what each body means."""

from modeltest.wire.anthropic import AnthropicMessages
from modeltest.wire.base import WireFormat
from modeltest.wire.bedrock import BedrockConverse
from modeltest.wire.blocks import Block, BlockFormat
from modeltest.wire.body import Body
from modeltest.wire.cohere import CohereChat
from modeltest.wire.framing import Framing, ndjson_line, sse_event
from modeltest.wire.gemini import Gemini
from modeltest.wire.mistral import MistralChat
from modeltest.wire.ollama import OllamaChat
from modeltest.wire.openai_chat import OpenAIChat
from modeltest.wire.openai_responses import OpenAIResponses
from modeltest.wire.pieces import Broken, ErrorResponse, Payload, Piece, Role, WireError, WirePart
from modeltest.wire.script import CannotSpell, Item, Together, Unsupported, UsagePlacement
from modeltest.wire.tools import COMMON_TOOL_NAMES, ToolNameRule

__all__ = [
    "COMMON_TOOL_NAMES",
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
    "MistralChat",
    "OllamaChat",
    "OpenAIChat",
    "OpenAIResponses",
    "Payload",
    "Piece",
    "Role",
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
