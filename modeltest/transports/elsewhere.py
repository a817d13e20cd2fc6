"""Catching requests that go elsewhere than to the backend, before they leave the process."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests
import responses
from responses.registries import FirstMatchRegistry

from modeltest.redaction import shown_request

_patched = threading.Lock()


@contextmanager
def in_place(mock: responses.RequestsMock) -> Iterator[responses.RequestsMock]:
    """Yield `mock` while requests are sent through it.

    There is one `HTTPAdapter.send` a process. Of two threads that replace it, and put back what
    they found there, the second one puts back the first one's: so they take turns.
    """
    with _patched, mock:
        yield mock


@dataclass(frozen=True)
class Caught:
    """A request through the requests library to another machine; it was refused.

    Attributes:
        method: "POST", …
        url: where to.
        body: what it would have sent; None where that comes piece by piece, and is not known.
    """

    method: str
    url: str = field(repr=False)
    body: bytes | None = field(repr=False)

    @property
    def summary(self) -> str:
        """The request without its headers and credentials, a long body shortened."""
        return shown_request(self.method, self.url, self.body or b"")


@contextmanager
def caught_elsewhere(bystanders: Collection[threading.Thread]) -> Iterator[list[Caught]]:
    """Yield a list of the requests through the requests library to any other machine, as they come.

    The adapter sees a failure of the network. What goes to this machine passes, and
    so do requests of `bystanders`, threads that were there before the adapter.
    """
    caught: list[Caught] = []

    class Elsewhere(FirstMatchRegistry):
        def find(self, request: Any) -> tuple[responses.BaseResponse, list[str]]:
            if _is_local(request.url) or threading.current_thread() in bystanders:
                return responses.PassthroughResponse(request.method, request.url), []
            caught.append(Caught(request.method, request.url, _bytes(request.body)))
            host = urlsplit(request.url).hostname
            refusal = requests.ConnectionError(f"modeltest refused to connect to {host}")
            return responses.Response(request.method, request.url, body=refusal), []

    with in_place(responses.RequestsMock(assert_all_requests_are_fired=False, registry=Elsewhere)):
        yield caught


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def _bytes(body: Any) -> bytes | None:
    if isinstance(body, str):
        return body.encode()
    return b"" if body is None else bytes(body) if isinstance(body, bytes | bytearray) else None
