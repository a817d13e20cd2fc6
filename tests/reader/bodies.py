"""Short bodies of OpenAI Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from modeltest.wire import OpenAIChat


class ShortChat(OpenAIChat):
    """OpenAI Chat Completions without what says nothing: thousands of bodies are read here."""

    envelope: ClassVar[Mapping[str, Any]] = {}
    choice: ClassVar[Mapping[str, Any]] = {}


def sse(*data: Any) -> bytes:
    texts = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in data
    )
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def text(value: str) -> dict[str, Any]:
    return chunk({"content": value})


def call(arguments: str, name: str = "") -> dict[str, Any]:
    begun = {"id": "c1"} if name else {}
    function = {"name": name} if name else {}
    return chunk(
        {"tool_calls": [{"index": 0, **begun, "function": {**function, "arguments": arguments}}]}
    )


def end(reason: str = "stop") -> dict[str, Any]:
    return chunk({}, reason)


USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
TEXT = sse(text("Grü"), text("ße"), end(), USAGE, "[DONE]")
CALL = sse(call("", "f"), call('{"n": 1'), call("2}"), end("tool_calls"), "[DONE]")
CUT_CALL = sse(call("", "f"), call('{"n": 1'), end("length"), "[DONE]")
ERROR = sse(text("Grü"), {"error": {"type": "overloaded_error", "message": "try later"}})
BROKEN = sse(text("Grü"), '{"choices": ', text("ße"), end(), "[DONE]")
