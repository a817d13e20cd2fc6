"""What a provider answers where it does not stream: error objects, pages, whole answers."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from modeltest.encoding import ErrorResponse, Unsupported

if TYPE_CHECKING:
    from modeltest.encoding import WireFormat


_PAGE = (
    "<!doctype html>\n<html><head><title>{title}</title></head>\n"
    "<body><h1>{title}</h1><hr><center>nginx</center></body></html>\n"
)


def error_answer(wire: WireFormat | None, status: int) -> ErrorResponse:
    """Return the provider's error with this HTTP status; a common one where no wire says it."""
    if wire is not None:
        with suppress(Unsupported):
            return wire.error_response(status)
    words = f"The request was refused with status {status}."
    body = json.dumps({"error": {"message": words, "type": "modeltest_error"}}).encode()
    return ErrorResponse(status, "application/json", body, (words,))


def html_page(status: int, title: str, padding: int = 0) -> ErrorResponse:
    """Return a page of a proxy or a login, with so many more bytes; it says nothing of use."""
    body = _PAGE.format(title=title).encode() + b"<!-- -->" * (padding // 8)
    return ErrorResponse(status, "text/html; charset=utf-8", body, ())


def json_answer(wire: WireFormat | None) -> bytes:
    """Return a whole answer, as to a request for no stream."""
    if wire is not None:
        with suppress(Unsupported):
            return wire.json_answer()
    return b'{"answer": "Hello", "finish_reason": "stop"}'
