"""`check_sse_prefix` and `check_sse_prefixes`: a cut body is an error, or the same turn."""

import itertools
import unittest
from collections.abc import Iterator
from typing import Any, BinaryIO

from modeltest import (
    Event,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    check_sse_prefix,
    check_sse_prefixes,
)
from tests.mutants.parsers import ends, finish, rules

from .bodies import BROKEN, CALL, CUT_CALL, ERROR, TEXT, call, end, sse, text
from .readers import READERS, generator

BODY = b"0123456789"


class AtLeast:
    """A reader that yields what belongs to the longest prefix that has come."""

    def __init__(self, **events: list[Event]) -> None:
        self.events = {int(name[1:]): given for name, given in events.items()}

    def __call__(self, body: BinaryIO) -> Iterator[Event]:
        came = len(body.read())
        return iter(self.events[max(n for n in self.events if n <= came)])


def failure_of(reader: Any, body: bytes = BODY, cut: int | None = None) -> str:
    try:
        if cut is None:
            check_sse_prefixes(reader, body)
        else:
            check_sse_prefix(reader, body, cut)
    except AssertionError as error:
        return str(error)
    return ""


def stop(*events: Event) -> list[Event]:
    return [*events, Finish("stop", "stop", Usage(7))]


class TestCorrectReaders(unittest.TestCase):
    def test_every_cut_of_every_body(self) -> None:
        bodies = (TEXT, CALL, CUT_CALL, ERROR, BROKEN, b"")
        for (name, reader), body in itertools.product(READERS.items(), bodies):
            with self.subTest(name, body=body):
                check_sse_prefixes(reader, body)

    def test_one_cut(self) -> None:
        for cut in range(len(TEXT) + 1):
            check_sse_prefix(generator, TEXT, cut)

    def test_what_may_differ(self) -> None:
        whole = stop(TextDelta("ab"), ToolCallDelta(0, "id1", "f", '{"a": [1, 2.50]}'))
        same = [
            *map(TextDelta, "ab"),
            ToolCallDelta(0, "id2", "f", '{"a":'),
            ToolCallDelta(0, arguments="[1,2.5]}"),
            Finish("stop"),
        ]
        self.assertEqual(failure_of(AtLeast(_0=[], _4=same, _9=whole)), "")

    def test_an_end_without_a_finish_is_an_error(self) -> None:
        reader = AtLeast(_0=[], _4=[TextDelta("c")], _10=stop(TextDelta("ab")))
        self.assertEqual(failure_of(reader), "")

    def test_events_that_assemble_refuses_are_an_error(self) -> None:
        cut = stop(ToolCallDelta(0, "a", "f", "{"))
        self.assertEqual(failure_of(AtLeast(_0=[], _4=cut, _10=stop(TextDelta("ab")))), "")

    def test_a_reader_is_asked_once_a_cut(self) -> None:
        lengths = []

        def reader(body: BinaryIO) -> Iterator[Event]:
            lengths.append(len(body.read()))
            return generator(body)

        check_sse_prefixes(reader, BODY)
        self.assertEqual(sorted(lengths), list(range(len(BODY) + 1)))


class TestBrokenReaders(unittest.TestCase):
    def test_another_answer(self) -> None:
        whole = stop(ReasoningDelta("r"), TextDelta("ab"), ToolCallDelta(0, "a", "f", '{"n": 30}'))
        reason, text_, call_ = whole[:3]
        for name, events in {
            "no text": stop(reason, call_),
            "less text": stop(reason, TextDelta("a"), call_),
            "no reasoning": stop(text_, call_),
            "other reasoning": stop(ReasoningDelta("s"), text_, call_),
            "no call": stop(reason, text_),
            "no arguments": stop(reason, text_, ToolCallDelta(0, "a", "f")),
            "other arguments": stop(reason, text_, ToolCallDelta(0, "a", "f", '{"n": 3}')),
            "another name": stop(reason, text_, ToolCallDelta(0, "a", "g", '{"n": 30}')),
            "another order": stop(reason, call_, text_),
            "another reason": [reason, text_, call_, Finish("length", "stop")],
            "nothing": stop(),
        }.items():
            with self.subTest(name):
                reader = AtLeast(_0=[], _4=events, _9=whole)
                for cut in range(len(BODY) + 1):
                    failed = failure_of(reader, cut=cut)
                    self.assertEqual(bool(failed), 4 <= cut < 9, failed)
                self.assertRegex(
                    failure_of(reader),
                    r"\A5 of 10 cuts fail; the first: reader/prefix: the answer cut after 4 of 10 "
                    r"bytes was taken for a finished answer, and another one than the whole\.\n"
                    r"  body     byte 4 of 10: b'0123' \| b'456789'\n"
                    r"  whole    \(Reasoning\(text='r'.*'stop'\)\n"
                    r"  got      \(.*\)\n"
                    r"  fix      give the Finish only once the provider's own end of turn was read",
                )

    def test_an_answer_where_the_whole_is_none(self) -> None:
        reader = AtLeast(_0=[], _4=stop(TextDelta("a")), _6=[])
        self.assertRegex(
            failure_of(reader),
            r"\A2 of 10 cuts fail.*\n.*\n  whole    the whole raises IncompleteResponseError",
        )
        self.assertEqual(failure_of(reader, cut=3), "")

    def test_a_rule_that_is_broken_in_a_cut_body(self) -> None:
        failed = failure_of(rules.RaisesKeyErrors(), TEXT)
        self.assertRegex(
            failed, r"\A\d+ of \d+ cuts fail; the first: reader/error-type: .*KeyError"
        )
        self.assertRegex(failed, r"\n  body     byte 0 of \d+: b'' \| b'data: \{")
        with self.assertRaises(AssertionError) as raised:
            check_sse_prefixes(rules.RaisesKeyErrors(), TEXT)
        self.assertIsInstance(raised.exception.__cause__, KeyError)

    def test_a_rule_that_is_broken_in_the_whole_body(self) -> None:
        self.assertRegex(failure_of(finish.FinishesTwice(), TEXT), r"\Areader/one-finish: ")
        self.assertRegex(failure_of(finish.FinishesTwice(), TEXT, 0), r"\Areader/one-finish: ")

    def test_the_mutants(self) -> None:
        answer = sse(text("a"), call("", "f"), call('{"n": 30}'), end("tool_calls"), "[DONE]")
        for mutant in (
            ends.EndsAtAWholeLine,
            ends.FinishesAtAPendingEvent,
            ends.TakesTheEnd,
        ):
            with self.subTest(mutant.__name__):
                self.assertRegex(failure_of(mutant(), answer), "the first: reader/prefix: ")

    def test_long_answers_are_shown_shortened(self) -> None:
        reader = AtLeast(_0=[], _4=stop(TextDelta("a")), _5=stop(TextDelta("b" * 1000)))
        self.assertRegex(failure_of(reader), r"\n  whole    .{290,310}… \(1\d\d\d characters\)\n")


class TestBadUse(unittest.TestCase):
    def test_a_cut_that_is_no_place(self) -> None:
        for cut in (-1, 11):
            with self.assertRaisesRegex(ValueError, rf"a cut from 0 to 10, .* length; got {cut}"):
                check_sse_prefix(generator, BODY, cut)

    def test_a_body_that_is_no_bytes(self) -> None:
        with self.assertRaisesRegex(TypeError, "the body as bytes, got str: 'data'"):
            check_sse_prefix(generator, "data", 1)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "the body as bytes, got str: 'data'"):
            check_sse_prefixes(generator, "data")  # type: ignore[arg-type]

    def test_an_error_type(self) -> None:
        check_sse_prefixes(rules.RaisesKeyErrors(), TEXT, model_error=KeyError)
        check_sse_prefix(rules.RaisesKeyErrors(), TEXT, 1, model_error=KeyError)


if __name__ == "__main__":
    unittest.main()
