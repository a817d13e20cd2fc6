from __future__ import annotations

import unittest
from typing import Any

from modeltest import (
    APIError,
    Finish,
    FinishReason,
    IncompleteResponseError,
    RateLimitedError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    ToolUse,
    TruncatedToolArgumentsError,
    Usage,
)
from tests.adapters.gemini_turn import GeminiTurn
from tests.adapters.units.turns import calls, read


def response(*parts: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "responseId": "r", **more}


def call(**fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": "weather", **fields}}


STOP = response({"text": ""}, reason="STOP")


class TestContent(unittest.TestCase):
    def test_text(self) -> None:
        self.assertEqual(
            read(GeminiTurn(), response({"text": "a"}), response({"text": "b"}), STOP),
            [TextDelta("a"), TextDelta("b"), Finish("stop", raw="STOP")],
        )

    def test_thoughts_are_reasoning(self) -> None:
        events = read(GeminiTurn(), response({"text": "hm", "thought": True}), end=False)
        self.assertEqual(events, [ReasoningDelta("hm")])

    def test_a_signature_comes_before_its_part(self) -> None:
        part = {**call(id="t1"), "thoughtSignature": "s"}
        self.assertEqual(
            read(GeminiTurn(), response(part), end=False),
            [ReasoningDelta(signature="s"), ToolCallDelta(0, "t1", "weather", "{}")],
        )
        last = response({"text": "", "thoughtSignature": "s"}, reason="STOP")
        self.assertEqual(
            read(GeminiTurn(), last)[0],
            ReasoningDelta(signature="s"),
        )

    def test_what_is_not_known_is_skipped(self) -> None:
        events = read(
            GeminiTurn(),
            response({"executableCode": {"code": "no"}}, {"acme": "no"}, {}),
            response({"inlineData": {"data": "no"}}, groundingMetadata={"x": 1}),
            {"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}}]},
            {"candidates": [{"index": 0}]},
            "",
            end=False,
        )
        self.assertEqual(events, [])


class TestCalls(unittest.TestCase):
    def test_two_calls(self) -> None:
        events = read(
            GeminiTurn(),
            response(call(id="t1", args={"city": "Graz"}), call(id="t2", args=None)),
            STOP,
        )
        self.assertEqual(
            calls(events), (ToolUse("t1", "weather", {"city": "Graz"}), ToolUse("t2", "weather"))
        )
        self.assertEqual(events[-1], Finish(FinishReason.TOOL_USE, raw="STOP"))

    def test_calls_without_ids_get_ids(self) -> None:
        uses = calls(read(GeminiTurn(), response(call()), response(call()), STOP))
        self.assertEqual(len({use.id for use in uses} - {""}), 2)

    def test_a_call_is_kept_whatever_the_reason(self) -> None:
        for word, reason in (("MAX_TOKENS", "length"), ("SAFETY", "filtered"), ("ACME", "ACME")):
            events = read(GeminiTurn(), response(call()), response(reason=word))
            self.assertIsInstance(events[0], ToolCallDelta)
            self.assertEqual(events[-1], Finish(reason, raw=word))

    def test_what_is_no_call(self) -> None:
        for fields, error in (
            ({"args": [1]}, TruncatedToolArgumentsError),
            ({"args": "{"}, TruncatedToolArgumentsError),
            ({"name": ""}, StreamProtocolError),
            ({"name": 1}, StreamProtocolError),
            ({"willContinue": True}, StreamProtocolError),
            ({"partialArgs": [{"jsonPath": "$.x"}]}, StreamProtocolError),
        ):
            with self.subTest(fields=fields), self.assertRaises(error):
                read(GeminiTurn(), response(call(**fields)))
        infinite = '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {"x": 1e999}}}]}}]}'
        with self.assertRaisesRegex(TruncatedToolArgumentsError, "'f'"):
            read(GeminiTurn(), infinite)


class TestFinish(unittest.TestCase):
    def test_a_blocked_prompt(self) -> None:
        for word in ("SAFETY", "OTHER"):
            events = read(GeminiTurn(), {"promptFeedback": {"blockReason": word}})
            self.assertEqual(events, [Finish(FinishReason.FILTERED, raw=word)])

    def test_without_a_reason_it_is_incomplete(self) -> None:
        for data in ([], [response({"text": "a"})], [response({"text": "a"}, reason="")]):
            with self.assertRaises(IncompleteResponseError):
                read(GeminiTurn(), *data)

    def test_content_after_the_reason(self) -> None:
        for part in ({"text": "a"}, call(), {"text": "a", "thought": True}):
            with self.assertRaisesRegex(StreamProtocolError, "STOP"):
                read(GeminiTurn(), STOP, response(part))

    def test_two_reasons(self) -> None:
        self.assertEqual(len(read(GeminiTurn(), STOP, STOP)), 1)
        with self.assertRaisesRegex(StreamProtocolError, "'STOP', then 'SAFETY'"):
            read(GeminiTurn(), STOP, response(reason="SAFETY"))

    def test_usage_is_the_last_total(self) -> None:
        first = {"promptTokenCount": 30, "candidatesTokenCount": 1}
        last = {
            **first,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 4,
            "cachedContentTokenCount": 20,
            "toolUsePromptTokenCount": 2,
        }
        [_, finish] = read(
            GeminiTurn(),
            response({"text": "a"}, usageMetadata=first),
            STOP,
            {"usageMetadata": last},
        )
        self.assertEqual(finish.usage, Usage(12, 9, cache_read_tokens=20))


class TestErrors(unittest.TestCase):
    def test_an_error_object(self) -> None:
        error = {"code": 503, "message": "Busy, key sk-1.", "status": "UNAVAILABLE"}
        with self.assertRaisesRegex(APIError, "UNAVAILABLE.*Busy") as caught:
            read(GeminiTurn(secret="sk-1"), response({"text": "a"}), {"error": error})
        self.assertNotIn("sk-1", str(caught.exception))

    def test_too_many_requests(self) -> None:
        error = {"code": 429, "message": "Slowly.", "status": "RESOURCE_EXHAUSTED"}
        with self.assertRaises(RateLimitedError):
            read(GeminiTurn(), {"error": error})

    def test_what_is_no_response(self) -> None:
        for data in (
            "{",
            "null",
            "[]",
            "7",
            {"candidates": 1},
            {"candidates": [1]},
            {"candidates": [{"content": []}]},
            response({"text": 1}),
            {"usageMetadata": {"promptTokenCount": -1}},
            {"usageMetadata": {"promptTokenCount": "1"}},
            {"promptFeedback": {"blockReason": 7}},
        ):
            with self.subTest(data=data), self.assertRaises(StreamProtocolError):
                read(GeminiTurn(), data)
