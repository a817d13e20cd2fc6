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
    ToolUse,
    TruncatedToolArgumentsError,
    Usage,
)
from tests.adapters.openai_responses_turn import ResponsesTurn
from tests.adapters.sse import ServerSentEvent
from tests.adapters.units.turns import calls, read


def end(status: str = "completed", **response: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, **response}}


def incomplete(reason: str) -> dict[str, Any]:
    return end("incomplete", incomplete_details={"reason": reason})


def item(kind: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": f"t{index}", "name": "weather", "arguments": ""}
    return {
        "type": f"response.output_item.{kind}",
        "output_index": index,
        "item": {**call, **fields},
    }


def piece(text: str, index: int = 0) -> dict[str, Any]:
    return {
        "type": "response.function_call_arguments.delta",
        "output_index": index,
        "delta": text,
    }


def whole(text: str, index: int = 0) -> dict[str, Any]:
    return {
        "type": "response.function_call_arguments.done",
        "output_index": index,
        "arguments": text,
    }


GRAZ = '{"city": "Graz"}'
END = end()


class TestContent(unittest.TestCase):
    def test_text_and_refusal(self) -> None:
        events = read(
            ResponsesTurn(),
            {"type": "response.created", "response": {"status": "in_progress"}},
            {"type": "response.output_text.delta", "delta": "a"},
            {"type": "response.output_text.delta", "delta": ""},
            {"type": "response.output_text.done", "text": "a"},
            {"type": "response.refusal.delta", "delta": "b"},
            END,
        )
        self.assertEqual(events, [TextDelta("a"), TextDelta("b"), Finish("stop", raw="completed")])

    def test_reasoning(self) -> None:
        for kind in ("reasoning_text", "reasoning_summary_text"):
            delta = {"type": f"response.{kind}.delta", "delta": "hm"}
            self.assertEqual(read(ResponsesTurn(), delta, end=False), [ReasoningDelta("hm")])

    def test_the_type_may_stand_in_the_event_line_only(self) -> None:
        turn = ResponsesTurn()
        data = '{"response": {}}'
        self.assertEqual(list(turn.take(ServerSentEvent("response.completed", data))), [])
        self.assertTrue(turn.complete)

    def test_what_is_not_known_is_skipped(self) -> None:
        events = read(
            ResponsesTurn(),
            {"type": "response.acme", "delta": "no"},
            item("added", type="web_search_call"),
            item("done", type="mcp_call", arguments="{}"),
            {"type": "response.mcp_call_arguments.delta", "output_index": 0, "delta": "no"},
            "",
            end=False,
        )
        self.assertEqual(events, [])

    def test_nothing_is_read_after_the_end(self) -> None:
        delta = {"type": "response.output_text.delta", "delta": "no"}
        self.assertEqual(len(read(ResponsesTurn(), END, delta, "{", END)), 1)


class TestCalls(unittest.TestCase):
    def test_woven_calls(self) -> None:
        events = read(
            ResponsesTurn(),
            item("added", 1),
            item("added", 2),
            piece('{"city": ', 1),
            piece("{", 2),
            piece('"Graz"}', 1),
            piece("}", 2),
            whole(GRAZ, 1),
            item("done", 1, arguments=GRAZ),
            whole("{}", 2),
            item("done", 2, arguments="{}"),
            END,
        )
        self.assertEqual(
            calls(events), (ToolUse("t1", "weather", {"city": "Graz"}), ToolUse("t2", "weather"))
        )
        self.assertEqual(events[-1], Finish(FinishReason.TOOL_USE, raw="completed"))

    def test_arguments_that_came_in_one_event_only(self) -> None:
        for events in (
            [item("added"), piece(GRAZ)],
            [item("added"), whole(GRAZ)],
            [item("added"), item("done", arguments=GRAZ)],
            [item("done", arguments=GRAZ)],
            [item("added", arguments=GRAZ), piece("")],
        ):
            [use] = calls(read(ResponsesTurn(), *events, END))
            self.assertEqual(use, ToolUse("t0", "weather", {"city": "Graz"}))

    def test_no_arguments(self) -> None:
        [use] = calls(read(ResponsesTurn(), item("added"), END))
        self.assertEqual(use.arguments, {})

    def test_cut_arguments(self) -> None:
        for last in (END, incomplete("max_output_tokens")):
            with self.assertRaisesRegex(TruncatedToolArgumentsError, "weather"):
                read(ResponsesTurn(), item("added"), piece('{"city'), last)
        with self.assertRaises(TruncatedToolArgumentsError):
            read(ResponsesTurn(), item("added"), incomplete("max_output_tokens"))

    def test_what_contradicts_itself(self) -> None:
        for events in (
            [piece("{}")],
            [whole("{}")],
            [item("added"), piece("{}"), whole(GRAZ)],
            [item("added"), piece("{}"), item("done", arguments=GRAZ)],
            [{**item("added"), "output_index": None}],
            [item("added", name=""), END],
        ):
            with self.subTest(events=events), self.assertRaises(StreamProtocolError):
                read(ResponsesTurn(), *events)


class TestFinish(unittest.TestCase):
    def test_reasons(self) -> None:
        for raw, reason in (
            ("max_output_tokens", FinishReason.LENGTH),
            ("content_filter", FinishReason.FILTERED),
            ("steered", "steered"),
        ):
            self.assertEqual(read(ResponsesTurn(), incomplete(raw)), [Finish(reason, raw=raw)])
        [finish] = read(ResponsesTurn(), end("incomplete"))
        self.assertEqual(finish, Finish("incomplete", raw="incomplete"))

    def test_without_the_end_it_is_incomplete(self) -> None:
        done = {"type": "response.output_text.done", "text": "a"}
        for data in ([], [done], [item("done", arguments="{}")]):
            with self.assertRaises(IncompleteResponseError):
                read(ResponsesTurn(), *data)

    def test_usage(self) -> None:
        usage = {
            "input_tokens": 30,
            "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 3},
            "output_tokens": 9,
        }
        [finish] = read(ResponsesTurn(), end(usage=usage))
        self.assertEqual(finish.usage, Usage(7, 9, 20, 3))


class TestErrors(unittest.TestCase):
    def test_every_shape(self) -> None:
        error = {"code": "rate_limit_exceeded", "message": "Slowly, sk-1."}
        for data in (
            {"type": "error", **error, "param": None},
            {"type": "error", "error": error},
            {"error": error},
            end("failed", error=error),
        ):
            with self.subTest(data=data), self.assertRaises(RateLimitedError) as caught:
                read(ResponsesTurn(secret="sk-1"), data)
            self.assertIn("rate_limit_exceeded): Slowly", str(caught.exception))
            self.assertNotIn("sk-1", str(caught.exception))

    def test_a_failure_without_a_word(self) -> None:
        for data, words in (
            (end("failed", error=None), "failed"),
            (end("completed") | {"response": {"status": "cancelled"}}, "cancelled"),
            ({"type": "error"}, "error"),
        ):
            with self.assertRaisesRegex(APIError, words):
                read(ResponsesTurn(), data)

    def test_what_is_no_event(self) -> None:
        for data in (
            "{",
            "null",
            "[]",
            {"type": 1},
            {"type": "response.output_text.delta", "delta": 1},
            {"type": "response.completed", "response": "x"},
            end(usage={"input_tokens": -1}),
            end(usage=[1]),
            {"type": "response.output_item.added", "item": []},
        ):
            with self.subTest(data=data), self.assertRaises(StreamProtocolError):
                read(ResponsesTurn(), data)
