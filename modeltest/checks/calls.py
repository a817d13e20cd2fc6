"""calls: tool calls arrive whole."""

from __future__ import annotations

from collections.abc import Iterable

from modeltest import corpus
from modeltest.assertions import (
    answer,
    bodies_or_skip,
    expect_answer,
    expect_error,
    expect_ids,
    expect_said,
    reading,
    tool_names,
    wire_shown,
)
from modeltest.consumer import Log
from modeltest.delivery import CheckContext, Scenario
from modeltest.harness import Evidence, Failure, Need, check
from modeltest.interface import Finish, FinishReason, ProtocolError, ToolCallDelta
from modeltest.wire import Body

WIRE = (Need.WIRE,)
LARGE = 1_200_000
"""Bytes of arguments: a file written by a tool."""


@check(
    "calls/parallel",
    needs=WIRE,
    fix="collect the fragments of each call by its own index or id, and read every entry of a "
    "chunk's list, not only the first",
)
def parallel_calls_are_kept_apart(context: CheckContext) -> None:
    """Two calls in one turn keep their own arguments, however their fragments are mixed.

    Arguments that run into each other call the right tool with the wrong values.
    """
    _try_answers(context, bodies_or_skip(lambda: corpus.parallel_call_bodies(context.target.wire)))


@check(
    "calls/index",
    needs=WIRE,
    fix="begin a new call where a new id comes, whatever the index says",
)
def call_index_is_not_identity(context: CheckContext) -> None:
    """Two calls whose index is repeated, missing or null are still two calls.

    Compatible servers send index 0 for every call, or none. By index alone two calls become
    one, with both arguments glued together.
    """
    _try_answers(context, bodies_or_skip(lambda: corpus.index_bodies(context.target.wire)))


@check(
    "calls/identity",
    needs=WIRE,
    fix="keep the first id and name of a call; an id or name that comes again, empty or null "
    "changes nothing",
)
def call_identity_is_kept(context: CheckContext) -> None:
    """An id or name repeated, empty or null on later fragments changes nothing.

    Appended, the name becomes `get_weatherget_weather`; overwritten by null, the call is lost.
    """
    for body in bodies_or_skip(lambda: corpus.identity_bodies(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            log = scenario.read()
            expect_answer(body, log)
            expect_ids(body, log.events)


@check(
    "calls/empty",
    needs=WIRE,
    fix="read arguments that are '', null or missing as {}",
)
def call_without_arguments(context: CheckContext) -> None:
    """A call without arguments is one call with `{}`.

    Tools without parameters are called with '', null or nothing at all.
    """
    _try_answers(context, bodies_or_skip(lambda: corpus.empty_argument_bodies(context.target.wire)))


@check(
    "calls/reason",
    needs=WIRE,
    fix="let the calls that came decide, not the finish reason",
)
def calls_are_kept_whatever_the_reason(context: CheckContext) -> None:
    """A whole call is kept under any reason; a tool finish without a call is an error.

    Several servers say stop where they call a tool. An agent that then drops the call answers
    with nothing.
    """
    for body in bodies_or_skip(lambda: corpus.tool_reason_bodies(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            log = scenario.read()
            if body.finish is not None and _has_calls(body):
                expect_answer(body, log)
            else:
                _expect_no_tool_use(scenario, body, log)


@check(
    "calls/invalid",
    needs=WIRE,
    fix="parse the arguments at the end of the turn and raise an error that names the tool; "
    "never repair them",
)
def invalid_arguments_are_an_error(context: CheckContext) -> None:
    """Arguments that are no JSON object are an error that names the tool.

    Repaired or defaulted, they run a tool with values that the model never gave.
    """
    for body in bodies_or_skip(lambda: corpus.invalid_argument_bodies(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            log = scenario.read()
            if log.error is None:
                error = _assembled_error(body, log)
            else:
                error = expect_error(scenario, log, "invalid arguments", wire_shown(body))
            expect_said(error, tool_names(body), "which tool was called", wire_shown(body))


@check(
    "calls/large",
    needs=WIRE,
    fix="collect fragments in a list and join them once; set no small limit on a call",
)
def large_arguments_arrive_whole(context: CheckContext) -> None:
    """A megabyte of arguments arrives whole, characters of several bytes included.

    A tool that writes a file has the file in its arguments.
    """
    _try_answers(context, bodies_or_skip(lambda: corpus.large_call_bodies(context.target.wire)))


def _try_answers(context: CheckContext, bodies: Iterable[Body]) -> None:
    for body in bodies:
        with context.case(body.name, answer(context, body)) as scenario:
            log = scenario.read()
            expect_answer(body, log)
            expect_ids(body, log.events)


def _has_calls(body: Body) -> bool:
    return any(isinstance(event, ToolCallDelta) for event in body.events)


def _assembled_error(body: Body, log: Log) -> BaseException:
    """Return the error by which the events themselves fail in an agent loop."""
    try:
        got = reading(log)
    except ProtocolError as error:
        return error
    raise Failure(
        "invalid arguments were taken for a call.",
        (Evidence("got", repr(got.calls)), wire_shown(body)),
    )


def _expect_no_tool_use(scenario: Scenario, body: Body, log: Log) -> None:
    """Expect that the turn fails, in the adapter or in the agent loop that assembles it."""
    if log.error is not None:
        expect_error(scenario, log, body.name, wire_shown(body))
        return
    reasons = [event.reason for event in log.events if isinstance(event, Finish)]
    if reasons != [FinishReason.TOOL_USE]:  # this one fails in `assemble`
        raise Failure(
            f"a finish for tool use without a call became {reasons}; expected a protocol error.",
            (wire_shown(body),),
        )
