"""How OpenAI refuses a request, whichever of its interfaces was asked."""

from __future__ import annotations

from collections.abc import Mapping

from modeltest.encoding import ErrorResponse, to_json

_ERRORS: Mapping[int, tuple[str, str]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def openai_error_response(status: int) -> ErrorResponse:
    """Return OpenAI's error object with this HTTP status."""
    default = "server_error" if status >= 500 else "invalid_request_error"
    kind, code = _ERRORS.get(status, (default, None))
    words = f"The request was refused with status {status}."
    error = {"message": words, "type": kind, "param": None, "code": code}
    return ErrorResponse(status, "application/json", to_json({"error": error}).encode(), (words,))
