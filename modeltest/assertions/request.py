"""What an adapter sends for a request: to the backend, or elsewhere."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modeltest.backend import Exchange
from modeltest.consumer import Log
from modeltest.delivery import Caught, CheckContext, Scenario, caught_elsewhere, ending
from modeltest.harness import Evidence, Failure, Skip, count, refused, shown
from modeltest.interface import Request
from modeltest.transports import Attempt

_SHOWN = 2
"""Requests that a failure shows."""


@dataclass(frozen=True)
class Sending:
    """A turn that was read, and what was sent for it.

    Attributes:
        request: what the adapter was asked to send.
        log: the turn.
        exchanges: the requests that reached the backend.
        malformed: what reached it and was no request.
        caught: requests to other machines that were caught.
        attempts: other connections to elsewhere, which were refused.
    """

    request: Request
    log: Log
    exchanges: Sequence[Exchange]
    malformed: Sequence[str]
    caught: Sequence[Caught]
    attempts: Sequence[Attempt]

    @property
    def number(self) -> int:
        """How many requests were sent, wherever they went."""
        return len(self.exchanges) + len(self.malformed) + len(self.strays)

    @property
    def strays(self) -> list[Caught]:
        """The requests to elsewhere that carry the question, or what nobody knows.

        Others are none of this request.
        """
        texts = [message.text.encode() for message in self.request.messages if message.text]
        return [
            one
            for one in self.caught
            if one.body is None or any(text in one.body for text in texts)
        ]

    @property
    def bodies(self) -> list[bytes]:
        """What was sent for the request, wherever it went."""
        elsewhere = (one.body for one in self.strays if one.body is not None)
        return [*map(content, self.exchanges), *elsewhere]

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The requests, and what was refused; without headers, which say nothing of tools."""
        sent: list[Exchange | Caught] = [*self.exchanges, *self.caught]
        first = [one.summary for one in sent[:_SHOWN]]
        request = Evidence("request", "\n".join(first) or "none", always=True)
        return (request, refused(self.attempts)) if self.attempts else (request,)

    def expect_one(self) -> Exchange:
        """Expect exactly one request, at the backend; return it.

        Raises:
            Failure: with what was sent.
        """
        got = f"the adapter's turn: {ending(self.log)}"
        if self.log.error is not None:
            got = f"the adapter raised {shown(self.log.error)}"
        if len(self.exchanges) == self.number == 1:
            return self.exchanges[0]
        if self.exchanges:
            raise Failure(
                f"sent in {count(self.number, 'request')}; expected exactly one.", self.evidence
            )
        if self.strays or self.attempts:
            raise Failure(
                f"sent elsewhere; expected one request to base_url; {got}.",
                self.evidence,
                fix="build every URL from base_url",
            )
        if self.malformed:
            raise Failure(
                f"what was sent is no HTTP/1 request: {self.malformed[0]}; expected exactly one; "
                f"{got}.",
                self.evidence,
            )
        raise Failure(f"not sent; expected exactly one request; {got}.", self.evidence)


def send(context: CheckContext, scenario: Scenario, request: Request) -> Sending:
    """Let the adapter stream `request`, and return all that it sent for it."""
    before = len(context.egress.attempts)
    with caught_elsewhere(scenario) as caught:
        log = scenario.read(request=request)
        scenario.let_threads_rest()  # one of them may be about to send
    return Sending(
        request,
        log,
        tuple(scenario.backend.exchanges),
        tuple(scenario.backend.malformed),
        tuple(caught),
        tuple(context.egress.attempts[before:]),
    )


def content(exchange: Exchange) -> bytes:
    """Return a request's body, decompressed; as it is where it is not what its head says.

    Raises:
        Skip: it is compressed in a way that is not known here.
    """
    encoding = exchange.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in _DECODERS:
        raise Skip(f"the request is compressed with {encoding}, which is not read here")
    try:
        return _DECODERS[encoding](exchange.body)
    except (OSError, EOFError, zlib.error):
        return exchange.body


def _inflated(body: bytes) -> bytes:
    """Return what was deflated, as the standard has it or as many do it: without its head."""
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, wbits=-zlib.MAX_WBITS)


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.decompress,
    "x-gzip": gzip.decompress,
    "deflate": _inflated,
}


def parsed(body: bytes) -> Any:
    """Return the JSON value of a request's body; None if it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value: strings, and the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        yield from _texts(value.values())
    elif isinstance(value, Sequence):
        yield from _texts(value)


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of every member of every object in a JSON value."""
    if isinstance(value, Mapping):
        yield from value.items()
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from members(item)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from texts_in(value)
