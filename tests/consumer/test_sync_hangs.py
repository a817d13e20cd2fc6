"""Synchronous adapters that do not come back: each ends in a `Hang`, and can be left behind."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self
from unittest import mock

from modeltest import CancelToken, TextDelta
from modeltest.consumer.stream import Stream
from modeltest.consumer.sync import SyncConsumer
from modeltest.threads import Hang, kit
from tests.consumer.models import HI, PATIENCE, SHORT, Stubborn, SyncTestCase, word


class Blocker:
    """A model, stream and context manager that blocks in one of its methods."""

    def __init__(self, where: str, block: Callable[[], object]) -> None:
        self.where = where
        self._block = block

    def at(self, where: str) -> None:
        if where == self.where:
            self._block()

    def stream(self, request: Any) -> Any:
        self.at("stream")
        return Generator(self) if self.where != "drop" else self._generate()

    def _generate(self) -> Iterator[Any]:
        try:
            yield word(0)
        finally:
            self.at("drop")


class Generator:
    def __init__(self, blocker: Blocker) -> None:
        self._at = blocker.at

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> Any:
        self._at("next")
        return word(0)

    def close(self) -> None:
        self._at("close")

    def __enter__(self) -> Self:
        self._at("enter")
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._at("exit")


PLACES = {
    "stream": ("open",),
    "next": ("take", 1),
    "close": ("close",),
    "enter": ("within", True, 1, "break"),
    "exit": ("within", True, 1, "break"),
    "drop": ("drop",),
}


def spin() -> None:
    while True:
        pass


class TestHangs(SyncTestCase):
    def hang_in_each_place(
        self, block: Callable[[], object], shows: str = "self._block()"
    ) -> Iterator[tuple[Any, Hang]]:
        for where, verb in PLACES.items():
            with self.subTest(where):
                stream = self.stream(Blocker(where, block))
                if where != "stream":
                    self.assertIsNone(stream.open())
                if where == "drop":
                    stream.take()
                yield stream, self.hang(stream, *verb, shows=shows)

    def stop_until_it_ends(self, stream: Stream) -> None:
        while stream.thread.is_alive():
            # Again: on a busy machine it may seem to stand still.
            self.consumer.stop(PATIENCE)

    def test_a_wait_for_ever(self) -> None:
        gate = threading.Event()
        for stream, hang in self.hang_in_each_place(gate.wait):
            self.assertIn("did not return within", str(hang))
            self.assertTrue(stream.hangs)
        self.consumer.stop(PATIENCE)  # it returns
        gate.set()

    def test_a_sleep(self) -> None:
        stream = self.opened(Blocker("next", lambda: time.sleep(1.0)))
        with self.assertRaises(Hang):
            stream.start("take", 1).wait(SHORT)
        self.consumer.stop(SHORT)
        self.assert_ends(stream.thread)  # once it wakes

    @mock.patch.object(sys, "unraisablehook", lambda args: None)  # a finalizer that is unwound
    def test_a_loop_without_io(self) -> None:
        for stream, _ in self.hang_in_each_place(spin, "in spin"):
            self.stop_until_it_ends(stream)

    def test_a_loop_that_cannot_be_unwound_is_left_behind(self) -> None:
        stubborn = Stubborn()
        streams = []
        for stream, _ in self.hang_in_each_place(stubborn, "in _sleep_on"):
            streams.append(stream)
        self.consumer.stop(PATIENCE)  # it returns
        self.assertTrue(all(stream.thread.is_alive() for stream in streams))
        stubborn.over.set()
        for stream in streams:
            self.assert_ends(stream.thread)

    def test_the_operation_is_named(self) -> None:
        gate = threading.Event()
        operations = [hang.operation for _, hang in self.hang_in_each_place(gate.wait)]
        gate.set()
        self.assertEqual(
            operations,
            ["stream()", "next()", "close()", "the with-block", "the with-block",
             "dropping the stream"],
        )  # fmt: skip

    def test_verbs_behind_a_hang_hang_too(self) -> None:
        gate = threading.Event()
        stream = self.opened(Blocker("next", gate.wait), SHORT)
        self.assertRaises(Hang, stream.take)
        self.assertRaises(Hang, stream.close)
        gate.set()

    def test_a_finalizer_that_blocks_holds_up_neither_release_nor_stop(self) -> None:
        gate = threading.Event()
        stream = self.opened(Blocker("drop", gate.wait))
        stream.take()
        stream.drop_soon()
        self.consumer.stop(SHORT)
        self.assertTrue(stream.thread.is_alive())
        gate.set()
        self.assert_ends(stream.thread)

    def test_close_from_elsewhere(self) -> None:
        gate = threading.Event()
        stream = self.opened(Blocker("close", gate.wait))
        pending = stream.close_from_elsewhere()
        hang = self.hanging(pending, shows="self._block()")
        self.assertEqual(hang.operation, "close() from another thread")
        gate.set()
        self.assertIsNone(pending.wait(PATIENCE))

    def test_a_cancel_callback_that_blocks(self) -> None:
        gate = threading.Event()

        class Model:
            def stream(self, request: Any, cancel: CancelToken) -> Iterator[Any]:
                cancel.add_callback(gate.wait)
                yield word(0)

        stream = self.opened(Model(), PATIENCE)
        stream.take()
        stream.deadline = SHORT
        with self.assertRaises(Hang) as raised:
            stream.cancel()
        self.assertEqual(raised.exception.operation, "cancel()")
        gate.set()

    def test_new_model(self) -> None:
        with self.assertRaises(Hang) as raised:
            self.consumer.build(spin, SHORT)
        self.assertEqual(raised.exception.operation, "new_model()")
        self.hanging(self.consumer.begin_build(spin, []), shows="in spin")
        while any(worker.thread.is_alive() for worker in self.consumer.workers):
            self.consumer.stop(PATIENCE)

    def test_a_late_unwinding_harms_nobody(self) -> None:
        """The verb that hung may have come back just before it is unwound."""
        jobs, job = mock.Mock(), mock.Mock()
        jobs.get.side_effect = [SystemExit, job, None]
        kit.work(jobs)
        job.assert_called_once_with()

    def test_other_streams_are_not_held_up(self) -> None:
        gate = threading.Event()
        model = Blocker("next", gate.wait)
        first, second = self.opened(model), self.opened(model)
        self.hang(first, "take", 1)
        self.assertIsNone(second.close())
        gate.set()

    def test_an_adapter_that_yields_nothing_and_never_ends(self) -> None:
        class Model:
            def stream(self, request: Any) -> Iterator[Any]:
                while True:
                    pass
                yield word(0)

        stream = self.opened(Model())
        self.hang(stream, "take", 1)
        self.assertEqual(stream.log.events, [])
        self.stop_until_it_ends(stream)

    def test_a_stream_without_end_is_drained_no_longer_than_the_deadline(self) -> None:
        class Model:
            def stream(self, request: Any) -> Iterator[Any]:
                while True:
                    yield TextDelta("")

        stream = self.opened(Model())
        self.hang(stream, "drain")
        self.stop_until_it_ends(stream)

    def test_threads_are_the_kits(self) -> None:
        self.assertEqual(self.stream(Blocker("", spin)).thread.daemon, True)

    def test_stop_after_a_hang_in_one_of_many(self) -> None:
        gate = threading.Event()
        consumer = SyncConsumer()
        blocked = consumer.stream(Blocker("next", gate.wait), HI, SHORT)
        others = [consumer.stream(Blocker("", spin), HI, PATIENCE) for _ in range(3)]
        blocked.open()
        self.assertRaises(Hang, blocked.take)
        consumer.stop(PATIENCE)
        gate.set()
        for stream in (blocked, *others):
            self.assert_ends(stream.thread)
