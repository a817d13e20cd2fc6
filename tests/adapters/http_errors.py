"""What a provider says when it does not stream: HTTP answers and error objects → typed errors."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from modeltest import APIError, ModelError, QuotaExhaustedError, RateLimitedError

from .http_body import HTTPBody
from .payload import decode
from .secret import Caught, without_secret

# Enough for any message; an error page of ten megabytes is not read for it.
ERROR_BYTES = 64 * 1024
ERROR_SECONDS = 1.0
_MESSAGE_CHARACTERS = 500
_WORD_CHARACTERS = 80

EVENT_STREAM = "text/event-stream"

_QUOTA = {
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
}
_RATE_LIMIT = {"rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"}


def unreachable(caught: Caught, *, secret: str) -> ModelError:
    """Return the error of a request that had no answer."""
    return caught.failure(ModelError, "the provider did not answer", secret)


def expect_event_stream(body: HTTPBody, *, secret: str, media_type: str = EVENT_STREAM) -> HTTPBody:
    """Return `body` if it is a stream of events; if not, close it and raise what it says.

    Raises:
        APIError: another status than 200, a redirect included, or another media type.
            `secret` is not in it, even if the provider repeats it.
    """
    if is_stream(body.status, body.headers, media_type):
        return body
    with body:
        start = body.start(ERROR_BYTES, ERROR_SECONDS)
    raise http_error(body.status, body.headers, start, secret=secret, media_type=media_type)


def is_stream(status: int, headers: Mapping[str, str], media_type: str = EVENT_STREAM) -> bool:
    """Return whether an answer is a stream, from what precedes its body."""
    given = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return status == HTTPStatus.OK and given == media_type


def http_error(
    status: int,
    headers: Mapping[str, str],
    start: bytes,
    *,
    secret: str,
    media_type: str = EVENT_STREAM,
) -> APIError:
    """Return the typed error for an answer that is no stream, from the start of its body."""
    body = start.decode("utf-8", "replace")
    try:
        payload = decode(body)
    except ValueError:
        payload = None
    if _error_object(payload) is None:
        given = headers.get("Content-Type", "no media type")
        payload = {"error": f"{_what(status, media_type)} ({given}): {_without_tags(body)}"}
    retry_after = parse_retry_after(headers.get("Retry-After", ""))
    return api_error(payload, status=status, retry_after=retry_after, body=body, secret=secret)


def api_error(
    payload: Any,
    *,
    secret: str,
    status: int | None = None,
    retry_after: float | None = None,
    body: str = "",
) -> APIError:
    """Return the typed error for a provider's error object, found in a body or in a stream.

    Understands `{"error": {"message", "type", "code"}}`, the same without the outer object or
    within a list, and `{"error": "message"}`.
    """
    error = _error_object(payload) or {}

    def said(name: str, limit: int = _WORD_CHARACTERS) -> str:
        value = error.get(name)
        return _shortened(str(value), limit, secret) if isinstance(value, str | int) else ""

    message = said("message", _MESSAGE_CHARACTERS) or said("detail", _MESSAGE_CHARACTERS)
    code = said("code")
    kind = said("type") or said("status") or code
    rest = {"type": kind, "code": code, "body": _shortened(body, _MESSAGE_CHARACTERS, secret)}
    if status == HTTPStatus.PAYMENT_REQUIRED or _QUOTA & {kind, code}:
        return QuotaExhaustedError(status, message, **rest)
    asked_to_wait = status == HTTPStatus.TOO_MANY_REQUESTS or retry_after is not None
    if asked_to_wait or _RATE_LIMIT & {kind, code}:
        return RateLimitedError(status, message, retry_after=retry_after, **rest)
    return APIError(status, message, **rest)


def parse_retry_after(value: str) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number, or the time to a date.

    A date names a whole second, the one in which the moment lies that was meant. Its end is
    waited for, or a wait of half a second would become none.
    """
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value.strip()):
        seconds = float(value)
        return seconds if math.isfinite(seconds) else None
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds() + 1.0)


def _error_object(payload: Any) -> dict[str, Any] | None:
    if isinstance(payload, list) and payload:
        return _error_object(payload[0])
    if not isinstance(payload, dict):
        return None
    error = payload.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str) and error:
        return {**payload, "message": error}
    return payload if "message" in payload or "detail" in payload else None


def _what(status: int, media_type: str) -> str:
    if status == HTTPStatus.OK:
        return f"expected {media_type}"
    if 300 <= status < 400:
        return "redirects are not followed, the key stays with the provider"
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no known status"


def _without_tags(text: str) -> str:
    # "<" is excluded within a tag so that a page of nothing else is still read in linear time.
    return html.unescape(re.sub(r"<[^<>]*>", " ", text))


def _shortened(text: str, limit: int, secret: str) -> str:
    # The secret first: cut through the middle it would not be found.
    text = " ".join(without_secret(text, secret).split())
    return text if len(text) <= limit else text[:limit] + "…"
