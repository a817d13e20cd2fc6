"""A small adapter that keeps the contract, for an invented provider.

Its answers are server-sent events: `data: {"text": "…"}`, at last `data: {"done": "stop"}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

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
        event = _event(data)
        yield event
        if isinstance(event, Finish):
            return
    raise IncompleteResponseError("the answer ended before it was done")


def _event(data: str) -> Event:
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StreamProtocolError(f"an event is not JSON: {error}") from error
    match payload:
        case {"text": str(text)}:
            return TextDelta(text)
        case {"done": str(reason)}:
            return Finish(reason=reason, raw=reason)
    raise StreamProtocolError(f"expected an event with text or done, got {data[:80]!r}")


def _payloads(response: requests.Response) -> Iterator[str]:
    """Decode server-sent events; one counts once its blank line is there."""
    data: list[bytes] = []
    for number, line in enumerate(_lines(response)):
        field = line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
        name, _, value = field.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line:
            payload, data = b"\n".join(data), []
            if payload:
                yield payload.decode("utf-8", "replace")


def _lines(response: requests.Response) -> Iterator[bytes]:
    """Split at LF, CR LF and CR; iter_lines() would tear a CR LF that is cut in two."""
    begun, after_cr = b"", False
    # read1() gives what has come; iter_content() would wait until a buffer is full.
    while chunk := response.raw.read1(decode_content=True):
        # A CR ends its line at once. The LF that may follow it ends no other.
        piece = chunk.removeprefix(b"\n") if after_cr else chunk
        after_cr = chunk.endswith(b"\r")
        *lines, begun = (begun + piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        yield from lines
