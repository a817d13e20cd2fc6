from __future__ import annotations

import unittest
from typing import Any

from modeltest import (
    APIError,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    ToolUse,
    TruncatedToolArgumentsError,
    Usage,
)
from tests.adapters.ollama_chat_turn import OllamaTurn
from tests.adapters.units.turns import calls, read


def line(content: str = "", **message: Any) -> dict[str, Any]:
    return {"created_at": "now", "message": {"content": content, **message}, "done": False}


def done(reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {**line(), "done": True, "done_reason": reason, **more}


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "t1", "function": {"name": "weather", "arguments": {}, **fields}}


class TestContent(unittest.TestCase):
    def test_text_and_thinking(self) -> None:
        events = read(OllamaTurn(), line(thinking="hm"), line("a"), line("b"), done())
        self.assertEqual(
            events,
            [ReasoningDelta("hm"), TextDelta("a"), TextDelta("b"), Finish("stop", raw="stop")],
        )

    def test_content_beside_the_end(self) -> None:
        events = read(OllamaTurn(), {**done(), "message": {"content": "a"}})
        self.assertEqual(events[0], TextDelta("a"))

    def test_what_is_not_known_is_skipped(self) -> None:
        self.assertEqual(read(OllamaTurn(), line(acme="no"), {}, {"acme": 1}, end=False), [])

    def test_nothing_is_read_after_the_end(self) -> None:
        self.assertEqual(len(read(OllamaTurn(), done(), line("no"), "{", done())), 1)


class TestCalls(unittest.TestCase):
    def test_calls(self) -> None:
        graz = call(arguments={"city": "Graz"})
        events = read(OllamaTurn(), line(tool_calls=[graz, {**call(), "id": "t2"}]), done())
        self.assertEqual(
            calls(events), (ToolUse("t1", "weather", {"city": "Graz"}), ToolUse("t2", "weather"))
        )
        self.assertEqual(events[-1], Finish(FinishReason.TOOL_USE, raw="stop"))

    def test_calls_without_ids_get_ids(self) -> None:
        nameless = {"function": {"name": "weather"}}
        uses = calls(read(OllamaTurn(), line(tool_calls=[nameless, nameless]), done()))
        self.assertEqual(len({use.id for use in uses} - {""}), 2)

    def test_what_is_no_call(self) -> None:
        for made, error in (
            (call(arguments="{}"), TruncatedToolArgumentsError),
            (call(arguments=[]), TruncatedToolArgumentsError),
            (call(name=""), StreamProtocolError),
            ({}, StreamProtocolError),
        ):
            with self.subTest(made=made), self.assertRaises(error):
                read(OllamaTurn(), line(tool_calls=[made]))


class TestFinish(unittest.TestCase):
    def test_reasons(self) -> None:
        for raw, reason in (("length", FinishReason.LENGTH), ("load", "load"), ("acme", "acme")):
            self.assertEqual(read(OllamaTurn(), done(raw)), [Finish(reason, raw=raw)])

    def test_without_a_reason_it_is_incomplete(self) -> None:
        for data in ([], [line("a")], [line("a"), done("")], [done(None)], [line() | {"done": 1}]):
            with self.assertRaises(IncompleteResponseError):
                read(OllamaTurn(), *data)

    def test_usage(self) -> None:
        [finish] = read(OllamaTurn(), done(prompt_eval_count=7, eval_count=3))
        self.assertEqual(finish.usage, Usage(7, 3))


class TestErrors(unittest.TestCase):
    def test_an_error_line(self) -> None:
        with self.assertRaisesRegex(APIError, "unexpected EOF") as caught:
            read(OllamaTurn(secret="sk-1"), line("a"), {"error": "unexpected EOF, sk-1"})
        self.assertNotIn("sk-1", str(caught.exception))

    def test_what_is_no_line(self) -> None:
        for data in (
            "{",
            "null",
            "[]",
            {"message": "x"},
            {"message": {"content": 1}},
            line(tool_calls={}),
            line(tool_calls=[1]),
            done(7),
            done(eval_count=-1),
        ):
            with self.subTest(data=data), self.assertRaises(StreamProtocolError):
                read(OllamaTurn(), data)
