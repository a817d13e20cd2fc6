"""What a provider answers where it does not stream: error objects, pages, whole answers."""

from __future__ import annotations

import json
from contextlib import suppress

from modeltest.backend import Framing, Response, Send
from modeltest.checks.trial import Trial
from modeltest.wire import CannotSpell, ErrorResponse

_PAGE = (
    "<!doctype html>\n<html><head><title>{title}</title></head>\n"
    "<body><h1>{title}</h1><hr><center>nginx</center></body></html>\n"
)


def error_answer(trial: Trial, status: int) -> ErrorResponse:
    """Return the provider's error with this HTTP status; a common one where no wire says it."""
    if trial.subject.wire is not None:
        with suppress(CannotSpell):
            answer: ErrorResponse = trial.subject.wire.error_response(status)
            return answer
    words = f"The request was refused with status {status}."
    body = json.dumps({"error": {"message": words, "type": "modeltest_error"}}).encode()
    return ErrorResponse(status, "application/json", body, (words,))


def html_page(status: int, title: str, padding: int = 0) -> ErrorResponse:
    """Return a page of a proxy or a login, with so many more bytes; it says nothing of use."""
    body = _PAGE.format(title=title).encode() + b"<!-- -->" * (padding // 8)
    return ErrorResponse(status, "text/html; charset=utf-8", body, ())


def json_answer(trial: Trial) -> bytes:
    """Return a whole answer, as to a request for no stream."""
    if trial.subject.wire is not None:
        with suppress(CannotSpell):
            answer: bytes = trial.subject.wire.json_answer()
            return answer
    return b'{"answer": "Hello", "finish_reason": "stop"}'


def answered(answer: ErrorResponse, *headers: tuple[str, str]) -> Response:
    """Return the response that gives `answer`, whole, with more headers."""
    return Response(
        (Send(answer.body),),
        status=answer.status,
        content_type=answer.content_type,
        headers=headers,
        framing=Framing.LENGTH,
    )


def redirect(status: int, location: str) -> Response:
    """Return a redirect without a body."""
    return Response(
        status=status,
        content_type=None,
        headers=(("Location", location),),
        framing=Framing.LENGTH,
    )
