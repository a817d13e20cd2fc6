"""OpenAI Responses over requests, as a generator: items, and events that repeat one another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import requests

from .events import ChatError, Done, Event, Object, Text, Thought
from .reading import PartCall, SSEDecoder, chunks, count, get, parsed, rest, stream_error
from .sending import base64_of, check_key, check_request, encode, own_session, post

NAMES = "[a-zA-Z0-9_-]{1,128}"
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
# Why a response is incomplete; other words are passed through.
REASONS = {"completed": "stop", "max_output_tokens": "length", "content_filter": "filtered"}
DELTAS: dict[str, type[Text | Thought]] = {
    "response.output_text.delta": Text,
    "response.refusal.delta": Text,  # said to the user, in place of the answer
    "response.reasoning_text.delta": Thought,
    "response.reasoning_summary_text.delta": Thought,
}


class OpenAIResponses:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        model: str = "gpt-4o-mini",
        reasons: bool = False,
        session: requests.Session | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        self._url = base_url.rstrip("/") + "/responses"
        self._key, self._model, self._idle_timeout = check_key(key), model, idle_timeout
        self._session, self._reasons = session or own_session(), reasons

    def stream(self, request: Object) -> Iterator[Event]:
        """Yield the answer; the request is sent when the first event is asked for.

        Raises:
            BadRequestError: before anything is sent.
            ChatError: the turn failed.
        """
        decoder, turn = SSEDecoder(), Turn(self._key)
        with self._open(responses_request(self._model, request, reasons=self._reasons)) as response:
            for chunk in chunks(response.raw, self._key):
                for data in decoder.feed(chunk):
                    yield from turn.take(data)
                if turn.over:
                    # The end of the body, if it is there: the connection may then serve again.
                    rest(response.raw, 1, 0.1)
                    break
            yield from turn.finish()

    def _open(self, body: bytes) -> requests.Response:
        return post(
            self._session,
            self._url,
            body,
            secret={"Authorization": f"Bearer {self._key}"},
            key=self._key,
            idle_timeout=self._idle_timeout,
        )


def responses_request(model: str, request: Object, *, reasons: bool = False) -> bytes:
    """Return the body of a request. Raises BadRequestError."""
    check_request(request, NAMES)
    tools, choice = request["tools"], request["choice"]
    body: dict[str, Any] = {
        "model": model,
        "input": [item for message in request["messages"] for item in _items(message)],
        "stream": True,
        # Every request holds the whole conversation: the provider need not keep it.
        "store": False,
    }
    if reasons:  # its reasoning comes encrypted, to be sent back; other models refuse the wish
        body["include"] = ["reasoning.encrypted_content"]
    if tools:
        # Strict by default; and then most schemas are refused.
        body["tools"] = [{"type": "function", **tool, "strict": False} for tool in tools]
        if choice:
            named = {"type": "function", "name": choice["name"]}
            body["tool_choice"] = named if choice["mode"] == "tool" else choice["mode"]
    return encode(body)


def _items(message: Object) -> Iterator[dict[str, Any]]:
    """Yield the items of a message: calls and results are items beside it, not parts of it."""
    role = "user" if message["role"] == "tool" else message["role"]
    parts = sorted(message["parts"], key=lambda part: part["type"] != "result")
    pictured = any(part["type"] == "image" for part in parts)
    content = []
    for part in parts:
        match part:
            case {"type": "text", "text": text} if text and pictured:
                content.append({"type": "input_text", "text": text})
            case {"type": "text", "text": text} if text:
                yield {"role": role, "content": text}
            case {"type": "image", "media_type": kind}:
                url = f"data:{kind};base64,{base64_of(part, IMAGES)}"
                # "auto" is the default, and yet some servers refuse an image without it.
                content.append({"type": "input_image", "image_url": url, "detail": "auto"})
            case {"type": "reasoning", "redacted": data} if data:
                yield {"type": "reasoning", "summary": [], "encrypted_content": data}
            case {"type": "call", "id": id_, "name": name, "arguments": arguments}:
                call = {"name": name, "arguments": encode(arguments).decode()}
                yield {"type": "function_call", "call_id": id_, **call}
            case {"type": "result", "id": id_, "content": output}:
                yield {"type": "function_call_output", "call_id": id_, "output": output}
    if content:
        yield {"role": role, "content": content}


class Turn:
    """What the events mean. One of three ends a turn: completed, incomplete or failed.

    Text is read from its deltas; calls also from the items, which begin and end them.
    """

    def __init__(self, key: str = "") -> None:
        self.over = False
        self._key, self._word, self._tokens = key, "", (0, 0, 0, 0)
        self._calls: dict[int, PartCall] = {}  # by the place of the item in the output

    def take(self, data: str) -> Iterator[Event]:
        """Yield what an event adds to the answer; unknown types add nothing."""
        if self.over or not data.strip():
            return
        event = parsed(data)
        kind = get(event, "type", str)
        if kind == "error" or event.get("error"):
            raise stream_error(event, self._key)
        if kind in DELTAS and (text := get(event, "delta", str)):
            yield DELTAS[kind](text)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            yield from self._take_item(event, get(event, "item", dict))
        elif kind == "response.function_call_arguments.delta":
            yield from self._call(event).add(arguments=get(event, "delta", str))
        elif kind == "response.function_call_arguments.done":
            yield from _complete(self._call(event), get(event, "arguments", str))
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            self._end(kind.removeprefix("response."), get(event, "response", dict))

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, or raise because it is not whole."""
        if not self.over:
            raise ChatError("the answer ended before response.completed")
        reason = REASONS.get(self._word, self._word)
        if reason == "stop" and self._calls:
            reason = "tool_use"  # the format has no reason of its own for calls
        for call in self._calls.values():
            yield from call.end(reason)
        yield Done(reason, self._word, self._tokens)

    def _take_item(self, event: Object, item: Object) -> Iterator[Event]:
        kind, done = get(item, "type", str), event.get("type") == "response.output_item.done"
        if kind == "reasoning" and done and (data := get(item, "encrypted_content", str)):
            yield Thought(redacted=data)
        # Others are messages, whose text comes in deltas, and what runs at the provider.
        if kind == "function_call":
            place = _place(event)
            if place not in self._calls:
                call = self._calls[place] = PartCall(len(self._calls))
                yield from call.add(get(item, "call_id", str), get(item, "name", str))
            yield from _complete(self._calls[place], get(item, "arguments", str))

    def _call(self, event: Object) -> PartCall:
        if call := self._calls.get(_place(event)):
            return call
        raise ChatError("arguments came for a tool call that never began")

    def _end(self, kind: str, response: Object) -> None:
        status = get(response, "status", str) or kind
        if status not in ("completed", "incomplete"):
            raise stream_error(
                response if response.get("error") else {"message": status}, self._key
            )
        details = get(response, "incomplete_details", dict)
        self._word = (status == "incomplete" and get(details, "reason", str)) or status
        usage = get(response, "usage", dict)
        cache = get(usage, "input_tokens_details", dict)
        read, written = count(cache, "cached_tokens"), count(cache, "cache_write_tokens")
        asked = max(0, count(usage, "input_tokens") - read - written)
        self._tokens = (asked, count(usage, "output_tokens"), read, written)
        self.over = True


def _complete(call: PartCall, whole: str) -> Iterator[Event]:
    """Yield what `whole` says more of a call's arguments than came before; empty says nothing."""
    came = "".join(call.pieces)
    if whole and not came:
        yield from call.add(arguments=whole)
    elif whole and whole != came:
        raise ChatError(f"the arguments of {call.name!r} came in pieces, and whole as others")


def _place(event: Object) -> int:
    if not isinstance(place := event.get("output_index"), int):
        raise ChatError("expected output_index to be a number")
    return place
