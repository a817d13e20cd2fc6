"""What an adapter sends for a request: to the backend, or elsewhere."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeltest.harness import Evidence, Failure, Skip, count, refused
from modeltest.threads import ending_of, shown
from modeltest.transports import caught_elsewhere

if TYPE_CHECKING:
    from modeltest.backend import Exchange
    from modeltest.consumer import Log
    from modeltest.delivery.scenario import Scenario
    from modeltest.interface import Request
    from modeltest.transports import Attempt, Caught


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

    def content_of(self, exchange: Exchange) -> bytes:
        """Return the body of one of the requests, decompressed.

        Raises:
            Skip: it is compressed in a way that is not known here.
        """
        return content(exchange)

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
        got = f"the adapter's turn: {ending_of(self.log.error, ended=self.log.ended)}"
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


def send(scenario: Scenario, request: Request, attempts: Sequence[Attempt]) -> Sending:
    """Let the adapter stream `request`, and return all that it sent for it.

    Args:
        scenario: where the adapter is.
        request: what is streamed.
        attempts: the connections to elsewhere that were refused so far; it grows.
    """
    before = len(attempts)
    with caught_elsewhere(scenario.bystanders) as caught:
        log = scenario.read(request=request)
        scenario.let_threads_rest()  # one of them may be about to send
    return Sending(
        request,
        log,
        tuple(scenario.backend.exchanges),
        tuple(scenario.backend.malformed),
        tuple(caught),
        tuple(attempts[before:]),
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
