"""Whole bodies, and all that they may be cut to."""

from __future__ import annotations

from collections.abc import Callable

from modeltest import corpus
from modeltest.assertions import wire_shown
from modeltest.checks import calls, cuts, faults, finish, framing
from modeltest.harness import Check, Failure, shown
from modeltest.reader.clause import Clause, clause, same_as
from modeltest.reader.prefix import expect_every_cut
from modeltest.reader.reading import Reading
from modeltest.reader.trial import ReaderTrial
from modeltest.reader.turns import (
    expect_failure,
    expect_ids,
    expect_raw,
    expect_tool_named,
    expect_turn,
    expect_usage,
    expect_words,
)
from modeltest.wire import Body

Expect = Callable[[Body, Reading], object]


def spelled(check: Check, method: str, *, expect: Expect = expect_turn) -> Clause:
    """Return the clause that the bodies which the wire's `method` gives are read as they mean."""

    def run(trial: ReaderTrial) -> None:
        for body in trial.spelled(method):
            with trial.case(body.name):
                expect(body, trial.read(body))

    return same_as(check)(run)


@clause(
    "reader/turn",
    "test_whole_body_is_its_turn",
    fix="give what the body says, and a Finish at the provider's own end of the turn; if the body "
    "means something else, correct the wire",
)
def whole_body_is_its_turn(trial: ReaderTrial) -> None:
    """A whole body gives the turn that it means.

    Text, calls and reason are compared with what the wire claims. A recorded body has to be an
    answer: to end with a Finish.
    """
    for body in trial.answers:
        with trial.case(body.name):
            reading = trial.read(body)
            if body in trial.recorded:
                _expect_answer(body, reading)
            else:
                expect_turn(body, reading)


@same_as(cuts.every_event_boundary_is_an_error)
def every_event_boundary_is_an_error(trial: ReaderTrial) -> None:
    """Judge the cuts between events, and endings that only look like one."""
    for body in trial.spelled("whole_bodies"):
        for number, prefix in enumerate(body.incomplete_prefixes()):
            with trial.case(f"{body.name}, after {number} events"):
                expect_failure(body, trial.reader.read(body.data, cut=len(prefix)))
    for body in trial.spelled("incomplete_endings"):
        with trial.case(body.name):
            expect_turn(body, trial.read(body))


@same_as(cuts.every_prefix_is_an_error_or_the_same_turn)
def every_prefix_is_an_error_or_the_same_turn(trial: ReaderTrial) -> None:
    """Judge every cut of every body."""
    for body in trial.short_answers:
        with trial.case(body.name):
            trial.plain(body)
            expect_every_cut(trial.reader, body.data)


@same_as(calls.large_arguments_arrive_whole)
def large_arguments_arrive_whole(trial: ReaderTrial) -> None:
    """Judge one large call."""
    for body in trial.asked(corpus.large_call_bodies):
        with trial.case(body.name):
            expect_turn(body, trial.read(body))


def _expect_answer(body: Body, reading: Reading) -> None:
    error = reading.outcome()[1]
    if error is not None:
        raise Failure(
            f"a recorded body is taken for no answer: {shown(error)}; expected a Finish. A body "
            "that has to fail is tested by read_sse(...).error.",
            (wire_shown(body),),
        )


WHOLE: tuple[Clause, ...] = (
    whole_body_is_its_turn,
    every_event_boundary_is_an_error,
    every_prefix_is_an_error_or_the_same_turn,
    spelled(cuts.truncated_tool_call_is_an_error, "cut_argument_bodies"),
    spelled(cuts.complete_endings_are_accepted, "good_endings"),
    spelled(finish.finish_reasons_are_mapped, "reason_bodies", expect=expect_raw),
    spelled(
        finish.unknown_finish_reason_is_passed_through, "unknown_reason_bodies", expect=expect_raw
    ),
    spelled(finish.absent_finish_reason_is_stop, "absent_reason_bodies"),
    spelled(finish.usage_is_reported_once, "usage_bodies", expect=expect_usage),
    spelled(finish.content_after_finish_is_a_protocol_error, "after_finish_bodies"),
    spelled(finish.duplicate_finish_is_reported_once, "duplicate_bodies"),
    spelled(finish.finish_beside_content_loses_nothing, "finish_beside_content_bodies"),
    spelled(calls.parallel_calls_are_kept_apart, "parallel_call_bodies"),
    spelled(calls.call_index_is_not_identity, "index_bodies"),
    spelled(calls.call_identity_is_kept, "identity_bodies", expect=expect_ids),
    spelled(calls.call_without_arguments, "empty_argument_bodies"),
    spelled(calls.calls_are_kept_whatever_the_reason, "tool_reason_bodies"),
    spelled(
        calls.invalid_arguments_are_an_error, "invalid_argument_bodies", expect=expect_tool_named
    ),
    large_arguments_arrive_whole,
    spelled(framing.unknown_events_are_ignored, "unknown_bodies"),
    spelled(faults.error_event_is_an_error, "error_bodies", expect=expect_words),
)
"""The clauses about what a body says."""
