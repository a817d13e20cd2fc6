"""Asynchronous adapters that do not come back, and tasks that refuse to end."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Self
from unittest import mock

from modeltest.consumer.asynchronous import AsyncConsumer
from modeltest.consumer.stream import Stream
from modeltest.threads import Hang
from tests.consumer.models import HI, PATIENCE, SHORT, AsyncTestCase, Stubborn, word


class Blocker:
    """A model, stream and context manager that blocks in one of its methods."""

    def __init__(self, where: str, block: Callable[[], Awaitable[object]]) -> None:
        self.where = where
        self._block = block

    async def at(self, where: str) -> None:
        if where == self.where:
            await self._block()

    async def stream(self, request: Any) -> Any:
        await self.at("stream")
        return BlockingStream(self)


class BlockingStream:
    def __init__(self, blocker: Blocker) -> None:
        self._at = blocker.at

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        await self._at("next")
        return word(0)

    async def aclose(self) -> None:
        await self._at("close")

    async def __aenter__(self) -> Self:
        await self._at("enter")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._at("exit")


PLACES = {
    "stream": ("open",),
    "next": ("take", 1),
    "close": ("close",),
    "enter": ("within", True, 1, "break"),
    "exit": ("within", True, 1, "break"),
}


async def wait() -> None:
    await asyncio.Event().wait()


WAITING = "await asyncio.Event().wait()"


async def spin() -> None:
    while True:
        pass


class StubbornTask:
    """Waits, whatever happens to it, until it is told that it is over."""

    def __init__(self, swallowed: type[BaseException]) -> None:
        self.over = False
        self._swallowed = swallowed

    async def __call__(self) -> None:
        while not self.over:
            with contextlib.suppress(self._swallowed):
                await asyncio.sleep(10**6)


class TestHangs(AsyncTestCase):
    def hang_in(
        self, where: str, block: Callable[[], Awaitable[object]], shows: str
    ) -> tuple[Stream, Hang]:
        stream = self.stream(Blocker(where, block))
        if where != "stream":
            self.assertIsNone(stream.open())
        return stream, self.hang(stream, *PLACES[where], shows=shows)

    def test_a_wait_for_ever_shows_where_the_task_waits(self) -> None:
        for where in PLACES:
            with self.subTest(where):
                stream, hang = self.hang_in(where, wait, WAITING)
                self.assertIn("await self._block()", "\n".join(hang.frames))
                self.assertTrue(stream.hangs)
                # The others on the loop are not held up.
                self.assertIsNone(self.opened(Blocker("", wait)).take())

    def test_a_generator_that_waits_shows_where(self) -> None:
        class Model:
            async def stream(self, request: Any) -> AsyncIterator[Any]:
                async for event in self._inner():
                    yield event

            async def _inner(self) -> AsyncIterator[Any]:
                await wait()
                yield word(0)

        line = "async for event in self._inner()"
        hang = self.hang(self.opened(Model()), "take", 1, shows=line)
        self.assertIn(WAITING, "\n".join(hang.frames))

    def test_a_busy_loop_shows_where_its_thread_is_and_ends(self) -> None:
        for where, verb in PLACES.items():
            with self.subTest(where):
                consumer = AsyncConsumer()
                stream = consumer.stream(Blocker(where, spin), HI, PATIENCE)
                if where != "stream":
                    stream.open()
                self.hang(stream, *verb, shows="in spin")
                while stream.thread.is_alive():
                    # Again: on a busy machine it may seem to stand still.
                    consumer.stop(PATIENCE)

    def test_a_blocked_loop_shows_where_its_thread_is_and_is_left_behind(self) -> None:
        for where, verb in PLACES.items():
            with self.subTest(where):
                gate = threading.Event()

                async def block(gate: threading.Event = gate) -> None:
                    gate.wait()

                consumer = AsyncConsumer()
                stream = consumer.stream(Blocker(where, block), HI, PATIENCE)
                if where != "stream":
                    stream.open()
                self.hang(stream, *verb, shows="gate.wait()")
                consumer.stop(PATIENCE)
                self.assertTrue(stream.thread.is_alive())
                gate.set()
                self.assert_ends(stream.thread)

    def test_the_operation_is_named(self) -> None:
        operations = [self.hang_in(where, wait, WAITING)[1].operation for where in PLACES]
        self.assertEqual(
            operations,
            ["stream()", "anext()", "aclose()", "the async with-block", "the async with-block"],
        )

    def test_a_close_from_elsewhere_that_hangs(self) -> None:
        stream = self.opened(Blocker("close", wait))
        with self.assertRaises(Hang) as raised:
            stream.close_from_elsewhere().wait(SHORT)
        self.assertEqual(raised.exception.operation, "aclose() from another task")

    def test_release_cancels_what_hangs(self) -> None:
        ended = threading.Event()

        async def block() -> None:
            try:
                await wait()
            finally:
                ended.set()

        stream, _ = self.hang_in("next", block, WAITING)
        stream.drop_soon()
        self.assertTrue(ended.wait(PATIENCE))

    def test_new_model(self) -> None:
        with self.assertRaises(Hang) as raised:
            self.consumer.build(wait, SHORT)
        self.assertEqual(raised.exception.operation, "new_model()")
        self.hanging(self.consumer.begin_build(wait, []), shows=WAITING)
        self.hanging(self.consumer.begin_build(spin, []), shows="in spin")

    def test_a_stream_is_made_even_while_the_loop_is_blocked(self) -> None:
        gate = threading.Event()

        async def block() -> None:
            gate.wait()

        first = self.opened(Blocker("next", block))
        self.hang(first, "take", 1, shows="gate.wait()")
        second = self.stream(Blocker("", wait), SHORT)
        self.assertRaises(Hang, second.open)
        gate.set()

    def test_an_adapter_that_yields_nothing_and_never_ends(self) -> None:
        class Model:
            async def stream(self, request: Any) -> AsyncIterator[Any]:
                while True:  # noqa: ASYNC110 - it is busy on purpose
                    await asyncio.sleep(0)
                yield word(0)

        stream = self.opened(Model())
        self.hang(stream, "take", 1)
        self.assertEqual(stream.log.events, [])


class TestRefusingToEnd(AsyncTestCase):
    def test_a_task_that_swallows_its_cancellation_is_unwound(self) -> None:
        stubborn = StubbornTask(asyncio.CancelledError)
        self.end_it(stubborn)

    def test_a_task_that_computes_for_ever_once_it_is_cancelled_is_unwound(self) -> None:
        inside = threading.Event()

        async def block() -> None:
            try:
                await wait()
            finally:
                inside.set()
                await spin()

        tasks: list[Any] = []

        async def start() -> None:
            tasks.append(asyncio.ensure_future(block()))
            await asyncio.sleep(0)

        consumer = AsyncConsumer()
        consumer.build(start, PATIENCE)
        thread = consumer.stream(Blocker("", wait), HI, PATIENCE).thread
        while thread.is_alive():
            consumer.stop(SHORT)
        self.assertTrue(inside.is_set())

    def test_one_that_swallows_it_once_ends(self) -> None:
        ended = threading.Event()

        async def reluctant() -> None:
            try:
                await wait()
            except asyncio.CancelledError:
                await asyncio.sleep(10**6)
            finally:
                ended.set()

        self.end_it(reluctant)
        self.assertTrue(ended.is_set())

    def test_one_that_swallows_everything_is_left_behind(self) -> None:
        stubborn = StubbornTask(BaseException)
        # When it is collected Python complains once more, and nobody can help it.
        with mock.patch.object(sys, "unraisablehook", lambda args: None):
            self.end_it(stubborn)
            stubborn.over = True

    def test_a_generator_whose_end_never_comes(self) -> None:
        consumer = AsyncConsumer()
        kept: list[Any] = []

        class Model:
            async def stream(self, request: Any) -> AsyncIterator[Any]:
                try:
                    yield word(0)
                finally:
                    await wait()

        async def hold() -> None:
            kept.append(Model().stream(HI))
            await anext(kept[0])

        consumer.build(hold, PATIENCE)
        thread = consumer.stream(Model(), HI, PATIENCE).thread
        consumer.stop(SHORT)
        self.assert_ends(thread)

    def test_all_in_the_owning_task(self) -> None:
        for swallowed in asyncio.CancelledError, BaseException:
            for where, verb in PLACES.items():
                stubborn = StubbornTask(swallowed)
                consumer = AsyncConsumer()
                stream = consumer.stream(Blocker(where, stubborn), HI, PATIENCE)
                with (
                    self.subTest(swallowed=swallowed, where=where),
                    mock.patch.object(sys, "unraisablehook", lambda args: None),
                ):
                    if where != "stream":
                        stream.open()
                    self.hang(stream, *verb, shows="asyncio.sleep(10**6)")
                    stream.drop_soon()
                    consumer.stop(SHORT)
                    self.assert_ends(stream.thread)
                    stubborn.over = True

    def test_in_the_close_after_a_cancellation(self) -> None:
        for swallowed in asyncio.CancelledError, BaseException:
            stubborn = StubbornTask(swallowed)
            consumer = AsyncConsumer()
            with mock.patch.object(sys, "unraisablehook", lambda args: None):
                stream = consumer.stream(Blocker("close", stubborn), HI, PATIENCE)
                stream.open()
                stream.cancel()
                pending = stream.start("take", 1)
                self.assertRaises(Hang, pending.wait, SHORT)
                consumer.stop(SHORT)
                self.assert_ends(stream.thread)
                stubborn.over = True

    def test_a_loop_that_cannot_be_unblocked_is_left_behind(self) -> None:
        stubborn = Stubborn()

        async def block() -> None:
            stubborn()

        consumer = AsyncConsumer()
        self.hanging(consumer.begin_build(block, []), shows="time.sleep(0.001)")
        thread = consumer.stream(Blocker("", wait), HI, PATIENCE).thread
        consumer.stop(SHORT)  # it returns
        self.assertTrue(thread.is_alive())
        stubborn.over.set()
        self.assert_ends(thread)

    def end_it(self, block: Callable[[], Awaitable[None]]) -> None:
        """Let a task of the adapter's own run `block`, and expect that stopping ends the loop."""
        consumer = AsyncConsumer()
        tasks: list[Any] = []

        async def start() -> None:
            tasks.append(asyncio.ensure_future(block()))
            await asyncio.sleep(0)

        consumer.build(start, PATIENCE)
        thread = consumer.stream(Blocker("", wait), HI, PATIENCE).thread
        consumer.stop(SHORT * 4)
        self.assert_ends(thread)
        self.assertTrue(tasks[0].get_loop().is_closed())
