"""A client for Acme's models. It has events of its own and does not import modeltest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests
import urllib3


@dataclass(frozen=True)
class Piece:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True)
class Done:
    """The end of the answer."""

    reason: str


class AcmeError(Exception):
    """Acme failed, or its answer broke off."""


class AcmeClient:
    """Sends chats to Acme and yields the answers."""

    def __init__(self, base_url: str, session: requests.Session, api_key: str) -> None:
        """Use `session` for all requests."""
        self._url = f"{base_url}/v1/answer"
        self._session = session
        self._headers = {"Authorization": f"Bearer {api_key}", "Accept-Encoding": "identity"}

    def chat(self, messages: Sequence[Mapping[str, str]]) -> Iterator[Piece | Done]:
        """Yield the pieces of one answer, then Done."""
        try:
            with self._session.post(
                self._url,
                json={"messages": [*messages]},
                headers=self._headers,
                stream=True,
                allow_redirects=False,
            ) as response:
                if response.status_code != 200:
                    text = response.raw.read(2000).decode("utf-8", "replace")
                    raise AcmeError(f"HTTP {response.status_code}: {text}")
                yield from _read(response)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise AcmeError(f"the connection failed: {error}") from error


def _read(response: requests.Response) -> Iterator[Piece | Done]:
    for data in _payloads(response):
        event = _event(data)
        yield event
        if isinstance(event, Done):
            return
    raise AcmeError("the answer ended before it was done")


def _event(data: str) -> Piece | Done:
    try:
        payload: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise AcmeError(f"an event is not JSON: {error}") from error
    match payload:
        case {"text": str(text)}:
            return Piece(text)
        case {"done": str(reason)}:
            return Done(reason)
    raise AcmeError(f"expected an event with text or done, got {data[:80]!r}")


def _payloads(response: requests.Response) -> Iterator[str]:
    """Yield the data of each server-sent event once its blank line has come."""
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
    """Split at LF, CR LF and CR. iter_lines() would split at more, and wait for a full buffer."""
    begun, after_cr = b"", False
    while chunk := response.raw.read1(decode_content=True):
        piece = chunk.removeprefix(b"\n") if after_cr else chunk
        after_cr = chunk.endswith(b"\r")
        *lines, begun = (begun + piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        yield from lines
