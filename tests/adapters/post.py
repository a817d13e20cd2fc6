"""A request over requests whose answer is read while it comes."""

from __future__ import annotations

import requests
from urllib3.exceptions import HTTPError

from .api_key import KeyHeader
from .http_body import HTTPBody
from .http_errors import EVENT_STREAM, expect_event_stream, unreachable
from .secret import Caught


def post(
    session: requests.Session,
    url: str,
    payload: bytes,
    *,
    key: KeyHeader,
    secret: str,
    timeout: tuple[float, float | None],
    media_type: str = EVENT_STREAM,
) -> HTTPBody:
    """Send `payload`, and return the body of the answer once its headers are there.

    Args:
        session: the connections.
        url: where to; it holds no secret, for URLs are quoted in errors.
        payload: the JSON to send.
        key: the header with the secret.
        secret: what must be in no error.
        timeout: seconds until the connection has to stand, and of silence; None waits.
        media_type: of a stream.

    Raises:
        ModelError: no answer, or one that is no stream; nothing is left open.
    """
    # requests' own errors are OSErrors; some of urllib3's pass through it unchanged.
    with Caught(OSError, HTTPError, UnicodeError) as caught:
        response = session.post(
            url,
            data=payload,
            headers={
                "Content-Type": "application/json",
                "Accept": media_type,
                # A compressed stream comes in blocks, not as it is written.
                "Accept-Encoding": "identity",
            },
            auth=key,
            stream=True,
            allow_redirects=False,
            timeout=timeout,
        )
        body = HTTPBody(response.raw, secret=secret)
        return expect_event_stream(body, secret=secret, media_type=media_type)
    raise unreachable(caught, secret=secret)
