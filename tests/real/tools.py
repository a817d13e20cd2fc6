"""A request's tools and tool choice as the packages' documentation has them, and unchecked."""

from __future__ import annotations

from typing import Any

from modeltest import Request


def openai_tools(request: Request) -> dict[str, Any]:
    """Return the arguments of a package that took OpenAI's over."""
    given: dict[str, Any] = {}
    if request.tools:
        given["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    if choice := request.tool_choice:
        named = {"type": "function", "function": {"name": choice.name}}
        given["tool_choice"] = named if choice.mode == "tool" else choice.mode
    return given
