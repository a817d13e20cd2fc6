"""isolation: one model, many streams."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from modeltest.assertions import (
    bytes_shown,
    content_of,
    ending,
    expect_beginning,
    expect_events,
    names_of,
)
from modeltest.backend import (
    Arrive,
    Await,
    Close,
    Response,
    Send,
    Stall,
    bad_request,
    ended_cleanly,
    events,
    flowing,
    in_step,
    left_half,
    sent,
    server_error,
)
from modeltest.corpus import error_bodies, request_for
from modeltest.harness import Evidence, Example, Failure, Level, Need, Skip, check, hung
from modeltest.interface import (
    Finish,
    FinishReason,
    Message,
    ProtocolError,
    Request,
    Text,
    TextDelta,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
    Usage,
    user,
)
from modeltest.threads import Hang, Progress, chain_of, shown, text_of

if TYPE_CHECKING:
    from modeltest.consumer import Consumer, Log, Stream
    from modeltest.delivery import Scenario, ServedContext
    from modeltest.encoding import Body, WireFormat


KEEP_STATE_IN_THE_STREAM = (
    "keep buffers, accumulators and the response in the stream (local variables of the "
    "generator), never on the model"
)
_EVENTS = 6

_RICH = Request(
    messages=(
        Message("system", (Text("Be brief."),)),
        user("Is it raining in Oslo?"),
        Message("assistant", (ToolUse("call_1", "get_weather", {"place": {"city": "Oslo"}}),)),
        Message("tool", (ToolResult("call_1", "rain"),)),
        user("And in Rome?"),
    ),
    tools=(
        Tool(
            "get_weather",
            "Return the weather.",
            {
                "type": "object",
                "properties": {"place": {"type": "object", "properties": {"city": {}}}},
                "required": ["place"],
            },
        ),
    ),
    tool_choice=ToolChoice("auto"),
)
"""A request that has in it what an adapter could edit."""


@check(
    "isolation/interleaved",
    fix=KEEP_STATE_IN_THE_STREAM,
    example=Example(
        "Two streams of one model, read on one thread.",
        server="events 0, 1 … to the first request, events 1000, 1001 … to the second; neither "
        "more than one event ahead of the other",
        consumer="takes an event of the first, one of the second, one of the first …",
        fault="the first stream gives the text of event 1000",
    ),
)
def interleaved_streams_do_not_mix(context: ServedContext) -> None:
    """Two streams of one model, read in turns, give each its own answer.

    An agent that asks two questions at once, with one client, must not get one answer's words
    in the other.
    """
    texts = _distinct_texts(context, 2)
    taken = Progress()
    scripts = [in_step(context, first, taken, streams=2) for first in (0, 1000)]
    with context.case("", *scripts) as scenario:
        first = scenario.started(progress=taken)
        # On one thread, as in an agent loop: what is kept by thread is shared by the two.
        streams = [first, scenario.started(progress=taken, beside=first)]
        for _ in range(_EVENTS - 1):
            for stream in streams:
                scenario.take(stream, 1)
        for stream, text in zip(streams, texts, strict=True):
            expect_beginning(stream.log, text)
    _try_one_closed(context)
    if context.target.wire is not None:
        _try_interleaved_calls(context)


@check(
    "isolation/parallel",
    fix=KEEP_STATE_IN_THE_STREAM,
    example=Example(
        "Eight streams of one model, read on eight threads, or by eight tasks.",
        server="answers none before all eight requests are there; then each gets words of its own",
        consumer="takes six events of each stream at the same time",
        fault="a stream gives a word of another one's answer, or the calls of two turns are mixed",
    ),
)
def parallel_streams_do_not_mix(context: ServedContext) -> None:
    """Eight streams of one model, read at the same time, give each its own answer.

    A server shares one adapter among its threads or tasks.
    """
    texts = _distinct_texts(context, 8)
    taken, arrived = Progress(), Progress()
    together = (Arrive(arrived), Await(arrived, 8))  # no answer before there are eight requests
    scripts = [in_step(context, 1000 * index, taken, 8, *together) for index in range(8)]
    with context.case("", *scripts) as scenario:
        streams = [scenario.stream(taken) for _ in texts]
        _use_at_once(scenario, streams, "take", _EVENTS)
        # Which request came first is open, so which stream has which answer is, too.
        left = list(texts)
        for stream in streams:
            expect_events(stream.log, _EVENTS)
            left.remove(_own_text(stream, left))
    if context.target.wire is not None:
        _try_parallel_calls(context)


@check(
    "isolation/reuse",
    fix=KEEP_STATE_IN_THE_STREAM,
    example=Example(
        "One model, five turns.",
        server="HTTP 400; two answers that fall silent inside an event; one that ends inside an "
        "event; an ordinary one",
        consumer="reads the error; cancels the second turn, closes the third, reads the fourth to "
        "its end; reads the last",
        fault="the last turn raises, or begins with what another one left in a buffer",
    ),
)
def model_is_usable_after_failure(context: ServedContext) -> None:
    """After an error, a cancel and an early close, the model gives an ordinary answer.

    Adapters live for days. A turn that failed must leave nothing behind: no half event in a
    buffer, no closed client.
    """
    text = context.plain_text(range(_EVENTS))
    half = context.event(3001)[: len(context.event(3001)) // 2]
    scripts = (
        left_half(context, first=1000),
        left_half(context, first=2000),
        ended_cleanly((*sent(context, [3000]), Send(half))),
        Response((*sent(context, range(_EVENTS)), Stall())),
    )
    with context.case("turn after turn", bad_request()) as scenario:
        scenario.read()
        scenario.backend.play(*map(context.typed, scripts))  # however often the first was asked for
        _cancel_early(scenario)
        _close_early(scenario)
        scenario.read()
        stream = scenario.started()
        expect_beginning(stream.log, text)
    for name, failing in _failures(context).items():
        with context.case(f"after {name}", failing) as scenario:
            scenario.read()
            _expect_ordinary(context, scenario, text)
    with context.case("after a request with a bad tool name", bad_request()) as scenario:
        scenario.read(request=request_for("get weather"))
        _expect_ordinary(context, scenario, text)
    if context.target.wire is not None:
        _try_usage_after_usage(context, context.target.wire)


def _failures(context: ServedContext) -> dict[str, Response]:
    """Return the ways in which a turn can fail, beside those of one request after the other."""
    wire = context.target.wire
    errors = () if wire is None else context.bodies_if_any(error_bodies)[:1]
    return {
        "HTTP 500": server_error(),
        "no answer": Response(before=(Close(),)),
        **context.malformed_responses(),
        **{body.name: context.response(body) for body in errors},
    }


def _expect_ordinary(context: ServedContext, scenario: Scenario, text: str) -> None:
    """Expect an ordinary answer of a model that has failed."""
    scenario.backend.play(context.typed(Response((*sent(context, range(_EVENTS)), Stall()))))
    expect_beginning(scenario.started().log, text)


@check(
    "isolation/request",
    fix="build the payload from new lists and dicts; never append to or edit the request",
    example=Example(
        "The request is compared with a copy that was made before. It has a system message, a "
        "call, its result and a tool in it.",
        sends=lambda wire: ended_cleanly(sent(wire, range(2))),
        consumer="streams the request; then two others, one after the other and side by side",
        fault="its messages or its tools are no longer what they were; or what one of the two "
        "said is sent for the other",
    ),
)
def request_is_not_changed(context: ServedContext) -> None:
    """Streaming leaves the request as it was, and sends nothing of another one.

    The caller keeps its history and sends it again. An adapter that edits it in place corrupts
    every later turn; one that keeps a payload on the model tells one user what another said.
    """
    for name, original in {"": context.target.request, "with tools and calls": _RICH}.items():
        request = copy.deepcopy(original)
        answers = (
            context.ordinary_response("It is."),
            ended_cleanly(sent(context, [0])),
            bad_request(),
        )
        with context.case(name, *answers) as scenario:
            for _ in answers:
                scenario.read(request=request)  # an adapter may refuse tools; it may not edit them
                if request != original:
                    raise Failure(
                        "the request was changed.",
                        (Evidence("before", repr(original)), Evidence("after", repr(request))),
                    )
    _try_different_requests(context)


@check(
    "isolation/loops",
    Level.SHOULD,
    needs=(Need.EVENT_LOOP,),
    fix="make the client where the stream is opened, or keep one for each running loop; or look at "
    "`asyncio.get_running_loop()` first, and raise an error that says that the model belongs to "
    "another event loop",
    example=Example(
        "One model under two event loops, as of two calls of `asyncio.run()`.",
        server="a whole answer to each; then two streams, neither more than one event ahead of "
        "the other",
        consumer="reads an answer under one event loop, which is then closed, and one under the "
        "other; then one under each, in turns",
        fault="the second answer never comes, or ends without an event, or its error blames the "
        "provider",
    ),
)
def two_event_loops(context: ServedContext) -> None:
    """One model under two event loops gives each its answer, or a clear error at once.

    Every `asyncio.run()` is an event loop of its own, and so is every test. A client that was
    made under the first waits for ever under the second, for what nobody will tell it.
    """
    _try_one_after_the_other(context)
    _try_side_by_side(context)


_WORDS = tuple(f"apricot-{number}" for number in range(7031, 7037))
"""What requests say; no adapter would say it by itself."""


def _try_different_requests(context: ServedContext) -> None:
    """Expect of requests of one model, the first with tools, that each says its own word."""
    first, *others = ((user(f"Say {word}."),) for word in _WORDS)
    # A copy: an adapter may edit it.
    requests = (replace(copy.deepcopy(_RICH), messages=first), *map(Request, others))
    whole = ended_cleanly(sent(context, range(2)))
    with context.case("different requests, one after the other", whole) as scenario:
        for request in requests:
            scenario.read(request=request)
        _expect_own_words(scenario)
    with context.case("different requests, all opened before one is read", whole) as scenario:
        streams = [scenario.stream(request=request) for request in requests]
        for stream in streams:
            stream.open()
        for stream in streams:
            stream.drain()
        _expect_own_words(scenario)
    with context.case("different requests at the same time", whole) as scenario:
        streams = [scenario.stream(request=request) for request in requests]
        _use_at_once(scenario, streams, "drain")
        _expect_own_words(scenario)


def _expect_own_words(scenario: Scenario) -> None:
    """Expect the word of each request in a body of its own, and the tool beside the first's."""
    bodies = [exchange.body for exchange in scenario.backend.exchanges]
    said = [[word for word in _WORDS if word.encode() in body] for body in bodies]
    if len(bodies) != len(_WORDS) or not any(said):
        return  # it refuses tools, or sends what cannot be read
    alone = sorted(said) == [[word] for word in _WORDS]
    tools = [_WORDS[0].encode() in body for body in bodies if b"get_weather" in body]
    if not (alone and all(tools)):
        raise Failure(
            "requests of one model were mixed up: what one said is in another.",
            (scenario.requests_shown(),),
            fix="build each payload anew, from its own request; keep none on the model",
        )


def _try_one_closed(context: ServedContext) -> None:
    """Expect that a stream goes on when another one of its model is closed."""
    text = context.plain_text(range(1000, 1000 + 8 * _EVENTS))
    with context.case("one is closed", flowing(context), flowing(context, first=1000)) as scenario:
        first = scenario.started()
        second = scenario.started(beside=first)
        _leave(first)
        scenario.take(second, _EVENTS)
        got = second.log.text
        if not (text.startswith(got) or got.startswith(text)):
            raise Failure(f"expected text that begins {text[:80]!r}, got {got[:80]!r}.")


def _try_interleaved_calls(context: ServedContext) -> None:
    """Expect of two streams with a tool call each, read in turns on one thread, their own."""
    bodies = _bodies_with_a_call(context)
    if not bodies:
        return
    with context.case("two tool calls", *(context.response(body) for body in bodies)) as scenario:
        first = scenario.open()
        streams = [first, scenario.open(beside=first)]
        for _ in range(max(len(body.parts) for body in bodies) + 1):
            for stream in streams:
                if not stream.log.ended:
                    stream.take(1)
        for stream in streams:
            stream.drain()
        _expect_calls(streams)


def _try_parallel_calls(context: ServedContext) -> None:
    """Expect of two streams with a tool call each, under way at the same time, their own."""
    bodies = _bodies_with_a_call(context)
    if not bodies:
        return
    arrived = Progress()
    together = (Arrive(arrived), Await(arrived, len(bodies)))
    scripts = [Response((*together, *events(body.chunks))) for body in bodies]
    with context.case("two tool calls", *scripts) as scenario:
        streams = [scenario.stream() for _ in bodies]
        _use_at_once(scenario, streams, "drain")
        _expect_calls(streams)


_PLACES = ("Oslo", "Rome")


def _bodies_with_a_call(context: ServedContext) -> tuple[Body, ...]:
    """Return two turns with a call each; none where alone they are not read right already."""
    done = Finish(FinishReason.TOOL_USE)
    bodies = context.bodies_if_any(
        lambda wire: [
            wire.encode(*wire.tool_call(0, "get_weather", {"city": city}), done, name=city)
            for city in _PLACES
        ]
    )
    return bodies if bodies and _gives_its_call(context, bodies[0]) else ()


def _expect_calls(streams: list[Stream]) -> None:
    """Expect that each stream gave one of the calls, and no other."""
    got = [_calls_in(stream.log) for stream in streams]
    wanted = [(("get_weather", {"city": city}),) for city in _PLACES]
    if sorted(map(repr, got)) != sorted(map(repr, wanted)):
        raise Failure(
            "two turns with a tool call each, side by side, did not each give their own call.",
            (Evidence("expected", repr(wanted)), Evidence("got", repr(got))),
        )


def _gives_its_call(context: ServedContext, body: Body) -> bool:
    """Tell whether the adapter reads the body right when it is alone; else calls/* judge it."""
    with context.apart(context.response(body)) as scenario:
        scenario.set_up()
        return _calls_in(scenario.read()) == content_of(body.events).calls


def _calls_in(log: Log) -> object:
    if log.error is not None:
        return shown(log.error)
    try:
        return content_of(log.events).calls
    except ProtocolError as error:
        return shown(error)


def _try_usage_after_usage(context: ServedContext, wire: WireFormat) -> None:
    """Expect no token counts of a turn that tells none, after one that tells some."""
    stop = FinishReason.STOP
    bodies = context.bodies_if_any(
        lambda wire: [
            wire.encode(TextDelta("a"), Finish(stop, usage=wire.sample_usage)),
            wire.encode(TextDelta("b"), Finish(stop)),
        ]
    )
    if not bodies or not wire.usage_placements:
        return
    with context.case("usage", *(context.response(body) for body in bodies)) as scenario:
        scenario.read()
        log = scenario.read()
        for event in log.events:
            if isinstance(event, Finish) and event.usage != Usage():
                raise Failure(
                    f"a turn without token counts gave {event!r}: those of the turn before it.",
                    (bytes_shown(bodies[1]),),
                )


def _use_at_once(scenario: Scenario, streams: Sequence[Stream], verb: str, *args: int) -> None:
    """Open streams and read from them, all at the same time, and wait until that is over.

    Raises:
        Failure: one does not return, which on one event loop has a reason of its own.
        Hang: the same, where each stream has a thread.
    """
    opening = [stream.start("open") for stream in streams]
    reading = [stream.start(verb, *args) for stream in streams]
    try:
        for pending in (*opening, *reading):
            pending.wait(scenario.target.deadline)
    except Hang as hang:
        if not scenario.target.event_loop:
            raise
        fix = "await every read: a call that blocks the event loop stops all streams"
        raise hung(hang, fix=fix) from None


def _distinct_texts(context: ServedContext, number: int) -> list[str]:
    """Return the text of each script's beginning, as it reads alone."""
    texts = [
        context.plain_text(range(1000 * index, 1000 * index + _EVENTS * 4))
        for index in range(number)
    ]
    if len(set(texts)) < number:
        raise Skip("event(i) gives the same text for every i: let its text depend on i")
    return texts


def _own_text(stream: Stream, texts: list[str]) -> str:
    got = stream.log.text
    if not got:
        raise Failure("a stream gave no text while others ran beside it.")
    for text in texts:
        if text.startswith(got):
            return text
    raise Failure(f"a stream gave text that no answer begins with: {got[:120]!r}.")


def _cancel_early(scenario: Scenario) -> None:
    stream = scenario.started()
    stream.cancel()
    if stream.can_be_cancelled:
        stream.take(1)  # lets the loop see it
    stream.drop()


def _close_early(scenario: Scenario) -> None:
    _leave(scenario.started())


def _leave(stream: Stream) -> None:
    stream.break_loop()
    if stream.has_close:
        stream.close()
    stream.drop()


# Event loops

_LOOP_EVENTS = 4
"""Events of each stream under two event loops."""

_ANSWER = ("One ", "answer.")
"""The pieces of an ordinary answer."""


def _try_one_after_the_other(context: ServedContext) -> None:
    """Expect an answer, or an error that says why, under a loop whose forerunner is closed."""
    text = _text_of_answer(context)
    whole = context.ordinary_response(*_ANSWER)
    with context.case("one after the other", whole) as scenario, _another_loop(scenario) as other:
        first = scenario.stream(consumer=other)
        first.read()
        other.close_loop(scenario.target.deadline)
        second = scenario.read()
        for log in (first.log, second):
            _expect_answer_or_reason(scenario, log, text)


def _try_side_by_side(context: ServedContext) -> None:
    """Expect of two streams, one a loop, that are read in turns, an answer or a reason each."""
    texts = [context.plain_text(range(first, first + _LOOP_EVENTS * 2)) for first in (0, 1000)]
    taken = Progress()
    scripts = [in_step(context, first, taken, streams=2) for first in (0, 1000)]
    with context.case("side by side", *scripts) as scenario, _another_loop(scenario) as other:
        first = scenario.started(progress=taken)
        second = scenario.stream(taken, consumer=other)
        second.open()
        for _ in range(_LOOP_EVENTS):
            for stream in (first, second):
                if not stream.log.ended:
                    stream.take(1)
                else:
                    taken.advance()  # the other one need not wait for it
        for stream, text in zip((first, second), texts, strict=True):
            log = stream.log
            if log.error is None:
                expect_events(stream.log, _LOOP_EVENTS)
            if not text.startswith(log.text) or log.error is not None:
                _expect_answer_or_reason(scenario, log, text)


def _text_of_answer(context: ServedContext) -> str:
    with context.apart(context.ordinary_response(*_ANSWER)) as scenario:
        scenario.set_up()
        log = scenario.read()
    if not log.text:
        raise Skip(f"the adapter gives no text of an ordinary answer ({ending(log)})")
    return log.text


def _expect_answer_or_reason(scenario: Scenario, log: Log, text: str) -> None:
    """Expect the answer's text, or an error that has to do with event loops and says so."""
    if log.text == text:
        return
    if log.error is None:
        raise Failure(
            f"under one of two event loops the answer was lost: expected {text!r} or an error, "
            f"got {log.text!r}, and the end."
        )
    causes = chain_of(log.error)
    if not any("loop" in text_of(cause).lower() for cause in causes):
        wanted = names_of(scenario.target.model_error)
        raise Failure(
            f"under one of two event loops the adapter raised {shown(log.error)}; expected the "
            f"answer, or an error ({wanted}, RuntimeError, …) that says that it is about event "
            "loops.",
            (Evidence("raised", "\n".join(log.raised_at)),),
        )


@contextmanager
def _another_loop(scenario: Scenario) -> Iterator[Consumer]:
    """Yield a second event loop, from which the case's model can be used as well."""
    other = scenario.target.new_consumer()
    other.faults = scenario.consumer.faults
    try:
        yield other
    finally:
        other.stop(scenario.target.deadline)
