"""truncation: a cut answer is never an answer."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from modeltest.assertions import WholeAnswer, bytes_shown, content_of, expect_answer, expect_refusal
from modeltest.backend import (
    Response,
    Send,
    close_delimited,
    ended_cleanly,
    inside_chunk,
    reset,
    sent,
    short_of_length,
    without_last_chunk,
)
from modeltest.corpus import cut_argument_bodies, good_endings, incomplete_endings, short_bodies
from modeltest.encoding import Framing, Unsupported
from modeltest.harness import Evidence, Example, Failure, Level, Need, Skip, check, count
from modeltest.interface import FinishReason, ProtocolError
from modeltest.threads import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeltest.delivery import Scenario, ServedContext
    from modeltest.encoding import Body, WireFormat
    from modeltest.harness import Answer, CheckContext, Transcript


WIRE = (Need.WIRE,)
RAISE_AT_THE_END = (
    "give a Finish only when the provider's own end of turn was read; when the body ends before "
    "it, raise IncompleteResponseError (or end without a Finish)"
)
WRAP_TRANSPORT_ERRORS = (
    "let the transport's error (ChunkedEncodingError, ProtocolError, ReadError …) come out as "
    "model_error, with `raise … from error`; never swallow it"
)
END_OF_TURN = (
    "give the Finish only once the provider's own end of turn was read whole; a body that ends "
    "before it fails, whatever came until then"
)


_MARK = "✂\n\n".encode()
"""Where an example is cut."""


def _marked(wire: WireFormat) -> bytes:
    """Return a short answer with a mark wherever a cut leaves it incomplete."""
    body = short_bodies(wire)[0]
    whole = body.complete or 0
    return b"".join(
        (_MARK if number < whole else b"") + chunk for number, chunk in enumerate(body.chunks)
    )


def _cut_in_number(wire: WireFormat) -> bytes:
    """Return a call that is cut inside a number of its arguments."""
    data = next(body.data for body in short_bodies(wire) if body.name == "a short tool call")
    return data[: data.rindex(b"0}")] + " ✂".encode()


@check(
    "truncation/clean",
    fix=RAISE_AT_THE_END,
    example=Example(
        "Nothing is wrong for HTTP. Only the finish reason and `[DONE]` are missing.",
        sends=lambda wire: ended_cleanly(sent(wire, range(2))),
    ),
)
def truncated_is_an_error(context: ServedContext) -> None:
    """A body that ends cleanly in mid-answer is an error.

    A proxy that gives up, or a provider that restarts, ends the body as if all were said. No
    HTTP library can tell; only the missing end of turn does. 66 of 71 published clients took
    such an answer for a whole one.
    """
    with context.case("", ended_cleanly(sent(context, range(2)))) as scenario:
        _expect_refused(scenario, "a body that ended cleanly after two events")


@check(
    "truncation/close-delimited",
    fix=RAISE_AT_THE_END,
    example=Example(
        "The connection's end is the body's end, whatever the reason for it.",
        sends=lambda wire: close_delimited(sent(wire, range(2))),
    ),
)
def close_delimited_truncation_is_an_error(context: ServedContext) -> None:
    """An HTTP/1.0 body that ends in mid-answer is an error.

    Without a length or chunks, the end of the connection is the end of the body: a crash of
    the server looks like its success.
    """
    with context.case("", close_delimited(sent(context, range(2)))) as scenario:
        _expect_refused(scenario, "a close-delimited body that ended after two events")


@check(
    "truncation/closed",
    fix=WRAP_TRANSPORT_ERRORS,
    example=Example(
        "The connection closes before the last chunk, or inside a chunk.",
        sends=lambda wire: inside_chunk(sent(wire, range(2))),
        others=("before the last chunk",),
    ),
)
def connection_closed_midway_is_an_error(context: ServedContext) -> None:
    """A connection closed before the last chunk is an error.

    The HTTP library raises here. Adapters that catch it to be robust, and end the loop, turn
    it into half an answer.
    """
    steps = sent(context, range(2))
    with context.case("before the last chunk", without_last_chunk(steps)) as scenario:
        _expect_refused(scenario, "a connection closed before the last chunk")
    with context.case("inside a chunk", inside_chunk(steps)) as scenario:
        _expect_refused(scenario, "a connection closed inside a chunk")


@check(
    "truncation/reset",
    fix=WRAP_TRANSPORT_ERRORS,
    example=Example(
        "The connection is reset once both events were taken.",
        sends=lambda wire: reset(sent(wire, range(2)), Progress(), 2),
    ),
)
def connection_reset_is_an_error(context: ServedContext) -> None:
    """A connection reset in mid-answer is an error.

    Load balancers reset idle streams. It must come out as the adapter's own error, for the
    agent loop catches that one and no other.
    """
    progress = Progress()
    with context.case("", reset(sent(context, range(2)), progress, 2)) as scenario:
        _expect_refused(scenario, "a connection reset after two events", progress)


@check(
    "truncation/short",
    fix=WRAP_TRANSPORT_ERRORS,
    example=Example(
        "The head promises more than comes.",
        sends=lambda wire: short_of_length(sent(wire, range(2))),
    ),
)
def short_content_length_is_an_error(context: ServedContext) -> None:
    """A body shorter than its Content-Length is an error.

    Caches and recording proxies give streams a length. Some HTTP clients do not compare it
    with what came.
    """
    with context.case("", short_of_length(sent(context, range(2)))) as scenario:
        _expect_refused(scenario, "a body shorter than its Content-Length")


@check(
    "truncation/empty",
    fix=RAISE_AT_THE_END,
    example=Example(
        "There is nothing to read, or nothing but comments.",
        sends=lambda wire: ended_cleanly((Send(wire.keep_alive), Send(wire.keep_alive))),
        others=("no byte",),
    ),
)
def empty_response_is_an_error(context: ServedContext) -> None:
    """A 200 without an answer is an error.

    An overloaded gateway answers 200 and nothing, or only keep-alive comments. An empty
    message in the history makes the next request fail, far from the cause.
    """
    with context.case("no byte", ended_cleanly(())) as scenario:
        _expect_refused(scenario, "a 200 with an empty body")
    what = "comments" if context.framing is Framing.SSE else "empty lines"
    try:
        keep_alive = Send(context.keep_alive)
    except Unsupported as refusal:
        context.leave_unjudged(str(refusal), f"{what} only")
        return
    with context.case(f"{what} only", ended_cleanly((keep_alive, keep_alive))) as scenario:
        _expect_refused(scenario, f"a 200 that holds only {what}")


@check(
    "truncation/mid-event",
    fix=RAISE_AT_THE_END,
    example=Example(
        "The last line is torn, though the HTTP body is whole.",
        sends=lambda wire: ended_cleanly(
            (*sent(wire, range(1)), Send(wire.event(1)[: len(wire.event(1).rstrip()) // 2 + 3]))
        ),
        others=("before the blank line", "before the end of the line"),
    ),
)
def cut_inside_event_is_an_error(context: ServedContext) -> None:
    """A body that ends inside an event is an error.

    Half a line is no event, and a line whose blank line never came may be half an event: it
    is discarded, and the turn is cut.
    """
    last = context.event(1)
    cuts = {"in the middle of a line": last[: len(last.rstrip()) // 2 + 3]}
    if context.framing is Framing.SSE:
        cuts["before the blank line"] = last.rstrip() + b"\n"
    if context.framing is not Framing.EVENT_STREAM:
        cuts["before the end of the line"] = last.rstrip()
    for name, piece in cuts.items():
        with context.case(name, ended_cleanly((*sent(context, [0]), Send(piece)))) as scenario:
            _expect_refused(scenario, f"a body that ended {name}")


@check(
    "truncation/gzip",
    Level.SHOULD,
    fix="ask for `Accept-Encoding: identity`, or check that the gzip stream reached its end",
    example=Example(
        "The gzip stream lacks its trailer. The HTTP body is whole.",
        server="Content-Encoding: gzip; two events, compressed, but for the last 8 bytes, which "
        "are the trailer; then the last chunk, which ends the body",
        consumer="reads to the end",
        fault="the events end, and no error says that the body was cut",
        others=("in the middle",),
    ),
)
def cut_gzip_body_is_an_error(context: ServedContext) -> None:
    """A gzip body that is cut is an error.

    Most HTTP clients ask for gzip and hand on what a cut stream gave so far, without a word.
    """
    whole = gzip.compress(context.event(0) + context.event(1))
    for name, piece in {"before its trailer": whole[:-8], "in the middle": whole[:-12]}.items():
        with context.case(name, _gzipped(piece)) as scenario:
            log = scenario.read()
            if not _accepts_gzip(scenario):
                raise Skip("the request does not accept gzip")
            expect_refusal(scenario, log, f"a gzip body cut {name}")


@check(
    "truncation/boundaries",
    needs=WIRE,
    in_memory=True,
    fix=END_OF_TURN,
    example=Example(
        "The answer ends at one of the marks: cleanly, by the connection's end, before the last "
        "chunk, inside a chunk, short of its Content-Length, or by a reset.",
        sends=_marked,
    ),
)
def every_event_boundary_is_an_error(context: CheckContext) -> None:
    """An answer that ends between two events is an error, in whichever way it ends.

    Between events is where servers die. Nothing is torn there, and only the missing end of
    the turn shows.
    """
    for body in context.bodies(short_bodies):
        for number in range(len(body.incomplete_prefixes())):
            cut = body.renewed(f"{body.name}, after {count(number, 'event')}", body.parts[:number])
            for ending in context.endings:
                context.deliver(cut, _expect_cut, _named(cut, ending), ending=ending)
    for body in context.bodies_if_any(incomplete_endings):
        context.deliver(body, _expect_incomplete)


@check(
    "truncation/prefix",
    needs=WIRE,
    in_memory=True,
    fix=END_OF_TURN,
    example=Example(
        "The answer ends after any byte, here inside a number: 3 is not 30.", sends=_cut_in_number
    ),
)
def every_prefix_is_an_error_or_the_same_turn(context: CheckContext) -> None:
    """An answer cut at any byte is an error, or the same turn as the whole one.

    Official readers took between 490 and 1,038 of about 1,000 cut answers for whole but
    different ones.
    """
    tried: list[bytes] = []
    for body in context.short_bodies():
        with context.reading(body) as read:
            context.plain(body)  # what is not even read as it stands is judged elsewhere
            whole = read(body.data)
            if body.events:
                expect_answer(context.answer_to(body, whole))
            # What two bodies begin with need not be cut twice.
            common = [_common(body.data, other) for other in tried]
            _expect_every_cut(context, body.data, whole, read, max(common, default=-1) + 1)
        tried.append(body.data)


@check(
    "truncation/arguments",
    needs=WIRE,
    in_memory=True,
    fix="parse the arguments once, when the turn has ended; what does not parse is an error, "
    "whatever the finish reason says",
    example=Example(
        "The finish says that the call is whole. Its arguments say that it is not.",
        case="arguments cut inside a number, a finish for tool use",
        sends=cut_argument_bodies,
    ),
)
def truncated_tool_call_is_an_error(context: CheckContext) -> None:
    """A tool call whose arguments are cut is never a complete call.

    Repaired, defaulted to `{}` or cut at a number's digit, it runs a tool with values that
    nobody gave: `{"days": 3` of `{"days": 30}`.
    """
    for body in context.bodies(cut_argument_bodies):
        ends = ("", "ended cleanly", "reset") if body.finish is None else ("", "ended cleanly")
        for ending in context.endings:
            if ending in ends:
                context.deliver(body, _expect_no_call, _named(body, ending), ending=ending)


@check(
    "truncation/good-endings",
    needs=WIRE,
    in_memory=True,
    fix="accept each ending that the provider calls complete; be strict about the end of the "
    "turn, not about what may follow it",
    example=Example(
        "An end marker without a finish reason is an end all the same.",
        case="[DONE], no finish",
        sends=good_endings,
    ),
)
def complete_endings_are_accepted(context: CheckContext) -> None:
    """Every ending that the format calls complete gives the turn.

    The other side of the coin: an adapter that calls whole answers cut is no use either.
    """
    for body in context.bodies(good_endings):
        for ending in context.good_endings:
            context.deliver(body, expect_answer, _named(body, ending), ending=ending)


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes two bodies have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _named(body: Body, ending: str) -> str:
    return f"{body.name}, {ending}" if ending else body.name


def _expect_refused(scenario: Scenario, what: str, progress: Progress | None = None) -> None:
    """Read the turn, and expect that it fails."""
    expect_refusal(scenario, scenario.read(progress), what)


def _expect_cut(answer: Answer) -> None:
    what = "an answer that ended between two events"
    expect_refusal(answer, answer.log, what, bytes_shown(answer.body))


def _expect_incomplete(answer: Answer) -> None:
    what = f"a body with {answer.body.name}"
    expect_refusal(answer, answer.log, what, bytes_shown(answer.body))


def _expect_every_cut(
    context: CheckContext,
    data: bytes,
    log: Transcript,
    read: Callable[[bytes], Transcript],
    first: int,
) -> None:
    """Expect an error, or the same turn, of every cut of `data` from the first one on."""
    whole = WholeAnswer(data, log)
    failures: list[Failure] = []
    for cut in range(first, len(data)):
        try:
            whole.expect_error_or_same(context, read(data[:cut]), cut)
        except Failure as failure:
            if failure.hung:
                raise
            failures.append(failure)
    if failures:
        shown, of = failures[0], count(len(data), "cut")
        raise Failure(
            f"{len(failures)} of {of} fail; the first: {shown.statement}",
            shown.evidence,
            fix=shown.fix,
        )


def _expect_no_call(answer: Answer) -> None:
    """Expect that the turn fails, in the adapter or in the agent loop that assembles it."""
    body = answer.body
    if answer.log.error is not None:
        what = f"a cut call ({body.name})"
        expect_refusal(answer, answer.log, what, bytes_shown(body))
        return
    try:
        got = content_of(answer.log.events)
    except ProtocolError:
        return
    if got.finish is not None and str(got.finish.reason) != FinishReason.LENGTH:
        raise Failure(
            "a turn whose call was cut was taken for a finished answer.",
            (Evidence("got", repr(got)), bytes_shown(body)),
        )
    if got.calls and got.finish is not None:
        raise Failure(
            "a call was given although its arguments were cut.",
            (Evidence("got", repr(got)), bytes_shown(body)),
        )


def _gzipped(body: bytes) -> Response:
    return Response((Send(body),), headers=(("Content-Encoding", "gzip"),))


def _accepts_gzip(scenario: Scenario) -> bool:
    return any(
        "gzip" in exchange.headers.get("Accept-Encoding", "")
        for exchange in scenario.backend.exchanges
    )
