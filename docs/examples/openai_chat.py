"""OpenAI Chat Completions over requests, as a generator: the adapter to read first."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any

import requests

from .events import ChatError, Done, Event, Object, Text, Thought
from .reading import PartCall, SSEDecoder, chunks, count, get, objects, parsed, rest, stream_error
from .sending import base64_of, check_key, check_request, encode, own_session, post, text_of

NAMES = "[a-zA-Z0-9_-]{1,64}"
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "filtered",
}


class OpenAIChat:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        model: str = "gpt-4o-mini",
        session: requests.Session | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key, self._model, self._idle_timeout = check_key(key), model, idle_timeout
        self._session = session or own_session()

    def stream(self, request: Object) -> Iterator[Event]:
        """Yield the answer; the request is sent when the first event is asked for.

        The `with` releases the connection at the end, on an error, on `close()`, and when the
        generator is dropped.

        Raises:
            BadRequestError: before anything is sent.
            ChatError: the turn failed.
        """
        with self.open(request) as response:
            yield from self.read(response)

    def open(self, request: Object) -> requests.Response:
        """Send the request; return once the headers of a stream are there. Raises as `stream`."""
        body = chat_request(self._model, request)
        return post(
            self._session,
            self._url,
            body,
            secret={"Authorization": f"Bearer {self._key}"},
            key=self._key,
            idle_timeout=self._idle_timeout,
        )

    def read(self, response: requests.Response) -> Generator[Event, None, None]:
        """Yield the events of the turn that a response carries. Raises ChatError."""
        decoder, turn = SSEDecoder(), Turn(self._key)
        for chunk in chunks(response.raw, self._key):
            for data in decoder.feed(chunk):
                yield from turn.take(data)
            if turn.over:
                # The end of the body, if it is there: the connection may then serve again.
                rest(response.raw, 1, 0.1)
                break
        yield from turn.finish()


def chat_request(model: str, request: Object) -> bytes:
    """Return the body of a request. Raises BadRequestError."""
    check_request(request, NAMES)
    tools, choice = request["tools"], request["choice"]
    body: dict[str, Any] = {
        "model": model,
        "messages": [written for message in request["messages"] for written in _messages(message)],
        "stream": True,
        "stream_options": {"include_usage": True},  # or a streamed answer has no token counts
    }
    if tools:
        body["tools"] = [{"type": "function", "function": tool} for tool in tools]
        # Without tools the provider refuses a choice, even "none".
        if choice:
            named = {"type": "function", "function": {"name": choice["name"]}}
            body["tool_choice"] = named if choice["mode"] == "tool" else choice["mode"]
    return encode(body)


def _messages(message: Object) -> Iterator[dict[str, Any]]:
    parts, role, text = message["parts"], message["role"], text_of(message)
    # Results first: they have to follow the message that made the calls.
    for part in parts:
        if part["type"] == "result":
            yield {"role": "tool", "tool_call_id": part["id"], "content": part["content"]}
    if role == "assistant":
        calls = [_call(part) for part in parts if part["type"] == "call"]
        yield {"role": role, "content": text, **({"tool_calls": calls} if calls else {})}
    elif any(part["type"] == "image" for part in parts):
        yield {"role": role, "content": [_content(part) for part in parts]}
    elif text:
        # Plain text stays a string: not every compatible server takes a list.
        yield {"role": "user" if role == "tool" else role, "content": text}


def _call(part: Object) -> dict[str, Any]:
    function = {"name": part["name"], "arguments": encode(part["arguments"]).decode()}
    return {"id": part["id"], "type": "function", "function": function}


def _content(part: Object) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    url = f"data:{part['media_type']};base64,{base64_of(part, IMAGES)}"
    return {"type": "image_url", "image_url": {"url": url}}


class Turn:
    """What the events mean. The reason ends the answer, `[DONE]` the turn; either will do."""

    def __init__(self, key: str = "") -> None:
        self.over = self._answered = False
        self._key, self._word, self._tokens = key, "", (0, 0, 0, 0)
        self._calls: list[PartCall] = []
        self._known: dict[str | int, PartCall] = {}  # by id, and by index

    def take(self, data: str) -> Iterator[Event]:
        """Yield what an event adds to the answer."""
        if self.over or not data.strip():
            return
        # The word alone: `[DONE]x`, or a second line with an error, ends nothing.
        if data.strip() == "[DONE]":
            self.over = True
            return
        chunk = parsed(data)
        if chunk.get("error") or chunk.get("object") == "error":
            raise stream_error(chunk, self._key)
        if usage := get(chunk, "usage", dict):  # some servers send a running total: the last counts
            cached = count(get(usage, "prompt_tokens_details", dict), "cached_tokens")
            asked = max(0, count(usage, "prompt_tokens") - cached)
            self._tokens = (asked, count(usage, "completion_tokens"), cached, 0)
        for choice in objects(chunk, "choices"):
            if not get(choice, "index", int):  # one answer was asked for
                yield from self._take_choice(choice)

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, or raise because it is not whole."""
        if not (self._word or (self.over and self._answered)):
            raise ChatError("the answer ended before a finish_reason or [DONE]")
        reason = REASONS.get(self._word, self._word) or "stop"
        if reason == "tool_use" and not self._calls:
            raise ChatError(f"finish_reason {self._word!r}, but no tool call came")
        for call in self._calls:
            yield from call.end(reason if self._word else "")
        yield Done(reason, self._word, self._tokens)

    def _take_choice(self, choice: Object) -> Iterator[Event]:
        self._answered = True
        for event in self._content(get(choice, "delta", dict)):
            if self._word:
                raise ChatError(f"content after finish_reason {self._word!r}")
            yield event
        word = get(choice, "finish_reason", str)
        if word and self._word and word != self._word:
            raise ChatError(f"finish_reason {self._word!r}, then {word!r}")
        self._word = word or self._word

    def _content(self, delta: Object) -> Iterator[Event]:
        # Two names for the same thing; a server in transition sends both.
        if thought := get(delta, "reasoning_content", str) or get(delta, "reasoning", str):
            yield Thought(thought)
        for name in ("content", "refusal"):  # words of refusal are words to the user
            if text := get(delta, name, str):
                yield Text(text)
        for piece in objects(delta, "tool_calls"):
            yield from self._take_call(piece)
        if function := get(delta, "function_call", dict):  # the older form: one call
            yield from self._take_call({"index": 0, "function": function})

    def _take_call(self, piece: Object) -> Iterator[Event]:
        function = get(piece, "function", dict)
        id_, name = get(piece, "id", str), get(function, "name", str)
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):  # some servers send the object itself
            arguments = json.dumps(arguments)
        index = None if piece.get("index") is None else get(piece, "index", int)
        yield from self._which(id_, name, index).add(id_, name, arguments)

    def _which(self, id_: str, name: str, index: int | None) -> PartCall:
        """Return the call of a piece. Servers repeat the index for every call, or leave it out."""
        call = self._known.get(id_) if id_ else None
        if call is None:
            last = self._calls[-1] if self._calls else None
            call = last if index is None else self._known.get(index)
            # Every call begins with its name. A second name with another id, or with neither
            # id nor index, begins another call.
            if call and call.name and name and (call.id if id_ else index is None):
                call = None
        if call is None:
            call = PartCall(len(self._calls))
            self._calls.append(call)
        self._known |= {known: call for known in (id_, index) if known not in ("", None)}
        return call
