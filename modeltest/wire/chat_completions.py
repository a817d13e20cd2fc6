"""The shape that OpenAI Chat Completions and those who follow it share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    ARGUMENTS,
    TEXT,
    Framing,
    Role,
    RolePayload,
    WireFormat,
    change_payloads,
    to_json,
)
from modeltest.interface import Finish, FinishReason, ToolCallDelta

if TYPE_CHECKING:
    from modeltest.encoding import Body, Payload
    from modeltest.interface import Usage


CREATED = 1_761_234_567  # seconds since 1970; every chunk of a turn has the same


class ChatCompletions(WireFormat):
    """Server-sent `chat.completion.chunk` objects, each with one choice, then `[DONE]`."""

    framing = Framing.SSE
    content_type = "text/event-stream"
    end_marker = "data: [DONE]"
    tool_name_paths = (("tools", "*", "function", "name"),)
    tool_choice_paths = (("tool_choice",),)
    call_name_paths = (("messages", "*", "tool_calls", "*", "function", "name"),)

    envelope: ClassVar[Mapping[str, Any]]
    """What every chunk begins with."""

    choice: ClassVar[Mapping[str, Any]] = {}
    """What every choice holds besides."""

    def chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        """Return a chunk whose only choice is `delta`."""
        choice = {"index": 0, "delta": delta, **self.choice, "finish_reason": finish_reason}
        return {**self.envelope, "choices": [choice]}

    def text_event(self, text: str) -> Payload:
        """Return a chunk with text."""
        return self.chunk({"content": text})

    def finish_event(self, word: str) -> Payload:
        """Return the chunk that names the finish reason."""
        return self.chunk({}, word)

    def end_events(self) -> Iterable[Payload]:
        """Return the end marker, which is no JSON."""
        return ("[DONE]",)

    def usage_object(self, usage: Usage) -> dict[str, Any]:
        """Return the counts that all share; those of the cache are part of the prompt's."""
        prompt = usage.input_tokens + usage.cache_read_tokens
        return {
            "prompt_tokens": prompt,
            "completion_tokens": usage.output_tokens,
            "total_tokens": prompt + usage.output_tokens,
        }

    def merge(self, payloads: Sequence[Any]) -> Payload:
        """Return one chunk with all that `payloads` say."""
        merged: dict[str, Any] = {}
        delta: dict[str, Any] = {}
        for payload in payloads:
            usage = payload.get("usage") or merged.get("usage")
            choices = payload["choices"] or merged["choices"]
            merged = {**merged, **payload, "choices": choices}
            if usage:
                merged["usage"] = usage
            for choice in payload["choices"]:
                _add_delta(delta, choice["delta"])
        merged["choices"] = [{**merged["choices"][0], "delta": delta}]
        return merged

    def call_event(self, delta: ToolCallDelta) -> Payload:
        """Return a chunk with one entry of `tool_calls`."""
        return self.chunk({"tool_calls": [self.tool_call_entry(delta)]})

    def tool_call_entry(self, delta: ToolCallDelta) -> dict[str, Any]:
        """Return one entry of `tool_calls`; overridden where it differs."""
        function: dict[str, Any] = {"arguments": delta.arguments}
        if not (delta.id or delta.name):
            return {"index": delta.index, "function": function}
        function = {"name": delta.name, **function}
        return {"index": delta.index, "id": delta.id, "type": "function", "function": function}

    def turns_without_reason(self) -> tuple[Body, ...]:
        """Return a turn whose chunks before the finish have an empty reason, not a null one."""
        payloads, events = self.payloads_of(*TEXT, Finish(FinishReason.STOP))
        payloads = change_payloads(payloads, Role.TEXT, _empty_reason)
        return (self.render("an empty reason before the finish", payloads, events),)

    def misleading_indexes(self) -> tuple[Body, ...]:
        """Return two calls, each whole, whose index is the same, null or missing."""
        one = self.tool_call_entry(_whole(self.call_id(0)))
        two = self.tool_call_entry(_whole(self.call_id(1)))
        forms: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
            "the same index for two calls": ({"index": 0}, {"index": 0}),
            "null indexes": ({"index": None}, {"index": None}),
            "no indexes": ({}, {}),
        }
        return tuple(
            self.call_body(
                name,
                [{**_without(one, "index"), **first}, {**_without(two, "index"), **second}],
                [_whole(one["id"]), _whole(two["id"], index=1)],
            )
            for name, (first, second) in forms.items()
        )

    def call_body(
        self, name: str, entries: Sequence[Mapping[str, Any]], calls: Sequence[ToolCallDelta]
    ) -> Body:
        """Return a turn of the given `tool_calls` entries, one a chunk, which mean `calls`."""
        chunks = [RolePayload(Role.CALL, self.chunk({"tool_calls": [entry]})) for entry in entries]
        payloads, (finish,) = self.payloads_of(Finish(FinishReason.TOOL_USE))
        at = next(n for n, one in enumerate(payloads) if one.role is Role.FINISH)
        return self.render(name, [*payloads[:at], *chunks, *payloads[at:]], (*calls, finish))


def _add_delta(delta: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        known = delta.get(key)
        if value is None and known is not None:
            continue
        joins = isinstance(value, str | list) and isinstance(known, type(value))
        delta[key] = known + value if joins else value


def _whole(id_: str, index: int = 0) -> ToolCallDelta:
    return ToolCallDelta(index, id_, "get_weather", to_json(ARGUMENTS))


def _without(entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != key}


def _empty_reason(chunk: Mapping[str, Any]) -> Payload:
    (choice,) = chunk["choices"]
    return {**chunk, "choices": [{**choice, "finish_reason": ""}]}
