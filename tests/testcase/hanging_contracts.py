"""Adapters that do not come back, run in processes of their own: each must end by itself.

Run as a script with the name of a test case, it prints a line of JSON for each test: its name,
what failed, and the seconds it took.
"""

import contextlib
import json
import sys
import threading
import time
import unittest
from collections.abc import Iterator
from typing import Any

from modeltest import AsyncModelContractTestCase, Event, ModelContractTestCase, Request, TextDelta
from modeltest.checks import ALL
from modeltest.demo.acme import AcmeModel

FOR_EVER = threading.Event()
"""Never set."""
A_FEW = (
    "test_break_releases",
    "test_close_releases",
    "test_unread_stream_releases",
    "test_truncated_is_an_error",
)


class Hanging(ModelContractTestCase, abstract=True):
    """Gives the set-up a model that works, and every check after it one that hangs."""

    model: Any
    made, tried_out = 0, 2
    checks: tuple[str, ...] = A_FEW

    @property
    def deadline(self) -> float:  # type: ignore[override] # short, but not for the set-up
        return 10.0 if self.made < self.tried_out else 0.4

    def new_model(self, base_url: str, client: Any) -> Any:
        kind = type(self)
        kind.made += 1
        if kind.made <= self.tried_out:
            return AcmeModel(base_url, client, self.api_key)
        return kind.model(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        return f'data: {{"text": "word {i} "}}\n\n'


class InStream(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        FOR_EVER.wait()
        return super().stream(request)


class InNext(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        for event in super().stream(request):
            FOR_EVER.wait()
            yield event


class InClose(AcmeModel):
    def stream(self, request: Request) -> Any:
        return BlockedClose(super().stream(request))


class BlockedClose:
    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[Event]:
        return self._events

    def close(self) -> None:
        FOR_EVER.wait()


class InFinally(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        try:
            yield from super().stream(request)
        finally:
            FOR_EVER.wait()


class InNewModel:
    def __init__(self, *given: Any) -> None:
        FOR_EVER.wait()


class Sleeping(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        time.sleep(3600)
        yield from super().stream(request)


class Looping(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        while True:
            pass
        yield from super().stream(request)


class LoopingOn(AcmeModel):
    """Does not even let itself be ended."""

    def stream(self, request: Request) -> Iterator[Event]:
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(0.01)
        yield from super().stream(request)


class LeavingThread(AcmeModel):
    """Works, but leaves a thread, no daemon, that waits for ever."""

    def stream(self, request: Request) -> Iterator[Event]:
        threading.Thread(target=self.pump, daemon=False).start()
        yield from super().stream(request)

    def pump(self) -> None:
        FOR_EVER.wait()


class OnTheLoop:
    """Blocks the event loop on which it runs."""

    def __init__(self, *given: Any) -> None: ...

    async def stream(self, request: Request) -> Any:
        return self.events()

    async def events(self) -> Any:
        yield TextDelta("word 0")
        FOR_EVER.wait()


class TestInStream(Hanging):
    model = InStream


class TestInNext(Hanging):
    model = InNext
    checks = tuple(check.method for check in ALL if check.group == "release")


class TestInNextToo(Hanging):
    model = InNext
    checks = tuple(check.method for check in ALL if check.group == "truncation")


class TestInNextStill(Hanging):
    model = InNext
    checks = tuple(check.method for check in ALL if check.group not in ("release", "truncation"))


class TestInClose(Hanging):
    model = InClose


class TestInFinally(Hanging):
    model = InFinally


class TestInNewModel(Hanging):
    model = InNewModel


class TestSleeping(Hanging):
    model = Sleeping


class TestLooping(Hanging):
    model = Looping


class TestLoopingOn(Hanging):
    model = LoopingOn


class TestLeavingThread(Hanging):
    model = LeavingThread
    checks = ("test_abandoned_streams_leave_nothing",)


class TestOnTheLoop(AsyncModelContractTestCase):
    """The set-up hangs, too: there is no asynchronous model at hand that works."""

    checks = ()
    deadline = 0.4

    def new_model(self, base_url: str, client: Any) -> Any:
        return OnTheLoop()

    def event(self, i: int) -> str:
        return f'data: {{"text": "word {i} "}}\n\n'


def main() -> None:
    case = globals()[sys.argv[1]]
    for name in ("test_adapter_is_set_up", *case.checks):
        result, began = unittest.TestResult(), time.monotonic()
        case(name).run(result)
        found = [text for _, text in (*result.failures, *result.errors)]
        sys.stdout.write(json.dumps([name, found, round(time.monotonic() - began, 2)]) + "\n")
    sys.exit(7)


if __name__ == "__main__":
    main()
