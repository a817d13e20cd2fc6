"""Ollama's /api/chat over requests, as a generator: lines of JSON, calls in one piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import requests

from .events import BadRequestError, ChatError, Done, Event, Object, Text, Thought
from .reading import LIMIT, chunks, count, get, objects, parsed, rest, stream_error, whole_call
from .sending import base64_of, check_key, check_request, encode, own_session, post, text_of

# The server has no rule: it writes a name into the prompt. These are safe everywhere.
NAMES = "[a-zA-Z0-9_-]{1,64}"
IMAGES = ("image/jpeg", "image/png", "image/webp")
REASONS = {"stop": "stop", "length": "length"}  # "load" and "unload" are passed through


class OllamaChat:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str = "http://localhost:11434",
        key: str = "",
        *,
        model: str = "llama3.2",
        session: requests.Session | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        self._url = base_url.rstrip("/") + "/api/chat"
        self._key, self._model, self._idle_timeout = check_key(key), model, idle_timeout
        self._session = session or own_session()

    def stream(self, request: Object) -> Iterator[Event]:
        """Yield the answer; the request is sent when the first event is asked for.

        Raises:
            BadRequestError: before anything is sent.
            ChatError: the turn failed.
        """
        turn = Turn(self._key)
        with self._open(ollama_request(self._model, request)) as response:
            for line in lines(chunks(response.raw, self._key)):
                yield from turn.take(line)
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
            secret={"Authorization": f"Bearer {self._key}"} if self._key else {},
            key=self._key,
            idle_timeout=self._idle_timeout,
            media_type="application/x-ndjson",
        )


def lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Yield the lines of a body, wherever it is cut. Without its LF, `12` may be half of `123`.

    Split as bytes: str.splitlines() would split at U+2028 too, which JSON allows in a string.
    """
    line = bytearray()
    for piece in pieces:
        *ended, begun = piece.split(b"\n")
        for end in ended:
            line += end
            yield line.decode("utf-8", "replace").strip(" \t\r")
            line.clear()
        line += begun
        if len(line) > LIMIT:
            raise ChatError(f"expected lines of at most {LIMIT} bytes")


def ollama_request(model: str, request: Object) -> bytes:
    """Return the body of a request. Raises BadRequestError."""
    check_request(request, NAMES)
    tools, choice = request["tools"], request["choice"]
    mode = choice["mode"] if choice else "auto"
    if mode not in ("auto", "none"):
        # The format has no field for it; sent without, the request would break its promise.
        raise BadRequestError(f"tool choice: Ollama knows auto and none, got {mode!r}")
    names: dict[str, str] = {}
    written = [said for message in request["messages"] for said in _messages(message, names)]
    body: dict[str, Any] = {"model": model, "messages": written, "stream": True}
    if tools and mode == "auto":  # a model that is to call none is shown none
        body["tools"] = [{"type": "function", "function": tool} for tool in tools]
    return encode(body)


def _messages(message: Object, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    parts, role, text = message["parts"], message["role"], text_of(message)
    # Results first: they have to follow the message that made the calls.
    for part in parts:
        if part["type"] == "result":
            if part["id"] not in names:
                raise BadRequestError(f"a result of {part['id']!r}, but no message has that call")
            name = {"tool_name": names[part["id"]], "tool_call_id": part["id"]}
            yield {"role": "tool", "content": part["content"], **name}
    said: dict[str, Any] = {"role": "user" if role == "tool" else role, "content": text}
    if images := [base64_of(part, IMAGES) for part in parts if part["type"] == "image"]:
        said["images"] = images
    if thoughts := [part["text"] for part in parts if part["type"] == "reasoning"]:
        said["thinking"] = "".join(thoughts)
    if calls := [part for part in parts if part["type"] == "call"]:
        names |= {call["id"]: call["name"] for call in calls}
        # The arguments are an object, where others take its text.
        said["tool_calls"] = [
            {"id": call["id"], "function": {key: call[key] for key in ("name", "arguments")}}
            for call in calls
        ]
    if text or images or role == "assistant":
        yield said


class Turn:
    """What the lines mean: the last has `done`, the reason and the counts."""

    def __init__(self, key: str = "") -> None:
        self.over = False
        self._key, self._word, self._tokens, self._calls = key, "", (0, 0, 0, 0), 0

    def take(self, line: str) -> Iterator[Event]:
        """Yield what a line adds to the answer."""
        if self.over or not line:
            return
        said = parsed(line)
        if said.get("error"):
            raise stream_error(said, self._key)
        message = get(said, "message", dict)
        if thought := get(message, "thinking", str):
            yield Thought(thought)
        if text := get(message, "content", str):
            yield Text(text)
        for call in objects(message, "tool_calls"):
            function = get(call, "function", dict)
            # Older servers give no id; the time of the line keeps the calls of turns apart.
            made_up = f"call_{get(said, 'created_at', str)}_{self._calls}"
            id_, name = get(call, "id", str) or made_up, get(function, "name", str)
            yield from whole_call(self._calls, id_, name, function.get("arguments"))
            self._calls += 1
        if said.get("done") is True:
            self.over, self._word = True, get(said, "done_reason", str)
            self._tokens = (count(said, "prompt_eval_count"), count(said, "eval_count"), 0, 0)

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn. Done without a reason, the server lost its model."""
        if not (self.over and self._word):
            raise ChatError("the answer ended before a done_reason")
        reason = REASONS.get(self._word, self._word)
        if reason == "stop" and self._calls:
            reason = "tool_use"  # the format has no reason of its own for calls
        yield Done(reason, self._word, self._tokens)
