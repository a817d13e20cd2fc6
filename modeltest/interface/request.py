"""What is asked of a model: messages, tools and how it may choose among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Text:
    """Text of a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a user message.

    Attributes:
        media_type: its format, such as "image/png".
        data: the bytes of the file. No repr holds them: they may be millions.
    """

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning of an earlier assistant message, to be replayed unchanged."""

    text: str = ""
    signature: str = ""
    redacted: str = ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call the model made, its arguments parsed."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back for the call with this id."""

    id: str
    content: str
    is_error: bool = False


Part = Text | Image | Reasoning | ToolUse | ToolResult
"""Anything a message may hold."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        role: "system", "user", "assistant" or "tool".
        parts: its contents, in order.
    """

    role: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The message's text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The message's tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolUse))


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call.

    Attributes:
        name: what the model calls it by; each provider has its own grammar.
        description: what it does, for the model.
        parameters: JSON Schema of its arguments.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """How the model may choose among the tools.

    Attributes:
        mode: "auto", "none", "required", or "tool" with `name`.
        name: the one tool to call when the mode is "tool".
    """

    mode: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One turn's request."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None


def user(text: str) -> Message:
    """Return a user message that holds `text`."""
    return Message("user", (Text(text),))
