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
from modeltest.delivery import Case, Trial
from modeltest.harness import Level, Skip, check
from modeltest.wire import CannotSpell, Framing

RAISE_AT_THE_END = (
    "give a Finish only when the provider's own end of turn was read; when the body ends before "
    "it, raise IncompleteResponseError (or end without a Finish)"
)
WRAP_TRANSPORT_ERRORS = (
    "let the transport's error (ChunkedEncodingError, ProtocolError, ReadError …) come out as "
    "model_error, with `raise … from error`; never swallow it"
)


@check("truncation/clean", "test_truncated_is_an_error", fix=RAISE_AT_THE_END)
def truncated_is_an_error(trial: Trial) -> None:
    """A body that ends cleanly in mid-answer is an error.

    A proxy that gives up, or a provider that restarts, ends the body as if all were said. No
    HTTP library can tell; only the missing end of turn does. 66 of 71 published clients took
    such an answer for a whole one.
    """
    with trial.case("", ended_cleanly(sent(trial, range(2)))) as case:
        expect_refused(case, "a body that ended cleanly after two events")


@check(
    "truncation/close-delimited",
    "test_close_delimited_truncation_is_an_error",
    fix=RAISE_AT_THE_END,
)
def close_delimited_truncation_is_an_error(trial: Trial) -> None:
    """An HTTP/1.0 body that ends in mid-answer is an error.

    Without a length or chunks, the end of the connection is the end of the body: a crash of
    the server looks like its success.
    """
    with trial.case("", close_delimited(sent(trial, range(2)))) as case:
        expect_refused(case, "a close-delimited body that ended after two events")


@check("truncation/closed", "test_connection_closed_midway_is_an_error", fix=WRAP_TRANSPORT_ERRORS)
def connection_closed_midway_is_an_error(trial: Trial) -> None:
    """A connection closed before the last chunk is an error.

    The HTTP library raises here. Adapters that catch it to be robust, and end the loop, turn
    it into half an answer.
    """
    steps = sent(trial, range(2))
    with trial.case("before the last chunk", without_last_chunk(steps)) as case:
        expect_refused(case, "a connection closed before the last chunk")
    with trial.case("inside a chunk", inside_chunk(steps)) as case:
        expect_refused(case, "a connection closed inside a chunk")


@check("truncation/reset", "test_connection_reset_is_an_error", fix=WRAP_TRANSPORT_ERRORS)
def connection_reset_is_an_error(trial: Trial) -> None:
    """A connection reset in mid-answer is an error.

    Load balancers reset idle streams. It must come out as the adapter's own error, for the
    agent loop catches that one and no other.
    """
    progress = Progress()
    with trial.case("", reset(sent(trial, range(2)), progress, 2)) as case:
        expect_refused(case, "a connection reset after two events", progress)


@check("truncation/short", "test_short_content_length_is_an_error", fix=WRAP_TRANSPORT_ERRORS)
def short_content_length_is_an_error(trial: Trial) -> None:
    """A body shorter than its Content-Length is an error.

    Caches and recording proxies give streams a length. Some HTTP clients do not compare it
    with what came.
    """
    with trial.case("", short_of_length(sent(trial, range(2)))) as case:
        expect_refused(case, "a body shorter than its Content-Length")


@check("truncation/empty", "test_empty_response_is_an_error", fix=RAISE_AT_THE_END)
def empty_response_is_an_error(trial: Trial) -> None:
    """A 200 without an answer is an error.

    An overloaded gateway answers 200 and nothing, or only keep-alive comments. An empty
    message in the history makes the next request fail, far from the cause.
    """
    with trial.case("no byte", ended_cleanly(())) as case:
        expect_refused(case, "a 200 with an empty body")
    what = "comments" if trial.framing is Framing.SSE else "empty lines"
    try:
        keep_alive = Send(trial.keep_alive)
    except CannotSpell as refusal:
        trial.leave_unjudged(str(refusal), f"{what} only")
        return
    with trial.case(f"{what} only", ended_cleanly((keep_alive, keep_alive))) as case:
        expect_refused(case, f"a 200 that holds only {what}")


@check("truncation/mid-event", "test_cut_inside_event_is_an_error", fix=RAISE_AT_THE_END)
def cut_inside_event_is_an_error(trial: Trial) -> None:
    """A body that ends inside an event is an error.

    Half a line is no event, and a line whose blank line never came may be half an event: it
    is discarded, and the turn is cut.
    """
    last = trial.event(1)
    cuts = {"in the middle of a line": last[: len(last.rstrip()) // 2 + 3]}
    if trial.framing is Framing.SSE:
        cuts["before the blank line"] = last.rstrip() + b"\n"
    if trial.framing is not Framing.EVENT_STREAM:
        cuts["before the end of the line"] = last.rstrip()
    for name, piece in cuts.items():
        with trial.case(name, ended_cleanly((*sent(trial, [0]), Send(piece)))) as case:
            expect_refused(case, f"a body that ended {name}")


@check(
    "truncation/gzip",
    "test_cut_gzip_body_is_an_error",
    Level.SHOULD,
    fix="ask for `Accept-Encoding: identity`, or check that the gzip stream reached its end",
)
def cut_gzip_body_is_an_error(trial: Trial) -> None:
    """A gzip body that is cut is an error.

    Most HTTP clients ask for gzip and hand on what a cut stream gave so far, without a word.
    """
    whole = gzip.compress(trial.event(0) + trial.event(1))
    for name, piece in {"before its trailer": whole[:-8], "in the middle": whole[:-12]}.items():
        with trial.case(name, _gzipped(piece)) as case:
            log = case.read()
            if not _accepts_gzip(case):
                raise Skip("the request does not accept gzip")
            expect_refusal(case, log, f"a gzip body cut {name}")


def _gzipped(body: bytes) -> Response:
    return Response((Send(body),), headers=(("Content-Encoding", "gzip"),))


def _accepts_gzip(case: Case) -> bool:
    return any(
        "gzip" in exchange.headers.get("Accept-Encoding", "") for exchange in case.backend.exchanges
    )
