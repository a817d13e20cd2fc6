"""Every clause: kept by correct readers of every style, broken by one mutant at least."""

import os
import unittest
from typing import Any
from unittest import mock

from modeltest import Finish
from modeltest.checks import IN_MEMORY
from modeltest.corpus import short_bodies, whole_bodies
from modeltest.wire import AnthropicMessages, BedrockConverse, Gemini, OllamaChat, OpenAIChat
from tests.adapters.home_made_wire import AcmeLines
from tests.mutants.parsers import calls, correct, ends, finish, framing, rules

from .bodies import CALL, TEXT, ShortChat, chunk, sse, text
from .readers import READERS, JSONLines, anthropic, generator
from .running import case_of, failed, run, skipped

CHAT = ShortChat()
BODIES = {"a text": TEXT, "a call": CALL}

PREFIX = "test_every_prefix_is_an_error_or_the_same_turn"
USAGE = "test_usage_is_reported_once"
ANY_BYTES = "test_any_bytes_are_an_event_or_an_error"
WHOLE = "test_whole_body_is_its_turn"
MALFORMED = "test_malformed_event_is_an_error"


class TestCorrectReaders(unittest.TestCase):
    def test_of_every_style(self) -> None:
        for name, reader in {**READERS, "made of small methods": correct.ChatParser()}.items():
            with self.subTest(name):
                self.assertEqual(failed(case_of(reader, wire=CHAT, strict=True)), {})

    def test_of_recorded_bodies(self) -> None:
        for name, reader in {**READERS, "made of small methods": correct.ChatParser()}.items():
            with self.subTest(name):
                self.assertEqual(failed(case_of(reader, bodies=BODIES, strict=True)), {})

    def test_of_other_formats(self) -> None:
        self.assertEqual(failed(case_of(anthropic, wire=AnthropicMessages, strict=True)), {})
        lines = case_of(JSONLines(), wire=AcmeLines(), strict=True)
        self.assertEqual(failed(lines), {})
        self.assertIn(
            "leaves no choice as to comments", skipped(lines)["test_comments_are_ignored"]
        )


class TestMutants(unittest.TestCase):
    """More of them are in tests/mutants/test_parsers.py; here is no wire format."""

    def setUp(self) -> None:
        self.enterContext(mock.patch.dict(os.environ, {"MODELTEST_EXAMPLES": "20"}))

    def test_a_recorded_body_is_enough_for_most(self) -> None:
        for mutant, test in {
            framing.SplitsAtUnicodeLines: "test_unicode_line_separators_are_text",
            framing.SplitsEachRead: "test_line_endings_do_not_matter",
            framing.CapsLines: "test_large_events_arrive_whole",
            framing.NeedsTheSpace: "test_space_after_colon_is_optional",
            framing.ChokesOnComments: "test_comments_are_ignored",
            framing.TakesTheLastData: "test_data_over_several_lines_is_joined",
            framing.ChokesOnBlankLines: "test_extra_blank_lines_are_ignored",
            framing.ChokesOnFields: "test_unknown_fields_are_ignored",
            framing.ChokesOnEmptyData: "test_empty_data_is_ignored",
            framing.KeepsTheByteOrderMark: "test_bom_is_ignored",
            framing.SkipsBrokenJSON: MALFORMED,
            ends.EndsAtAWholeLine: PREFIX,
            finish.FinishesTwice: WHOLE,
        }.items():
            with self.subTest(mutant.__name__):
                case = case_of(mutant(), bodies=BODIES, strict=True)
                self.assertEqual(set(failed(case)), {test})


class TestReports(unittest.TestCase):
    def test_both_readings_are_shown_where_the_wire_contradicts_the_reader(self) -> None:
        class Louder(OpenAIChat):
            def text_event(self, text: str) -> Any:
                return super().text_event(text.upper())

        found = failed(case_of(generator, wire=Louder()), WHOLE)[WHOLE]
        self.assertRegex(
            found, r"reader/turn: \d of \d cases fail\.\n- text: the answer's text: not"
        )
        self.assertRegex(found, r"\n  expected 'Hello, world!'\n  got      'HELLO, WORLD!'\n")
        self.assertRegex(found, r"\n  wire     b'data: \{")
        self.assertRegex(found, r"\n  fix      yield every piece of text.*correct the wire")

    def test_a_cut_that_gives_another_answer(self) -> None:
        found = failed(case_of(ends.EndsAtAWholeLine(), bodies=TEXT), PREFIX)[PREFIX]
        self.assertRegex(
            found,
            r"truncation/prefix: the body: \d+ of \d+ cuts fail; the first: the answer "
            r"cut after \d+ of \d+ bytes was taken for a finished answer, and another one than the "
            r"whole\.\n  body     byte \d+ of \d+: .* \| .*\n  whole    .*\n  got      .*\n  fix ",
        )

    def test_a_spelling_that_gives_another_answer(self) -> None:
        test = "test_chunking_does_not_matter"
        found = failed(case_of(framing.DecodesEachRead(), bodies=TEXT), test)[test]
        self.assertRegex(
            found, r"framing/chunks: \d of 8 cases fail\.\n- the body, 1 byte at a time: "
        )
        self.assertRegex(
            found, r"- the body, [37] bytes at a time: the re-encoded stream was parsed differently"
        )
        self.assertRegex(found, r"\n  plain    .*Grüße.*\n  this     .*\ufffd.*\n  wire     b'data")

    def test_a_spelling_that_raises(self) -> None:
        test = "test_comments_are_ignored"
        found = failed(case_of(framing.ChokesOnComments(), bodies=TEXT), test)[test]
        self.assertRegex(
            found,
            r"the re-encoded stream was parsed differently \(ModelError: a line without a name\)",
        )

    def test_a_body_that_is_no_answer(self) -> None:
        for name, body in {"cut": sse(text("a")), "empty of events": b": nothing\n\n"}.items():
            with self.subTest(name):
                case = case_of(generator, bodies={name: body})
                found = failed(case)
                self.assertEqual(set(found), {WHOLE})
                self.assertRegex(
                    found[WHOLE],
                    rf"reader/turn: {name}: a recorded body is taken for no answer: Incomplete.*; "
                    r"expected a Finish\. A body that has to fail is tested by read_sse",
                )
                self.assertIn("is not even read as it stands", skipped(case)[PREFIX])

    def test_a_malformed_event_that_is_skipped(self) -> None:
        found = failed(case_of(framing.SkipsBrokenJSON(), bodies=TEXT), MALFORMED)[MALFORMED]
        self.assertRegex(
            found, r"the body, broken JSON: an answer with .* was taken for a finished answer"
        )
        self.assertRegex(found, r"\n  wire     b'data: ")

    def test_what_an_error_does_not_say(self) -> None:
        test = "test_error_event_is_an_error"
        found = failed(case_of(ends.HidesErrors(), wire=CHAT), test)[test]
        self.assertRegex(
            found, r"an error that says what the provider said, '\w+' and '.*'; got Mod"
        )

    def test_bytes_to_paste(self) -> None:
        found = failed(case_of(rules.RaisesKeyErrors(), bodies=TEXT), ANY_BYTES)[ANY_BYTES]
        self.assertRegex(found, r"framing/any-bytes: reader/error-type: .*KeyError")
        self.assertRegex(found, r"\n  bytes    b''\n")

    def test_a_text_that_is_lost(self) -> None:
        test = "test_large_events_arrive_whole"
        found = failed(case_of(framing.LosesLongTexts(), bodies=TEXT), test)[test]
        self.assertRegex(found, r"the body, 70 kB: expected the text 'long text .*, got 'ße'")

    def test_ids_and_words(self) -> None:
        ids = "test_call_identity_is_kept"
        found = failed(case_of(calls.RenamesCalls(), wire=CHAT), ids)[ids]
        self.assertRegex(found, r"expected the calls' ids \['call_\w+'\], got \['mine'\]")
        reasons = "test_finish_reasons_are_mapped"
        found = failed(case_of(finish.LosesTheWord(), wire=CHAT), reasons)[reasons]
        self.assertRegex(found, r"expected the provider's own word 'length' in Finish\.raw, got ''")
        found = failed(case_of(finish.LosesUsage(), wire=CHAT), USAGE)[USAGE]
        self.assertRegex(found, r"the usage is not what was sent\.\n  expected Usage\(.*\n  got ")


class TestWhatCannotBeJudged(unittest.TestCase):
    def test_without_a_wire(self) -> None:
        why = skipped(case_of(generator, bodies=BODIES))
        self.assertEqual(set(why.values()), {"needs `wire`: set it on the test case"})
        self.assertIn("test_finish_reasons_are_mapped", why)

    def test_what_a_format_cannot_spell(self) -> None:
        why = skipped(case_of(anthropic, wire=AnthropicMessages()))
        self.assertIn("Anthropic", why["test_call_index_is_not_identity"])

    def test_framings_with_one_spelling(self) -> None:
        for wire in (BedrockConverse(), Gemini(), OllamaChat()):
            with self.subTest(wire.name):
                claims = ClaimsOf(wire)
                result = run(case_of(claims, wire=wire))
                self.assertEqual(result.errors, [])

    def test_a_call_has_no_text_to_change(self) -> None:
        why = skipped(case_of(generator, bodies=CALL))
        self.assertIn("cannot be found in its JSON", why["test_unicode_line_separators_are_text"])

    def test_an_answer_of_one_event(self) -> None:
        body = sse(chunk({"content": "a"}, "stop"))
        self.assertEqual(failed(case_of(generator, bodies=body, strict=True)), {})

    def test_a_body_of_one_event_that_is_cut_off(self) -> None:
        body = sse("[DONE]").rstrip()
        result = run(case_of(lambda file: [Finish("stop")], bodies=body, strict=True))
        self.assertEqual((result.failures, result.errors), ([], []))
        why = {test.id().rpartition(".")[2]: why for test, why in result.skipped}
        self.assertEqual(why["test_comments_are_ignored"], "the bodies leave nothing to try")

    def test_an_event_that_is_cut_off_stays_so(self) -> None:
        body = TEXT + b'data: {"half'
        self.assertEqual(failed(case_of(generator, bodies=body, strict=True)), {})


class ClaimsOf:
    """A reader that knows each body of a wire by heart, and nothing else."""

    def __init__(self, wire: Any) -> None:
        self.known = {body.data: body.events for body in (*whole_bodies(wire), *short_bodies(wire))}

    def __call__(self, body: Any) -> Any:
        from modeltest import IncompleteResponseError

        data = body.read()
        if data not in self.known:
            raise IncompleteResponseError("unknown")
        return iter(self.known[data])


class TestClauses(unittest.TestCase):
    def test_ids_and_methods_are_different(self) -> None:
        for names in ([c.id for c in IN_MEMORY], [c.method for c in IN_MEMORY]):
            self.assertEqual(len(names), len(set(names)))

    def test_each_says_what_it_asks(self) -> None:
        for clause in IN_MEMORY:
            with self.subTest(clause.id):
                self.assertRegex(clause.requirement, r"\A[A-Z].*\.\Z")
                self.assertTrue(clause.why)
                self.assertTrue(clause.fix)
                self.assertRegex(clause.method, r"\Atest_[a-z0-9_]+\Z")


if __name__ == "__main__":
    unittest.main()
