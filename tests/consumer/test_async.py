"""The asynchronous verbs, and what cancelling the owning task does."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import threading
import weakref
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

from modeltest import TextDelta
from modeltest.consumer.asynchronous import AsyncConsumer
from modeltest.consumer.handle import ConsumerError
from tests.consumer.models import HI, PATIENCE, AsyncTestCase, WeirdError, word
from tests.consumer.test_sync import TestErrors as SyncErrors


class Words:
    """An async generator of `count` words; it notes when, and in which way, it ends."""

    def __init__(self, count: int = 10**9, *, forever: bool = False) -> None:
        self.count = count
        self.forever = forever
        self.closed = threading.Event()
        self.waiting = threading.Event()
        self.ended_by: type[BaseException] | None = None

    async def stream(self, request: Any) -> AsyncIterator[TextDelta]:
        try:
            for index in range(self.count):
                yield word(index)
            if self.forever:
                self.waiting.set()
                await asyncio.Event().wait()
        except BaseException as error:
            self.ended_by = type(error)
            raise
        finally:
            self.closed.set()


class WordStream:
    """A stream object that is its own iterator and context manager."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.closed = threading.Event()
        self._words = map(word, itertools.count())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TextDelta:
        await asyncio.sleep(0)
        return next(self._words)

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.calls.append("close")
        self.closed.set()

    async def __aenter__(self) -> Self:
        self.calls.append("enter")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.calls.append("exit")


class Gives:
    """A model whose `stream` gives what `make()` gives."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def stream(self, request: Any) -> Any:
        return self._make()


class TestVerbs(AsyncTestCase):
    def test_an_async_generator(self) -> None:
        stream = self.opened(Words())
        self.assertIsNone(stream.take())
        self.assertIsNone(stream.take(3))
        self.assertEqual(stream.log.events, [word(i) for i in range(4)])
        self.assertEqual(stream.log.progress.count, 4)
        self.assertFalse(stream.log.ended)

    def test_a_coroutine_that_gives_a_stream(self) -> None:
        async def make() -> WordStream:
            await asyncio.sleep(0)
            return WordStream()

        stream = self.opened(Gives(make))
        self.assertIsNone(stream.take(2))
        self.assertEqual(len(stream.log.events), 2)

    def test_take_beyond_the_end(self) -> None:
        stream = self.opened(Words(2))
        self.assertIsNone(stream.take(5))
        self.assertTrue(stream.log.ended)
        self.assertIsNone(stream.log.error)
        self.assertIsNone(stream.take())

    def test_drain(self) -> None:
        stream = self.opened(Words(200))
        self.assertIsNone(stream.drain())
        self.assertEqual(len(stream.log.events), 200)

    def test_drop_closes_a_generator(self) -> None:
        model = Words()
        stream = self.opened(model)
        stream.take()
        self.assertIsNone(stream.drop())
        self.assertTrue(model.closed.wait(PATIENCE))
        self.assertIs(model.ended_by, GeneratorExit)

    def test_leave_loop_keeps_the_stream(self) -> None:
        model = Words()
        stream = self.opened(model)
        stream.take()
        self.assertIsNone(stream.break_loop())
        stream.take()
        self.assertFalse(model.closed.is_set())
        self.assertEqual(len(stream.log.events), 2)

    def test_close(self) -> None:
        model = Words()
        stream = self.opened(model)
        stream.take()
        self.assertIsNone(stream.close())
        self.assertTrue(model.closed.is_set())
        self.assertIsNone(stream.take())
        self.assertEqual(len(stream.log.events), 1)

    def test_close_from_elsewhere(self) -> None:
        words = WordStream()
        stream = self.opened(Gives(lambda: words))
        self.assertIsNone(stream.close_from_elsewhere().wait(PATIENCE))
        self.assertEqual(words.calls, ["close"])

    def test_a_running_generator_cannot_be_closed_from_elsewhere(self) -> None:
        model = Words(0, forever=True)
        stream = self.opened(model)
        stream.start("take", 1)
        self.assertTrue(model.waiting.wait(PATIENCE))
        self.assertIsInstance(stream.close_from_elsewhere().wait(PATIENCE), RuntimeError)

    def test_within(self) -> None:
        for own, calls in {False: ["close"], True: ["enter", "exit"]}.items():
            for leave_by in "break", "end":
                words = WordStream()
                stream = self.opened(Gives(lambda words=words: words))
                self.assertIsNone(stream.within(own_manager=own, count=2, leave_by=leave_by))
                self.assertEqual(words.calls, calls)
                self.assertEqual(len(stream.log.events), 2)

    def test_within_a_stream_that_ends_early(self) -> None:
        stream = self.opened(Words(1))
        self.assertIsNone(stream.within(own_manager=False, count=2, leave_by="break"))

    def test_an_error_in_the_loop_comes_out_of_within(self) -> None:
        model = Words()
        stream = self.opened(model)
        error = stream.within(own_manager=False, count=1, leave_by="error")
        self.assertIsInstance(error, ConsumerError)
        self.assertTrue(model.closed.is_set())

    def test_facts(self) -> None:
        for make, expected in (
            (lambda: Words().stream(HI), (True, True, False)),
            (WordStream, (False, True, True)),
            (list, (False, False, False)),
            (lambda: contextlib.aclosing(WordStream()), (False, False, True)),
        ):
            stream = self.opened(Gives(make))
            self.assertEqual((stream.is_generator, stream.has_close, stream.is_manager), expected)
            self.assertTrue(stream.can_be_cancelled)

    def test_settle(self) -> None:
        stream = self.opened(Words(0, forever=True))
        stream.start("take", 1)
        self.assertTrue(stream.settle(PATIENCE))

    def test_release_twice(self) -> None:
        stream = self.opened(Words())
        stream.drop_soon()
        stream.drop_soon()
        self.consumer.stop(PATIENCE)
        stream.drop_soon()

    def test_a_verb_after_the_release_is_told_so(self) -> None:
        stream = self.opened(Words())
        stream.drop()
        self.assertIsInstance(stream.take(), asyncio.CancelledError)

    def test_all_streams_share_the_loop_and_run_side_by_side(self) -> None:
        waiting = self.opened(Words(0, forever=True))
        waiting.start("take", 1)
        other = self.opened(Words())
        self.assertIsNone(other.take())
        self.assertIs(waiting.thread, other.thread)


class TestErrors(AsyncTestCase):
    ERRORS = (*SyncErrors.ERRORS, asyncio.CancelledError())

    def outcome(self, error: BaseException) -> type[BaseException]:
        """A coroutine turns a StopIteration into a RuntimeError, by Python's rules."""
        return RuntimeError if isinstance(error, StopIteration) else type(error)

    def test_at_the_call(self) -> None:
        for error in self.ERRORS:
            with self.subTest(type(error)):
                stream = self.stream(Gives(lambda e=error: _raise(e)))
                self.assertIs(type(stream.open()), self.outcome(error))

    def test_in_the_coroutine(self) -> None:
        async def fail(error: BaseException) -> Any:
            await asyncio.sleep(0)
            raise error

        for error in self.ERRORS:
            with self.subTest(type(error)):
                stream = self.stream(Gives(lambda e=error: fail(e)))
                self.assertIs(type(stream.open()), self.outcome(error))

    def test_while_iterating(self) -> None:
        for error in self.ERRORS:
            with self.subTest(type(error)):
                stream = self.opened(Gives(lambda e=error: Raising(e)))
                self.assertIs(type(stream.take()), self.outcome(error))
                self.assertIs(type(stream.log.error), self.outcome(error))
                self.assertTrue(stream.log.ended)
                self.assertIsNone(stream.drain())

    def test_in_close_and_in_a_with_block(self) -> None:
        for error in self.ERRORS:
            with self.subTest(type(error)):
                expected = self.outcome(error)
                stream = self.opened(Gives(lambda e=error: Raising(e, in_close=True)))
                self.assertIs(type(stream.close()), expected)
                outcome = stream.within(own_manager=False, count=1, leave_by="break")
                self.assertIs(type(outcome), expected)
                outcome = stream.close_from_elsewhere().wait(PATIENCE)
                self.assertIs(type(outcome), expected)

    def test_a_result_that_is_no_stream(self) -> None:
        for result in None, 7, iter([]):
            with self.subTest(result):
                stream = self.opened(Gives(lambda r=result: r))
                self.assertIsInstance(stream.take(), TypeError)
                self.assertIsInstance(stream.close(), AttributeError)

    def test_no_events(self) -> None:
        stream = self.opened(Words(0))
        self.assertIsNone(stream.take())
        self.assertTrue(stream.log.ended)

    def test_the_loop_goes_on(self) -> None:
        stream = self.opened(Gives(lambda: Raising(SystemExit(), in_close=True)))
        stream.close()
        self.assertIsNone(stream.drop())
        self.assertEqual(self.consumer.reports(), [])


class Raising:
    def __init__(self, error: BaseException, *, in_close: bool = False) -> None:
        self._error = error
        self._in_close = in_close

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TextDelta:
        if self._in_close:
            return word(0)
        raise self._error

    async def aclose(self) -> None:
        if self._in_close:
            raise self._error


def _raise(error: BaseException) -> Any:
    raise error


class TestCancel(AsyncTestCase):
    """The owning task is cancelled; it closes the stream, as `async with aclosing` does."""

    def test_while_it_reads(self) -> None:
        model = Words(1, forever=True)
        stream = self.opened(model)
        reading = stream.start("take", 2)
        self.assertTrue(model.waiting.wait(PATIENCE))
        stream.cancel()
        self.assertIsInstance(reading.wait(PATIENCE), asyncio.CancelledError)
        self.assertIs(model.ended_by, asyncio.CancelledError)
        self.assertIsInstance(stream.log.error, asyncio.CancelledError)

    def test_between_two_verbs(self) -> None:
        model = Words()
        stream = self.opened(model)
        stream.take()
        stream.cancel()
        self.assertTrue(model.closed.wait(PATIENCE))
        self.assertIs(model.ended_by, GeneratorExit)
        self.assertIsInstance(stream.take(), asyncio.CancelledError)
        self.assertEqual(len(stream.log.events), 1)

    def test_before_anything_is_opened(self) -> None:
        stream = self.stream(Words())
        stream.cancel()
        self.assertIsInstance(stream.open(), asyncio.CancelledError)

    def test_of_a_stream_object(self) -> None:
        words = WordStream()
        stream = self.opened(Gives(lambda: words))
        stream.take()
        stream.cancel()
        self.assertTrue(words.closed.wait(PATIENCE))

    def test_of_a_stream_without_close(self) -> None:
        stream = self.opened(Gives(lambda: iter([])))
        stream.cancel()
        self.assertIsInstance(stream.take(), asyncio.CancelledError)

    def test_what_closing_raises_comes_out_instead(self) -> None:
        stream = self.opened(Gives(lambda: Raising(ValueError(), in_close=True)))
        stream.cancel()
        self.assertIsInstance(stream.take(), ValueError)

    def test_verbs_that_wait_for_their_turn_come_back(self) -> None:
        model = Words(0, forever=True)
        stream = self.opened(model)
        pending = [stream.start("take", 1), stream.start("take", 1), stream.start("close")]
        self.assertTrue(model.waiting.wait(PATIENCE))
        stream.cancel()
        for one in pending:
            self.assertIsInstance(one.wait(PATIENCE), asyncio.CancelledError)

    def test_twice(self) -> None:
        model = Words(0, forever=True)
        stream = self.opened(model)
        reading = stream.start("take", 1)
        self.assertTrue(model.waiting.wait(PATIENCE))
        stream.cancel()
        stream.cancel()
        self.assertIsInstance(reading.wait(PATIENCE), asyncio.CancelledError)
        stream.cancel()

    def test_while_it_closes(self) -> None:
        closing = threading.Event()

        class Slow(WordStream):
            async def aclose(self) -> None:
                closing.set()
                await asyncio.Event().wait()

        stream = self.opened(Gives(Slow))
        stream.cancel()
        self.assertTrue(closing.wait(PATIENCE))
        stream.cancel()
        self.assertIsInstance(stream.take(), asyncio.CancelledError)

    def test_that_is_swallowed_leaves_the_reader_running(self) -> None:
        waiting = threading.Event()

        async def swallow() -> AsyncIterator[TextDelta]:
            with contextlib.suppress(asyncio.CancelledError):
                waiting.set()
                await asyncio.Event().wait()
            yield word(0)

        stream = self.opened(Gives(swallow))
        reading = stream.start("take", 1)
        self.assertTrue(waiting.wait(PATIENCE))
        stream.cancel()
        self.assertIsNone(reading.wait(PATIENCE))
        self.assertEqual(stream.log.events, [word(0)])
        self.assertIsNone(stream.close())

    def test_that_is_turned_into_another_error(self) -> None:
        waiting = threading.Event()

        async def translate() -> AsyncIterator[TextDelta]:
            try:
                waiting.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ValueError from None
            yield word(0)

        stream = self.opened(Gives(translate))
        reading = stream.start("take", 1)
        self.assertTrue(waiting.wait(PATIENCE))
        stream.cancel()
        self.assertIsInstance(reading.wait(PATIENCE), ValueError)


class TestBuild(AsyncTestCase):
    def test_gives_what_make_gives(self) -> None:
        self.assertEqual(self.consumer.build(lambda: 7, PATIENCE), 7)

    def test_awaits_a_coroutine(self) -> None:
        async def make() -> int:
            await asyncio.sleep(0)
            return 7

        self.assertEqual(self.consumer.build(make, PATIENCE), 7)

    def test_runs_on_the_loop(self) -> None:
        loop = self.consumer.build(asyncio.get_running_loop, PATIENCE)
        self.assertTrue(loop.is_running())

    def test_what_make_raises_passes_through(self) -> None:
        for error in TestErrors.ERRORS:
            with self.subTest(type(error)), self.assertRaises(type(error)):
                self.consumer.build(lambda e=error: _raise(e), PATIENCE)

    def test_tasks_are_the_adapters(self) -> None:
        self.assertEqual(self.consumer.tasks(), 0)
        stream = self.opened(Words())
        self.assertEqual(self.consumer.tasks(), 0)
        tasks: list[asyncio.Task[Any]] = []

        def start() -> None:
            tasks.append(asyncio.get_running_loop().create_task(asyncio.sleep(10**6)))

        self.consumer.build(start, PATIENCE)
        self.assertEqual(self.consumer.tasks(), 1)
        stream.drop()
        self.assertEqual(self.consumer.tasks(), 1)


class TestReports(AsyncTestCase):
    def test_what_reaches_the_exception_handler(self) -> None:
        told = threading.Event()

        def callback() -> None:
            asyncio.get_running_loop().call_soon(told.set)
            raise WeirdError

        def start() -> None:
            asyncio.get_running_loop().call_soon(callback)
            asyncio.get_running_loop().call_exception_handler({"message": "no exception"})

        self.consumer.build(start, PATIENCE)
        self.assertTrue(told.wait(PATIENCE))
        reports = self.consumer.reports()
        self.assertEqual(reports[0], "no exception")
        self.assertIn("WeirdError", reports[1])

    def test_a_loop_that_is_stopped_goes_on(self) -> None:
        self.consumer.build(lambda: asyncio.get_running_loop().stop(), PATIENCE)
        self.assertIsNone(self.opened(Words()).take())
        self.assertEqual(self.consumer.reports(), ["the event loop was stopped by its stop()"])

    def test_a_task_that_lets_an_exit_out_does_not_end_the_loop(self) -> None:
        for error in SystemExit, KeyboardInterrupt:

            async def leave(error: type[BaseException] = error) -> None:
                raise error

            def start(leave: Any = leave) -> asyncio.Task[None]:
                return asyncio.get_running_loop().create_task(leave())

            task = self.consumer.build(start, PATIENCE)
            self.assertIsNone(self.opened(Words()).take())
            self.assertIn(f"stopped by {error.__name__}", self.consumer.reports()[-1])
            self.assertIsInstance(task.exception(), error)


class TestStop(AsyncTestCase):
    def test_ends_streams_tasks_generators_and_the_thread(self) -> None:
        consumer = AsyncConsumer()
        models = [Words(3), Words(1, forever=True), Words()]
        streams = [consumer.stream(model, HI, PATIENCE) for model in models]
        kept: list[AsyncIterator[Any]] = []

        async def hold() -> None:
            generator = models[2].stream(HI)
            await anext(generator)
            kept.append(generator)  # nobody closes it

        for stream in streams[:2]:
            stream.open()
            stream.take()
        reading = streams[1].start("take", 1)
        consumer.build(hold, PATIENCE)
        thread = streams[0].thread
        consumer.stop(PATIENCE)
        self.assertFalse(thread.is_alive())
        self.assertIsInstance(reading.wait(PATIENCE), asyncio.CancelledError)
        self.assertTrue(all(model.closed.is_set() for model in models))
        consumer.stop(PATIENCE)

    def test_closes_the_sockets_that_are_left_open(self) -> None:
        consumer = AsyncConsumer()

        async def leak() -> weakref.ref[Any]:
            _, writer = await asyncio.open_connection(*server.getsockname())
            self.kept = writer
            return weakref.ref(writer.transport)

        with socket.create_server(("127.0.0.1", 0)) as server:
            transport = consumer.build(leak, PATIENCE)
            accepted, _ = server.accept()
            with accepted:
                consumer.stop(PATIENCE)
                accepted.settimeout(PATIENCE)
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(accepted.recv(1), b"")
        self.assertTrue(transport().is_closing())
        del self.kept

    def test_ends_the_threads_of_its_executor(self) -> None:
        consumer = AsyncConsumer()
        threads: list[threading.Thread] = []

        async def use() -> None:
            threads.append(await asyncio.to_thread(threading.current_thread))

        consumer.build(use, PATIENCE)
        consumer.stop(PATIENCE)
        self.assert_ends(threads[0])
