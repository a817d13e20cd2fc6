"""`read_sse`: the rules of a single reading, and what it returns."""

import asyncio
import gc
import tracemalloc
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from modeltest import (
    APIError,
    ConfigError,
    Event,
    Finish,
    IncompleteResponseError,
    Message,
    ModelError,
    ReasoningDelta,
    SSEResult,
    StreamProtocolError,
    Text,
    TextDelta,
    ToolCallDelta,
    ToolUse,
    TruncatedToolArgumentsError,
    Usage,
    read_sse,
)
from modeltest.assertions.report import around
from modeltest.delivery import Parser
from modeltest.delivery.parser import merged_texts
from tests.mutants.parsers import finish, rules

from .bodies import BROKEN, CALL, CUT_CALL, ERROR, TEXT, sse, text
from .readers import READERS, anthropic, generator

STOP = Finish("stop", "stop")


class Events:
    """A reader that yields what it was given, and raises it where it is an exception."""

    def __init__(self, *events: Any) -> None:
        self.events = events

    def __call__(self, body: BinaryIO) -> Iterator[Any]:
        for event in self.events:
            if isinstance(event, BaseException):
                raise event
            yield event


def failure_of(reader: Any, body: bytes = TEXT, **options: Any) -> str:
    try:
        result = read_sse(reader, body, **options)
    except AssertionError as error:
        return str(error)
    raise ValueError(f"no rule was broken: {result}")


class TestResult(unittest.TestCase):
    def test_an_answer(self) -> None:
        for name, reader in READERS.items():
            with self.subTest(name):
                result = read_sse(reader, TEXT)
                self.assertEqual(
                    result,
                    SSEResult(
                        (TextDelta("Grü"), TextDelta("ße"), Finish("stop", "stop", Usage(7, 2))),
                        Message("assistant", (Text("Grüße"),)),
                        Usage(7, 2),
                        None,
                    ),
                )
                self.assertEqual(result.finish, Finish("stop", "stop", Usage(7, 2)))

    def test_a_call(self) -> None:
        result = read_sse(generator, CALL)
        self.assertIsNone(result.error)
        assert result.message is not None
        self.assertEqual(result.message.parts, (ToolUse("c1", "f", {"n": 12}),))

    def test_what_the_reader_raises(self) -> None:
        result = read_sse(generator, ERROR)
        self.assertEqual(result.events, (TextDelta("Grü"),))
        self.assertEqual((result.message, result.usage, result.finish), (None, Usage(), None))
        assert isinstance(result.error, APIError)
        self.assertEqual(result.error.message, "try later")
        for body, kind in {
            BROKEN: StreamProtocolError,
            CUT_CALL: TruncatedToolArgumentsError,
            b"": IncompleteResponseError,
        }.items():
            with self.subTest(body):
                self.assertIsInstance(read_sse(generator, body).error, kind)

    def test_what_is_raised_at_the_call(self) -> None:
        result = read_sse(READERS["a list"], BROKEN)
        self.assertEqual(result.events, ())
        self.assertIsInstance(result.error, StreamProtocolError)

    def test_what_assemble_makes_of_the_events(self) -> None:
        first, other = ToolCallDelta(0, "a", "f"), ToolCallDelta(0, "b")
        cases: dict[type[Exception], tuple[Any, ...]] = {
            IncompleteResponseError: (TextDelta("a"),),
            TruncatedToolArgumentsError: (first, ToolCallDelta(0, arguments="{"), STOP),
            StreamProtocolError: (first, other, STOP),
        }
        for kind, events in cases.items():
            with self.subTest(kind.__name__):
                result = read_sse(Events(*events), b"")
                self.assertIsInstance(result.error, kind)
                self.assertIsNone(result.message)
                self.assertEqual(result.events, events)
        result = read_sse(Events(Finish("tool_use", "tool_calls")), b"")
        self.assertIsInstance(result.error, StreamProtocolError)
        self.assertEqual(read_sse(Events(), b"").finish, None)

    def test_an_answer_that_was_cut_or_filtered_may_be_read_well(self) -> None:
        for reason in ("length", "filtered", "pause_turn"):
            with self.subTest(reason):
                events = (TextDelta("a"), TextDelta("b"), Finish(reason, reason, Usage(1)))
                result = read_sse(Events(*events), b"")
                self.assertIsNone(result.error)
                self.assertEqual(result.message, Message("assistant", (Text("ab"),)))
                self.assertEqual(result.usage, Usage(1))

    def test_errors_of_the_author_s_own(self) -> None:
        class AcmeError(Exception):
            pass

        error = AcmeError("broken")
        for declared in (AcmeError, (KeyError, AcmeError), Exception):
            with self.subTest(declared):
                result = read_sse(Events(error), b"", model_error=declared)
                self.assertIs(result.error, error)

    def test_the_contract_s_errors_are_always_declared(self) -> None:
        for error in (ModelError("a"), TruncatedToolArgumentsError("a")):
            self.assertIs(read_sse(Events(error), b"", model_error=KeyError).error, error)

    def test_any_bytes_like_body(self) -> None:
        for body in (bytearray(TEXT), memoryview(TEXT)):
            self.assertIsNone(read_sse(generator, body).error)  # type: ignore[arg-type]

    def test_subclasses_of_events_are_events(self) -> None:
        @dataclass(frozen=True)
        class MyText(TextDelta):
            mark: int = 0

        result = read_sse(Events(MyText("a", 1), STOP), b"")
        self.assertIsNone(result.error)
        assert result.message is not None
        self.assertEqual(result.message.text, "a")

    def test_other_styles_of_an_event_sequence(self) -> None:
        class Iterable:
            def __iter__(self) -> Iterator[Event]:
                return iter([TextDelta("a"), STOP])

        for stream in ([TextDelta("a"), STOP], (TextDelta("a"), STOP), Iterable()):
            with self.subTest(type(stream).__name__):
                self.assertIsNone(read_sse(lambda body, s=stream: s, b"").error)  # type: ignore[misc]


class TestRules(unittest.TestCase):
    def assertBreaks(self, rule: str, text: str, *patterns: str) -> None:
        self.assertTrue(text.startswith(f"{rule}: "), text)
        for pattern in (*patterns, r"\n  fix      \w"):
            self.assertRegex(text, pattern)

    def test_iterable(self) -> None:
        for reader, given in {
            rules.GivesNone(): "None",
            rules.IsAsynchronous(): "<coroutine object",
            (lambda body: 7): "7",
        }.items():
            with self.subTest(given):
                expected = rf"stream_sse\(body\) returned {given}.*; expected an iterable of events"
                self.assertBreaks("reader/iterable", failure_of(reader), expected)

    def test_an_async_generator_is_no_iterable(self) -> None:
        async def reader(body: BinaryIO) -> Any:
            yield STOP

        self.assertBreaks("reader/iterable", failure_of(reader), "<async_generator")
        self.assertTrue(asyncio.iscoroutinefunction(rules.IsAsynchronous.__call__))

    def test_events(self) -> None:
        for event in (
            {"delta": "a"},
            "a",
            None,
            TextDelta,
            TextDelta(None),  # type: ignore[arg-type]
            TextDelta(b"a"),  # type: ignore[arg-type]
            ReasoningDelta(None),  # type: ignore[arg-type]
            ReasoningDelta("", None),  # type: ignore[arg-type]
            ReasoningDelta("", "", None),  # type: ignore[arg-type]
            ToolCallDelta(None),  # type: ignore[arg-type]
            ToolCallDelta(0, None),  # type: ignore[arg-type]
            ToolCallDelta(0, "", None),  # type: ignore[arg-type]
            ToolCallDelta(0, "", "", {}),  # type: ignore[arg-type]
            Finish(None),  # type: ignore[arg-type]
            Finish("stop", None),  # type: ignore[arg-type]
            Finish("stop", "stop", None),  # type: ignore[arg-type]
            Finish("stop", "stop", Usage(None)),  # type: ignore[arg-type]
            Finish("stop", "stop", Usage(), {}),  # type: ignore[arg-type]
        ):
            with self.subTest(event):
                self.assertBreaks(
                    "reader/events",
                    failure_of(Events(TextDelta("a"), event, STOP)),
                    "expected TextDelta, ReasoningDelta, ToolCallDelta or Finish",
                    rf"\n  body     byte {len(TEXT)} of {len(TEXT)}: …b'",
                )
        self.assertIn("yielded {'delta': TextDelta(text='Grü')}", failure_of(rules.GivesDicts()))

    def test_one_finish(self) -> None:
        self.assertBreaks(
            "reader/one-finish",
            failure_of(finish.FinishesTwice()),
            "gave a second Finish; expected one Finish at most, the last event",
            r"\n  first    Finish\(",
            r"\n  then     Finish\(",
        )
        self.assertBreaks(
            "reader/one-finish",
            failure_of(Events(STOP, TextDelta("more"))),
            "gave an event after its Finish",
            r"then     TextDelta\(text='more'\)",
        )
        self.assertBreaks(
            "reader/one-finish",
            failure_of(rules.RaisesAfterItsFinish()),
            "gave a Finish and then raised",
            r"then     ModelError: more came\n *at [\s\S]*rules\.py:\d+: raise ModelError",
        )

    def test_finish(self) -> None:
        for finish, what in {
            Finish("stop", "stop", Usage(-1)): "never negative: got {'input_tokens': -1}",
            Finish(""): "names its reason",
            Finish("strange", "other"): "reason='strange', raw='other'",
            Finish("stop", "stop", Usage(), Usage(1)): "discards nothing",
        }.items():
            with self.subTest(what):
                text = failure_of(Events(TextDelta("a"), finish))
                self.assertBreaks("reader/finish", text)
                self.assertIn(what, text)
        self.assertBreaks("reader/finish", failure_of(rules.CountsBackwards()))

    def test_a_finish_that_was_found_good_does_not_vouch_for_another(self) -> None:
        reader = Parser(Events(STOP))
        reader.read(TEXT)
        reader._stream_sse = Events(Finish("stop", "stop", Usage(-1)))
        with self.assertRaisesRegex(Exception, "reader/finish"):
            reader.read(TEXT)

    def test_error_last(self) -> None:
        for body in (BROKEN, b""):
            with self.subTest(body):
                self.assertBreaks(
                    "reader/error-last",
                    failure_of(rules.GoesOnAfterItsError, body),
                    r"yielded more after it had raised \w+: .*; expected nothing",
                    r"\n  got      TextDelta\(text='more'\)",
                )

    def test_an_error_may_be_raised_again(self) -> None:
        for times in (1, 2, 3, 100):
            with self.subTest(times):

                class Again(rules.Iterated):
                    left = times

                    def end(self) -> Event:
                        if self.error is None or not self.left:
                            raise StopIteration
                        self.left -= 1
                        raise self.error

                self.assertIsInstance(read_sse(Again, b"").error, IncompleteResponseError)

    def test_another_error_after_the_error(self) -> None:
        class Worse(rules.Iterated):
            def end(self) -> Event:
                raise ValueError("closed")

        self.assertBreaks("reader/error-last", failure_of(Worse, b""), r"got      .*ValueError: cl")

    def test_end_last(self) -> None:
        self.assertBreaks(
            "reader/end-last",
            failure_of(rules.GoesOnAfterItsEnd),
            "yielded more after it had ended",
            r"got      TextDelta\(text='more'\)",
        )
        self.assertBreaks(
            "reader/end-last", failure_of(rules.RaisesAfterItsEnd), "got      .*ValueError: I/O"
        )

    def test_error_type(self) -> None:
        text = failure_of(rules.RaisesKeyErrors(), b"data: {}\n\n")
        self.assertBreaks(
            "reader/error-type",
            text,
            r"raised KeyError: 'finish_reason'; expected ModelError or TruncatedToolArgumentsErr",
            r"\n  raised   KeyError: 'finish_reason'\n *at [\s\S]*rules\.py:\d+: raise KeyError\(",
            r"\n  body     byte 10 of 10: b'data: \{\}\\n\\n'",
        )
        for error in (ConfigError("a"), UnicodeDecodeError("utf-8", b"", 0, 1, "a"), OSError()):
            with self.subTest(type(error).__name__):
                self.assertBreaks("reader/error-type", failure_of(Events(error)))
        declared = failure_of(Events(OSError()), model_error=(KeyError, ModelError))
        self.assertIn("expected KeyError or ModelError or TruncatedTool", declared)

    def test_the_reader_s_exception_is_the_cause(self) -> None:
        with self.assertRaises(AssertionError) as raised:
            read_sse(rules.RaisesKeyErrors(), b"")
        self.assertIsInstance(raised.exception.__cause__, KeyError)
        with self.assertRaises(AssertionError) as raised:
            read_sse(finish.FinishesTwice(), TEXT)
        self.assertIsNone(raised.exception.__cause__)

    def test_an_error_that_was_raised_nowhere(self) -> None:
        # A built-in raises it, and has no line.
        text = failure_of(lambda body: map(int, ["x"]))
        self.assertBreaks(
            "reader/error-type", text, r"raised   ValueError: .*\n *\(no line of its own\)"
        )

    def test_an_end(self) -> None:
        self.assertBreaks(
            "reader/ends",
            failure_of(rules.ReadsForEver(), sse(text("a"))),
            "keeps reading after the end of the body, and does not return",
            r"\n  reads    at [\s\S]*rules\.py:\d+: yield body\.readline\(\)",
        )
        self.assertBreaks(
            "reader/ends",
            failure_of(rules.GivesForEver(), b""),
            "gave 1000 events for 0 bytes, and does not come to an end",
            r"last     TextDelta\(text=''\)",
        )

    def test_other_exceptions_pass_through(self) -> None:
        for error in (KeyboardInterrupt(), SystemExit(1)):
            with self.assertRaises(type(error)):
                read_sse(Events(error), b"")


class TestBadUse(unittest.TestCase):
    def test_a_body_that_is_no_bytes(self) -> None:
        for body in ("data: a\n\n", None, ["data"], 7):
            with (
                self.subTest(body),
                self.assertRaisesRegex(TypeError, r"expected the body as bytes, got \w+: "),
            ):
                read_sse(generator, body)  # type: ignore[arg-type]

    def test_a_reader_that_is_none(self) -> None:
        for reader in (None, "reader", 7):
            with (
                self.subTest(reader),
                self.assertRaisesRegex(TypeError, r"stream_sse\(body\), a function; got "),
            ):
                read_sse(reader, b"")  # type: ignore[arg-type]

    def test_an_error_type_that_is_none(self) -> None:
        for kind in ("KeyError", KeyError("a"), (), (KeyError, "a"), None, KeyboardInterrupt):
            with (
                self.subTest(kind),
                self.assertRaisesRegex(TypeError, "model_error: expected an exception class or "),
            ):
                read_sse(generator, b"", model_error=kind)  # type: ignore[arg-type]


class TestEvidence(unittest.TestCase):
    def test_around(self) -> None:
        self.assertEqual(around(b"abc", 3), "byte 3 of 3: b'abc'")
        self.assertEqual(around(b"abc", 1), "byte 1 of 3: b'a' | b'bc'")
        self.assertEqual(around(b"", 0), "byte 0 of 0: b''")
        long = b"a" * 100 + b"b" * 100
        self.assertEqual(around(long, 100), f"byte 100 of 200: …b'{'a' * 60}' | b'{'b' * 60}'…")


class TestMerged(unittest.TestCase):
    def test_pieces_are_joined_as_assemble_joins_them(self) -> None:
        call = ToolCallDelta(0, "a", "f", "{")
        signed = ReasoningDelta("c", "signed")
        events = [
            *map(TextDelta, ("a", "", "b")),
            *map(ReasoningDelta, ("a", "b")),
            signed,
            ReasoningDelta("d"),
            ReasoningDelta(redacted="e"),
            call,
            call,
            TextDelta("c"),
            STOP,
        ]
        self.assertEqual(
            list(merged_texts(events)),
            [
                TextDelta("ab"),
                ReasoningDelta("ab"),
                signed,
                ReasoningDelta("d"),
                ReasoningDelta(redacted="e"),
                call,
                call,
                TextDelta("c"),
                STOP,
            ],
        )


class TestCost(unittest.TestCase):
    def test_many_events_are_not_joined_one_by_one(self) -> None:
        events = [TextDelta("x" * 1000)] * 3000
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        result = read_sse(Events(*events, STOP), b"x" * 3000)
        assert result.message is not None
        self.assertEqual(len(result.message.text), 3_000_000)
        self.assertLess(tracemalloc.get_traced_memory()[1], 10_000_000)

    def test_a_reading_is_not_part_of_a_cycle(self) -> None:
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        reader = Parser(generator)
        for body in (TEXT, BROKEN, b""):
            reader.read(body)
        self.assertEqual(gc.collect(), 0)

    def test_an_anthropic_body(self) -> None:
        self.assertIsInstance(read_sse(anthropic, b"").error, IncompleteResponseError)


if __name__ == "__main__":
    unittest.main()
