"""What the ledger costs a request, and what the guard against egress costs a connection."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import requests

from modeltest.transports import EgressGuard, Ledger, RequestsTransport
from tests.benchmarks.bare import BareServer
from tests.benchmarks.measure import Table, compare, in_turns, timed
from tests.benchmarks.tape import Answer

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
KEPT = Answer([_HEAD + b"\r\nok"])
CLOSED = Answer([_HEAD + b"Connection: close\r\n\r\nok"], closes=True)


def tables(*, quick: bool) -> Iterator[Table]:
    """Compare requests with and without each."""
    rounds = 3 if quick else 300
    with BareServer() as server, requests.Session() as plain:
        # As the kit's: looking for proxies and a .netrc takes longer than all that is compared.
        plain.trust_env = False
        yield _ledger("connection kept", KEPT, rounds, server, plain)
        yield _ledger("a new connection each", CLOSED, rounds, server, plain)
        server.play([CLOSED] * rounds * 2)
        yield _guard("a request on a new connection", rounds, server, _get(plain, server))
        yield _guard("1000 audit events that no guard judges", rounds, server, _thousand_events)


def _ledger(
    title: str, answer: Answer, rounds: int, server: BareServer, plain: requests.Session
) -> Table:
    server.play([answer] * rounds * 2)
    with RequestsTransport().client(Ledger()) as tracked:
        actions = {
            "plain Session": timed(_get(plain, server)),
            "RequestsTransport": timed(_get(tracked, server)),
        }
        return compare(f"a request, {title}", in_turns(rounds, actions))


def _guard(title: str, rounds: int, server: BareServer, action: Callable[[], object]) -> Table:
    def guarded() -> float:
        with EgressGuard([server.address]):
            return timed(action)()

    actions = {"no guard active": timed(action), "a guard active": guarded}
    return compare(title, in_turns(rounds, actions))


def _get(client: requests.Session, server: BareServer) -> Callable[[], object]:
    return lambda: client.get(server.url).content


def _thousand_events() -> None:
    for _ in range(1000):
        sys.audit("modeltest.benchmark")
