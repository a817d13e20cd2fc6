"""Anthropic Messages over urllib3, as a generator: blocks, signed reasoning, a strict end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError

from .events import ChatError, Done, Event, Object, Text, Thought
from .reading import (
    PartCall,
    SSEDecoder,
    chunks,
    connection_failed,
    count,
    get,
    is_stream,
    parsed,
    rest,
    status_error,
    stream_error,
)
from .sending import base64_of, check_key, check_request, encode, text_of

NAMES = "[a-zA-Z0-9_-]{1,128}"
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filtered",
}
# In the order of `Done.tokens`; the provider's four counts are disjoint, too.
COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class AnthropicMessages:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        model: str = "claude-sonnet-4-5",
        max_tokens: int = 4096,
        pool: urllib3.PoolManager | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        self._url = base_url.rstrip("/") + "/v1/messages"
        self._key, self._model, self._max_tokens = check_key(key), model, max_tokens
        self._pool = pool or urllib3.PoolManager()
        self._timeout = urllib3.Timeout(connect=10.0, read=idle_timeout)

    def stream(self, request: Object) -> Iterator[Event]:
        """Yield the answer; the request is sent when the first event is asked for.

        Raises:
            BadRequestError: before anything is sent.
            ChatError: the turn failed.
        """
        body = {"model": self._model, "max_tokens": self._max_tokens, "stream": True}
        decoder, turn = SSEDecoder(), Turn(self._key)
        with self._open(encode(body | messages_request(request))) as response:
            for chunk in chunks(response, self._key):
                for data in decoder.feed(chunk):
                    yield from turn.take(data)
                if turn.over:
                    # The end of the body, if it is there: the connection may then serve again.
                    rest(response, 1, 0.1)
                    break
            yield from turn.finish()

    @contextmanager
    def _open(self, body: bytes) -> Iterator[urllib3.BaseHTTPResponse]:
        response = self._post(body)
        try:
            if not is_stream(response.status, response.headers, "text/event-stream"):
                start = rest(response, 65536, 1.0)
                raise status_error(response.status, response.headers, start, self._key)
            yield response
        finally:
            # In this order: half a body must not wait in the pool for the next request.
            response.close()
            response.release_conn()

    def _post(self, body: bytes) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.request(
                "POST",
                self._url,
                body=body,
                headers={
                    "Content-Type": "application/json",
                    "Accept-Encoding": "identity",  # a compressed stream comes in blocks
                    "anthropic-version": "2023-06-01",
                    "x-api-key": self._key,
                },
                preload_content=False,
                redirect=False,  # the key stays with the provider
                retries=False,
                timeout=self._timeout,
            )
        except (OSError, HTTPError) as error:
            failure = connection_failed(error, self._key)
        raise failure


def messages_request(request: Object) -> dict[str, Any]:
    """Return what a request says besides the model. Raises BadRequestError."""
    check_request(request, NAMES)
    tools, choice = request["tools"], request["choice"]
    body: dict[str, Any] = {"messages": []}
    system = [text_of(message) for message in request["messages"] if message["role"] == "system"]
    if any(system):
        body["system"] = "\n\n".join(filter(None, system))
    spoken = [message for message in request["messages"] if message["role"] != "system"]
    # The results of parallel calls belong into one message of the user's.
    for own, group in groupby(spoken, key=lambda message: message["role"] == "assistant"):
        parts = [part for message in group for part in message["parts"]]
        # Results first: they have to follow the message that made the calls.
        parts.sort(key=lambda part: part["type"] != "result")
        if content := [block for part in parts for block in _block(part)]:
            body["messages"].append({"role": "assistant" if own else "user", "content": content})
    if tools:
        body["tools"] = [
            {"name": t["name"], "description": t["description"], "input_schema": t["parameters"]}
            for t in tools
        ]
        if choice:
            named = {"type": "tool", "name": choice["name"]}
            mode = {"type": "any" if choice["mode"] == "required" else choice["mode"]}
            body["tool_choice"] = named if choice["mode"] == "tool" else mode
    return body


def _block(part: Object) -> Iterator[dict[str, Any]]:
    """Yield the block for a part, or none where the provider would refuse it."""
    match part:
        case {"type": "text", "text": text} if text:
            yield {"type": "text", "text": text}
        case {"type": "image", "media_type": kind}:
            data = base64_of(part, IMAGES)
            yield {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        case {"type": "reasoning", "redacted": data} if data:
            yield {"type": "redacted_thinking", "data": data}
        case {"type": "reasoning", "text": text, "signature": proof} if proof:
            yield {"type": "thinking", "thinking": text, "signature": proof}
        case {"type": "call", "id": id_, "name": name, "arguments": arguments}:
            yield {"type": "tool_use", "id": id_, "name": name, "input": arguments}
        case {"type": "result", "id": id_, "content": content, "is_error": failed}:
            result = {"tool_use_id": id_, "content": content, "is_error": failed}
            yield {"type": "tool_result", **result}


class Turn:
    """What the events mean: nothing but `message_stop` ends a turn.

    An event's type is read from its data. The `event:` line repeats it; some proxies drop it.
    """

    def __init__(self, key: str = "") -> None:
        self.over = False
        self._key, self._word = key, ""
        self._counts = dict.fromkeys(COUNTS, 0)
        self._calls: list[PartCall] = []
        self._blocks: dict[int, PartCall | str] = {}  # by index: a call, or another block's type

    def take(self, data: str) -> Iterator[Event]:
        """Yield what an event adds to the answer; unknown types add nothing."""
        if self.over or not data.strip():
            return
        event = parsed(data)
        kind = get(event, "type", str)
        if kind == "error" or event.get("error"):
            raise stream_error(event, self._key)
        if kind == "message_start":
            self._count(get(get(event, "message", dict), "usage", dict))
        elif kind == "content_block_start":
            yield from self._content(self._start(event))
        elif kind == "content_block_delta":
            yield from self._content(self._extend(event))
        elif kind == "message_delta":
            self._count(get(event, "usage", dict))
            word = get(get(event, "delta", dict), "stop_reason", str)
            if word and self._word and word != self._word:
                raise ChatError(f"stop_reason {self._word!r}, then {word!r}")
            self._word = word or self._word
        elif kind == "message_stop":
            self.over = True

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, or raise because it is not whole."""
        if not (self.over and self._word):
            raise ChatError("the answer ended before a stop_reason and message_stop")
        reason = REASONS.get(self._word, self._word)
        if reason == "tool_use" and not self._calls:
            raise ChatError(f"stop_reason {self._word!r}, but no tool call came")
        for call in self._calls:
            yield from call.end(reason)
        asked, answered, read, written = (self._counts[name] for name in COUNTS)
        yield Done(reason, self._word, (asked, answered, read, written))

    def _content(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if event not in (Text(""), Thought()):
                if self._word:
                    raise ChatError(f"content after stop_reason {self._word!r}")
                yield event

    def _start(self, event: Object) -> Iterator[Event]:
        index, block = get(event, "index", int), get(event, "content_block", dict)
        kind = self._blocks[index] = get(block, "type", str)
        if kind == "text":
            yield Text(get(block, "text", str))
        elif kind == "thinking":
            yield Thought(get(block, "thinking", str), get(block, "signature", str))
        elif kind == "redacted_thinking":
            yield Thought(redacted=get(block, "data", str))
        elif kind == "tool_use":
            call = self._blocks[index] = PartCall(len(self._calls))
            self._calls.append(call)
            # Empty, to be filled by deltas; some compatible servers send it whole.
            arguments = json.dumps(block["input"]) if block.get("input") else ""
            yield from call.add(get(block, "id", str), get(block, "name", str), arguments)

    def _extend(self, event: Object) -> Iterator[Event]:
        delta, block = get(event, "delta", dict), self._blocks.get(get(event, "index", int))
        kind = get(delta, "type", str)
        # Within a block of an unknown type, or of a tool that runs at the provider, text is no
        # text and arguments are no call's.
        if kind == "text_delta" and block in ("text", None):
            yield Text(get(delta, "text", str))
        elif kind == "thinking_delta" and block in ("thinking", None):
            yield Thought(get(delta, "thinking", str))
        elif kind == "signature_delta" and block in ("thinking", None):
            yield Thought(signature=get(delta, "signature", str))
        elif kind == "input_json_delta" and isinstance(block, PartCall):
            yield from block.add(arguments=get(delta, "partial_json", str))
        elif kind == "input_json_delta" and block is None:
            raise ChatError("arguments came for a tool call that never began")

    def _count(self, usage: Object) -> None:
        # Cumulative: a later count replaces an earlier one, and null says nothing new.
        self._counts |= {name: count(usage, name) for name in COUNTS if usage.get(name) is not None}
