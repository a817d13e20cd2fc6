"""The objects that OpenAI Responses' events carry: the response, its items, their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeltest.encoding import Role
from modeltest.interface import ToolCallDelta

if TYPE_CHECKING:
    from modeltest.wire.blocks import Block


_IDS = {Role.TEXT: "msg", Role.REASONING: "rs", Role.CALL: "fc"}


def response(status: str, **fields: Any) -> dict[str, Any]:
    """Return the response object with `fields` in place of what it begins with."""
    return {
        "id": "resp_68f8a5c2e1d08190a3b4c5d6e7f8091a",
        "object": "response",
        "created_at": 1_761_234_567,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": "gpt-4o-mini-2024-07-18",
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        "metadata": {},
        **fields,
    }


def item(block: Block, status: str = "in_progress") -> dict[str, Any]:
    """Return the output item of a block: empty in progress, whole afterwards."""
    begun = {"id": item_id(block)}
    text = "" if status == "in_progress" else block.text
    parts = [] if status == "in_progress" else [part(block, text)]
    opening = block.opening
    if isinstance(opening, ToolCallDelta):
        call = {"arguments": text, "call_id": opening.id, "name": opening.name}
        return {**begun, "type": "function_call", "status": status, **call}
    if block.role is Role.REASONING:
        return {**begun, "type": "reasoning", "summary": parts}
    message = {"status": status, "content": parts, "role": "assistant"}
    return {**begun, "type": "message", **message}


def item_id(block: Block) -> str:
    """Return the id of a block's item."""
    return f"{_IDS[block.role]}_68f8a5c35a4c8190b7d6e5f4a3b2c1{block.index:02d}"


def part(block: Block, text: str) -> dict[str, Any]:
    """Return the only part of a block's item, with `text`."""
    if block.role is Role.REASONING:
        return {"type": "summary_text", "text": text}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def place(block: Block) -> dict[str, Any]:
    """Return where an event about a block's item, or its part, belongs."""
    within = {
        Role.TEXT: {"content_index": 0},
        Role.REASONING: {"summary_index": 0},
        Role.CALL: {},
    }
    return {"item_id": item_id(block), "output_index": block.index, **within[block.role]}
