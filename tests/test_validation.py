"""What is taken for an event, and as what."""

import enum
import unittest

from modeltest import Finish, FinishReason, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.validation import NoEvent, as_event, weight


class Word(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Number(enum.IntEnum):
    ONE = 1


class MyFinish(Finish):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Odd(TextDelta):
    @property
    def text(self) -> str:
        raise KeyError("no text")

    def __init__(self) -> None: ...


class OddUsage(Usage):
    @property
    def input_tokens(self) -> int:
        raise KeyError("no count")

    def __init__(self) -> None: ...


class TestAsEvent(unittest.TestCase):
    def test_the_contracts_own_are_themselves(self) -> None:
        event = TextDelta("a")
        self.assertIs(as_event(event), event)
        for event in (ReasoningDelta("a"), ToolCallDelta(0, "i"), Finish("stop", usage=Usage(1))):
            with self.subTest(event):
                self.assertEqual(as_event(event), event)

    def test_subclasses_are_what_they_derive_from(self) -> None:
        finish = as_event(MyFinish(FinishReason.LENGTH, "max"))
        self.assertIs(type(finish), Finish)
        self.assertIs(finish.reason, FinishReason.LENGTH)
        self.assertNotEqual(finish, Finish("stop"))

    def test_fields_are_of_their_type(self) -> None:
        text = as_event(TextDelta(Word("a"))).text
        self.assertEqual((type(text), text), (str, "a"))
        call = as_event(ToolCallDelta(Number.ONE))
        self.assertIs(type(call.index), int)
        usage = as_event(Finish("stop", usage=Usage(Number.ONE))).usage
        self.assertIs(type(usage.input_tokens), int)

    def test_what_is_none_is_refused(self) -> None:
        for given, text in (
            (None, r"^the adapter gave None; expected TextDelta, "),
            (TextDelta, r"^the adapter gave <class '.*TextDelta'>; expected TextDelta, "),
            (
                TextDelta(None),
                r"^the adapter gave None as TextDelta\.text; expected a str \(\"\" where there is none\)$",
            ),
            (ToolCallDelta("0"), r"^the adapter gave '0' as ToolCallDelta\.index; expected an int"),
            (Finish("stop", usage=None), r"^the adapter gave None as Finish\.usage; expected a Us"),
            (Finish("stop", usage=Usage("1")), r"'1' as Usage\.input_tokens; expected an int$"),
            (Finish(None), r"^the adapter gave None as Finish\.reason; expected a str$"),
            (Odd(), r"^TextDelta\.text of the adapter raised KeyError\('no text'\); expected a va"),
            (Finish("stop", usage=OddUsage()), r"^Usage\.input_tokens of the adapter raised KeyEr"),
            ("x" * 10**6, r"^the adapter gave '.{1,300}'; expected"),
        ):
            with self.subTest(text), self.assertRaisesRegex(NoEvent, text):
                as_event(given)

    def test_weight_grows_with_what_an_event_holds(self) -> None:
        for small, large in (
            (TextDelta(""), TextDelta("abc")),
            (ReasoningDelta(""), ReasoningDelta("a", "b", "c")),
            (ToolCallDelta(0), ToolCallDelta(0, arguments="abc")),
        ):
            self.assertEqual(weight(large) - weight(small), 3)
        self.assertGreater(weight(Finish("stop")), 0)


if __name__ == "__main__":
    unittest.main()
