"""What it costs to start and stop a backend, which every case of every check does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from modeltest.backend import Backend, Response
from tests.benchmarks.measure import Table, compare, in_turns, timed


def tables(*, quick: bool) -> Iterator[Table]:
    """Compare with the standard library's server, as it is and with a shorter poll."""
    measured = in_turns(
        3 if quick else 100,
        {"Backend": timed(_backend), "ThreadingHTTPServer, poll 0.02 s": timed(_standard(0.02))},
    )
    # Half a second each: not so often.
    measured |= in_turns(
        1 if quick else 10, {"ThreadingHTTPServer, poll 0.5 s (default)": timed(_standard(0.5))}
    )
    yield compare("start + stop", measured, "aim: about 1 ms")


def _backend() -> None:
    with Backend(Response()):
        pass


def _standard(poll: float) -> Callable[[], None]:
    def start_and_stop() -> None:
        with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
            thread = threading.Thread(target=server.serve_forever, args=[poll])
            thread.start()
            server.shutdown()
            thread.join()

    return start_and_stop
