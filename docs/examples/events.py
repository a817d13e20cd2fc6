"""What the example adapters give: events and errors of their own, as an application has them.

They take plain dicts. A request is `{"messages": […], "tools": […], "choice": …}`, a message
`{"role": …, "parts": […]}`, a part a dict with a "type": "text"
(text), "image" (media_type, data), "reasoning" (text, signature, redacted), "call" (id, name,
arguments) or "result" (id, content, is_error). A tool has a name, a description and parameters; the
choice among them a mode ("auto", "none", "required" or "tool") and a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True)
class Thought:
    """A piece of the model's reasoning; what proves or hides it is to be sent back unchanged."""

    text: str = ""
    signature: str = ""
    redacted: str = ""


@dataclass(frozen=True)
class Call:
    """A piece of a tool call: id and name come once, the arguments are JSON text to be joined."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True)
class Done:
    """The end, once and last.

    Attributes:
        reason: "stop", "tool_use", "length", "filtered", or the provider's own word.
        word: the provider's own word.
        tokens: of the prompt, of the answer, read from a cache, written to one.
    """

    reason: str
    word: str
    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)


Event = Text | Thought | Call | Done


class BadRequestError(ValueError):
    """The provider would refuse the request; nothing was sent."""


class ChatError(Exception):
    """The turn failed.

    Attributes:
        status: of the HTTP answer, if it was that.
        retry_after: seconds that the provider asked to wait, if it did.
        body: the start of the answer's body.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        retry_after: float | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message if status is None else f"HTTP {status}: {message}")
        self.status = status
        self.retry_after = retry_after
        self.body = body
