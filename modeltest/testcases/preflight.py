"""The set-up check: a test case is tried on the simplest answers."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from modeltest.assertions import bytes_shown, ending
from modeltest.backend import End, Response, events, flowing
from modeltest.corpus import short_bodies, whole_bodies
from modeltest.harness import Check, Failure, Level, SetUpError, hung
from modeltest.interface import Finish
from modeltest.threads import Hang, call_within, text_of

if TYPE_CHECKING:
    from modeltest.consumer import Log
    from modeltest.delivery import Scenario, ServedContext
    from modeltest.transports import Transport


def adapter_is_set_up(context: ServedContext) -> None:
    """Try the test case on the simplest answers, and name what is wrong with it."""
    pieces = _pieces(context)
    with context.case("", Response((*events(pieces[:2]), End()))) as scenario:
        _expect_kind(scenario)
        log = scenario.read()
        _expect_right_iterable(log)
        if not scenario.backend.exchanges:
            raise Failure(f"the adapter sent no request to {scenario.backend.url}: {ending(log)}.")
        scenario.expect_events_only()
        if not log.events:
            own = context.target.wire is None or context.target.event != context.target.wire.event
            raise Failure(
                f"the adapter made no event of {pieces[0][:200]!r} and the next one: "
                f"{ending(log)}.",
                fix="" if own else _FIT,
            )
        if scenario.target.transport.tracks and not scenario.ledger.connections:
            context.note_failure(_unused(scenario.target.transport), level=Level.SHOULD)
    if any(one.level is Level.MUST for one in context.failed):
        return  # one fault of the test case shows in many ways
    _expect_no_end(context)
    if context.target.wire is not None:
        _expect_fitting_wire(context)


def _expect_no_end(context: ServedContext) -> None:
    """Expect that the author's events do not end the turn."""
    with context.case("", flowing(context)) as scenario:
        stream = scenario.stream()
        with suppress(Hang):  # whoever holds events back, or hangs, is judged elsewhere
            stream.open()
            stream.take(_EVENTS)
        if any(isinstance(event, Finish) for event in stream.log.events):
            raise Failure(
                "the turn ended although its events went on: the adapter gave "
                f"{stream.log.events[-1]!r}.",
                fix="let event(i) give text alone, whatever i: no finish reason, no end marker",
            )


def _expect_fitting_wire(context: ServedContext) -> None:
    """Expect that the wire can encode a turn, and that the adapter makes something of it."""
    wire = context.target.wire
    try:
        body = whole_bodies(wire)[0]
        short_bodies(wire)
    except Exception as error:
        raise SetUpError(f"{type(wire).__name__} cannot encode a turn: {error}") from error
    with context.case("", context.response(body)) as scenario:
        try:
            log = scenario.read()
        except Hang:
            return  # that is judged elsewhere
        if not log.events:
            raise Failure(
                f"the adapter made no event of an answer of {wire.name}: {ending(log)}.",
                (bytes_shown(body),),
                fix=_FIT,
            )


_EVENTS = 3
_FIT = "set `wire` to the format that the adapter reads"


def _unused(transport: Transport) -> Failure:
    return Failure(
        f"the adapter does not use the client of {type(transport).__name__} that new_model was "
        "given: what its own client does with a connection is not seen.",
        fix="pass `client` to the adapter, or say that it brings its own: "
        "`transport = OwnTransport()`",
    )


_DERIVE = "derive the test case from {}ModelContractTestCase"


def _expect_kind(scenario: Scenario) -> None:
    """Expect a synchronous adapter, or an asynchronous one, as the test case is."""
    info, event_loop = scenario.adapter_info, scenario.target.event_loop
    if info.is_asynchronous and not event_loop:
        raise Failure(f"{info.opener} is asynchronous.", fix=_DERIVE.format("Async"))
    if info.is_generator and event_loop:
        raise Failure(f"{info.opener} is a plain generator.", fix=_DERIVE.format(""))


def _expect_right_iterable(log: Log) -> None:
    """Expect that what `stream` gave can be iterated in the test case's way."""
    text = text_of(log.error) if isinstance(log.error, TypeError) else ""
    if re.search(r"'(async_generator|coroutine)' object is not iterable", text):
        raise Failure(f"stream() is asynchronous ({text}).", fix=_DERIVE.format("Async"))
    if "is not an async iterable" in text or "can't be used in 'await'" in text:
        raise Failure(f"stream() is not asynchronous ({text}).", fix=_DERIVE.format(""))


def _pieces(context: ServedContext) -> list[bytes]:
    """Return some events of the author's, made where they can be given up on."""
    deadline = context.target.deadline
    try:
        return call_within(deadline, "event(i)", lambda: [context.event(i) for i in (0, 1, 9_999)])
    except Hang as hang:
        raise hung(hang, f"event(i) did not return within {deadline:g} s.") from None


SET_UP = Check(
    id="set-up",
    level=Level.MUST,
    requirement="The test case gives what the checks need: new_model, and event or wire.",
    why="Without it no check can judge.",
    fix="see what is said above; new_model has to use its base_url, and event(i) to give an event "
    "of the provider that has text in it and does not wait for a later one",
    needs=(),
    example=None,
    judge=adapter_is_set_up,
)
