"""faults: the provider fails, and what the adapter does then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modeltest.assertions import (
    bytes_shown,
    expect_error,
    expect_refusal,
    expect_requests,
    expect_said,
)
from modeltest.backend import Close, Reset, Response, SendHead, answered
from modeltest.corpus import error_answer, error_bodies, html_page, json_answer
from modeltest.encoding import ErrorResponse
from modeltest.harness import Example, Failure, check, size
from modeltest.threads import chain_of, parts_carried_by, text_of

if TYPE_CHECKING:
    from modeltest.backend import Step
    from modeltest.delivery import ServedContext
    from modeltest.harness import Answer


_STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529)
_MAY_PASS = (408, 409, 429)
"""Client errors that may be over when the same request is sent again; no other 4xx may be."""

_ODD_HINTS = ("Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-1")
"""What stands in Retry-After besides a number of seconds: a date that is over, and no hint."""

_LARGE = 10_000_000
_BOUND = 100_000
"""Bytes of a body that is not carried, and characters that an error may carry."""


@check(
    "faults/status",
    fix="raise a ModelError with the HTTP status and the provider's message for every status but "
    "200; read a bounded part of the body, close the response, and send the request again only "
    "after 408, 409, 429 and 5xx, not more often than `retries` says",
    example=Example(
        "The server refuses; the error has to say 429 and the words.",
        sends=lambda wire: answered(error_answer(wire, 429)),
        others=(
            *(f"HTTP {status}" for status in _STATUSES if status != 429),
            "HTTP 502, a page",
            f"HTTP 500, a page of {size(_LARGE)}",
            f"HTTP 400, a message of {size(_LARGE)}",
        ),
    ),
)
def http_errors_are_errors(context: ServedContext) -> None:
    """A refusal over HTTP is an error that says its status and the provider's words.

    An agent loop decides by them whether to wait, to shorten the prompt or to give up. A 400
    that is sent again is refused again; a page of ten megabytes fills the log.
    """
    for status in _STATUSES:
        _try_refusal(context, f"HTTP {status}", error_answer(context.target.wire, status))
    _try_refusal(context, "HTTP 502, a page", html_page(502, "502 Bad Gateway"))
    page = html_page(500, "500 Internal Server Error", _LARGE)
    _try_refusal(context, f"HTTP 500, a page of {size(_LARGE)}", page)
    _try_refusal(context, f"HTTP 400, a message of {size(_LARGE)}", _long_message(context))
    for hint in _ODD_HINTS:
        response = error_answer(context.target.wire, 429)
        _try_refusal(context, f"HTTP 429, Retry-After: {hint}", response, ("Retry-After", hint))


@check(
    "faults/not-a-stream",
    fix="look at the Content-Type: what is no stream of events is an error, whatever the status "
    "says; then expect the end of the turn, which no page has",
    example=Example(
        "HTTP said 200; a proxy's page came.",
        sends=lambda _: answered(html_page(200, "Please log in")),
        others=("an error as JSON", "an answer as JSON, not streamed"),
    ),
)
def response_that_is_no_stream_is_an_error(context: ServedContext) -> None:
    """A response with status 200 that is no stream is an error.

    Proxies answer with pages, gateways with an error object under 200. A reader that skips what
    it does not know makes an empty answer of either.
    """
    error = error_answer(context.target.wire, 400)
    page = html_page(200, "Please log in")
    whole = ErrorResponse(200, "application/json", json_answer(context.target.wire), ())
    for name, said in {
        "an error as JSON": replace(error, status=200),
        "a page": page,
        "an answer as JSON, not streamed": whole,
    }.items():
        with context.case(name, answered(said)) as scenario:
            expect_refusal(scenario, scenario.read(), f"{name}, with status 200,")
            expect_requests(scenario, 1 + context.target.retries)
            scenario.expect_released("the turn failed")


@check(
    "faults/error-event",
    bodies=error_bodies,
    fix="raise a ModelError that carries the provider's type and message for each shape of its "
    "error event, and nothing after it",
    example=Example(
        "HTTP said 200, and two pieces of text came.",
        case="an error object, after 2 texts",
        sends=error_bodies,
    ),
)
def error_event_is_an_error(answer: Answer) -> None:
    """An error event is an error, with the provider's type and message in it.

    It comes after HTTP 200, and after half an answer. Ignored, it leaves that half for a whole.
    """
    body = answer.body
    error = expect_error(answer, answer.log, "an error event", bytes_shown(body))
    words = body.error.words if body.error is not None else ()
    expect_said(error, words, "what the provider said", bytes_shown(body))
    expect_requests(answer, 1 if body.text else 1 + answer.retries)


@check(
    "faults/unreachable",
    fix="catch what the HTTP client raises at the call as well as in mid-body, and raise a "
    "ModelError from it",
    example=Example(
        "No answer comes, or none in HTTP.",
        server="does not listen; closes or resets the connection before any header; closes within "
        "the status line; says 'SSH-2.0-OpenSSH_9.6'",
        consumer="streams one turn",
        fault="an exception of the HTTP client comes out, instead of a ModelError",
    ),
)
def unreachable_provider_is_an_error(context: ServedContext) -> None:
    """A provider that cannot be reached, or does not answer in HTTP, is an error.

    An exception of the HTTP client passes every handler of the agent loop, and ends the program.
    """
    with context.case("connection refused") as scenario, scenario.nobody_listens():
        expect_error(scenario, scenario.read(), "a refused connection")
    for name, before in _NO_ANSWERS.items():
        with context.case(name, Response(before=before)) as scenario:
            expect_error(scenario, scenario.read(), name)
            expect_requests(scenario, 1 + context.target.retries)


_NO_ANSWERS: dict[str, tuple[Step, ...]] = {
    "closed before any header": (Close(),),
    "reset before any header": (Reset(),),
    "closed within the status line": (SendHead(b"HTTP/1.1 20"), Close()),
    "an answer in another protocol": (SendHead(b"SSH-2.0-OpenSSH_9.6\r\n"), Close()),
}
"""What comes instead of a head, and how."""


def _long_message(context: ServedContext) -> ErrorResponse:
    """Return the provider's error with a message that nobody wants to read."""
    refusal = error_answer(context.target.wire, 400)
    word = (refusal.words or ("status",))[0].encode()
    body = refusal.body.replace(word, word + b" and so on" * (_LARGE // 10), 1)
    return replace(refusal, body=body, words=())


def _try_refusal(
    context: ServedContext, name: str, refusal: ErrorResponse, *headers: tuple[str, str]
) -> None:
    with context.case(name, answered(refusal, *headers)) as scenario:
        log = scenario.read()
        error = expect_error(scenario, log, f"HTTP {refusal.status}")
        # First: to look at an error may read its response to the end. And an adapter that
        # releases none is not waited for each time.
        if not context.failed:
            scenario.expect_released("the turn failed")
        expect_said(error, refusal.words, "what the provider said")
        _expect_status(error, refusal)
        _expect_bounded(error)
        final = 400 <= refusal.status < 500 and refusal.status not in _MAY_PASS
        expect_requests(scenario, 1 if final else 1 + context.target.retries)


def _expect_status(error: BaseException, refusal: ErrorResponse) -> None:
    """Expect the status itself: the provider's words may hold the same number."""
    expect_said(error, (str(refusal.status),), "the HTTP status", without=refusal.words)


def _expect_bounded(error: BaseException) -> None:
    """Expect that neither the error nor what it is chained to carries a large body."""
    for link in chain_of(error):
        whose = "the error" if link is error else f"a cause of it ({type(link).__name__})"
        carried = [(f"its attribute {name!r}", text) for name, text in parts_carried_by(link)]
        for what, text in (("its text", text_of(link)), *carried):
            if len(text) > _BOUND:
                raise Failure(
                    f"{whose} carries the whole body: {what} has {len(text):,} characters; "
                    f"expected {_BOUND:,} at most.",
                    fix="read and keep the first few thousand bytes of an error's body",
                )
