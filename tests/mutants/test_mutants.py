"""Each mutant is caught by the checks named for it; correct adapters are caught by none.

A mutant is tried with the checks that must fail for it. Where MODELTEST_ALL_CHECKS is set it is
tried with all of them, and then only those may fail besides that `MAY` names.

A check that waits in vain costs its deadline. So a check that must fail gets a short one, and
the others a long one, which costs nothing and leaves a busy machine its time.
"""

import gc
import os
import threading
import unittest
import warnings
from collections.abc import Iterable
from dataclasses import replace
from unittest import mock

from modeltest.checks import ALL
from modeltest.consumer import AsyncConsumer
from modeltest.delivery import Target, run
from modeltest.harness import Check, Need, Outcome, Status
from modeltest.harness.secret import Secret
from modeltest.transports import OwnTransport

from . import (
    arriving,
    awaiting,
    cancelling,
    closing,
    cut,
    early_stop,
    elsewhere,
    parrot,
    pumping,
    sharing,
    styles,
    test_failing,
)

SHORT, LONG = 0.3, 5.0

CORRECT = (
    parrot.Parrot,
    parrot.CompressedParrot,
    parrot.CancellableParrot,
    parrot.ClosableParrot,
    parrot.PumpedParrot,
    styles.MergesWhatComes,
    styles.SplitsWords,
    styles.PeeksAtTheFirst,
    styles.RaisesWhenCancelled,
    awaiting.AsyncParrot,
    awaiting.ReadsInThreads,
    awaiting.SharesAClient,
)

EVERYTHING = "MODELTEST_ALL_CHECKS" in os.environ

MUTANTS: dict[type[parrot.Parrot], set[str]] = {
    # mutant: the checks that must fail for it
    # The response outlives the consumer's loop.
    early_stop.KeepsEveryStream: {"release/break", "release/nothing-left"},
    early_stop.KeepsEveryStreamOfAFixedPool: {
        "release/break",
        "release/nothing-left",
        "release/many",
    },
    early_stop.AsksAtTheCall: (
        {"release/cancel", "release/unread"} if early_stop.closed_generators_hold() else set()
    ),
    early_stop.AsksAtTheCallAndKeepsTheResponse: {"release/cancel", "release/unread"},
    early_stop.GivesBackInMidBody: {
        "release/break",
        "release/close",
        "release/with",
        "release/consumer-error",
        "release/nothing-left",
        "release/many",
        "release/clean-next",
        "isolation/reuse",
    },
    early_stop.DrainsOnTheWayOut: {
        "release/break",
        "release/close",
        "release/with",
        "release/consumer-error",
        "release/twice",
        "release/nothing-left",
        "release/many",
        "release/clean-next",
        "faults/egress",
        "isolation/reuse",
        "isolation/interleaved",
    },
    early_stop.BindsTheInnerGenerator: {
        "release/break",
        "release/close",
        "release/with",
        "release/consumer-error",
        "release/nothing-left",
    },
    early_stop.CatchesEverything: {
        "release/break",
        "release/close",
        "release/with",
        "release/consumer-error",
        "release/twice",
        "release/nothing-left",
        "release/many",
        "release/clean-next",
    },
    early_stop.YieldsInFinally: {
        "release/break",
        "release/close",
        "release/with",
        "release/consumer-error",
        "release/twice",
        "release/nothing-left",
        "release/many",
        "release/clean-next",
    },
    early_stop.RaisesInAFinalizer: {
        "release/break",
        "release/close",
        "release/with",
        "release/consumer-error",
        "release/twice",
        "release/nothing-left",
        "release/many",
        "release/clean-next",
    },
    early_stop.CannotBeClosed: {
        "release/cancel",
        "release/close",
        "release/with",
        "release/unread",
        "release/consumer-error",
        "release/twice",
        "release/blocked",
        "release/nothing-left",
        "release/clean-next",
    },
    # A failed turn keeps its response.
    early_stop.KeepsFailedResponsesOpen: {"release/failed", "faults/status"},
    early_stop.ReadsHalfOfTheError: {"release/failed", "faults/status"},
    early_stop.GivesBackTheErrorHalfRead: {"release/failed", "faults/status"},
    # Something else is kept, of which there is only so much.
    early_stop.LimitsItsStreams: {"release/nothing-left", "release/many"},
    early_stop.LocksInAFinalizer: {"release/many"},
    early_stop.KeepsAPlaceAfterARefusal: {"release/nothing-left"},
    early_stop.WatchesRefusals: {"release/nothing-left"},
    early_stop.StartsATimer: {"release/nothing-left"},
    early_stop.OpensAPipe: {"release/nothing-left"},
    # Stream objects.
    closing.RefersToItself: {"release/break", "release/nothing-left"},
    closing.IsKnownToItsFinalizer: {"release/break", "release/unread", "release/nothing-left"},
    closing.OnlySetsAFlag: {
        "release/cancel",
        "release/close",
        "release/with",
        "release/unread",
        "release/consumer-error",
        "release/blocked",
    },
    closing.DrainsALittle: {"release/close", "release/blocked"},
    closing.ClosesOnce: {"release/twice"},
    closing.CannotCloseAfterTheEnd: {"release/twice"},
    closing.RaisesWhenClosed: {"release/twice"},
    closing.LazilyConnectsWhenClosed: {"release/twice"},
    closing.LazilyReconnects: {"release/twice"},
    closing.WithDoesNotClose: {"release/with", "release/consumer-error"},
    closing.SwallowsTheConsumersError: {"release/consumer-error"},
    closing.ReplacesTheConsumersError: {"release/consumer-error"},
    closing.ClosesUnderTheReader: {"release/blocked"},
    closing.LeavesTheReaderAsleep: {"release/blocked"},
    closing.RaisesInDel: {
        "release/break",
        "release/unread",
        "release/nothing-left",
        "release/many",
        "release/clean-next",
    },
    # Tokens.
    cancelling.IgnoresTheToken: {"release/cancel", "release/blocked"},
    cancelling.LooksBetweenEvents: {"release/blocked"},
    cancelling.ListensAfterTheFirstEvent: {"release/blocked"},
    cancelling.ListensAfterTheHeaders: {"release/blocked"},
    cancelling.RaisesWhenCancelled: {"release/blocked"},
    cancelling.StaysWithTheToken: {"release/break"},
    cancelling.FinishesWhenCancelled: {"release/cancel", "release/blocked"},
    # Threads.
    pumping.ReadsWithoutLimit: {"delivery/bounded"},
    pumping.NeverStops: {
        "release/break",
        "release/cancel",
        "release/close",
        "release/with",
        "release/unread",
        "release/consumer-error",
        "release/twice",
        "release/blocked",
        "release/nothing-left",
        "delivery/bounded",
    },
    pumping.WaitsForRoom: {"release/close", "release/nothing-left"},
    pumping.StopsBetweenEvents: {"release/close", "release/blocked"},
    pumping.KeepsItsStream: {"release/break", "release/unread", "release/nothing-left"},
    pumping.StaysAfterAnError: {"release/nothing-left"},
    pumping.DiesWhenStopped: {
        "release/break",
        "release/cancel",
        "release/close",
        "release/with",
        "release/unread",
        "release/consumer-error",
        "release/twice",
        "release/blocked",
        "release/nothing-left",
        "release/many",
        "release/clean-next",
    },
    pumping.FewThreads: {"isolation/parallel"},
    # Tasks.
    awaiting.LeavesATask: {"release/nothing-left"},
    awaiting.ReadsOnWhenCancelled: {"release/blocked"},
    awaiting.KeepsItsDecoderInTheContext: {"isolation/interleaved"},
    awaiting.SwallowsItsCancellation: {"release/blocked"},
    awaiting.TakesItsCancellationForAnError: {"release/blocked"},
    # Event loops. Where one stands still, nothing can be cancelled, and no two streams go on.
    awaiting.BlocksTheLoop: {"delivery/loop", "release/blocked", "isolation/parallel"},
    awaiting.LooksAgainAndAgain: {"delivery/loop", "release/blocked", "isolation/parallel"},
    awaiting.EndsUnderASecondLoop: {"isolation/loops"},
    awaiting.BlamesTheProvider: {"isolation/loops"},
    awaiting.WaitsForTheFirstLoop: {"isolation/loops"},
    # Events come late.
    arriving.FillsABuffer: {"delivery/prompt"},
    arriving.WaitsForTheNext: {"delivery/prompt"},
    arriving.OneEventARead: {"delivery/prompt"},
    arriving.WaitsForAWholeBuffer: {
        "delivery/prompt",
        "release/clean-next",
        "isolation/interleaved",
        "isolation/parallel",
        "isolation/reuse",
    },
    # Half an answer counts as one, or fails with an error that nobody catches.
    cut.TakesEveryEnd: {"truncation/clean", "truncation/close-delimited", "truncation/mid-event"},
    cut.TakesTheEndOfTheConnection: {"truncation/close-delimited"},
    cut.TrustsTheLength: {"truncation/short", "faults/not-a-stream"},
    cut.TrustsTheCompression: {"truncation/gzip"},
    cut.TakesNothingForAnAnswer: {"truncation/empty", "faults/not-a-stream"},
    cut.TakesCommentsForAnAnswer: {"truncation/empty", "faults/not-a-stream"},
    cut.SwallowsBreaks: {"truncation/closed", "truncation/reset", "truncation/short"},
    cut.SwallowsResets: {"truncation/reset"},
    cut.SwallowsHalfChunks: {"truncation/closed"},
    cut.PassesErrorsThrough: {"truncation/closed", "truncation/reset", "truncation/short"},
    cut.MendsTheLastEvent: {"truncation/mid-event"},
    cut.LeavesJSONErrors: {"truncation/mid-event"},
    # Streams know of each other.
    sharing.SharesItsDecoder: {
        "release/clean-next",
        "isolation/interleaved",
        "isolation/parallel",
        "isolation/reuse",
    },
    sharing.RenewsItsDecoder: {"isolation/interleaved", "isolation/parallel"},
    sharing.UsesDecodersAgain: {"release/clean-next", "isolation/reuse"},
    sharing.ReadsTheLastResponse: {"isolation/interleaved", "isolation/parallel"},
    sharing.ClosesTheLastResponse: {"isolation/interleaved", "isolation/parallel"},
    sharing.KeepsItsDecoderByThread: {"isolation/interleaved"},
    sharing.OneAtATime: {"isolation/interleaved", "isolation/parallel"},
    # A stream spoils the model, or the request.
    sharing.BreaksItsCircuit: {"isolation/reuse"},
    sharing.BreaksItsCircuitAtAServersFault: {"isolation/reuse"},
    sharing.BreaksItsCircuitWithoutAnAnswer: {"isolation/reuse"},
    sharing.BreaksItsCircuitAtABadEvent: {"isolation/reuse"},
    sharing.BreaksItsCircuitAtABadRequest: {"isolation/reuse"},
    sharing.ThinksOfOneRequest: {"isolation/request"},
    sharing.StopsAllStreams: {"isolation/interleaved"},
    sharing.EditsTheToolsOfWhatIsRefused: {"isolation/request"},
    sharing.ClosesItsClient: {
        "release/nothing-left",
        "release/many",
        "release/clean-next",
        "isolation/reuse",
    },
    sharing.EditsTheTools: {"isolation/request"},
    sharing.EditsTheHistory: {"isolation/request"},
    sharing.SendsItsFirstPayload: {"isolation/request"},
    sharing.KeepsItsTools: {"isolation/request"},
    sharing.SharesItsPayload: {"isolation/request"},
    # Others than the provider are contacted.
    elsewhere.SendsTelemetry: {"faults/egress"},
    elsewhere.SendsTelemetryAtTheEnd: {"faults/egress"},
    elsewhere.LooksUpAName: {"faults/egress"},
    elsewhere.HasOneTelemetryThread: {"faults/egress"},
    elsewhere.CancelsAtItsOwnAddress: {"faults/egress"},
    elsewhere.FallsBack: {"faults/status", "faults/egress", "isolation/reuse"},
}

MAY: dict[type[parrot.Parrot], set[str]] = {
    # Two threads that read one response may wait for ever, or not.
    sharing.ReadsTheLastResponse: {"isolation/request"},
}
"""Mutant → other checks that its fault may show in."""

CHECKS = tuple(
    check
    for check in ALL
    if check.group in ("release", "delivery", "truncation", "faults", "tools", "isolation")
    and {*check.needs} <= {Need.EVENT_LOOP}
)

OTHERS = {check.id for check in CHECKS if check.group == "tools"}
"""Checks with mutants of their own, in test_tooling.py."""


class TestMutants(unittest.TestCase):
    """One test a mutant, and a correct adapter; they are attached below."""

    def setUp(self) -> None:
        # Mutants leak sockets and coroutines, and some of their threads die after the check has
        # seen enough.
        self.enterContext(warnings.catch_warnings())
        for category in (ResourceWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        self.enterContext(mock.patch("threading.excepthook"))
        self.addCleanup(let_go)

    def expect(self, model: type[parrot.Parrot], expected: set[str]) -> None:
        outcomes = [judge(check, model, check.id in expected) for check in checks(model, expected)]
        failed = {o.check.id: o for o in outcomes if o.status in (Status.FAILED, Status.WARNED)}
        self.assertFalse([o for o in outcomes if Secret(parrot.KEY).is_in(o.text)])
        allowed = expected | MAY.get(model, set())
        wrongly = "\n".join(failed[name].text for name in failed.keys() - allowed)
        self.assertLessEqual(expected, set(failed), model.__doc__)
        self.assertLessEqual(set(failed), allowed, f"\n{model.__doc__}\n{wrongly}")


class TestTable(unittest.TestCase):
    def test_every_check_is_failed_by_a_mutant(self) -> None:
        caught = set().union(*MUTANTS.values(), *test_failing.CAUGHT_BY.values())
        missing = [check.id for check in CHECKS if check.id not in caught | OTHERS]
        self.assertEqual(missing, [])

    def test_every_mutant_is_in_the_table(self) -> None:
        modules = (
            early_stop,
            closing,
            cancelling,
            pumping,
            awaiting,
            arriving,
            cut,
            sharing,
            elsewhere,
        )
        defined = {
            value
            for module in modules
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, parrot.Parrot)
            and value.__module__ == module.__name__
        }
        self.assertEqual(defined - set(CORRECT), set(MUTANTS))
        self.assertLessEqual(set(MAY), set(MUTANTS))


def checks(model: type[parrot.Parrot], expected: set[str]) -> Iterable[Check]:
    everything = model in CORRECT or EVERYTHING
    return [check for check in CHECKS if everything or check.id in expected]


def judge(check: Check, model: type[parrot.Parrot], fails: bool) -> Outcome:
    waits_in_vain = fails and check.id != "delivery/bounded"  # that one fails by what it sees
    deadline = SHORT if waits_in_vain else LONG
    target = Target(new_model=model, event=parrot.event, deadline=deadline)
    if issubclass(model, awaiting.AsyncParrot):
        target = replace(target, consumer=AsyncConsumer, transport=OwnTransport())
    return run(check, target)


def let_go() -> None:
    """End what a mutant has left behind."""
    for pump in list(parrot.Pump.everyone):
        pump.free()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
        if thread.name == "parrot-pump":
            thread.join(LONG)
    elsewhere.HasOneTelemetryThread.end()
    while early_stop.OpensAPipe.descriptors:
        os.close(early_stop.OpensAPipe.descriptors.pop())
    while early_stop.LocksInAFinalizer.locks:
        lock = early_stop.LocksInAFinalizer.locks.pop()
        if lock.locked():
            lock.release()
    gc.collect()


def attach(model: type[parrot.Parrot], expected: set[str]) -> None:
    def test(self: TestMutants) -> None:
        self.expect(model, expected)

    test.__doc__ = model.__doc__
    setattr(TestMutants, f"test_{model.__name__}", test)


for correct in CORRECT:
    attach(correct, set())
for mutant, ids in MUTANTS.items():
    attach(mutant, ids)
