"""A small adapter that keeps the contract, for an invented provider.

Its answers are server-sent events: `data: {"text": "…"}`, at last `data: {"done": "stop"}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import requests
import urllib3

from modeltest.contract import (
    APIError,
    Event,
    Finish,
    IncompleteResponseError,
    ModelError,
    Request,
    StreamProtocolError,
    TextDelta,
)


class AcmeModel:
    """Streams answers of Acme's models over requests; the stream is a generator."""

    def __init__(self, base_url: str, session: requests.Session, api_key: str) -> None:
        self._url = f"{base_url}/v1/answer"
        self._session = session
        self._headers = {"Authorization": f"Bearer {api_key}", "Accept-Encoding": "identity"}

    def stream(self, request: Request) -> Iterator[Event]:
        """Yield the events of one answer.

        Raises:
            ModelError: the provider failed, or its answer broke off.
        """
        payload = {"messages": [[message.role, message.text] for message in request.messages]}
        try:
            with self._session.post(
                self._url, json=payload, headers=self._headers, stream=True, allow_redirects=False
            ) as response:
                if response.status_code != 200:
                    raise APIError(
                        response.status_code, response.raw.read(2000).decode("utf-8", "replace")
                    )
                yield from _events(response)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise ModelError(f"the connection failed: {error}") from error


def _events(response: requests.Response) -> Iterator[Event]:
    for data in _payloads(response):
        if "done" in data:
            yield Finish(reason=data["done"], raw=data["done"])
            return
        yield TextDelta(data["text"])
    raise IncompleteResponseError("the answer ended before it was done")


def _payloads(response: requests.Response) -> Iterator[dict[str, Any]]:
    """Decode events whose data is one line; an event counts once its blank line is there."""
    payload = None
    for line in _lines(response):
        if line.startswith(b"data:"):
            payload = line[5:]
        elif not line and payload is not None:
            try:
                yield json.loads(payload.decode("utf-8", "replace"))
            except ValueError as error:
                raise StreamProtocolError(f"an event is not JSON: {error}") from error
            payload = None


def _lines(response: requests.Response) -> Iterator[bytes]:
    """Split at LF, CR LF and CR; iter_lines() would tear a CR LF that is cut in two."""
    buffer = b""
    # read1() gives what has come; iter_content() would wait until a buffer is full.
    while chunk := response.raw.read1(decode_content=True):
        buffer += chunk
        # A CR at the end may be half a CR LF: it is kept for the next chunk.
        whole, cr = (buffer[:-1], buffer[-1:]) if buffer.endswith(b"\r") else (buffer, b"")
        *lines, rest = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        yield from lines
        buffer = rest + cr
