"""Events → turn: each rule of `assemble`, with a stream that keeps it and one that breaks it."""

import dataclasses
import itertools
import unittest
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from modeltest import (
    Assembler,
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    Message,
    NegativeUsageError,
    OutputFilteredError,
    OutputTruncatedError,
    Part,
    Reasoning,
    ReasoningDelta,
    StreamProtocolError,
    Text,
    TextDelta,
    ToolCallDelta,
    ToolUse,
    TruncatedToolArgumentsError,
    Turn,
    Usage,
    assemble,
)

STOP = Finish(FinishReason.STOP)
TOOL_USE = Finish(FinishReason.TOOL_USE)


def parts(*deltas: Event, finish: Finish = STOP) -> tuple[Part, ...]:
    """Return the parts of the message that `deltas` make."""
    return assemble([*deltas, finish]).message.parts


def arguments(*fragments: str) -> Mapping[str, Any]:
    """Return what the fragments of one call's arguments are parsed to."""
    (call,) = parts(
        ToolCallDelta(0, "call_1", "get_weather"),
        *(ToolCallDelta(0, arguments=fragment) for fragment in fragments),
        finish=TOOL_USE,
    )
    return call.arguments


class AssembleTestCase(unittest.TestCase):
    def assert_refused(self, error: type[Exception], message: str, *events: Any) -> None:
        """Assert that `events` raise exactly `error`, with exactly `message`."""
        with self.assertRaises(error) as caught:
            assemble(events)
        self.assertIs(type(caught.exception), error)
        self.assertEqual(str(caught.exception), message)


class TestTurn(AssembleTestCase):
    def test_a_turn_holds_message_usage_and_finish(self) -> None:
        finish = Finish(FinishReason.STOP, "end_turn", Usage(5, 2, 1, 3))
        self.assertEqual(
            assemble([TextDelta("hi"), finish]),
            Turn(Message("assistant", (Text("hi"),)), Usage(5, 2, 1, 3), finish),
        )

    def test_a_turn_is_a_frozen_slotted_value(self) -> None:
        turn = assemble([TextDelta("hi"), STOP])
        self.assertEqual(turn, assemble([TextDelta("hi"), STOP]))
        self.assertFalse(hasattr(turn, "__dict__"))
        with self.assertRaises(dataclasses.FrozenInstanceError):
            turn.usage = Usage(1)

    def test_an_answer_may_be_empty(self) -> None:
        self.assertEqual(parts(), ())

    def test_any_iterable_is_read_once(self) -> None:
        self.assertEqual(assemble(iter([TextDelta("hi"), STOP])).message.text, "hi")

    def test_an_error_of_the_adapter_passes_through(self) -> None:
        error = OSError("reset")

        def events() -> Iterator[Event]:
            yield TextDelta("half")
            raise error

        with self.assertRaises(OSError) as caught:
            assemble(events())
        self.assertIs(caught.exception, error)


class TestText(AssembleTestCase):
    def test_adjacent_deltas_are_merged(self) -> None:
        self.assertEqual(parts(TextDelta("It "), TextDelta("is")), (Text("It is"),))

    def test_empty_deltas_make_no_part(self) -> None:
        self.assertEqual(parts(TextDelta("")), ())

    def test_empty_deltas_change_nothing(self) -> None:
        self.assertEqual(parts(TextDelta("a"), TextDelta(""), TextDelta("b")), (Text("ab"),))

    def test_text_on_both_sides_of_reasoning_stays_apart(self) -> None:
        self.assertEqual(
            parts(TextDelta("a"), ReasoningDelta("hmm"), TextDelta("b")),
            (Text("a"), Reasoning("hmm"), Text("b")),
        )

    @settings(deadline=None, derandomize=True, database=None)
    @given(st.text(), st.lists(st.integers(0, 50)))
    def test_where_the_text_is_cut_does_not_matter(self, text: str, cuts: list[int]) -> None:
        edges = sorted({0, *(min(cut, len(text)) for cut in cuts), len(text)})
        pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
        self.assertEqual(parts(*map(TextDelta, pieces)), parts(TextDelta(text)))


class TestReasoning(AssembleTestCase):
    def test_adjacent_deltas_are_merged(self) -> None:
        self.assertEqual(
            parts(ReasoningDelta("let "), ReasoningDelta("me"), ReasoningDelta(signature="sig")),
            (Reasoning("let me", "sig"),),
        )

    def test_empty_deltas_make_no_part(self) -> None:
        self.assertEqual(parts(ReasoningDelta()), ())

    def test_a_signature_alone_is_a_part(self) -> None:
        self.assertEqual(parts(ReasoningDelta(signature="sig")), (Reasoning("", "sig"),))

    def test_a_signature_closes_its_block(self) -> None:
        self.assertEqual(
            parts(ReasoningDelta("one"), ReasoningDelta(signature="sig"), ReasoningDelta("two")),
            (Reasoning("one", "sig"), Reasoning("two")),
        )

    def test_an_empty_delta_opens_no_block_after_a_signature(self) -> None:
        self.assertEqual(
            parts(ReasoningDelta("one", "sig"), ReasoningDelta()), (Reasoning("one", "sig"),)
        )

    def test_redacted_blocks_stand_alone(self) -> None:
        self.assertEqual(
            parts(
                ReasoningDelta("open"),
                ReasoningDelta(redacted="x"),
                ReasoningDelta(redacted="y"),
                ReasoningDelta("again"),
            ),
            (
                Reasoning("open"),
                Reasoning(redacted="x"),
                Reasoning(redacted="y"),
                Reasoning("again"),
            ),
        )

    def test_reasoning_on_both_sides_of_text_stays_apart(self) -> None:
        self.assertEqual(
            parts(ReasoningDelta("a"), TextDelta("hi"), ReasoningDelta("b")),
            (Reasoning("a"), Text("hi"), Reasoning("b")),
        )


class TestToolCalls(AssembleTestCase):
    def test_fragments_of_a_call_are_joined(self) -> None:
        self.assertEqual(
            parts(
                ToolCallDelta(0, "call_1", "get_weather", '{"ci'),
                ToolCallDelta(0, arguments='ty": "Oslo"}'),
                finish=TOOL_USE,
            ),
            (ToolUse("call_1", "get_weather", {"city": "Oslo"}),),
        )

    def test_interleaved_calls_are_kept_apart(self) -> None:
        self.assertEqual(
            parts(
                ToolCallDelta(0, "a", "one", '{"x":'),
                ToolCallDelta(1, "b", "two", '{"y":'),
                ToolCallDelta(0, arguments="1}"),
                ToolCallDelta(1, arguments="2}"),
                finish=TOOL_USE,
            ),
            (ToolUse("a", "one", {"x": 1}), ToolUse("b", "two", {"y": 2})),
        )

    def test_a_call_stands_where_it_began(self) -> None:
        self.assertEqual(
            parts(
                TextDelta("before"),
                ToolCallDelta(0, "a", "one", "{"),
                TextDelta("after"),
                ToolCallDelta(0, arguments="}"),
                finish=TOOL_USE,
            ),
            (Text("before"), ToolUse("a", "one"), Text("after")),
        )

    def test_indices_need_not_be_in_order(self) -> None:
        self.assertEqual(
            parts(ToolCallDelta(7, "a", "one"), ToolCallDelta(2, "b", "two"), finish=TOOL_USE),
            (ToolUse("a", "one"), ToolUse("b", "two")),
        )

    def test_id_and_name_may_come_late(self) -> None:
        self.assertEqual(
            parts(
                ToolCallDelta(0, arguments="{}"),
                ToolCallDelta(0, "a"),
                ToolCallDelta(0, name="one"),
                finish=TOOL_USE,
            ),
            (ToolUse("a", "one"),),
        )

    def test_id_and_name_may_be_repeated(self) -> None:
        self.assertEqual(
            parts(ToolCallDelta(0, "a", "one"), ToolCallDelta(0, "a", "one", "{}")),
            (ToolUse("a", "one"),),
        )

    def test_an_id_may_be_missing(self) -> None:
        # Some providers match a call and its result by name and order alone.
        self.assertEqual(parts(ToolCallDelta(0, name="one")), (ToolUse("", "one"),))

    def test_an_id_must_not_change(self) -> None:
        self.assert_refused(
            StreamProtocolError,
            "the id of call 3 changed from 'a' to 'b'",
            ToolCallDelta(3, "a", "one"),
            ToolCallDelta(3, "b"),
            TOOL_USE,
        )

    def test_a_name_must_not_change(self) -> None:
        self.assert_refused(
            StreamProtocolError,
            "the name of call 3 changed from 'one' to 'two'",
            ToolCallDelta(3, "a", "one"),
            ToolCallDelta(3, "a", "two"),
            TOOL_USE,
        )

    def test_a_name_must_come(self) -> None:
        self.assert_refused(
            StreamProtocolError,
            "tool call 1 never had a name",
            ToolCallDelta(0, "a", "one"),
            ToolCallDelta(1, "b"),
            TOOL_USE,
        )


class TestArguments(AssembleTestCase):
    def test_no_arguments_are_an_empty_object(self) -> None:
        self.assertEqual(arguments(), {})
        self.assertEqual(arguments("", ""), {})

    def test_an_object_is_parsed_whole(self) -> None:
        self.assertEqual(
            arguments('{"a": [1, 2.5, null, true], ', '"b": {"c": "né\\u00e9"}}'),
            {"a": [1, 2.5, None, True], "b": {"c": "néé"}},
        )

    def test_white_space_around_the_object_is_json(self) -> None:
        self.assertEqual(arguments(' {"a": 1}\n'), {"a": 1})

    def test_half_an_object_is_refused(self) -> None:
        for text in ("{", '{"city": "Os', '{"n": 12', '{"a": 1,', '{"a": 1}}', "{}{}", " "):
            with self.subTest(text), self.assertRaises(TruncatedToolArgumentsError) as caught:
                arguments(text)
            self.assertRegex(
                str(caught.exception),
                r"\Athe arguments of tool call 'get_weather' are not JSON \(.+\): ",
            )
            self.assertTrue(str(caught.exception).endswith(repr(text)))
            self.assertIsInstance(caught.exception.__cause__, ValueError)

    def test_a_value_that_is_no_object_is_refused(self) -> None:
        for text in ("[]", "null", "3", '"{}"', "false"):
            with self.subTest(text):
                self.assert_refused(
                    TruncatedToolArgumentsError,
                    f"the arguments of tool call 'get_weather' are no JSON object: {text!r}",
                    ToolCallDelta(0, "call_1", "get_weather", text),
                    TOOL_USE,
                )

    def test_constants_that_json_does_not_know_are_refused(self) -> None:
        for constant in ("NaN", "Infinity", "-Infinity"):
            with self.subTest(constant):
                text = f'{{"a": {constant}}}'
                self.assert_refused(
                    TruncatedToolArgumentsError,
                    "the arguments of tool call 'get_weather' are not JSON "
                    f"({constant} is not JSON): {text!r}",
                    ToolCallDelta(0, "call_1", "get_weather", text),
                    TOOL_USE,
                )

    def test_nesting_without_end_is_refused(self) -> None:
        with self.assertRaises(TruncatedToolArgumentsError) as caught:
            arguments('{"a":' * 100_000)
        self.assertIsInstance(caught.exception.__cause__, (RecursionError, ValueError))

    def test_long_arguments_are_quoted_at_both_ends(self) -> None:
        text = '{"a": "' + "x" * 100 + "END"
        with self.assertRaises(TruncatedToolArgumentsError) as caught:
            arguments(text)
        message = str(caught.exception)
        self.assertRegex(message, r"""'\{"a": "x{30}x*\.\.\.x{30}x*END'$""")
        self.assertLess(len(message), 200)

    def test_eighty_characters_are_quoted_whole(self) -> None:
        text = '{"a": "'.ljust(80, "x")
        with self.assertRaises(TruncatedToolArgumentsError) as caught:
            arguments(text)
        self.assertTrue(str(caught.exception).endswith(repr(text)))


class TestFinish(AssembleTestCase):
    def test_an_end_without_finish_is_incomplete(self) -> None:
        for events in ([], [TextDelta("half")], [ToolCallDelta(0, "a", "one", "{}")]):
            with self.subTest(events):
                self.assert_refused(
                    IncompleteResponseError, "the events ended without a Finish", *events
                )

    def test_no_event_follows_the_finish(self) -> None:
        for late in (TextDelta("more"), ToolCallDelta(0, "a", "one"), STOP, None):
            with self.subTest(late):
                self.assert_refused(
                    StreamProtocolError, f"an event came after the Finish: {late!r}", STOP, late
                )

    def test_the_first_event_after_the_finish_ends_the_reading(self) -> None:
        events = iter([STOP, TextDelta("late"), TextDelta("unread")])
        with self.assertRaises(StreamProtocolError):
            assemble(events)
        self.assertEqual([*events], [TextDelta("unread")])

    def test_something_that_is_no_event_is_refused(self) -> None:
        for thing in ("text", b"data: {}", None, {"type": "text"}, Text("hi"), Usage()):
            with self.subTest(thing):
                self.assert_refused(
                    StreamProtocolError,
                    f"the stream gave {thing!r}; expected TextDelta, ReasoningDelta, ToolCallDelta "
                    "or Finish, of modeltest",
                    thing,
                    STOP,
                )


class TestReason(AssembleTestCase):
    def test_stop_and_tool_use_are_good_ends(self) -> None:
        self.assertEqual(parts(TextDelta("hi"), finish=Finish("stop")), (Text("hi"),))
        self.assertEqual(
            parts(ToolCallDelta(0, "a", "one"), finish=Finish("tool_use")), (ToolUse("a", "one"),)
        )

    def test_the_reason_does_not_decide_whether_calls_run(self) -> None:
        self.assertEqual(
            parts(ToolCallDelta(0, "a", "one", '{"x": 1}'), finish=STOP),
            (ToolUse("a", "one", {"x": 1}),),
        )

    def test_tool_use_without_a_call_is_refused(self) -> None:
        self.assert_refused(
            StreamProtocolError,
            "the turn ended for a tool call, but carries none",
            TextDelta("hi"),
            TOOL_USE,
        )

    def test_length_is_a_truncated_output(self) -> None:
        self.assert_refused(
            OutputTruncatedError,
            "the answer was cut at the token limit",
            TextDelta("half"),
            Finish("length", "max_tokens"),
        )

    def test_filtered_names_the_providers_word(self) -> None:
        self.assert_refused(
            OutputFilteredError,
            "the provider withheld the answer ('SAFETY')",
            Finish("filtered", "SAFETY"),
        )

    def test_an_unknown_reason_is_refused(self) -> None:
        for reason in ("pause_turn", "STOP", ""):
            with self.subTest(reason):
                self.assert_refused(
                    StreamProtocolError,
                    f"unknown finish reason {reason!r}",
                    TextDelta("hi"),
                    Finish(reason, reason),
                )

    def test_half_a_call_is_refused_whatever_it_was_cut_by(self) -> None:
        for reason in ("stop", "tool_use", "length", "filtered", "other"):
            with self.subTest(reason), self.assertRaises(TruncatedToolArgumentsError):
                assemble([ToolCallDelta(0, "a", "one", '{"x": '), Finish(reason)])

    def test_length_and_filtered_fail_with_a_whole_call_too(self) -> None:
        for reason, error in (("length", OutputTruncatedError), ("filtered", OutputFilteredError)):
            with self.subTest(reason), self.assertRaises(error):
                assemble([ToolCallDelta(0, "a", "one", "{}"), Finish(reason)])


class TestUsage(AssembleTestCase):
    def test_counts_of_zero_are_kept(self) -> None:
        self.assertEqual(assemble([Finish("stop", usage=Usage())]).usage, Usage())

    def test_each_negative_count_is_refused(self) -> None:
        for name in Usage().counts():
            with self.subTest(name):
                self.assert_refused(
                    NegativeUsageError,
                    f"token counts are never negative: got {{{name!r}: -1}}",
                    Finish("stop", usage=Usage(**{name: -1})),
                )

    def test_each_negative_discarded_count_is_refused(self) -> None:
        for name in Usage().counts():
            with self.subTest(name):
                self.assert_refused(
                    NegativeUsageError,
                    f"token counts are never negative: got {{'discarded.{name}': -1}}",
                    Finish("stop", discarded=Usage(**{name: -1})),
                )

    def test_all_negative_counts_are_named(self) -> None:
        self.assert_refused(
            NegativeUsageError,
            "token counts are never negative: got {'input_tokens': -5, 'cache_read_tokens': -1}",
            Finish("stop", usage=Usage(-5, 3, -1, 0)),
        )

    def test_discarded_tokens_are_not_the_turns(self) -> None:
        turn = assemble([Finish("stop", usage=Usage(1), discarded=Usage(9))])
        self.assertEqual(turn.usage, Usage(1))

    def test_a_negative_count_is_named_before_the_reason(self) -> None:
        with self.assertRaises(NegativeUsageError):
            assemble([Finish("length", usage=Usage(-1))])


class TestAssembler(unittest.TestCase):
    def test_it_joins_as_assemble_does(self) -> None:
        events = [
            ReasoningDelta("hmm"),
            TextDelta("It "),
            TextDelta("is"),
            ToolCallDelta(0, "a", "one", "{}"),
            Finish("tool_use", usage=Usage(1, 2)),
        ]
        assembler = Assembler()
        for event in events:
            assembler.add(event)
        self.assertEqual(assembler.turn(), assemble(events))

    def test_it_refuses_an_event_at_once(self) -> None:
        assembler = Assembler()
        assembler.add(ToolCallDelta(0, "a", "one"))
        with self.assertRaises(StreamProtocolError):
            assembler.add(ToolCallDelta(0, "b"))

    def test_it_refuses_to_end_without_a_finish(self) -> None:
        assembler = Assembler()
        assembler.add(TextDelta("half"))
        with self.assertRaises(IncompleteResponseError):
            assembler.turn()

    def test_an_early_question_spoils_nothing(self) -> None:
        assembler = Assembler()
        assembler.add(TextDelta("half"))
        with self.assertRaises(IncompleteResponseError):
            assembler.turn()
        assembler.add(TextDelta(" and half"))
        assembler.add(STOP)
        self.assertEqual(assembler.turn().message.text, "half and half")
        self.assertEqual(assembler.turn(), assembler.turn())

    def test_the_message_so_far_needs_no_finish(self) -> None:
        assembler = Assembler()
        self.assertEqual(assembler.message(), Message("assistant", ()))
        assembler.add(TextDelta("half"))
        assembler.add(ToolCallDelta(0, "a", "one", '{"x": 1}'))
        self.assertEqual(
            assembler.message(), Message("assistant", (Text("half"), ToolUse("a", "one", {"x": 1})))
        )

    def test_the_message_does_not_ask_how_the_turn_ended(self) -> None:
        assembler = Assembler()
        assembler.add(TextDelta("half"))
        assembler.add(Finish("length"))
        self.assertEqual(assembler.message().text, "half")

    def test_the_message_so_far_holds_no_half_call(self) -> None:
        assembler = Assembler()
        assembler.add(ToolCallDelta(0, "a", "one", '{"x": '))
        with self.assertRaises(TruncatedToolArgumentsError):
            assembler.message()

    def test_two_assemblers_share_nothing(self) -> None:
        first, second = Assembler(), Assembler()
        first.add(ToolCallDelta(0, "a", "one"))
        second.add(ToolCallDelta(0, "b", "two"))
        for assembler in (first, second):
            assembler.add(TOOL_USE)
        self.assertEqual(first.turn().message.tool_uses, (ToolUse("a", "one"),))
        self.assertEqual(second.turn().message.tool_uses, (ToolUse("b", "two"),))


class TestFieldsOfEvents(AssembleTestCase):
    """What a provider sent as null or as a number must not pass for text."""

    def test_a_field_of_another_type_makes_no_event(self) -> None:
        wrong: dict[str, Any] = {
            'None as TextDelta.text; expected a str ("" where there is none)': TextDelta(None),  # type: ignore[arg-type]
            "7 as ReasoningDelta.signature; expected a str": ReasoningDelta("", 7),  # type: ignore[arg-type]
            "'0' as ToolCallDelta.index; expected an int": ToolCallDelta("0"),  # type: ignore[arg-type]
            "{} as ToolCallDelta.arguments; expected a str": ToolCallDelta(0, "", "", {}),  # type: ignore[arg-type]
            "None as Finish.reason; expected a str": Finish(None),  # type: ignore[arg-type]
            "None as Finish.usage; expected a Usage (it may be left out)": Finish(
                "stop", usage=None
            ),  # type: ignore[arg-type]
        }
        for message, event in wrong.items():
            with self.subTest(message):
                self.assert_refused(StreamProtocolError, f"the stream gave {message}", event)

    def test_a_subclass_of_an_event_is_one(self) -> None:
        class Word(TextDelta):
            pass

        self.assertEqual(parts(Word("a"), TextDelta("b")), (Text("ab"),))


class TestNumbers(AssembleTestCase):
    def test_a_number_that_no_float_holds_is_no_argument(self) -> None:
        with self.assertRaisesRegex(TruncatedToolArgumentsError, "1e999 is too large"):
            arguments('{"n": 1e999}')
        self.assertEqual(arguments('{"n": 1.5e3}'), {"n": 1500.0})


if __name__ == "__main__":
    unittest.main()
