"""Which bytes of a long body a failure shows, and how it is told."""

import unittest
from typing import Any

from modeltest import Finish, TextDelta
from modeltest.assertions import bytes_shown, expect_turn
from modeltest.checks import BY_NAME
from modeltest.corpus import malformed_bodies
from modeltest.delivery import Target, run
from modeltest.harness import Answer, Evidence, Failure, report
from modeltest.interface import ModelError
from modeltest.wire import OllamaChat, OpenAIChat
from tests.mutants import parrot

WIRE = OpenAIChat()


class Log:
    """A reading that ended well."""

    error, ended, raised_at = None, True, []

    def __init__(self, *events: Any) -> None:
        self.events = events
        self.text = "".join(event.text for event in events if isinstance(event, TextDelta))


def failure_of(body: Any, *events: Any) -> Failure:
    try:
        expect_turn(Answer(body, Log(*events), ModelError, "acme"))
    except Failure as failure:
        return failure
    raise AssertionError("it did not fail")


def long_body(reason: str = "stop") -> Any:
    words = [TextDelta(f"word{number} ") for number in range(60)]
    return WIRE.encode(*words, Finish(reason))


class TestBytesInQuestion(unittest.TestCase):
    def test_around_what_cannot_be_read(self) -> None:
        for body in malformed_bodies(WIRE):
            text = bytes_shown(body).text
            self.assertLess(len(text), 500)
            broken = next(p.data for p in body.parts if p.role == "malformed")
            self.assertIn(repr(broken)[2:60], text)

    def test_around_the_place_where_a_text_differs(self) -> None:
        body = long_body()
        got = body.text.replace("word33 ", "")
        text = str(failure_of(body, TextDelta(got), Finish("stop", "stop")))
        self.assertIn('"word33 "', text)
        self.assertNotIn('"word50 "', text)
        self.assertRegex(text, r"\(bytes \d+ to \d+ of \d+\)")

    def test_around_the_finish(self) -> None:
        body = long_body("length")
        failure = failure_of(body, TextDelta(body.text), Finish("stop", "length"))
        self.assertRegex(str(failure), r'wire .*"finish_reason":"length"')

    def test_a_short_body_is_shown_whole(self) -> None:
        body = OllamaChat().encode(TextDelta("x"))
        self.assertEqual(bytes_shown(body).text, repr(body.data))


class TestReasons(unittest.TestCase):
    def test_a_word_of_the_provider_s_is_not_mapped(self) -> None:
        body = long_body()
        failure = failure_of(body, TextDelta(body.text), Finish("complete", "complete"))
        self.assertRegex(
            str(failure),
            r"the finish reason is not mapped: the Finish has 'complete'; exp.* 'stop'",
        )
        self.assertIn("map the provider's word to stop, tool_use", failure.fix)


class Deaf(parrot.Parrot):
    """Takes every refusal for an empty answer."""

    def check(self, raw: Any) -> None: ...


class TestFaults(unittest.TestCase):
    def test_the_body_that_was_made_up_is_shown(self) -> None:
        text = run(BY_NAME["faults/status"], Target(new_model=Deaf, event=parrot.event)).text
        self.assertRegex(text, r"\n  body     b'.*error.*\n")

    def test_other_cases_of_tools_are_named_only(self) -> None:
        class Careless(parrot.Parrot):
            def payload(self, request: Any) -> Any:
                return {}

        text = run(BY_NAME["tools/config"], Target(new_model=Careless, event=parrot.event)).text
        self.assertEqual(text.count("\n  request  "), 3)
        self.assertRegex(text, r"\n- and \d+ more: ")
        self.assertLess(max(map(len, text.splitlines())), 200)


class TestReport(unittest.TestCase):
    def test_no_more_cases_fail_than_there_are(self) -> None:
        broken = [(name, Failure("no.")) for name in "abc"]
        self.assertIn("3 of 3 cases fail.", report("x/y", "mend it", broken, 2))

    def test_no_long_lines(self) -> None:
        long = Failure("word " * 100, (Evidence("raised", "x " * 300), Evidence("wire", "y" * 300)))
        text = report("x/y", "mend " * 100, [("", long)], 1)
        lines = text.splitlines()
        self.assertEqual([line for line in lines if len(line) > 200], ["  wire     " + "y" * 300])
        self.assertEqual(text.count("word"), 100)


if __name__ == "__main__":
    unittest.main()
