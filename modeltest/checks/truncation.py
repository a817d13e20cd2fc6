"""truncation: a cut answer is never an answer."""

from __future__ import annotations

import gzip

from modeltest.assertions import expect_refusal, expect_refused
from modeltest.backend import (
    Progress,
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
from modeltest.delivery import CheckContext, Scenario
from modeltest.harness import Level, Skip, check
from modeltest.wire import Framing, Unsupported

RAISE_AT_THE_END = (
    "give a Finish only when the provider's own end of turn was read; when the body ends before "
    "it, raise IncompleteResponseError (or end without a Finish)"
)
WRAP_TRANSPORT_ERRORS = (
    "let the transport's error (ChunkedEncodingError, ProtocolError, ReadError …) come out as "
    "model_error, with `raise … from error`; never swallow it"
)


@check("truncation/clean", fix=RAISE_AT_THE_END)
def truncated_is_an_error(context: CheckContext) -> None:
    """A body that ends cleanly in mid-answer is an error.

    A proxy that gives up, or a provider that restarts, ends the body as if all were said. No
    HTTP library can tell; only the missing end of turn does. 66 of 71 published clients took
    such an answer for a whole one.
    """
    with context.case("", ended_cleanly(sent(context, range(2)))) as scenario:
        expect_refused(scenario, "a body that ended cleanly after two events")


@check(
    "truncation/close-delimited",
    fix=RAISE_AT_THE_END,
)
def close_delimited_truncation_is_an_error(context: CheckContext) -> None:
    """An HTTP/1.0 body that ends in mid-answer is an error.

    Without a length or chunks, the end of the connection is the end of the body: a crash of
    the server looks like its success.
    """
    with context.case("", close_delimited(sent(context, range(2)))) as scenario:
        expect_refused(scenario, "a close-delimited body that ended after two events")


@check("truncation/closed", fix=WRAP_TRANSPORT_ERRORS)
def connection_closed_midway_is_an_error(context: CheckContext) -> None:
    """A connection closed before the last chunk is an error.

    The HTTP library raises here. Adapters that catch it to be robust, and end the loop, turn
    it into half an answer.
    """
    steps = sent(context, range(2))
    with context.case("before the last chunk", without_last_chunk(steps)) as scenario:
        expect_refused(scenario, "a connection closed before the last chunk")
    with context.case("inside a chunk", inside_chunk(steps)) as scenario:
        expect_refused(scenario, "a connection closed inside a chunk")


@check("truncation/reset", fix=WRAP_TRANSPORT_ERRORS)
def connection_reset_is_an_error(context: CheckContext) -> None:
    """A connection reset in mid-answer is an error.

    Load balancers reset idle streams. It must come out as the adapter's own error, for the
    agent loop catches that one and no other.
    """
    progress = Progress()
    with context.case("", reset(sent(context, range(2)), progress, 2)) as scenario:
        expect_refused(scenario, "a connection reset after two events", progress)


@check("truncation/short", fix=WRAP_TRANSPORT_ERRORS)
def short_content_length_is_an_error(context: CheckContext) -> None:
    """A body shorter than its Content-Length is an error.

    Caches and recording proxies give streams a length. Some HTTP clients do not compare it
    with what came.
    """
    with context.case("", short_of_length(sent(context, range(2)))) as scenario:
        expect_refused(scenario, "a body shorter than its Content-Length")


@check("truncation/empty", fix=RAISE_AT_THE_END)
def empty_response_is_an_error(context: CheckContext) -> None:
    """A 200 without an answer is an error.

    An overloaded gateway answers 200 and nothing, or only keep-alive comments. An empty
    message in the history makes the next request fail, far from the cause.
    """
    with context.case("no byte", ended_cleanly(())) as scenario:
        expect_refused(scenario, "a 200 with an empty body")
    what = "comments" if context.framing is Framing.SSE else "empty lines"
    try:
        keep_alive = Send(context.keep_alive)
    except Unsupported as refusal:
        context.leave_unjudged(str(refusal), f"{what} only")
        return
    with context.case(f"{what} only", ended_cleanly((keep_alive, keep_alive))) as scenario:
        expect_refused(scenario, f"a 200 that holds only {what}")


@check("truncation/mid-event", fix=RAISE_AT_THE_END)
def cut_inside_event_is_an_error(context: CheckContext) -> None:
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
            expect_refused(scenario, f"a body that ended {name}")


@check(
    "truncation/gzip",
    Level.SHOULD,
    fix="ask for `Accept-Encoding: identity`, or check that the gzip stream reached its end",
)
def cut_gzip_body_is_an_error(context: CheckContext) -> None:
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


def _gzipped(body: bytes) -> Response:
    return Response((Send(body),), headers=(("Content-Encoding", "gzip"),))


def _accepts_gzip(scenario: Scenario) -> bool:
    return any(
        "gzip" in exchange.headers.get("Accept-Encoding", "")
        for exchange in scenario.backend.exchanges
    )
