"""Google Gemini's `streamGenerateContent`, with `alt=sse` and without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    ARRAY_END,
    TEXT,
    ErrorResponse,
    Framing,
    Role,
    RolePayload,
    ToolNameRule,
    Unsupported,
    UsagePlacement,
    WireError,
    WireFormat,
    change_payloads,
    to_json,
    whole_arguments,
)
from modeltest.interface import Finish, FinishReason, ToolCallDelta

if TYPE_CHECKING:
    from modeltest.encoding import Body, Payload
    from modeltest.interface import ReasoningDelta, Usage


_FILTERED = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
    "ESCALATION",
)
_PASSED_THROUGH = (
    "CONTINUATION",
    "FINISH_REASON_UNSPECIFIED",
    "LANGUAGE",
    "OTHER",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "IMAGE_OTHER",
    "NO_IMAGE",
    "PUP_LIMITED_DISABLED",
)
_BLOCKED = (
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "JAILBREAK",
    "BLOCKED_REASON_UNSPECIFIED",
)
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class Gemini(WireFormat):
    """Gemini's `streamGenerateContent`: every event is a whole `GenerateContentResponse`.

    Args:
        array: one growing JSON array, as without `alt=sse`, in place of server-sent events.
    """

    name = "Gemini"
    source = "google-genai 3.6.1 google/genai/types.py"
    framing = Framing.SSE
    content_type = "text/event-stream"
    eol = "\r\n"
    separators = (",", ": ")
    reasons: ClassVar[Mapping[str, str]] = {
        "STOP": FinishReason.STOP,
        "MAX_TOKENS": FinishReason.LENGTH,
        **dict.fromkeys(_FILTERED, FinishReason.FILTERED),
        **{word: word for word in _PASSED_THROUGH},
    }
    # It comes with a token to go on from: the answer was cut.
    other_reasons: ClassVar[Mapping[str, frozenset[str]]] = {
        "CONTINUATION": frozenset({FinishReason.LENGTH})
    }
    unknown_reason = "MODELTEST_UNKNOWN"
    usage_placements = (UsagePlacement.EVERY, UsagePlacement.ON, UsagePlacement.AFTER)
    usage_counts = ("input_tokens", "output_tokens", "cache_read_tokens")
    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ({}, {"array": True})
    streams_arguments = False
    calls_mean_tool_use = True
    tool_names = ToolNameRule(
        "[a-zA-Z_][a-zA-Z0-9_.:-]*", 128, unique=True, source="google-genai 3.6.1 types.py"
    )
    # Both forms of each key are taken, as everywhere in Google's JSON.
    tool_name_paths = (
        ("tools", "*", "functionDeclarations", "*", "name"),
        ("tools", "*", "function_declarations", "*", "name"),
    )
    tool_choice_paths = (
        ("toolConfig", "functionCallingConfig"),
        ("tool_config", "function_calling_config"),
    )
    call_name_paths = (
        ("contents", "*", "parts", "*", "functionCall", "name"),
        ("contents", "*", "parts", "*", "function_call", "name"),
    )

    def __init__(self, *, array: bool = False) -> None:
        if array:
            self.name = "Gemini (JSON array)"
            self.framing = Framing.JSON_ARRAY
            self.content_type = "application/json; charset=UTF-8"
            self.end_marker = "the closing ]"

    def response(self, *parts: Mapping[str, Any], **candidate: Any) -> dict[str, Any]:
        """Return one response whose only candidate has `parts`."""
        content = {"parts": list(parts), "role": "model"}
        candidates = [{"content": content, **candidate, "index": 0}]
        return {"candidates": candidates, **self.tail()}

    def tail(self) -> dict[str, Any]:
        """Return what every response ends with."""
        return {"modelVersion": "gemini-2.5-flash", "responseId": "phCsauiBD92N1e8P2diriAk"}

    def text_event(self, text: str) -> Payload:
        """Return a response with text."""
        return self.response({"text": text})

    def reasoning_event(self, delta: ReasoningDelta) -> Payload:
        """Return a response with a thought."""
        if delta.signature or delta.redacted:
            raise Unsupported(f"{self.name} signs the part that follows its reasoning")
        return self.response({"text": delta.text, "thought": True})

    def call_event(self, delta: ToolCallDelta) -> Payload:
        """Return a response with a whole call."""
        arguments = whole_arguments(self.name, delta)
        call = {"name": delta.name, "args": arguments}
        return self.response({"functionCall": {**call, "id": delta.id} if delta.id else call})

    def finish_event(self, word: str) -> Payload:
        """Return a response with an empty text and the finish reason."""
        return self.response({"text": ""}, finishReason=word)

    def usage_event(self, usage: Usage) -> Payload:
        """Return a response without candidates, with the counts."""
        thoughts = usage.output_tokens // 3
        prompt = usage.input_tokens + usage.cache_read_tokens
        metadata = {
            "promptTokenCount": prompt,  # what the cache gave is part of it
            "candidatesTokenCount": usage.output_tokens - thoughts,  # the thoughts are not
            "totalTokenCount": prompt + usage.output_tokens,
            "cachedContentTokenCount": usage.cache_read_tokens,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
            "thoughtsTokenCount": thoughts,
        }
        return {"usageMetadata": metadata, **self.tail()}

    def end_events(self) -> Iterable[Payload]:
        """Return what closes the array; server-sent events just stop."""
        return (ARRAY_END,) if self.framing is Framing.JSON_ARRAY else ()

    def merge(self, payloads: Sequence[Any]) -> Payload:
        """Return one response with all that `payloads` say."""
        candidate: dict[str, Any] = {}
        merged: dict[str, Any] = {"candidates": []}
        parts: list[Any] = []
        for payload in payloads:
            for said in payload.get("candidates", ()):
                # An empty text is what a finish says when nothing stands beside it.
                parts += [part for part in said["content"]["parts"] if part != {"text": ""}]
                candidate = {**candidate, **said}
            merged = {**merged, **payload}
        content = {**candidate["content"], "parts": parts or [{"text": ""}]}
        return {**merged, "candidates": [{**candidate, "content": content}]}

    def serialize(self, payload: Payload) -> str:
        """Return the text of a payload: over several lines where it stands in an array."""
        if self.framing is Framing.JSON_ARRAY and isinstance(payload, Mapping):
            return to_json(payload, separators=self.separators, indent=2)
        return super().serialize(payload)

    def call_id(self, index: int) -> str:
        """Return an id in Gemini's style."""
        return f"call_17227{index}"

    def special_turns(self) -> tuple[Body, ...]:
        """Return a call without an id, as older models send it."""
        call = ToolCallDelta(0, "", "get_weather", '{"city":"Paris"}')
        finish = Finish(FinishReason.TOOL_USE)
        return (self.encode(call, finish, name="a tool call without an id"),)

    def blocked_turns(self) -> tuple[Body, ...]:
        """Return answers to a blocked prompt: no candidate, and the reason ends them."""
        return tuple(map(self._blocked, _BLOCKED))

    def _blocked(self, word: str) -> Body:
        feedback = {"promptFeedback": {"blockReason": word}, **self.tail()}
        finish = Finish(FinishReason.FILTERED, word)
        payloads = [RolePayload(Role.FINISH, feedback)]
        payloads += [RolePayload(Role.END, payload) for payload in self.end_events()]
        return self.render(f"blocked for {word}", payloads, (finish,))

    def turns_without_reason(self) -> tuple[Body, ...]:
        """Return a turn whose responses before the last have an empty reason."""
        payloads, events = self.payloads_of(*TEXT, Finish(FinishReason.STOP))
        payloads = change_payloads(payloads, Role.TEXT, _empty_reason)
        return (self.render("an empty reason before the finish", payloads, events),)

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return responses with parts that are no text, and one without candidates."""
        code = {"executableCode": {"language": "PYTHON", "code": "print('no text')"}}
        data = {"inlineData": {"mimeType": "image/png", "data": "bm8gdGV4dA=="}}
        return {
            "code that was run": (self.response(code),),
            "an image": (self.response(data),),
            "a part of an unknown kind": (self.response({"modeltestUnknown": "no text"}),),
            "a response without candidates": (self.tail(),),
        }

    def errors(self) -> tuple[WireError, ...]:
        """Return Google's error object as a response; an array is closed after it."""
        words = "The model is overloaded. Please try again later."
        error = {"code": 503, "message": words, "status": "UNAVAILABLE"}
        payloads = ({"error": error}, *self.end_events())
        return (WireError("an error object", "UNAVAILABLE", words, payloads),)

    def error_response(self, status: int) -> ErrorResponse:
        """Return Google's error object with this HTTP status; in an array where answers are."""
        words = f"The request was refused with status {status}."
        error: Any = {
            "error": {"code": status, "message": words, "status": _STATUS.get(status, "UNKNOWN")}
        }
        body = to_json([error] if self.framing is Framing.JSON_ARRAY else error, indent=2)
        return ErrorResponse(status, "application/json; charset=UTF-8", body.encode(), (words,))

    def json_answer(self) -> bytes:
        """Return one response, in no event and no array."""
        return to_json(self.response({"text": "Hello"}, finishReason="STOP"), indent=2).encode()


def _empty_reason(response: Mapping[str, Any]) -> Payload:
    (candidate,) = response["candidates"]
    return {**response, "candidates": [{**candidate, "finishReason": ""}]}
