"""Google Gemini's streamGenerateContent over requests, as a generator: nothing marks the end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any
from urllib.parse import quote

import requests

from .events import BadRequestError, ChatError, Done, Event, Object, Text, Thought
from .reading import SSEDecoder, chunks, count, get, objects, parsed, stream_error, whole_call
from .sending import base64_of, check_key, check_request, encode, own_session, post, text_of

NAMES = "(?=[a-zA-Z_])[a-zA-Z0-9_.:-]{1,128}"
IMAGES = ("image/jpeg", "image/png", "image/webp", "image/heic", "image/heif")
MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY", "tool": "ANY"}
# Others (LANGUAGE, MALFORMED_FUNCTION_CALL, …) have no neutral word, and are passed through.
FILTERED = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"),
    *("ESCALATION", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
)
REASONS = {"STOP": "stop", "MAX_TOKENS": "length", **dict.fromkeys(FILTERED, "filtered")}
NAMELESS = "nameless:"  # begins the id of a call that came without one; not sent back


class Gemini:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        model: str = "gemini-2.5-flash",
        session: requests.Session | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        # Without alt=sse the answer is one JSON array, to be read while it grows.
        path = f"/models/{quote(model, safe='')}:streamGenerateContent?alt=sse"
        self._url = base_url.rstrip("/") + path
        self._key, self._idle_timeout = check_key(key), idle_timeout
        self._session = session or own_session()

    def stream(self, request: Object) -> Iterator[Event]:
        """Yield the answer; the request is sent when the first event is asked for.

        Raises:
            BadRequestError: before anything is sent.
            ChatError: the turn failed.
        """
        decoder, turn = SSEDecoder(), Turn(self._key)
        with self._open(gemini_request(request)) as response:
            for chunk in chunks(response.raw, self._key):
                for data in decoder.feed(chunk):
                    yield from turn.take(data)
            yield from turn.finish()

    def _open(self, body: bytes) -> requests.Response:
        return post(
            self._session,
            self._url,
            body,
            secret={"x-goog-api-key": self._key},
            key=self._key,
            idle_timeout=self._idle_timeout,
        )


def gemini_request(request: Object) -> bytes:
    """Return the body of a request. Raises BadRequestError."""
    check_request(request, NAMES)
    tools, choice = request["tools"], request["choice"]
    body: dict[str, Any] = {"contents": list(_contents(request["messages"]))}
    system = [text_of(message) for message in request["messages"] if message["role"] == "system"]
    if any(system):
        body["systemInstruction"] = {"parts": [{"text": text} for text in system if text]}
    if tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in tools]}]
        if choice:
            only = {"allowedFunctionNames": [choice["name"]]} if choice["mode"] == "tool" else {}
            mode = {"mode": MODES[choice["mode"]], **only}
            body["toolConfig"] = {"functionCallingConfig": mode}
    return encode(body)


def _declaration(tool: Object) -> dict[str, Any]:
    declaration, schema = {k: tool[k] for k in ("name", "description")}, tool["parameters"]
    # An object without properties may be refused, unless it says something else.
    bare = schema.keys() <= {"type", "properties"} and not schema.get("properties")
    return declaration if bare else {**declaration, "parametersJsonSchema": schema}


def _contents(messages: list[Object]) -> Iterator[dict[str, Any]]:
    """Yield one content a speaker; the results of parallel calls belong into one, alone."""
    names: dict[str, str] = {}
    written: list[tuple[str, bool, dict[str, Any]]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "model" if message["role"] == "assistant" else "user"
        # Results first: they have to follow the message that made the calls.
        for part in sorted(message["parts"], key=lambda part: part["type"] != "result"):
            if part["type"] == "call":
                names[part["id"]] = part["name"]
            written.append((role, part["type"] == "result", _part(part, names)))
    for (role, _), group in groupby(written, key=lambda each: each[:2]):
        if parts := list(_signed([part for _, _, part in group if part])):
            yield {"role": role, "parts": parts}


def _part(part: Object, names: dict[str, str]) -> dict[str, Any]:
    """Return the part, empty where there is nothing to send."""
    match part:
        case {"type": "text", "text": text} if text:
            return {"text": text}
        case {"type": "image", "media_type": kind}:
            return {"inlineData": {"mimeType": kind, "data": base64_of(part, IMAGES)}}
        case {"type": "reasoning", "signature": proof} if proof:
            return {"thoughtSignature": proof}  # not the thought itself
        case {"type": "call", "id": id_, "name": name, "arguments": arguments}:
            return {"functionCall": {**_id(id_), "name": name, "args": arguments}}
        case {"type": "result", "id": id_, "content": content, "is_error": failed}:
            if id_ not in names:
                raise BadRequestError(f"a result of {id_!r}, but no message before has that call")
            response = {"error" if failed else "output": content}
            return {"functionResponse": {**_id(id_), "name": names[id_], "response": response}}
    return {}


def _id(id_: str) -> dict[str, str]:
    return {"id": id_} if id_ and not id_.startswith(NAMELESS) else {}


def _signed(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the parts, each signature on the one that follows it; the last may have none."""
    proof: dict[str, Any] = {}
    for part in parts:
        if part.keys() == {"thoughtSignature"}:
            proof = part
        else:
            yield {**part, **proof}
            proof = {}
    if proof:
        yield {"text": "", **proof}


class Turn:
    """What the events mean. A reason ends the answer, and the end of the body the turn.

    Reasons may come in mid-stream, and content after them: the last one counts.
    """

    def __init__(self, key: str = "") -> None:
        self._key, self._word, self._tokens = key, "", (0, 0, 0, 0)
        self._blocked = self._more = False
        self._id, self._calls = "", 0

    def take(self, data: str) -> Iterator[Event]:
        """Yield what an event adds to the answer."""
        if not data.strip():
            return
        response = parsed(data)
        if response.get("error"):
            raise stream_error(response, self._key)
        if usage := get(response, "usageMetadata", dict):  # a running total: the last counts
            cached = count(usage, "cachedContentTokenCount")
            asked = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount")
            answered = count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount")
            self._tokens = (max(0, asked - cached), answered, cached, 0)
        self._id = get(response, "responseId", str) or self._id
        for candidate in objects(response, "candidates"):
            if not get(candidate, "index", int):  # one answer was asked for
                for part in objects(get(candidate, "content", dict), "parts"):
                    yield from self._take_part(part)
                if word := get(candidate, "finishReason", str):
                    self._word, self._more = word, False
        if word := get(get(response, "promptFeedback", dict), "blockReason", str):
            self._word, self._blocked = word, True  # the prompt is not answered at all

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, or raise because it is not whole."""
        if not self._word:
            raise ChatError("the answer ended before a finishReason")
        if self._more:
            raise ChatError(f"content after finishReason {self._word!r}, and no other reason")
        reason = "filtered" if self._blocked else REASONS.get(self._word, self._word)
        if reason == "stop" and self._calls:
            reason = "tool_use"  # the format has no reason of its own for calls
        yield Done(reason, self._word, self._tokens)

    def _take_part(self, part: Object) -> Iterator[Event]:
        text, proof = get(part, "text", str), get(part, "thoughtSignature", str)
        self._more = self._more or bool(self._word and (text or part.get("functionCall")))
        thought = part.get("thought") is True
        # The proof is of the thoughts before this part, and has to come back on this very part.
        if proof or (thought and text):
            yield Thought(text if thought else "", proof)
        if text and not thought:
            yield Text(text)
        if call := get(part, "functionCall", dict):
            if call.get("willContinue") or call.get("partialArgs"):
                raise ChatError("a tool call came in pieces, which was not asked for")
            id_ = get(call, "id", str) or f"{NAMELESS}{self._id}:{self._calls}"
            yield from whole_call(self._calls, id_, get(call, "name", str), call.get("args"))
            self._calls += 1
