from __future__ import annotations

import json
import unittest
from typing import Any

from modeltest import (
    APIError,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ModelError,
    QuotaExhaustedError,
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
from tests.adapters.openai_chat_turn import ChatTurn
from tests.adapters.sse import ServerSentEvent
from tests.adapters.units.turns import arguments, calls, read

DONE = "[DONE]"


def chunk(delta: Any = None, reason: Any = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **fields}


def text(words: str, reason: Any = None) -> dict[str, Any]:
    return chunk({"content": words}, reason)


def call(**piece: Any) -> dict[str, Any]:
    """A fragment: `name` and `arguments` within the function, the rest beside it."""
    function = {key: piece.pop(key) for key in ("name", "arguments") if key in piece}
    return chunk({"tool_calls": [{**piece, "function": function}]})


def stop(reason: str = "stop") -> dict[str, Any]:
    return chunk({}, reason)


WEATHER = [
    call(index=0, id="c1", type="function", name="weather", arguments=""),
    call(index=0, arguments='{"city": '),
    call(index=0, arguments='"Graz"}'),
]
GRAZ = ToolUse("c1", "weather", {"city": "Graz"})


class TestContent(unittest.TestCase):
    def test_text(self) -> None:
        events = read(
            ChatTurn(), chunk({"role": "assistant", "content": ""}), text("a"), text("b"), stop()
        )
        self.assertEqual(events, [TextDelta("a"), TextDelta("b"), Finish("stop", raw="stop")])

    def test_reasoning_by_either_name_is_read_once(self) -> None:
        for delta in (
            {"reasoning_content": "hm"},
            {"reasoning": "hm"},
            {"reasoning": "hm", "reasoning_content": "hm"},
            {"reasoning": "hm", "reasoning_content": None},
        ):
            with self.subTest(delta=delta):
                self.assertEqual(read(ChatTurn(), chunk(delta), end=False), [ReasoningDelta("hm")])

    def test_a_refusal_is_text(self) -> None:
        self.assertEqual(read(ChatTurn(), chunk({"refusal": "no"}), end=False), [TextDelta("no")])

    def test_unknown_fields_and_objects_are_ignored(self) -> None:
        events = read(
            ChatTurn(),
            {"object": "acme.ping", "time": 1},
            {"choices": None, "obfuscation": "x"},
            chunk({"content": "a", "acme": {"text": "no"}}, acme=1),
            stop(),
        )
        self.assertEqual(assemble(events).message.text, "a")

    def test_other_choices_are_ignored(self) -> None:
        other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}
        with self.assertRaises(IncompleteResponseError):
            read(ChatTurn(), text("a"), other)

    def test_a_choice_without_index_is_the_first(self) -> None:
        self.assertEqual(
            read(ChatTurn(), {"choices": [{"delta": {"content": "a"}}]}, end=False),
            [TextDelta("a")],
        )

    def test_blank_data_is_ignored(self) -> None:
        self.assertEqual(read(ChatTurn(), "", " ", end=False), [])

    def test_an_event_line_changes_nothing(self) -> None:
        turn = ChatTurn()
        events = list(turn.take(ServerSentEvent("acme", json.dumps(text("a")))))
        self.assertEqual(events, [TextDelta("a")])


class TestFinish(unittest.TestCase):
    def test_reasons(self) -> None:
        for raw, reason in (
            ("stop", FinishReason.STOP),
            ("length", FinishReason.LENGTH),
            ("content_filter", FinishReason.FILTERED),
            ("eos", "eos"),
        ):
            with self.subTest(raw=raw):
                self.assertEqual(
                    read(ChatTurn(), text("a"), stop(raw))[-1], Finish(reason, raw=raw)
                )
        for raw in ("tool_calls", "function_call"):
            with self.subTest(raw=raw):
                finish = read(ChatTurn(), *WEATHER, stop(raw))[-1]
                self.assertEqual(finish, Finish(FinishReason.TOOL_USE, raw=raw))

    def test_null_and_empty_end_nothing(self) -> None:
        for reason in (None, ""):
            with self.subTest(reason=reason), self.assertRaises(IncompleteResponseError):
                read(ChatTurn(), text("a", reason))

    def test_either_end_is_complete(self) -> None:
        for ending in ([stop()], [stop(), DONE], [chunk({}, "stop"), {"choices": []}]):
            with self.subTest(ending=ending):
                self.assertEqual(
                    read(ChatTurn(), text("a"), *ending)[-1], Finish("stop", raw="stop")
                )
        self.assertEqual(read(ChatTurn(), text("a"), DONE)[-1], Finish("stop", raw=""))

    def test_nothing_is_not_an_answer(self) -> None:
        for data in ([], [DONE], [{"choices": []}, DONE], [{"usage": {"prompt_tokens": 1}}]):
            with self.subTest(data=data), self.assertRaises(IncompleteResponseError):
                read(ChatTurn(), *data)

    def test_the_marker_in_other_spellings(self) -> None:
        for marker in ("[DONE]", " [DONE]", "[DONE] ", "[DONE]\n"):
            turn = ChatTurn()
            read(turn, text("a"), marker)
            self.assertTrue(turn.over)

    def test_reading_goes_on_after_the_reason(self) -> None:
        turn = ChatTurn()
        read(turn, text("a"), stop(), end=False)
        self.assertTrue(turn.complete)
        self.assertFalse(turn.over)

    def test_nothing_counts_after_the_marker(self) -> None:
        events = read(ChatTurn(), text("a"), stop(), DONE, text("b"), DONE)
        self.assertEqual(events, [TextDelta("a"), Finish("stop", raw="stop")])

    def test_finish_beside_content(self) -> None:
        self.assertEqual(
            read(ChatTurn(), text("a", "stop")), [TextDelta("a"), Finish("stop", raw="stop")]
        )

    def test_a_repeated_finish_is_reported_once(self) -> None:
        events = read(ChatTurn(), text("a"), stop(), stop(), chunk({"content": ""}, "stop"), DONE)
        self.assertEqual(events, [TextDelta("a"), Finish("stop", raw="stop")])

    def test_two_reasons_contradict(self) -> None:
        with self.assertRaisesRegex(StreamProtocolError, "'stop', then 'length'"):
            read(ChatTurn(), text("a"), stop(), stop("length"))

    def test_content_after_finish(self) -> None:
        for late in (text("b"), chunk({"refusal": "b"}), chunk({"reasoning": "b"}), *WEATHER[:2]):
            with self.subTest(late=late), self.assertRaises(StreamProtocolError):
                read(ChatTurn(), text("a"), stop(), late)

    def test_tool_finish_without_a_call(self) -> None:
        with self.assertRaisesRegex(StreamProtocolError, "tool_calls"):
            read(ChatTurn(), text("a"), stop("tool_calls"))


class TestUsage(unittest.TestCase):
    def usage_of(self, *data: Any) -> Usage:
        finish = read(ChatTurn(), text("a"), *data)[-1]
        assert isinstance(finish, Finish)
        self.assertEqual(finish.discarded, Usage())
        return finish.usage

    def test_absent_is_zero(self) -> None:
        self.assertEqual(self.usage_of(stop(), chunk(usage=None)), Usage())

    def test_after_on_and_before_the_finish(self) -> None:
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        for data in (
            [stop(), {"choices": [], "usage": usage}, DONE],
            [chunk({}, "stop", usage=usage)],
            [{"choices": [], "usage": usage}, stop()],
        ):
            self.assertEqual(self.usage_of(*data), Usage(7, 3))

    def test_the_last_total_counts(self) -> None:
        running = [
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": n}}
            for n in (1, 2, 3)
        ]
        self.assertEqual(self.usage_of(*running, stop()), Usage(7, 3))

    def test_counts_are_disjoint(self) -> None:
        usage = {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 2},
        }
        self.assertEqual(self.usage_of(stop(), {"usage": usage}), Usage(6, 5, 4, 0))

    def test_a_prompt_counted_without_its_cached_part(self) -> None:
        usage = {"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 9}}
        self.assertEqual(self.usage_of(stop(), {"usage": usage}), Usage(0, 0, 9, 0))

    def test_negative_is_an_error(self) -> None:
        for usage in (
            {"prompt_tokens": -1},
            {"completion_tokens": -1},
            {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": -1}},
        ):
            with self.subTest(usage=usage), self.assertRaisesRegex(StreamProtocolError, "-1"):
                read(ChatTurn(), text("a"), {"usage": usage}, stop())


class TestCalls(unittest.TestCase):
    def test_a_call(self) -> None:
        events = read(ChatTurn(), *WEATHER, stop("tool_calls"), DONE)
        self.assertEqual(calls(events), (GRAZ,))
        self.assertEqual(events[0], ToolCallDelta(0, "c1", "weather"))

    def test_a_call_is_kept_whatever_the_reason(self) -> None:
        self.assertEqual(calls(read(ChatTurn(), *WEATHER, stop("stop"))), (GRAZ,))
        self.assertEqual(calls(read(ChatTurn(), *WEATHER, DONE)), (GRAZ,))

    def test_interleaved_fragments(self) -> None:
        events = read(
            ChatTurn(),
            text("before"),
            call(index=0, id="a", name="f", arguments='{"x"'),
            call(index=1, id="b", name="g", arguments='{"y"'),
            text("between"),
            call(index=0, arguments=": 1}"),
            call(index=1, arguments=": 2}"),
            text("after"),
            stop("tool_calls"),
        )
        self.assertEqual(calls(events), (ToolUse("a", "f", {"x": 1}), ToolUse("b", "g", {"y": 2})))
        self.assertEqual(assemble(events).message.text, "beforebetweenafter")

    def test_two_calls_in_one_chunk(self) -> None:
        both = [
            {"index": n, "id": f"c{n}", "function": {"name": "f", "arguments": f'{{"n": {n}}}'}}
            for n in (0, 1)
        ]
        events = read(ChatTurn(), chunk({"tool_calls": both}), stop("tool_calls"))
        self.assertEqual(
            calls(events), (ToolUse("c0", "f", {"n": 0}), ToolUse("c1", "f", {"n": 1}))
        )

    def test_the_index_is_not_identity(self) -> None:
        for place in ({"index": 0}, {}, {"index": None}):
            with self.subTest(place=place):
                events = read(
                    ChatTurn(),
                    call(**place, id="a", name="f", arguments='{"x"'),
                    call(**place, arguments=": 1}"),
                    call(**place, id="b", name="f", arguments='{"x"'),
                    call(**place, arguments=": 2}"),
                    stop("tool_calls"),
                )
                self.assertEqual(
                    calls(events), (ToolUse("a", "f", {"x": 1}), ToolUse("b", "f", {"x": 2}))
                )

    def test_interleaved_by_id_without_index(self) -> None:
        events = read(
            ChatTurn(),
            call(id="a", name="f", arguments='{"x"'),
            call(id="b", name="f", arguments='{"x"'),
            call(id="a", arguments=": 1}"),
            call(id="b", arguments=": 2}"),
            stop("tool_calls"),
        )
        self.assertEqual(calls(events), (ToolUse("a", "f", {"x": 1}), ToolUse("b", "f", {"x": 2})))

    def test_whole_calls_with_neither_index_nor_id(self) -> None:
        events = read(
            ChatTurn(),
            call(name="f", arguments='{"x": 1}'),
            call(name="f", arguments='{"x": 2}'),
            stop("tool_calls"),
        )
        self.assertEqual(calls(events), (ToolUse("", "f", {"x": 1}), ToolUse("", "f", {"x": 2})))

    def test_identity_is_kept(self) -> None:
        for again in (
            {},
            {"id": "c1"},
            {"id": ""},
            {"id": None},
            {"name": "weather"},
            {"name": ""},
            {"name": None},
            {"id": "c1", "name": "weather"},
            {"id": "other"},
        ):
            with self.subTest(again=again):
                events = read(
                    ChatTurn(),
                    WEATHER[0],
                    call(index=0, arguments='{"city": ', **again),
                    call(index=0, arguments='"Graz"}', **again),
                    stop("tool_calls"),
                )
                self.assertEqual(calls(events), (GRAZ,))
                self.assertEqual(
                    sum(bool(e.name) for e in events if isinstance(e, ToolCallDelta)), 1
                )
                self.assertEqual(sum(bool(e.id) for e in events if isinstance(e, ToolCallDelta)), 1)

    def test_id_and_name_may_come_apart(self) -> None:
        for pieces in (
            [call(index=0, id="c1"), call(index=0, name="weather", arguments='{"city": "Graz"}')],
            [call(index=0, name="weather"), call(index=0, id="c1", arguments='{"city": "Graz"}')],
            [
                call(index=0, name="weather"),
                call(index=0, id="c1", name="weather", arguments='{"city": "Graz"}'),
            ],
        ):
            with self.subTest(pieces=pieces):
                self.assertEqual(calls(read(ChatTurn(), *pieces, stop("tool_calls"))), (GRAZ,))

    def test_a_changed_name_is_an_error(self) -> None:
        with self.assertRaisesRegex(StreamProtocolError, "'weather' changed its name to 'news'"):
            read(ChatTurn(), WEATHER[0], call(index=0, name="news"))

    def test_a_call_without_a_name_is_an_error(self) -> None:
        with self.assertRaisesRegex(StreamProtocolError, "never had a name"):
            read(ChatTurn(), call(index=0, id="c1", arguments="{}"), stop("tool_calls"))

    def test_no_arguments(self) -> None:
        for given in ({"arguments": ""}, {"arguments": None}, {}, {"arguments": {}}):
            for reason in ("tool_calls", "stop"):
                with self.subTest(given=given, reason=reason):
                    events = read(
                        ChatTurn(), call(index=0, id="c1", name="now", **given), stop(reason)
                    )
                    self.assertEqual(calls(events), (ToolUse("c1", "now", {}),))
                    self.assertEqual(arguments(events), "{}")

    def test_no_function_at_all(self) -> None:
        with self.assertRaises(StreamProtocolError):
            read(ChatTurn(), chunk({"tool_calls": [{"index": 0, "id": "c1"}]}), stop("tool_calls"))

    def test_arguments_as_an_object(self) -> None:
        events = read(ChatTurn(), call(id="c1", name="weather", arguments={"city": "Graz"}), stop())
        self.assertEqual(calls(events), (GRAZ,))

    def test_the_older_function_call(self) -> None:
        events = read(
            ChatTurn(),
            chunk({"function_call": {"name": "weather", "arguments": ""}}),
            chunk({"function_call": {"arguments": '{"city": "Graz"}'}}),
            stop("function_call"),
        )
        self.assertEqual(calls(events), (ToolUse("", "weather", {"city": "Graz"}),))

    def test_arguments_that_are_not_whole(self) -> None:
        for cut in ('{"city": "Gr', '{"n": 12', '{"a": 1', '{"a": 1,', "{", '{"a"'):
            for reason in ("tool_calls", "stop", "length", "content_filter"):
                with self.subTest(cut=cut, reason=reason):
                    piece = call(index=0, id="c1", name="weather", arguments=cut)
                    with self.assertRaisesRegex(TruncatedToolArgumentsError, "'weather'"):
                        read(ChatTurn(), piece, stop(reason))

    def test_a_cut_before_the_first_byte_makes_no_call(self) -> None:
        begun = call(index=0, id="c1", name="weather", arguments="")
        for ending in (stop("length"), stop("content_filter"), DONE):
            with self.subTest(ending=ending), self.assertRaises(TruncatedToolArgumentsError):
                read(ChatTurn(), begun, ending)
        with self.assertRaises(IncompleteResponseError):
            read(ChatTurn(), begun)

    def test_a_whole_call_survives_the_length_limit(self) -> None:
        events = read(ChatTurn(), *WEATHER, stop("length"))
        self.assertEqual(arguments(events), '{"city": "Graz"}')
        self.assertEqual(events[-1], Finish("length", raw="length"))

    def test_arguments_that_are_no_object(self) -> None:
        for bad in (
            "{}}",
            "{}{}",
            "[]",
            "1",
            "null",
            "NaN",
            '{"a": NaN}',
            "{'a': 1}",
            '"x"',
            "[" * 100_000,
        ):
            with self.subTest(bad=bad[:20]):
                piece = call(index=0, id="c1", name="weather", arguments=bad)
                with self.assertRaisesRegex(TruncatedToolArgumentsError, "'weather'"):
                    read(ChatTurn(), piece, stop("tool_calls"))

    def test_large_arguments(self) -> None:
        whole = json.dumps({"text": "aé€🎈" * 150_000}, ensure_ascii=False)
        pieces = [whole[at : at + 1000] for at in range(0, len(whole), 1000)]
        events = read(
            ChatTurn(),
            call(index=0, id="c1", name="save", arguments=""),
            *(call(index=0, arguments=piece) for piece in pieces),
            stop("tool_calls"),
        )
        self.assertEqual(arguments(events), whole)


class TestErrors(unittest.TestCase):
    def test_an_error_object(self) -> None:
        error = {"message": "overloaded", "type": "server_error", "code": "busy", "param": None}
        for before in ([], [text("a"), text("b")], [text("a"), stop()]):
            with self.subTest(before=before), self.assertRaises(APIError) as caught:
                read(ChatTurn(), *before, {"error": error})
            self.assertEqual(
                (caught.exception.type, caught.exception.code, caught.exception.message),
                ("server_error", "busy", "overloaded"),
            )
            self.assertIsNone(caught.exception.status)

    def test_other_shapes(self) -> None:
        for shape in (
            {"error": "overloaded"},
            {"object": "error", "message": "overloaded", "type": "x", "code": 500},
            {"error": {"message": "overloaded"}, "choices": []},
        ):
            with self.subTest(shape=shape), self.assertRaisesRegex(APIError, "overloaded"):
                read(ChatTurn(), shape)
        with self.assertRaisesRegex(APIError, "overloaded"):
            list(ChatTurn().take(ServerSentEvent("error", '{"message": "overloaded"}')))

    def test_kinds(self) -> None:
        with self.assertRaises(RateLimitedError):
            read(
                ChatTurn(), {"error": {"message": "m", "type": "x", "code": "rate_limit_exceeded"}}
            )
        with self.assertRaises(QuotaExhaustedError):
            read(ChatTurn(), {"error": {"message": "m", "type": "insufficient_quota"}})

    def test_null_is_no_error(self) -> None:
        self.assertEqual(
            read(ChatTurn(), {**text("a"), "error": None}, end=False), [TextDelta("a")]
        )

    def test_the_secret_is_not_quoted(self) -> None:
        error = {"message": "bad key sk-1", "type": "sk-1", "code": "sk-1"}
        with self.assertRaises(APIError) as caught:
            read(ChatTurn(secret="sk-1"), {"error": error})
        self.assertNotIn("sk-1", repr(vars(caught.exception)) + repr(caught.exception))

    def test_what_is_no_chunk(self) -> None:
        for data in (
            "{",
            "hello",
            "1",
            "[]",
            "null",
            '"x"',
            "NaN",
            '{"choices": NaN}',
            "[" * 100_000,
            '{"a": ' + "9" * 5000 + "}",
            {"choices": 1},
            {"choices": {}},
            {"choices": [1]},
            {"choices": [None]},
            {"choices": [{"index": "0"}]},
            {"choices": [{"index": []}]},
            {"choices": [{"delta": 1}]},
            {"choices": [{"delta": []}]},
            chunk({"content": 1}),
            chunk({"content": [{"type": "text"}]}),
            chunk({"refusal": {}}),
            chunk({"reasoning": 1}),
            chunk({"tool_calls": {}}),
            chunk({"tool_calls": ["x"]}),
            chunk({"tool_calls": [{"function": "f"}]}),
            chunk({"tool_calls": [{"id": 7}]}),
            chunk({"tool_calls": [{"index": "0"}]}),
            chunk({"tool_calls": [{"function": {"name": []}}]}),
            chunk({"function_call": "f"}),
            chunk({}, 1),
            chunk({}, ["stop"]),
            {"usage": 1},
            {"usage": {"prompt_tokens": "7"}},
            {"usage": {"prompt_tokens": 1.5}},
            {"usage": {"prompt_tokens_details": 1}},
        ):
            with self.subTest(data=str(data)[:60]), self.assertRaises(ModelError) as caught:
                read(ChatTurn(), data)
            self.assertIsInstance(caught.exception, StreamProtocolError)
