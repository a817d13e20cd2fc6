"""Each broken reader of whole turns is caught by the check named for it."""

import gc
import unittest
import warnings

from modeltest.checks import ALL, BY_NAME, calls, finish, framing, truncation
from modeltest.delivery import Target, run
from modeltest.harness import Check, Need, Status
from modeltest.harness.secret import Secret
from modeltest.transports import Urllib3Transport
from modeltest.wire import AnthropicMessages, OpenAIChat

from . import chat

CHECKS = tuple(
    value
    for module in (finish, calls, framing, truncation)
    for value in vars(module).values()
    if isinstance(value, Check)
)
CAUGHT_BY = {
    chat.FinishTwice: "finish/once-last",
    chat.LengthAsStop: "finish/reasons",
    chat.UnknownAsStop: "finish/unknown",
    chat.MarkerAloneIsCut: "finish/absent",
    chat.UsageSummed: "finish/usage",
    chat.FinishOnUsage: "finish/usage",
    chat.UsageLost: "finish/usage",
    chat.TextAfterFinishPassedOn: "finish/after",
    chat.FinishAtEachReason: "finish/duplicate",
    chat.FinishOrContent: "finish/with-content",
    chat.IndexIsIdentity: "calls/index",
    chat.FirstEntryOnly: "calls/parallel",
    chat.NameAppended: "calls/identity",
    chat.EmptyArgumentsRefused: "calls/empty",
    chat.CallsDroppedUnderStop: "calls/reason",
    chat.ArgumentsDefaulted: "calls/invalid",
    chat.ArgumentsLimited: "calls/large",
    chat.SpaceRequired: "framing/space",
    chat.LastLineWins: "framing/split-data",
    chat.TearsLineEnds: "framing/line-ends",
    chat.CommentIsData: "framing/comments",
    chat.FieldRefused: "framing/fields",
    chat.EveryBlankLineDispatches: "framing/blank-lines",
    chat.SplitsAtSeparators: "framing/unicode",
    chat.LineLimit: "framing/large",
    chat.LatinWithoutCharset: "framing/charset",
    chat.DecodesEachRead: "framing/chunks",
    chat.LineFeedOnly: "framing/line-ends",
    chat.ByteOrderMarkKept: "framing/bom",
    chat.StrictUtf8: "framing/invalid-utf8",
    chat.BadJsonSkipped: "framing/malformed",
    chat.KeyErrorComesOut: "framing/any-bytes",
    chat.UnknownDeltaRefused: "framing/unknown-event",
    chat.EmptyDataRefused: "framing/empty-data",
    chat.CleanEndAccepted: "truncation/boundaries",
    chat.ArgumentsRepaired: "truncation/arguments",
    chat.FinishAfterAnError: "finish/once-last",
    chat.DropsBlank: "finish/with-content",
    chat.DropsRepeats: "finish/with-content",
    chat.ErrorIgnored: "faults/error-event",
    chat.ErrorWithoutWords: "faults/error-event",
    chat.UsageStays: "isolation/reuse",
    chat.CallsOnTheModel: "isolation/parallel",
    chat.TurnByThread: "isolation/interleaved",
    chat.EditsToolsAfterAnAnswer: "isolation/request",
    chat.RepeatsUntilAText: "faults/no-repeat",
    chat.OneId: "calls/parallel",
    chat.OpenAfterAnErrorEvent: "release/failed",
    chat.WaitsForTheEndOfTheBody: "delivery/end",
    chat.LeavesTheLastChunk: "release/finished",
}
BESIDES = {
    chat.OneId: ("calls/index",),
    # A byte order mark that comes in pieces is one more character torn.
    chat.DecodesEachRead: ("framing/bom",),
    chat.EveryBlankLineDispatches: ("framing/comments",),
    chat.FinishAtEachReason: ("finish/usage",),
    # Whatever a turn is, it ends twice.
    chat.FinishTwice: (
        "finish/absent",
        "finish/duplicate",
        "finish/reasons",
        "finish/unknown",
        "finish/usage",
        "finish/with-content",
    ),
    chat.StrictUtf8: ("framing/any-bytes",),
    # A delta that is null has no kind to look at.
    chat.UnknownDeltaRefused: ("framing/any-bytes",),
    chat.UsageLost: ("finish/after",),
}
"""Other checks that the fault breaks as well."""

CUTS = {
    chat.CleanEndAccepted: "truncation/prefix",
    chat.MarkerAloneIsCut: "truncation/good-endings",
}
"""What shows in the cuts too, beside the check that is named for the fault."""


SAYS = {
    chat.FinishAfterAnError: r"after its error the stream gave Finish\((.*\n)*.*more: .*a broken connection",
    chat.DropsBlank: "finish after text of many kinds: the answer's text: not what was sent",
    chat.DropsRepeats: "finish after text of many kinds: the answer's text: not what was sent",
    chat.ErrorIgnored: r"faults/error-event: 6 of 6 cases fail\.",
    chat.ErrorWithoutWords: "expected an error that says what the provider said, 'server_error'",
    chat.UsageStays: r"usage: a turn without token counts gave Finish\(.*Usage\(input_tokens=23",
    chat.CallsOnTheModel: "two turns with a tool call each, side by side, did not each give",
    chat.TurnByThread: "two tool calls: two turns with a tool call each, side by side, did not each",
    chat.EditsToolsAfterAnAnswer: "with tools and calls: the request was changed",
    chat.RepeatsUntilAText: r"arguments cut .*: the answer failed after the consumer had \d events",
    chat.OneId: r"expected the calls' ids \['call_\w+0', 'call_\w+1'\], got \['call_\w+0'\]",
    chat.OpenAfterAnErrorEvent: r"- an error .*the response is still open",
    chat.WaitsForTheEndOfTheBody: "the turn was sent whole, and the iteration did not end",
    chat.LeavesTheLastChunk: "turn after turn: the response is still open",
    chat.TearsLineEnds: "data over two lines, CRLF, each in two pieces: the re-encoded",
    chat.FinishTwice: "expected exactly one Finish, got 2",
    chat.LengthAsStop: "reason length: the answer's reason: not what was sent",
    chat.UnknownAsStop: "the answer's reason: not what was sent",
    chat.MarkerAloneIsCut: r"\[DONE\], no finish: a whole answer raised IncompleteResponseError",
    chat.UsageSummed: "usage on every event, growing: the usage is not what was sent",
    chat.FinishOnUsage: "- usage, but no finish: .* was taken for a finished answer",
    chat.UsageLost: "- usage after the finish: the usage is not what was sent",
    chat.TextAfterFinishPassedOn: r"- text after the finish: .* raised nothing: 5 events, among them Finish",
    chat.FinishAtEachReason: "the finish twice: the events contradict each other: an event came after the Finish",
    chat.FinishOrContent: "- finish beside the last text: the answer's text: not what was sent",
    chat.IndexIsIdentity: "- the same index for two calls: a whole answer raised TruncatedToolArgumentsError",
    chat.FirstEntryOnly: "two tool calls in one event: a whole answer raised StreamProtocolError",
    chat.NameAppended: "the name repeated on later fragments: the answer's tool calls: not what was sent",
    chat.EmptyArgumentsRefused: "- arguments null: a whole answer raised StreamProtocolError",
    chat.CallsDroppedUnderStop: "a tool call under an ordinary stop: the answer's tool calls: not what was sent",
    chat.ArgumentsDefaulted: "- arguments no json: invalid arguments were taken for a call",
    chat.ArgumentsLimited: "1200000 bytes of arguments: a whole answer raised TruncatedToolArgumentsError",
    chat.SpaceRequired: "no space after the colon: the re-encoded stream was parsed differently",
    chat.LastLineWins: "data over two lines: the re-encoded stream was parsed differently",
    chat.CommentIsData: "- text, comments inside events: the re-encoded stream was parsed differently",
    chat.FieldRefused: "fields of no meaning: the re-encoded stream was parsed differently",
    chat.EveryBlankLineDispatches: "more blank lines: the re-encoded stream was parsed differently",
    chat.SplitsAtSeparators: r"- U\+2028: expected the text 'a\\u2028b', got ''",
    chat.LineLimit: r"- 70 kB: expected the text 'long text .*\(70002 characters\), got ''",
    chat.LatinWithoutCharset: "charset=iso-8859-1: the re-encoded stream was parsed differently",
    chat.DecodesEachRead: "1 byte at a time: the re-encoded stream was parsed differently",
    chat.LineFeedOnly: "- text, CR: the re-encoded stream was parsed differently",
    chat.ByteOrderMarkKept: "- in pieces: the re-encoded stream was parsed differently",
    chat.StrictUtf8: r"made the adapter raise, after 0 events, UnicodeDecodeError: .*\n  raised   \S+chat\.py:\d+",
    chat.BadJsonSkipped: "- broken JSON between good events: .* was taken for a finished answer",
    chat.KeyErrorComesOut: r"some bytes made the adapter raise, after \d events, KeyError: 'choices'; (.*\n)+  bytes    b'data: ",
    chat.UnknownDeltaRefused: "a delta of an unknown kind: a whole answer raised StreamProtocolError",
    chat.EmptyDataRefused: "the re-encoded stream was parsed differently",
    chat.CleanEndAccepted: "- a short text, after 1 event, ended cleanly: .* was taken for a finished answer",
    chat.ArgumentsRepaired: "- arguments cut inside a string, a finish for tool use, ended cleanly: a turn whose call was cut",
}
"""A line of the failure text, which says what was sent and what came."""


def failing(model, caught_by):
    """Return the ids of the checks of one group that `model` does not pass, with their texts.

    Of the group of the cuts only the one named is run: they are the slow ones.
    """
    wire = OpenAIChat()
    target = Target(new_model=model, event=wire.event, wire=wire)
    group = caught_by.partition("/")[0]
    whole_group = group in ("finish", "calls", "framing")
    checks = (
        [check for check in CHECKS if check.group == group] if whole_group else [BY_NAME[caught_by]]
    )
    outcomes = [run(check, target) for check in checks]
    return {
        outcome.check.id: outcome.text
        for outcome in outcomes
        if outcome.status in (Status.FAILED, Status.WARNED)
    }


class TestChat(unittest.TestCase):
    def setUp(self):
        # Mutants leak sockets, which warn when they are collected.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)
        self.addCleanup(gc.collect)

    def test_the_correct_ones_pass(self):
        for model in (chat.Chat, chat.Lines):
            for group in ("finish/", "calls/", "framing/", "faults/error-event", "delivery/end"):
                with self.subTest(model=model.__name__, group=group):
                    self.assertEqual({}, failing(model, group))

    def test_every_check_that_needs_a_wire_has_a_mutant(self):
        wanted = {check.id for check in ALL if Need.WIRE in check.needs or check.group == "framing"}
        self.assertEqual(wanted - {*CAUGHT_BY.values(), *CUTS.values()}, set())

    def test_cuts(self):
        for model, check in CUTS.items():
            with self.subTest(check):
                found = failing(model, check)
                self.assertEqual(set(found), {check})
                self.assertIn("\n  wire" if check.endswith("endings") else "\n  body", found[check])

    def test_reasoning_is_compared_too(self):
        wire = AnthropicMessages()
        target = Target(
            new_model=chat.LosesSignatures,
            event=wire.event,
            wire=wire,
            transport=Urllib3Transport(),
        )
        outcome = run(BY_NAME["truncation/prefix"], target)
        self.assertRegex(
            outcome.text, "short reasoning, then text: the answer's reasoning: not what"
        )

    def test_the_correct_ones_pass_every_cut(self):
        for check in ("truncation/boundaries", "truncation/arguments", "truncation/good-endings"):
            with self.subTest(check):
                self.assertEqual({}, failing(chat.Chat, check))


def _test(model, caught_by):
    def test(self):
        found = failing(model, caught_by)
        expected = {caught_by, *BESIDES.get(model, ())}
        self.assertEqual(set(found), expected, "\n".join(found.values()))
        text = found[caught_by]
        self.assertTrue(text.startswith(f"{caught_by}: "), text)
        self.assertFalse(any(map(Secret(Target.api_key).is_in, found.values())))
        self.assertRegex(text, SAYS[model])
        self.assertRegex(text, r"\n  fix      \S(?s:.*)\Z")

    return test


for _model, _caught_by in CAUGHT_BY.items():
    setattr(TestChat, f"test_{_model.__name__}", _test(_model, _caught_by))
