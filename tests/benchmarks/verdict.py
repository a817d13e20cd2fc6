"""How long after the consumer stopped the verdict is there."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator

from modeltest.backend.scripts import flowing
from modeltest.consumer import Stream
from modeltest.delivery import ServedContext
from modeltest.delivery.scenario import Scenario
from tests.benchmarks.measure import Table, compare, in_turns
from tests.benchmarks.targets import as_check, openai_chat, passed


def tables(*, quick: bool) -> Iterator[Table]:
    """Compare with what the kernel needs to tell a blocked server that its peer has left."""
    measured = in_turns(
        3 if quick else 300,
        {
            "bare sockets: close() to the server's recv()": _bare,
            "break: drop to verdict": lambda: _stop_to_verdict(_drop),
            "close() to verdict": lambda: _stop_to_verdict(_close),
        },
    )
    yield compare("from the consumer's stop to the verdict", measured)


def _stop_to_verdict(stop: Callable[[Stream], object]) -> float:
    """Play what `release/break` and `release/close` do, and measure their last part."""
    seconds: list[float] = []

    def judge(context: ServedContext) -> None:
        with context.case("", flowing(context)) as case:
            seconds.append(_measure(case, stop))

    passed(as_check(judge), openai_chat())
    return seconds[0]


def _measure(case: Scenario, stop: Callable[[Stream], object]) -> float:
    stream = case.started()
    began = time.perf_counter()
    stop(stream)
    case.expect_released("the benchmark")
    return time.perf_counter() - began


def _drop(stream: Stream) -> None:
    stream.drop()


def _close(stream: Stream) -> None:
    stream.break_loop()
    stream.close()


def _bare() -> float:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    with server:
        began = time.perf_counter()
        client.close()
        server.recv(1)
        return time.perf_counter() - began
