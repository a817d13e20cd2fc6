"""An adapter with events, errors and requests of its own comes under the kit by two hooks."""

from dataclasses import fields
from typing import Any

import requests

import modeltest
from modeltest import (
    Event,
    Finish,
    ModelContractTestCase,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from modeltest.wire import OpenAIChat as OpenAIChatWire

from . import events
from .openai_chat import OpenAIChat

PARTS = {
    modeltest.Text: "text",
    modeltest.Image: "image",
    modeltest.Reasoning: "reasoning",
    modeltest.ToolUse: "call",
    modeltest.ToolResult: "result",
}


def plain(value: Any) -> dict[str, Any]:
    """Return one of the kit's dataclasses as a dict."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def begin(model: Any, request: Request, **more: Any) -> Any:
    """Begin a stream: the kit's request → the dicts that the adapter takes."""
    messages = [
        {
            "role": message.role,
            "parts": [{"type": PARTS[type(part)], **plain(part)} for part in message.parts],
        }
        for message in request.messages
    ]
    tools = [plain(tool) for tool in request.tools]
    choice = request.tool_choice and plain(request.tool_choice)
    return model.stream({"messages": messages, "tools": tools, "choice": choice}, **more)


def to_kit(event: events.Event) -> Event:
    """Return the kit's event that says the same."""
    match event:
        case events.Text(text):
            return TextDelta(text)
        case events.Thought(text, signature, redacted):
            return ReasoningDelta(text, signature, redacted)
        case events.Call(index, id, name, arguments):
            return ToolCallDelta(index, id, name, arguments)
        case events.Done(reason, word, tokens):
            return Finish(reason, word, Usage(*tokens))


class TestOpenAIChat(ModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = OpenAIChatWire(reasoning="reasoning_content")
    model_error = events.ChatError
    config_error = events.BadRequestError
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: requests.Session) -> OpenAIChat:
        """Return the adapter, pointed at the kit's server."""
        return OpenAIChat(base_url, self.api_key, session=client, idle_timeout=self.idle_timeout)

    def open_stream(self, model: OpenAIChat, request: Request) -> Any:
        """Begin a stream of the adapter's own."""
        return begin(model, request)

    def translate(self, event: events.Event) -> Event:
        """Return the kit's event for the adapter's."""
        return to_kit(event)
