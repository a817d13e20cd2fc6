"""What each check says of an adapter that fails it: a bug report that a person can act on.

Numbers vary; so each text is matched line by line, from its beginning to its end.
"""

import json
import re
import threading
import unittest
import warnings
from dataclasses import replace
from typing import Any
from unittest import mock

from modeltest.checks import ALL, BY_NAME
from modeltest.delivery import Target, run
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Check, Outcome, Status
from modeltest.interface import ModelError
from modeltest.threads import carried_by, notes_of
from tests.benchmarks.targets import openai_chat
from tests.mutants import (
    arriving,
    cancelling,
    closing,
    cut,
    early_stop,
    elsewhere,
    parrot,
    pumping,
    sharing,
)
from tests.mutants.test_mutants import let_go

DEADLINE = 0.5

STILL_OPEN = r"the response is still open 0\.5 s after"
IN_USE = r"  client   1 connection in use: opened at \S+parrot\.py:\d+ in ask"
PUMP = r'  thread   "parrot-pump", started by the adapter, waits at \S+\.py:\d+ in \w+: .+'
TAKEN = (
    r"was taken for a finished answer: got \d events?, among them Finish\(reason='\w+'\); expected "
    r"an error, or an end without a Finish\."
)
HANG = r"did not return within 0\.5 s; the stack shows where it waits\."
STACK = r"  stack    .+"
LEAKED = r"an exception reached the interpreter instead of the consumer\."

TEXTS: dict[str, list[tuple[type[parrot.Parrot], list[str]]]] = {
    # check: [(who fails it, lines that its text has in this order, among others)]
    "release/break": [
        (
            pumping.NeverStops,
            [rf"release/break: {STILL_OPEN} the consumer broke out of the loop\.", IN_USE, PUMP],
        ),
        (
            early_stop.CatchesEverything,
            [
                rf"release/break: after the consumer broke out of the loop, {LEAKED}",
                r"  leaked   unraisable exception .*stream.*: RuntimeError: generator ignored .*",
            ],
        ),
        (
            closing.RaisesInDel,
            [r"  leaked   unraisable .*: AttributeError: .*, raised at \S+closing\.py:.*"],
        ),
    ],
    "release/cancel": [
        (
            cancelling.IgnoresTheToken,
            [
                r"release/cancel: iterating to the end did not return within 0\.5 s.*|release/cancel: .*cancel.*"
            ],
        ),
        (cancelling.FinishesWhenCancelled, [r"release/cancel: a cancelled stream gave a Finish\."]),
        (
            pumping.DiesWhenStopped,
            [
                rf"release/cancel: after the consumer cancelled the stream, {LEAKED}",
                r"  leaked   exception that ended 'parrot-pump': LookupError: .*, raised at .*",
            ],
        ),
    ],
    "release/close": [
        (
            closing.OnlySetsAFlag,
            [r"release/close: .*", rf"(- .*: )?.*{STILL_OPEN} close\(\)\.", IN_USE],
        ),
    ],
    "release/with": [
        (
            closing.WithDoesNotClose,
            [
                r"release/with: 2 of 4 cases fail\.",
                rf"- the stream's own with, leave by break: {STILL_OPEN} break out of a with-b.*",
                IN_USE,
                rf"- the stream's own with, leave at the end: {STILL_OPEN} leaving a with-block\.",
                IN_USE,
            ],
        ),
    ],
    "release/unread": [
        (
            early_stop.AsksAtTheCallAndKeepsTheResponse,
            [
                r"release/unread: 2 of 2 cases fail\.",
                rf"- closed: {STILL_OPEN} close\(\) of a stream that was never iterated\.",
                IN_USE,
                rf"- dropped: {STILL_OPEN} a stream that was never iterated was dropped and .*",
                IN_USE,
            ],
        ),
        (
            early_stop.CannotBeClosed,
            [r".*the stream has no close\(\): expected what stream\(\) .*"],
        ),
    ],
    "release/consumer-error": [
        (
            closing.SwallowsTheConsumersError,
            [
                r"release/consumer-error: .*: expected the loop body's own .* come out, got nothing\."
            ],
        ),
        (closing.ReplacesTheConsumersError, [r".*to come out, got ModelError: the stream broke.*"]),
    ],
    "release/twice": [
        (closing.RaisesWhenClosed, [r"release/twice: .*", r"(.*: )?.*close\(\).* raised .*"]),
        (
            closing.LazilyReconnects,
            [r"- iterate after close: iterating after close\(\) gave TextDelta\(.*\)\."],
        ),
    ],
    "release/blocked": [
        (
            closing.OnlySetsAFlag,
            [
                rf"release/blocked: before the first event: iterating to the end {HANG}",
                r"  stack    \S+parrot\.py:\d+ in chunks: while chunk := raw\.read1.*",
                IN_USE,
            ],
        ),
        (
            cancelling.ListensAfterTheHeaders,
            [rf"release/blocked: before the headers \[SHOULD\]: next\(\) {HANG}", STACK],
        ),
    ],
    "release/failed": [
        (
            early_stop.KeepsFailedResponsesOpen,
            [
                r"release/failed: \d of \d cases fail\.",
                rf"- HTTP 500 with a body: {STILL_OPEN} the turn failed \(it raised APIError.*",
                IN_USE,
            ],
        ),
    ],
    "release/nothing-left": [
        (
            pumping.StaysAfterAnError,
            [
                r"release/nothing-left: failed turns: \d+ threads more after .*",
                r"  client   \d+ connections closed: opened at .*",
                PUMP,
            ],
        ),
    ],
    "release/many": [
        (early_stop.KeepsEveryStreamOfAFixedPool, [rf"release/many: next\(\) {HANG}", STACK]),
        (early_stop.LocksInAFinalizer, [rf"release/many: .* {HANG}", STACK]),
    ],
    "release/clean-next": [
        (
            sharing.UsesDecodersAgain,
            [r"release/clean-next: .*", r".*(expected text that begins|expected 1 event).*"],
        ),
    ],
    "delivery/prompt": [
        (
            arriving.FillsABuffer,
            [
                r"delivery/prompt: HTTP/1\.0: event 1 is held back: .* after 0\.5 s it has 0 events\.",
                r"  server   sent 1 event \(26 B\); the client is still connected",
                IN_USE,
            ],
        ),
    ],
    "delivery/bounded": [
        (
            pumping.ReadsWithoutLimit,
            [
                r"delivery/bounded: the adapter took \d+\.\d MB from the wire .* expected it to stop .*",
                IN_USE,
                PUMP,
            ],
        ),
    ],
    "truncation/clean": [
        (cut.TakesEveryEnd, [rf"truncation/clean: a body that ended cleanly after two .* {TAKEN}"]),
    ],
    "truncation/close-delimited": [
        (
            cut.TakesTheEndOfTheConnection,
            [rf"truncation/close-delimited: a close-delimited body .* {TAKEN}"],
        ),
    ],
    "truncation/closed": [
        (
            cut.SwallowsBreaks,
            [
                r"truncation/closed: 2 of 2 cases fail\.",
                rf"- before the last chunk: a connection closed .* {TAKEN}",
                rf"- inside a chunk: a connection closed .* {TAKEN}",
            ],
        ),
    ],
    "truncation/reset": [
        (cut.SwallowsResets, [rf"truncation/reset: a connection reset after two events {TAKEN}"]),
        (
            cut.PassesErrorsThrough,
            [
                r"truncation/reset: .* raise, after 2 events, ProtocolError: .*; expected ModelError, .*"
            ],
        ),
    ],
    "truncation/short": [
        (cut.TrustsTheLength, [rf"truncation/short: a body shorter than its Content-.* {TAKEN}"]),
    ],
    "truncation/empty": [
        (
            cut.TakesNothingForAnAnswer,
            [
                r"truncation/empty: 2 of 2 cases fail\.",
                rf"- no byte: a 200 with an empty body {TAKEN}",
                rf"- comments only: a 200 that holds only comments {TAKEN}",
            ],
        ),
    ],
    "truncation/mid-event": [
        (cut.MendsTheLastEvent, [rf"truncation/mid-event: in the middle of a line: .* {TAKEN}"]),
        (
            cut.LeavesJSONErrors,
            [r"truncation/mid-event: .* made the adapter raise, .*, JSONDecodeError: .*"],
        ),
    ],
    "truncation/gzip": [
        (
            cut.TrustsTheCompression,
            [
                r"truncation/gzip: \d of \d cases fail\.",
                rf"- before its trailer: a gzip body cut before its trailer {TAKEN}",
            ],
        ),
    ],
    "faults/egress": [
        (
            elsewhere.CancelsAtItsOwnAddress,
            [
                r"faults/egress: an early break: 1 connection to elsewhere attempted, .* but to http.*",
                r"  refused  look up parrot\.invalid:443 at \S+elsewhere\.py:\d+ in stream, .*",
            ],
        ),
    ],
    "isolation/interleaved": [
        (sharing.SharesItsDecoder, [r"isolation/interleaved: .*", r"  client   .*"]),
        (sharing.OneAtATime, [rf"isolation/interleaved: .* {HANG}", STACK]),
    ],
    "isolation/parallel": [
        (pumping.FewThreads, [rf"isolation/parallel: next\(\) {HANG}", STACK, PUMP]),
        (sharing.ReadsTheLastResponse, [r"isolation/parallel: .*"]),
    ],
    "isolation/reuse": [
        (
            elsewhere.FallsBack,
            [
                r"isolation/reuse: \d of 5 cases fail\.",
                r"- turn after turn: expected 1 event, got 0: it raised ModelError: no answer: .*",
                r"  refused  look up 192\.0\.2\.1:80 at .*",
            ],
        ),
        (
            sharing.BreaksItsCircuit,
            [r"- turn after turn: .*it raised ModelError: the provider failed before\."],
        ),
    ],
    "isolation/request": [
        (
            sharing.EditsTheTools,
            [
                r"isolation/request: with tools and calls: the request was changed\.",
                r"  before   Request\(.*\)",
                r"  after    Request\(.*'additionalProperties': False.*\)",
            ],
        ),
    ],
}


class TestTexts(unittest.TestCase):
    """One test a check; they are attached below."""

    def setUp(self) -> None:
        # Mutants leak sockets, and some of their threads die after the check has seen enough.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)
        self.enterContext(mock.patch.object(threading, "excepthook"))
        self.addCleanup(let_go)

    def judge(self, check: Check, model: type[parrot.Parrot], lines: list[str]) -> None:
        outcome = run(check, Target(new_model=model, event=parrot.event, deadline=DEADLINE))
        self.assertIn(outcome.status, (Status.FAILED, Status.WARNED), model.__name__)
        self.assert_reads_well(outcome)
        rest = outcome.text
        for line in lines:
            found = re.search(f"^{line}$", rest, re.MULTILINE)
            self.assertIsNotNone(found, f"no line {line!r} (any more) in\n{outcome.text}")
            rest = rest[found.end() :]  # type: ignore[union-attr]

    def assert_reads_well(self, outcome: Outcome) -> None:
        """Rule first, then for each case the server's line, and the fix at the end."""
        text, check = outcome.text, outcome.check
        self.assertTrue(text.startswith(f"{check.id}: "), text)
        self.assertTrue(text.endswith(f"\n  fix      {check.fix}"), text)
        self.assertEqual(text.count("\n  fix "), 1, text)
        self.assertNotIn("Traceback", text)
        cases = max(1, len(re.findall(r"\n- (?!and \d+ more: )", text)))
        self.assertEqual(text.count("\n  server   "), cases, text)
        for line in text.splitlines()[1:]:
            self.assertRegex(line, r"\A(- \S|  [a-z ]{8} \S| {11}\S)", text)


class TestTable(unittest.TestCase):
    def test_every_check_is_in_it(self) -> None:
        # What the other groups say is looked at beside their mutants, in tests/mutants.
        apart = ("framing", "faults", "tools")
        event_only = {check.id for check in ALL if not check.needs and check.group not in apart}
        self.assertEqual(event_only - set(TEXTS), set())


def attach(check: Check) -> None:
    def test(self: TestTexts) -> None:
        for model, lines in TEXTS[check.id]:
            with self.subTest(model.__name__):
                self.judge(check, model, lines)
                let_go()

    test.__doc__ = check.id
    setattr(TestTexts, f"test_{check.id.replace('/', '_').replace('-', '_')}", test)


for name in TEXTS:
    attach(BY_NAME[name])


class TestMany(unittest.TestCase):
    def test_three_hundred_streams_have_an_end_in_time(self) -> None:
        target = Target(new_model=parrot.Parrot, event=parrot.event)
        with mock.patch("modeltest.checks.release.PATIENCE", 0):
            outcome = run(BY_NAME["release/many"], target)
        self.assertRegex(
            outcome.text, r"\Arelease/many: only 0 of 300 streams were left within 0 s: leaving"
        )


class TestWhatAnErrorCarries(unittest.TestCase):
    def test_slots_properties_and_objects(self) -> None:
        class Detail:
            def __init__(self) -> None:
                self.kind = "overloaded"

        class Slotted(Exception):
            __slots__ = ("type",)

            def __init__(self) -> None:
                self.type = "server_error"

            @property
            def message(self) -> str:
                return "the server is on fire"

            @property
            def detail(self) -> Detail:
                return Detail()

            @property
            def broken(self) -> str:
                raise ValueError

        said = carried_by(Slotted())
        for word in ("server_error", "the server is on fire", "overloaded"):
            self.assertIn(word, said)

    def test_notes(self) -> None:
        error = ValueError("broken")
        self.assertEqual(notes_of(error), "")
        error.add_note("by the provider")
        self.assertEqual(notes_of(error), "by the provider")
        error.__notes__ = 7  # type: ignore[assignment]
        self.assertEqual(notes_of(error), "<its notes raised TypeError>")

    def test_one_whose_args_raise_is_no_fault_of_the_kit(self) -> None:
        class Own(ModelError):
            @property
            def args(self) -> Any:
                raise KeyError

        class Raises(AcmeModel):
            def stream(self, request: Any) -> Any:
                try:
                    yield from super().stream(request)
                except ModelError as error:
                    raise Own(str(error)) from error

        given = Target(new_model=lambda *of: Raises(*of, "key"), event=parrot.event)
        self.assertNotIn("KeyError", run(BY_NAME["faults/status"], given).text)


class TestEventsThatSayNothing(unittest.TestCase):
    def test_a_first_event_that_only_names_the_role(self) -> None:
        def event(index: int) -> bytes:
            delta = {"role": "assistant"} if index == 0 else {"content": f"word{index} "}
            return b"data: %b\n\n" % json.dumps({"choices": [{"delta": delta}]}).encode()

        target = replace(openai_chat(), event=event)
        for name in ("delivery/prompt", "framing/line-ends"):
            with self.subTest(name):
                outcome = run(BY_NAME[name], target)
                self.assertEqual(outcome.status, Status.PASSED, outcome.text)


if __name__ == "__main__":
    unittest.main()
