"""What an adapter yields are values: frozen, slotted, compared by what they hold."""

import dataclasses
import unittest

from modeltest import Finish, FinishReason, ReasoningDelta, TextDelta, ToolCallDelta, Usage

EXAMPLES = (
    TextDelta("hi"),
    ReasoningDelta("hmm", "sig", "opaque"),
    ToolCallDelta(0, "call_1", "get_weather", "{}"),
    Finish("stop", "end_turn", Usage(1, 2, 3, 4)),
    Usage(1, 2, 3, 4),
)


class TestEvents(unittest.TestCase):
    def test_events_are_frozen(self) -> None:
        for example in EXAMPLES:
            with self.subTest(example):
                field = dataclasses.fields(example)[0].name
                with self.assertRaises(dataclasses.FrozenInstanceError):
                    setattr(example, field, None)

    def test_events_are_slotted(self) -> None:
        for example in EXAMPLES:
            with self.subTest(example):
                self.assertFalse(hasattr(example, "__dict__"))

    def test_events_compare_and_hash_by_value(self) -> None:
        for example in EXAMPLES:
            with self.subTest(example):
                twin = dataclasses.replace(example)
                self.assertEqual(example, twin)
                self.assertEqual(hash(example), hash(twin))

    def test_events_of_different_types_differ(self) -> None:
        self.assertNotEqual(TextDelta("hi"), ReasoningDelta("hi"))

    def test_optional_fields_are_empty(self) -> None:
        self.assertEqual(ReasoningDelta(), ReasoningDelta(text="", signature="", redacted=""))
        self.assertEqual(ToolCallDelta(3), ToolCallDelta(index=3, id="", name="", arguments=""))
        self.assertEqual(
            Finish("stop"), Finish(reason="stop", raw="", usage=Usage(), discarded=Usage())
        )


class TestFinishReason(unittest.TestCase):
    def test_there_are_four_neutral_words(self) -> None:
        self.assertEqual([*FinishReason], ["stop", "tool_use", "length", "filtered"])

    def test_a_reason_is_its_word(self) -> None:
        self.assertEqual(FinishReason.STOP, "stop")
        self.assertEqual(f"{FinishReason.TOOL_USE}", "tool_use")
        self.assertEqual(Finish(FinishReason.LENGTH), Finish("length"))

    def test_a_providers_word_is_no_neutral_one(self) -> None:
        self.assertNotIn("max_tokens", [*FinishReason])


class TestUsage(unittest.TestCase):
    def test_counts_are_zero_unless_given(self) -> None:
        self.assertEqual(Usage(), Usage(0, 0, 0, 0))

    def test_counts_are_named_in_declaration_order(self) -> None:
        self.assertEqual(
            list(Usage(1, 2, 3, 4).counts().items()),
            [
                ("input_tokens", 1),
                ("output_tokens", 2),
                ("cache_read_tokens", 3),
                ("cache_write_tokens", 4),
            ],
        )

    def test_counts_miss_no_field(self) -> None:
        self.assertEqual([*Usage().counts()], [field.name for field in dataclasses.fields(Usage)])


class TestRepr(unittest.TestCase):
    def test_what_is_left_at_its_default_is_not_said(self) -> None:
        for event, said in {
            Finish(FinishReason.STOP): "Finish(reason='stop')",
            Finish("end_turn", "end_turn", Usage(1)): (
                "Finish(reason='end_turn', raw='end_turn', usage=Usage(input_tokens=1))"
            ),
            TextDelta(""): "TextDelta(text='')",
            ToolCallDelta(0, name="f"): "ToolCallDelta(index=0, name='f')",
            ReasoningDelta(): "ReasoningDelta()",
        }.items():
            with self.subTest(said):
                self.assertEqual(repr(event), said)


if __name__ == "__main__":
    unittest.main()
