"""What the consumer's tests have in common: deadlines, and objects whose end can be waited for."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
import unittest
import weakref
from typing import Any
from unittest import mock

from modeltest import Request, TextDelta, user
from modeltest.consumer.asynchronous import AsyncConsumer
from modeltest.consumer.consumer import Consumer
from modeltest.consumer.stream import Stream
from modeltest.consumer.sync import SyncConsumer
from modeltest.threads import Hang, Pending

PATIENCE = 30.0  # seconds; only how long a failing test takes to say so
SHORT = 0.05  # seconds; where what is waited for never comes

HI = Request((user("hi"),))


def word(index: int) -> TextDelta:
    return TextDelta(f"word{index} ")


class Mark:
    """An adapter's object: `gone` tells when nothing refers to it any more."""

    def __init__(self, gone: threading.Event) -> None:
        weakref.finalize(self, gone.set)


class Stubborn:
    """Blocks its thread, whatever is raised in it, until it is told that it is over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def __call__(self) -> None:
        while not self.over.is_set():
            with contextlib.suppress(BaseException):  # also what comes in the one inside
                self._sleep_on()

    def _sleep_on(self) -> None:
        while not self.over.is_set():
            with contextlib.suppress(BaseException):
                time.sleep(0.001)


class WeirdError(Exception):
    """An error that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class ConsumerTestCase(unittest.TestCase):
    """Gives streams of any model, and ends what it gave."""

    consumer_type: type[Consumer]

    def setUp(self) -> None:
        # A leak must not pass because the collector happened to run.
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        # Under coverage `unwind` keeps still. Here it need not: what it unwinds ends at once.
        self.enterContext(mock.patch.object(sys, "gettrace", lambda: None))
        self.consumer = self.consumer_type()
        self.addCleanup(self.consumer.stop, PATIENCE)

    def stream(self, model: Any, deadline: float = PATIENCE) -> Stream:
        return self.consumer.stream(model, HI, deadline)

    def opened(self, model: Any, deadline: float = PATIENCE) -> Stream:
        stream = self.stream(model, deadline)
        self.assertIsNone(stream.open())
        return stream

    def hang(self, stream: Stream, verb: str, *args: Any, shows: str = "") -> Hang:
        """Expect that a verb does not come back."""
        return self.hanging(stream.start(verb, *args), shows)

    def hanging(self, pending: Pending, shows: str = "") -> Hang:
        """Expect that an operation does not come back, and soon that its frames show a line."""
        until = time.monotonic() + PATIENCE
        while True:
            with self.assertRaises(Hang) as raised:
                pending.wait(SHORT)
            frames = "\n".join(raised.exception.frames)
            if shows in frames:
                return raised.exception
            # On a busy machine it takes a while until the adapter is there.
            self.assertLess(time.monotonic(), until, f"expected {shows!r} in {frames!r}")

    def assert_gone(self, gone: threading.Event) -> None:
        self.assertTrue(gone.wait(PATIENCE), "something still refers to it")

    def assert_ends(self, thread: threading.Thread) -> None:
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive())


class SyncTestCase(ConsumerTestCase):
    consumer_type = SyncConsumer


class AsyncTestCase(ConsumerTestCase):
    consumer_type = AsyncConsumer
