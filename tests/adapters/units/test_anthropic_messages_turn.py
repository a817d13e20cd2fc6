from __future__ import annotations

import unittest
from typing import Any

from modeltest import (
    APIError,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ModelError,
    RateLimitedError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    ToolUse,
    TruncatedToolArgumentsError,
    Usage,
    assemble,
)
from tests.adapters.anthropic_messages_turn import MessagesTurn
from tests.adapters.sse import ServerSentEvent
from tests.adapters.units.turns import arguments, calls, read

START = {
    "type": "message_start",
    "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}, "stop_reason": None},
}
END = {"type": "message_stop"}


def block(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "content_block_start",
        "index": index,
        "content_block": {"type": kind, **fields},
    }


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def close(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def stop(reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def text(words: str, index: int = 0) -> list[dict[str, Any]]:
    return [block(index, "text", text=""), delta(index, "text_delta", text=words), close(index)]


def call(*pieces: str, index: int = 0, input: Any = None) -> list[dict[str, Any]]:  # noqa: A002
    return [
        block(index, "tool_use", id="t1", name="weather", input={} if input is None else input),
        *(delta(index, "input_json_delta", partial_json=piece) for piece in pieces),
        close(index),
    ]


GRAZ = ToolUse("t1", "weather", {"city": "Graz"})


class TestContent(unittest.TestCase):
    def test_text(self) -> None:
        events = read(
            MessagesTurn(), START, *text("hi"), {"type": "ping"}, stop(output_tokens=3), END
        )
        self.assertEqual(
            events, [TextDelta("hi"), Finish("stop", raw="end_turn", usage=Usage(9, 3))]
        )

    def test_text_of_a_block_that_was_not_announced(self) -> None:
        self.assertEqual(
            read(MessagesTurn(), delta(0, "text_delta", text="a"), end=False), [TextDelta("a")]
        )

    def test_text_within_the_start_of_a_block(self) -> None:
        self.assertEqual(
            read(MessagesTurn(), block(0, "text", text="a"), end=False), [TextDelta("a")]
        )

    def test_reasoning(self) -> None:
        events = read(
            MessagesTurn(),
            block(0, "thinking", thinking="", signature=""),
            delta(0, "thinking_delta", thinking="hm"),
            delta(0, "signature_delta", signature="s"),
            close(0),
            block(1, "redacted_thinking", data="xyz"),
            close(1),
            end=False,
        )
        self.assertEqual(
            events,
            [ReasoningDelta("hm"), ReasoningDelta(signature="s"), ReasoningDelta(redacted="xyz")],
        )

    def test_unknown_types_blocks_and_deltas_are_ignored(self) -> None:
        events = read(
            MessagesTurn(),
            {"type": "acme", "text": "no"},
            block(0, "acme_block", text="no"),
            delta(0, "text_delta", text="no"),
            delta(0, "acme_delta", text="no"),
            delta(0, "citations_delta", citation={}),
            block(1, "server_tool_use", id="s", name="search", input={}),
            delta(1, "input_json_delta", partial_json='{"q'),
            {"no": "type"},
            *text("yes", 2),
            stop(),
            END,
        )
        self.assertEqual(
            assemble(events).message.parts,
            assemble([TextDelta("yes"), Finish("stop")]).message.parts,
        )

    def test_the_type_may_stand_in_the_event_line_only(self) -> None:
        turn = MessagesTurn()
        list(turn.take(ServerSentEvent("message_delta", '{"delta": {"stop_reason": "end_turn"}}')))
        list(turn.take(ServerSentEvent("message_stop", "{}")))
        self.assertEqual(list(turn.finish()), [Finish("stop", raw="end_turn")])


class TestFinish(unittest.TestCase):
    def test_reasons(self) -> None:
        for raw, reason in (
            ("end_turn", FinishReason.STOP),
            ("stop_sequence", FinishReason.STOP),
            ("max_tokens", FinishReason.LENGTH),
            ("model_context_window_exceeded", FinishReason.LENGTH),
            ("refusal", FinishReason.FILTERED),
            ("pause_turn", "pause_turn"),
            ("acme", "acme"),
        ):
            with self.subTest(raw=raw):
                events = read(MessagesTurn(), *text("a"), stop(raw), END)
                self.assertEqual(events[-1], Finish(reason, raw=raw))
        events = read(MessagesTurn(), *call("{}"), stop("tool_use"), END)
        self.assertEqual(events[-1], Finish(FinishReason.TOOL_USE, raw="tool_use"))

    def test_only_message_stop_ends_the_turn(self) -> None:
        for data in ([], [START], [START, *text("a")], [START, *text("a"), stop()], [stop(None)]):
            with self.subTest(data=data), self.assertRaises(IncompleteResponseError):
                read(MessagesTurn(), *data)

    def test_message_stop_without_a_reason(self) -> None:
        for data in ([END], [*text("a"), END], [*text("a"), stop(None), END]):
            with (
                self.subTest(data=data),
                self.assertRaisesRegex(StreamProtocolError, "stop_reason"),
            ):
                read(MessagesTurn(), *data)

    def test_repeats_are_reported_once(self) -> None:
        events = read(MessagesTurn(), *text("a"), stop(), stop(), END, END)
        self.assertEqual(events, [TextDelta("a"), Finish("stop", raw="end_turn")])

    def test_nothing_counts_after_message_stop(self) -> None:
        self.assertEqual(len(read(MessagesTurn(), *text("a"), stop(), END, *text("b"))), 2)

    def test_two_reasons_contradict(self) -> None:
        with self.assertRaises(StreamProtocolError):
            read(MessagesTurn(), *text("a"), stop(), stop("max_tokens"), END)

    def test_content_after_the_reason(self) -> None:
        for late in (text("b")[1:], call("{}"), [delta(0, "thinking_delta", thinking="b")]):
            with self.subTest(late=late), self.assertRaises(StreamProtocolError):
                read(MessagesTurn(), delta(5, "text_delta", text="a"), stop(), *late, END)

    def test_tool_finish_without_a_call(self) -> None:
        with self.assertRaisesRegex(StreamProtocolError, "tool_use"):
            read(MessagesTurn(), *text("a"), stop("tool_use"), END)


class TestUsage(unittest.TestCase):
    def usage_of(self, *data: Any) -> Usage:
        finish = read(MessagesTurn(), *data, END)[-1]
        assert isinstance(finish, Finish)
        return finish.usage

    def test_absent_is_zero(self) -> None:
        self.assertEqual(self.usage_of(stop()), Usage())

    def test_cumulative_counts_replace(self) -> None:
        self.assertEqual(
            self.usage_of(START, stop(None, output_tokens=2), stop(output_tokens=5)), Usage(9, 5)
        )

    def test_null_says_nothing(self) -> None:
        self.assertEqual(
            self.usage_of(START, stop(input_tokens=None, output_tokens=5)), Usage(9, 5)
        )

    def test_counts_are_disjoint(self) -> None:
        usage = {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 4,
        }
        self.assertEqual(self.usage_of(stop(**usage)), Usage(1, 2, 3, 4))

    def test_negative_is_an_error(self) -> None:
        with self.assertRaisesRegex(StreamProtocolError, "-1"):
            self.usage_of(stop(output_tokens=-1))


class TestCalls(unittest.TestCase):
    def test_a_call(self) -> None:
        events = read(MessagesTurn(), *call("", '{"city": ', '"Graz"}'), stop("tool_use"), END)
        self.assertEqual(calls(events), (GRAZ,))
        self.assertEqual(events[0], ToolCallDelta(0, "t1", "weather"))

    def test_interleaved_blocks(self) -> None:
        events = read(
            MessagesTurn(),
            *text("before", 0)[:2],
            block(1, "tool_use", id="a", name="f", input={}),
            block(2, "tool_use", id="b", name="g", input={}),
            delta(1, "input_json_delta", partial_json='{"x"'),
            delta(2, "input_json_delta", partial_json='{"y"'),
            delta(1, "input_json_delta", partial_json=": 1}"),
            delta(2, "input_json_delta", partial_json=": 2}"),
            *text("after", 3),
            stop("tool_use"),
            END,
        )
        self.assertEqual(calls(events), (ToolUse("a", "f", {"x": 1}), ToolUse("b", "g", {"y": 2})))

    def test_a_repeated_index_begins_another_call(self) -> None:
        second = call('{"n": 2}')
        second[0]["content_block"]["id"] = "t2"
        events = read(MessagesTurn(), *call('{"n": 1}'), *second, stop("tool_use"), END)
        self.assertEqual([use.arguments for use in calls(events)], [{"n": 1}, {"n": 2}])

    def test_no_arguments(self) -> None:
        for pieces in ([], [""], ["", ""]):
            with self.subTest(pieces=pieces):
                events = read(MessagesTurn(), *call(*pieces), stop("tool_use"), END)
                self.assertEqual(arguments(events), "{}")
                self.assertEqual(calls(events), (ToolUse("t1", "weather", {}),))

    def test_whole_input_at_the_start(self) -> None:
        events = read(MessagesTurn(), *call(input={"city": "Graz"}), stop("tool_use"), END)
        self.assertEqual(calls(events), (GRAZ,))

    def test_a_call_is_kept_whatever_the_reason(self) -> None:
        events = read(MessagesTurn(), *call('{"city": "Graz"}'), stop("end_turn"), END)
        self.assertEqual(calls(events), (GRAZ,))

    def test_arguments_that_are_not_whole(self) -> None:
        for cut in ('{"city": "Gr', '{"n": 12', "{}}", "{}{}", "[]", "1"):
            for reason in ("tool_use", "end_turn", "max_tokens"):
                with (
                    self.subTest(cut=cut, reason=reason),
                    self.assertRaisesRegex(TruncatedToolArgumentsError, "'weather'"),
                ):
                    read(MessagesTurn(), *call(cut), stop(reason), END)

    def test_a_cut_before_the_first_byte_makes_no_call(self) -> None:
        for reason in ("max_tokens", "refusal", "model_context_window_exceeded"):
            with self.subTest(reason=reason), self.assertRaises(TruncatedToolArgumentsError):
                read(MessagesTurn(), *call(), stop(reason), END)

    def test_arguments_of_a_call_that_never_began(self) -> None:
        with self.assertRaises(StreamProtocolError):
            read(MessagesTurn(), delta(0, "input_json_delta", partial_json="{}"))

    def test_a_call_without_a_name(self) -> None:
        with self.assertRaisesRegex(StreamProtocolError, "never had a name"):
            read(MessagesTurn(), block(0, "tool_use", id="t1", input={}), stop("tool_use"), END)


class TestErrors(unittest.TestCase):
    def test_an_error_event(self) -> None:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        for before in ([], [START, *text("a")], [START, *text("a"), stop()]):
            with self.subTest(before=before), self.assertRaises(APIError) as caught:
                read(MessagesTurn(), *before, error)
            self.assertEqual(
                (caught.exception.type, caught.exception.message),
                ("overloaded_error", "Overloaded"),
            )

    def test_other_shapes(self) -> None:
        for name, data in (
            ("error", '{"error": {"type": "api_error", "message": "Overloaded"}}'),
            ("message", '{"error": {"type": "api_error", "message": "Overloaded"}}'),
            ("error", '{"message": "Overloaded"}'),
        ):
            with self.subTest(data=data), self.assertRaisesRegex(APIError, "Overloaded"):
                list(MessagesTurn().take(ServerSentEvent(name, data)))

    def test_rate_limit(self) -> None:
        with self.assertRaises(RateLimitedError):
            read(
                MessagesTurn(),
                {"type": "error", "error": {"type": "rate_limit_error", "message": "m"}},
            )

    def test_what_is_no_event(self) -> None:
        for data in (
            "{",
            "1",
            "[]",
            "null",
            "[" * 100_000,
            {"type": 1},
            {"type": []},
            {"type": "message_start", "message": 1},
            {"type": "message_start", "message": {"usage": 1}},
            {"type": "content_block_start", "index": [], "content_block": {}},
            {"type": "content_block_start", "index": 0, "content_block": 1},
            block(0, "text", text=1),
            block(0, "tool_use", id=1),
            block(0, "redacted_thinking", data=[]),
            {"type": "content_block_delta", "index": {}, "delta": {}},
            delta(0, "text_delta", text=1),
            delta(0, "thinking_delta", thinking=[]),
            delta(0, "signature_delta", signature={}),
            {"type": "content_block_delta", "delta": "x"},
            {"type": "message_delta", "delta": 1},
            {"type": "message_delta", "delta": {"stop_reason": 1}},
            stop(output_tokens="3"),
        ):
            with self.subTest(data=str(data)[:60]), self.assertRaises(ModelError) as caught:
                read(MessagesTurn(), data)
            self.assertIsInstance(caught.exception, StreamProtocolError)
