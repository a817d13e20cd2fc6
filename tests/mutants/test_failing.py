"""Each adapter that fails wrongly is caught by the check named for it.

As in test_mutants.py, it is tried with that check alone unless MODELTEST_ALL_CHECKS is set.
"""

import gc
import os
import unittest
import warnings
from collections.abc import Iterable
from dataclasses import replace

from modeltest.checks import ALL
from modeltest.delivery import Target, run
from modeltest.harness import Check, Status
from modeltest.harness.secret import Secret

from . import elsewhere, failing, parrot, revealing

CORRECT = (failing.Patient, failing.Retrying)

EVERYTHING = "MODELTEST_ALL_CHECKS" in os.environ

CAUGHT_BY = {
    # mutant: the checks that must fail for it
    failing.IgnoresTheStatus: {"faults/status"},
    failing.SaysNoStatus: {"faults/status"},
    failing.SaysNoWords: {"faults/status"},
    failing.RaisesForStatus: {"faults/status", "faults/unreachable", "faults/redirect"},
    failing.ParsesPages: {"faults/status", "faults/redirect"},
    failing.CarriesPages: {"faults/status"},
    failing.KeepsPages: {"faults/status"},
    failing.KeepsPagesInACause: {"faults/status"},
    failing.KeepsPagesInADict: {"faults/status"},
    failing.KeepsItsResponse: {"faults/status"},
    failing.CarriesMessages: {"faults/status"},
    failing.BelievesItsHints: {"faults/status"},
    failing.StaysOpen: {"faults/status"},
    failing.RepeatsEveryRefusal: {"faults/status"},
    failing.RepeatsTooOften: {"faults/status"},
    failing.IgnoresHints: {"faults/retry-after"},
    failing.ReadsSecondsAlone: {"faults/retry-after"},
    failing.WaitsHalfAsLong: {"faults/retry-after"},
    failing.ComesEarlyAfterLongHints: {"faults/retry-after"},
    failing.SleepsAnHour: {"faults/retry-after"},
    failing.KnowsHintsOf429Alone: {"faults/retry-after"},
    failing.BeginsAgainAfterACut: {"faults/no-repeat", "faults/not-a-stream"},
    failing.BeginsAgainAfterABadEvent: {"faults/no-repeat"},
    failing.BeginsAgainAfterSilence: {"faults/idle"},
    failing.AsksAgainAfterSilence: {"faults/idle"},
    failing.AsksAgainWhereNobodyAnswers: {"faults/unreachable"},
    failing.AsksAgainForAStream: {"faults/not-a-stream"},
    failing.KeepsWhatIsNoStream: {"faults/not-a-stream"},
    failing.KeepsSilentConnections: {"faults/idle"},
    failing.BeginsAgain: {"faults/no-repeat", "faults/not-a-stream"},
    failing.TakesPagesForAnswers: {"faults/not-a-stream"},
    failing.TakesJSONForAnAnswer: {"faults/not-a-stream"},
    failing.LeavesConnectionErrors: {"faults/unreachable"},
    failing.HandlesRefusedConnections: {"faults/unreachable"},
    failing.WaitsForEver: {"faults/idle"},
    failing.WaitsForEverAfterTheHeaders: {"faults/idle"},
    failing.EndsInSilence: {"faults/idle"},
    failing.LimitsTheWholeAnswer: {"faults/idle"},
    revealing.FollowsRedirects: {"faults/redirect"},
    revealing.HasItsKeyInTheBody: {"faults/redirect"},
    revealing.AddsItsKeyAgain: {"faults/redirect"},
    revealing.TakesSlashesForAPath: {"faults/redirect"},
    revealing.ComparesBeginnings: {"faults/redirect"},
    revealing.TakesRedirectsForAnswers: {"faults/redirect"},
    revealing.SaysItsURL: {"faults/secret"},
    revealing.SaysItInACause: {"faults/secret"},
    revealing.SaysItsHeaders: {"faults/secret"},
    revealing.SaysItInARepr: {"faults/secret"},
    revealing.SaysItOfABadEvent: {"faults/secret"},
    revealing.SaysItOfNoStream: {"faults/secret"},
    revealing.SaysItOfNoAnswer: {"faults/secret"},
    revealing.SaysItOfABadRequest: {"faults/secret"},
    elsewhere.SendsTelemetry: {"faults/egress"},
}

MAY: dict[type[parrot.Parrot], set[str]] = {}
"""Mutant → other checks that its fault may show in."""

SAYS = {
    failing.IgnoresTheStatus: "HTTP 400: expected an error that says what the provider said, 'The r",
    failing.SaysNoStatus: "HTTP 400: expected an error that says the HTTP status, '400'; got ModelErr",
    failing.SaysNoWords: "HTTP 400: expected an error that says what the provider said, .*no message",
    failing.RaisesForStatus: r"HTTP 400 made the adapter raise, after 0 events, HTTPError: 400 Client",
    failing.ParsesPages: "HTTP 502, a page: HTTP 502 made the adapter raise, .* JSONDecodeError",
    failing.CarriesPages: r"of 10\.0 MB: the error carries the whole body: its text has 10,000,",
    failing.KeepsPages: "the error carries the whole body: its attribute 'body' has 10,000,",
    failing.KeepsPagesInACause: r"a cause of it \(ValueError\) carries the whole body: its text has",
    failing.KeepsPagesInADict: "the error carries the whole body: its attribute 'details' has 10,000,",
    failing.KeepsItsResponse: "the error carries the whole body: its attribute 'response' has 10,000",
    failing.CarriesMessages: r"a message of 10\.0 MB: the error carries the whole body: its text has",
    failing.BelievesItsHints: "Retry-After: Wed, 21 Oct .* made the adapter raise, .* ValueError: ",
    failing.StaysOpen: r"HTTP 400: the response is still open .* s after the turn failed\.",
    failing.RepeatsEveryRefusal: r"HTTP 400: 3 requests came; expected 1 at most \(`retries` is 2\)\.",
    failing.RepeatsTooOften: r"HTTP 408: 4 requests came; expected 3 at most \(`retries` is 2\)\.",
    failing.IgnoresHints: r"Retry-After: 1 was sent again 0\.\d s later; expected 1\.0 s or more",
    failing.ReadsSecondsAlone: r"a date: .* Retry-After: \w{3}, .* GMT was sent again 0\.\d s later",
    failing.WaitsHalfAsLong: r"1 second: .* was sent again 0\.\d s later; expected 1\.0 s or more",
    failing.ComesEarlyAfterLongHints: r"an hour: .* Retry-After: 3600 was sent again 0\.\d s later",
    failing.SleepsAnHour: r"an hour: refused with Retry-After: 3600, .*has not come back.*\n(.*\n)*.* in sleep: ",
    failing.KnowsHintsOf429Alone: "HTTP 503: .* Retry-After: 1 was sent again 0",
    failing.BeginsAgainAfterACut: "the body ends: the answer failed after the consumer had 2 events",
    failing.BeginsAgainAfterABadEvent: "a malformed event: the answer failed after the consumer had 1",
    failing.BeginsAgainAfterSilence: "then another answer: the answer failed after the consumer had 1",
    failing.AsksAgainAfterSilence: r"accepted, then nothing: 3 requests came; expected 1 at most",
    failing.AsksAgainWhereNobodyAnswers: r"closed before any header: 3 requests came; expected 1 at m",
    failing.AsksAgainForAStream: "an error as JSON: 3 requests came; expected 1 at most",
    failing.KeepsWhatIsNoStream: "an error as JSON: the response is still open",
    failing.KeepsSilentConnections: "one event, then silence: the response is still open",
    failing.BeginsAgain: "failed after the consumer had 2 events, and was begun again: it got 'word0 ",
    failing.TakesPagesForAnswers: "a page: a page, with status 200, was taken for a finished answer",
    failing.TakesJSONForAnAnswer: "an error as JSON, with status 200, was taken for a finished answer",
    failing.LeavesConnectionErrors: "a refused connection made the adapter raise, .* ConnectionError: ",
    failing.HandlesRefusedConnections: "closed before any header made the adapter raise, ",
    failing.WaitsForEver: r"accepted, then nothing: next\(\) did not return within",
    failing.WaitsForEverAfterTheHeaders: r"headers, then silence: next\(\) did not return within",
    failing.EndsInSilence: r"one event, then silence: 0\.1 s of silence raised nothing: 2 events, among",
    failing.LimitsTheWholeAnswer: "no silence, but a long answer: an answer with pauses of 0.025 s was",
    revealing.FollowsRedirects: "HTTP 301: .* the key was sent there, in the header x-api-key",
    revealing.HasItsKeyInTheBody: "HTTP 307: .* the key was sent there, in the body",
    revealing.AddsItsKeyAgain: "HTTP 301: .* the key was sent there, in the URL",
    revealing.TakesSlashesForAPath: "HTTP 307, to //: after HTTP 307, to // with a Location at",
    revealing.ComparesBeginnings: "HTTP 307, to what begins like the provider: after .* key was sent",
    revealing.TakesRedirectsForAnswers: "HTTP 301, which was not followed, was taken for a finished",
    revealing.SaysItsURL: r"the error reveals the key in its text: no answer: .*\?key=\[redacted\]",
    revealing.SaysItInACause: r"a cause of it \(ModelError\) reveals the key in its text: no answer: ",
    revealing.SaysItsHeaders: r"the error reveals the key in its text: .*'x-api-key': '\[redacted\]'",
    revealing.SaysItInARepr: r"the error reveals the key in its repr: Refused\(401, .*\[redacted\]",
    revealing.SaysItOfABadEvent: "a malformed event: the error reveals the key in its text: an event",
    revealing.SaysItOfNoStream: "a page, with HTTP 200: the error reveals the key in its text: no stream",
    revealing.SaysItOfNoAnswer: "no answer: the error reveals the key in its text: no answer; asked",
    revealing.SaysItOfABadRequest: "a bad tool name: the error reveals the key in its text: …f \\[",
    elsewhere.SendsTelemetry: "1 connection to elsewhere attempted, and refused",
}
"""A line of the failure text of the check that the mutant was made for."""

CHECKS = [check for check in ALL if check.group == "faults" and check.id != "faults/error-event"]


def failed(
    model: type[parrot.Parrot], checks: Iterable[Check] = CHECKS, hangs_in: Iterable[str] = ()
) -> dict[str, str]:
    """Return the checks that `model` does not pass, with their texts.

    It is waited for in vain in the checks `hangs_in`, and so for a shorter time there.
    """
    target = Target(
        new_model=model,
        event=parrot.event,
        retries=failing.RETRIES if issubclass(model, failing.Retrying) else 0,
        idle_timeout=failing.SILENCE if issubclass(model, failing.Patient) else None,
        deadline=5.0,
    )
    if model is failing.WaitsForEver:
        target = replace(target, idle_timeout=failing.SILENCE)
    short = replace(target, deadline=0.3)
    outcomes = [run(check, short if check.id in hangs_in else target) for check in checks]
    return {
        outcome.check.id: outcome.text
        for outcome in outcomes
        if outcome.status in (Status.FAILED, Status.WARNED)
    }


HANG = {failing.SleepsAnHour, failing.WaitsForEver, failing.WaitsForEverAfterTheHeaders}


class TestFailing(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)
        self.addCleanup(gc.collect)
        for model in (
            failing.StaysOpen,
            failing.KeepsWhatIsNoStream,
            failing.KeepsSilentConnections,
        ):
            self.addCleanup(model.kept.clear)
        failing.SleepsAnHour.woken.clear()
        self.addCleanup(failing.SleepsAnHour.woken.set)

    def test_the_correct_ones_pass(self) -> None:
        for model in (parrot.Parrot, *CORRECT):
            with self.subTest(model.__name__):
                self.assertEqual(failed(model), {})

    def test_every_check_has_a_mutant(self) -> None:
        caught = set().union(*CAUGHT_BY.values())
        self.assertEqual({check.id for check in CHECKS} - caught, set())


def _attach(model: type[parrot.Parrot], expected: set[str]) -> None:
    def test(self: TestFailing) -> None:
        checks = [check for check in CHECKS if EVERYTHING or check.id in expected]
        found = failed(model, checks, expected if model in HANG else ())
        self.assertLessEqual(expected, set(found), "\n".join(found.values()))
        allowed = expected | MAY.get(model, set())
        self.assertLessEqual(set(found), allowed, "\n".join(found.values()))
        for text in found.values():
            self.assertRegex(text, r"\n  fix      \S.*\Z")
            self.assertFalse(Secret(parrot.KEY).is_in(text), text)
        self.assertRegex("\n".join(found.values()), SAYS[model])

    test.__doc__ = model.__doc__
    setattr(TestFailing, f"test_{model.__name__}", test)


for _model, _expected in CAUGHT_BY.items():
    _attach(_model, _expected)


if __name__ == "__main__":
    unittest.main()
