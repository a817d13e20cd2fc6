"""What a test case gives the checks, and whether it can be used: said clearly."""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from modeltest.assertions import bytes_shown, ending, text_of
from modeltest.backend import End, Response, events, flowing
from modeltest.consumer import Hang, call_within
from modeltest.corpus import short_bodies, whole_bodies
from modeltest.delivery import Target, run
from modeltest.encoding import Framing, WireFormat
from modeltest.harness import (
    SHORTEST,
    Check,
    Failure,
    Level,
    Outcome,
    Secret,
    SetUpError,
    Status,
    hung,
)
from modeltest.interface import Finish, Request
from modeltest.testcases.hooks import event_bytes, hook
from modeltest.transports import Transport

if TYPE_CHECKING:
    from modeltest.consumer import Log
    from modeltest.delivery import Scenario, ServedContext


def target_of(case: Any) -> Target:
    """Return the attributes of a test case as the plain values that checks work on.

    Raises:
        SetUpError: one of them cannot be used; the text says what is expected.
    """
    given = {name: _given(case, name) for name in _EXPECTED}
    for name, (fits, expected) in _EXPECTED.items():
        if not fits(given[name]):
            got = "one that does not fit" if name == "api_key" else repr(given[name])
            text = f"{type(case).__name__}.{name}: expected {expected}, got {got}"
            raise SetUpError(Secret(str(given["api_key"])).redact(text))
    given["deadline"] = min(given["deadline"] * deadline_scale(), HOUR)
    return Target(
        new_model=hook(case, "new_model", "base_url", "client"),
        event=_event_of(case, given["wire"]),
        open_stream=_optional(case, "open_stream", "model", "request"),
        translate=_translate_of(case),
        consumer=case._consumer,
        **given,
    )


def try_out(case: Any) -> Outcome:
    """Try a test case on the simplest answer; return what is wrong with it, or doubtful.

    A wrong `event`, or an adapter that ignores its `base_url`, would fail every check in its
    own way; here it is named.
    """
    try:
        return run(SET_UP, target_of(case))
    except SetUpError as error:
        return Outcome(SET_UP, Status.FAILED, str(error))


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
    """Expect that the wire can spell a turn, and that the adapter makes something of it."""
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
        "handed: what its own client does with a connection is not seen.",
        fix="hand `client` on to the adapter, or say that it brings its own: "
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


# What the attributes may be


def _are_exceptions(value: object) -> bool:
    types = value if isinstance(value, tuple) else (value,)
    return bool(types) and all(isinstance(t, type) and issubclass(t, BaseException) for t in types)


def _are_names(value: object) -> bool:
    return (
        isinstance(value, Collection)
        and not isinstance(value, str)
        and all(isinstance(name, str) for name in value)
    )


def _are_seconds(value: object) -> bool:
    return isinstance(value, int | float) and value is not True and 0 < value <= HOUR


HOUR = 3600
"""Seconds; a check that waited longer for what never comes would count as hanging itself."""
_SECONDS = "seconds above 0, an hour at most"
_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "transport": (
        lambda value: isinstance(value, Transport),
        "a Transport such as RequestsTransport()",
    ),
    "wire": (
        lambda value: value is None or isinstance(value, WireFormat),
        "a WireFormat such as OpenAIChat(), or None",
    ),
    "request": (lambda value: isinstance(value, Request), "a Request"),
    "model_error": (_are_exceptions, "an exception class or a tuple of them"),
    "config_error": (_are_exceptions, "an exception class or a tuple of them"),
    "api_key": (
        lambda value: isinstance(value, str) and len(value) >= SHORTEST,
        f"a text of {SHORTEST} characters or more, which the kit can recognise where it goes",
    ),
    "retries": (lambda value: isinstance(value, int) and value >= 0, "a number, 0 or more"),
    "idle_timeout": (
        lambda value: value is None or _are_seconds(value),
        f"{_SECONDS}, or None",
    ),
    "refused_tool_names": (_are_names, "a tuple of names"),
    "accepted_tool_names": (_are_names, "a tuple of names"),
    "deadline": (_are_seconds, _SECONDS),
}
"""Attribute → whether a value fits, and what is expected."""


def _given(case: Any, name: str) -> Any:
    """Return an attribute, ready to be used.

    Raises:
        SetUpError: the author's property raised, or his wire format lacks something.
    """
    try:
        value = getattr(case, name)
        # A class may be given without its parentheses.
        is_bare = isinstance(value, type) and issubclass(value, Transport | WireFormat)
        return value() if is_bare else value
    except Exception as error:
        said = str(error) if isinstance(error, TypeError) else repr(error)
        raise SetUpError(f"{type(case).__name__}.{name}: {said}") from error


def _event_of(case: Any, wire: WireFormat | None) -> Callable[[int], bytes]:
    """Return the source of the endless response: the author's own, else the wire's."""
    if wire is not None and not hasattr(case, "event"):
        return wire.event
    event = hook(case, "event", "i")
    blank_line = wire is None or wire.framing is Framing.SSE
    return lambda index: event_bytes(event, index, blank_line=blank_line)


def _optional(case: Any, name: str, *parameters: str) -> Callable[..., Any] | None:
    """Return a hook that the author need not give, or None."""
    return None if getattr(case, name) is None else hook(case, name, *parameters)


def _translate_of(case: Any) -> Callable[..., Any] | None:
    translate = _optional(case, "translate", "event")
    if inspect.iscoroutinefunction(translate) or inspect.isasyncgenfunction(translate):
        raise SetUpError(
            f"{type(case).__name__}.translate is asynchronous: expected a plain function, which "
            "gives an event of modeltest, several, or None"
        )
    return translate


def deadline_scale() -> float:
    """Return what the environment variable MODELTEST_DEADLINE_SCALE multiplies deadlines by.

    Raises:
        SetUpError: it is no number above 0.
    """
    text = os.environ.get("MODELTEST_DEADLINE_SCALE", "1")
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0 < scale < math.inf:
        raise SetUpError(f"MODELTEST_DEADLINE_SCALE: expected a number above 0, got {text!r}")
    return scale
