"""The synchronous verbs, on adapters that behave and on adapters that raise."""

from __future__ import annotations

import contextlib
import itertools
import threading
import traceback
import unittest.mock
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Self

from modeltest import CancelToken, TextDelta
from modeltest.consumer.handle import ConsumerError
from modeltest.consumer.log import Endless
from modeltest.consumer.sync import SyncConsumer
from modeltest.validation import NoEvent
from tests.consumer.models import HI, PATIENCE, SyncTestCase, WeirdError, word


class Words:
    """A generator of `count` words; it notes when it is closed."""

    def __init__(self, count: int = 10**9) -> None:
        self.count = count
        self.closed = threading.Event()
        self.requests: list[Any] = []

    def stream(self, request: Any) -> Iterator[TextDelta]:
        self.requests.append(request)
        try:
            yield from map(word, range(self.count))
        finally:
            self.closed.set()


class WordStream:
    """A stream object that is its own iterator and context manager."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._words = map(word, itertools.count())

    def __iter__(self) -> WordStream:
        return self

    def __next__(self) -> TextDelta:
        return next(self._words)

    def close(self) -> None:
        self.calls.append("close")

    def __enter__(self) -> Self:
        self.calls.append("enter")
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.calls.append("exit")


class Gives:
    """A model whose `stream` gives what `make()` gives."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def stream(self, request: Any) -> Any:
        return self._make()


class Cancellable:
    """A generator that takes a token, and a callback for it."""

    def __init__(self, callback: Callable[[], object] = lambda: None) -> None:
        self._callback = callback

    def stream(self, request: Any, cancel: CancelToken | None = None) -> Iterator[TextDelta]:
        assert cancel is not None
        cancel.add_callback(self._callback)
        for index in itertools.count():
            if cancel.cancelled:
                return
            yield word(index)


class TestVerbs(SyncTestCase):
    def test_open_hands_over_the_request(self) -> None:
        model = Words()
        stream = self.opened(model)
        stream.take()
        self.assertEqual(model.requests, [HI])

    def test_take(self) -> None:
        stream = self.opened(Words())
        self.assertIsNone(stream.take())
        self.assertIsNone(stream.take(3))
        self.assertEqual(stream.log.events, [word(i) for i in range(4)])
        self.assertEqual(stream.log.progress.count, 4)
        self.assertFalse(stream.log.ended)

    def test_take_beyond_the_end(self) -> None:
        stream = self.opened(Words(2))
        self.assertIsNone(stream.take(5))
        self.assertEqual(len(stream.log.events), 2)
        self.assertTrue(stream.log.ended)
        self.assertIsNone(stream.log.error)
        self.assertIsNone(stream.take(1))

    def test_drain(self) -> None:
        stream = self.opened(Words(200))
        self.assertIsNone(stream.drain())
        self.assertEqual(len(stream.log.events), 200)
        self.assertTrue(stream.log.ended)

    def test_drop_closes_a_generator(self) -> None:
        model = Words()
        stream = self.opened(model)
        stream.take()
        self.assertIsNone(stream.drop())
        self.assertTrue(model.closed.is_set())

    def test_leave_loop_keeps_the_stream(self) -> None:
        model = Words()
        stream = self.opened(model)
        stream.take()
        self.assertIsNone(stream.break_loop())
        self.assertFalse(model.closed.is_set())
        stream.take()
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
        gate, inside = threading.Event(), threading.Event()

        def generate() -> Iterator[TextDelta]:
            inside.set()
            gate.wait()
            yield word(0)

        stream = self.opened(Gives(generate))
        reading = stream.start("take", 1)
        self.assertTrue(inside.wait(PATIENCE))
        error = stream.close_from_elsewhere().wait(PATIENCE)
        self.assertIsInstance(error, ValueError)
        gate.set()
        self.assertIsNone(reading.wait(PATIENCE))

    def test_within_closing(self) -> None:
        for leave_by in "break", "end":
            words = WordStream()
            stream = self.opened(Gives(lambda words=words: words))
            self.assertIsNone(stream.within(own_manager=False, count=2, leave_by=leave_by))
            self.assertEqual(words.calls, ["close"])
            self.assertEqual(len(stream.log.events), 2)

    def test_within_its_own_manager(self) -> None:
        words = WordStream()
        stream = self.opened(Gives(lambda: words))
        self.assertIsNone(stream.within(own_manager=True, count=1, leave_by="break"))
        self.assertEqual(words.calls, ["enter", "exit"])

    def test_within_a_stream_that_ends_early(self) -> None:
        stream = self.opened(Words(1))
        self.assertIsNone(stream.within(own_manager=False, count=2, leave_by="break"))
        self.assertEqual(len(stream.log.events), 1)

    def test_an_error_in_the_loop_comes_out_of_within(self) -> None:
        model = Words()
        stream = self.opened(model)
        error = stream.within(own_manager=False, count=1, leave_by="error")
        self.assertIsInstance(error, ConsumerError)
        self.assertTrue(model.closed.is_set())

    def test_verbs_wait_for_their_turn(self) -> None:
        stream = self.stream(Words(5))
        pending = [stream.start("open"), stream.start("take", 2), stream.start("drain")]
        self.assertEqual([p.wait(PATIENCE) for p in pending], [None, None, None])
        self.assertEqual(len(stream.log.events), 5)

    def test_an_unknown_verb_is_an_error_of_ours(self) -> None:
        self.assertRaises(KeyError, self.stream(Words()).start, "tkae")

    def test_release_twice(self) -> None:
        stream = self.opened(Words())
        stream.drop_soon()
        stream.drop_soon()
        first, second = self.opened(Words()), self.opened(Words())
        self.assertIs(first.thread, stream.thread)  # it is given back, and once
        self.assertIsNot(second.thread, stream.thread)

    def test_settle(self) -> None:
        gate = threading.Event()
        self.addCleanup(gate.set)
        stream = self.opened(Gives(lambda: iter(gate.wait, None)))
        stream.start("take", 1)
        self.assertTrue(stream.settle(PATIENCE))

    def test_a_stream_that_moves_does_not_settle(self) -> None:
        stream = self.opened(Words())
        stream.start("drain")
        self.assertFalse(stream.settle(0.01) and stream.settle(0.01) and stream.settle(0.01))


class TestFacts(SyncTestCase):
    def facts(self, model: Any) -> tuple[bool, bool, bool]:
        stream = self.opened(model)
        found = stream.is_generator, stream.has_close, stream.is_manager
        stream.drop()
        self.assertEqual(found, (stream.is_generator, stream.has_close, stream.is_manager))
        return found

    def test_of_kinds_of_streams(self) -> None:
        for make, expected in {
            Words().stream: (True, True, False),
            WordStream: (False, True, True),
            list: (False, False, False),
            lambda: contextlib.closing(WordStream()): (False, False, True),
        }.items():
            with self.subTest(make):
                arguments = (HI,) if make.__name__ == "stream" else ()
                self.assertEqual(self.facts(Gives(lambda m=make, a=arguments: m(*a))), expected)

    def test_a_stream_whose_attributes_raise_is_an_error_at_opening(self) -> None:
        class Broken:
            def __getattr__(self, name: str) -> Any:
                raise ZeroDivisionError(name)

        error = self.stream(Gives(Broken)).open()
        self.assertIsInstance(error, ZeroDivisionError)

    def test_before_opening_there_are_none(self) -> None:
        stream = self.stream(Words())
        self.assertFalse(stream.is_generator or stream.has_close or stream.is_manager)


class TestErrors(SyncTestCase):
    """Whatever the adapter raises is the verb's outcome, and never passes through."""

    ERRORS: tuple[BaseException, ...] = (
        ValueError("v"),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        StopIteration("at the call"),
        WeirdError(),
    )

    def test_at_the_call(self) -> None:
        for error in self.ERRORS:
            with self.subTest(type(error)):
                stream = self.stream(Gives(lambda e=error: _raise(e)))
                self.assertIs(stream.open(), error)
                self.assertIsInstance(stream.take(), TypeError)  # there is no stream

    def test_while_iterating(self) -> None:
        for error in self.ERRORS:
            if isinstance(error, StopIteration):
                continue  # that is the end
            with self.subTest(type(error)):
                stream = self.opened(Gives(lambda e=error: Raising(e)))
                self.assertIs(stream.take(), error)
                self.assertIs(stream.log.error, error)
                self.assertTrue(stream.log.ended)
                self.assertIsNone(stream.drain())  # it has ended

    def test_in_a_drain(self) -> None:
        stream = self.opened(Gives(lambda: Raising(ValueError())))
        self.assertIsInstance(stream.drain(), ValueError)

    def test_in_close_and_in_a_with_block(self) -> None:
        for error in self.ERRORS:
            with self.subTest(type(error)):
                stream = self.opened(Gives(lambda e=error: Raising(e, in_close=True)))
                self.assertIs(stream.close(), error)
                self.assertIs(stream.within(own_manager=False, count=1, leave_by="break"), error)
                self.assertIs(stream.close_from_elsewhere().wait(PATIENCE), error)

    def test_a_result_that_is_no_stream(self) -> None:
        for result in None, 7, object():
            with self.subTest(result):
                stream = self.opened(Gives(lambda r=result: r))
                self.assertIsInstance(stream.take(), TypeError)
                self.assertIsInstance(stream.log.error, TypeError)
                self.assertIsInstance(stream.close(), AttributeError)

    def test_a_model_without_stream(self) -> None:
        self.assertIsInstance(self.stream(object()).open(), AttributeError)

    def test_no_events(self) -> None:
        stream = self.opened(Gives(lambda: iter(())))
        self.assertIsNone(stream.take(3))
        self.assertTrue(stream.log.ended)
        self.assertEqual(stream.log.events, [])

    def test_what_is_no_event_is_noted(self) -> None:
        stream = self.opened(Gives(lambda: iter([None, word(0), "x"])))
        stream.drain()
        self.assertEqual(stream.log.events, [word(0)])
        texts = [fault.text for fault in self.consumer.faults.found]
        expected = "expected TextDelta, ReasoningDelta, ToolCallDelta or Finish, of modeltest."
        self.assertEqual(texts, [f"the adapter gave {it}; {expected}" for it in ("None", "'x'")])

    def test_a_stream_of_what_is_no_event_is_not_read_on(self) -> None:
        stream = self.opened(Gives(lambda: itertools.repeat({})))
        self.assertIsInstance(stream.drain(), NoEvent)
        self.assertTrue(stream.log.ended)
        self.assertEqual(len(self.consumer.faults.found), 1)

    def test_a_stream_without_end_is_not_read_on(self) -> None:
        stream = self.opened(Gives(lambda: itertools.repeat(TextDelta("x" * 1_000_000))))
        self.assertIsInstance(stream.drain(), Endless)
        self.assertTrue(self.consumer.faults.full)
        self.assertIn("the stream gave 50 events, and no end", self.consumer.faults.found[0].text)

    def test_the_next_verb_works(self) -> None:
        stream = self.opened(Gives(lambda: Raising(SystemExit(), in_close=True)))
        stream.close()
        self.assertIsNone(stream.drop())


class Raising:
    def __init__(self, error: BaseException, *, in_close: bool = False) -> None:
        self._error = error
        self._in_close = in_close

    def __iter__(self) -> Raising:
        return self

    def __next__(self) -> TextDelta:
        if self._in_close:
            return word(0)
        raise self._error

    def close(self) -> None:
        if self._in_close:
            raise self._error


def _raise(error: BaseException) -> Any:
    raise error


class TestCancel(SyncTestCase):
    def test_a_token_is_handed_over_and_cancelled(self) -> None:
        called = threading.Event()
        stream = self.opened(Cancellable(called.set))
        self.assertTrue(stream.can_be_cancelled)
        self.assertIsNone(stream.take())
        self.assertIsNone(stream.cancel())
        self.assertTrue(called.is_set())
        stream.drain()
        self.assertEqual(len(stream.log.events), 1)

    def test_without_a_token_the_stream_is_closed(self) -> None:
        model = Words()
        stream = self.opened(model)
        self.assertFalse(stream.can_be_cancelled)
        stream.take()
        self.assertIsNone(stream.cancel())
        self.assertTrue(model.closed.is_set())

    def test_what_a_callback_raises_is_the_outcome(self) -> None:
        stream = self.opened(Cancellable(lambda: 1 / 0))
        stream.take()
        self.assertIsInstance(stream.cancel(), ExceptionGroup)

    def test_a_cancel_after_the_drop_does_nothing(self) -> None:
        stream = self.opened(Cancellable(lambda: 1 / 0))
        stream.take()
        stream.drop()
        self.assertIsNone(stream.cancel())

    def test_a_model_that_cannot_be_looked_at_takes_no_token(self) -> None:
        class Broken:
            @property
            def stream(self) -> Any:
                raise ZeroDivisionError

        for model in Broken(), object(), Gives(list):
            self.assertFalse(self.stream(model).can_be_cancelled)


class TestLetGo(SyncTestCase):
    def test_a_model_for_both_sides_is_closed_on_its_own(self) -> None:
        closed: list[str] = []

        class Both:
            def close(self) -> None:
                closed.append("close")

            async def aclose(self) -> None:
                closed.append("aclose")

        held: list[Any] = [Both()]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.consumer.close_model(held, PATIENCE)
        self.assertEqual((held, closed), ([], ["close"]))

    def test_what_its_close_raises_does_not_matter(self) -> None:
        for error in ValueError(), SystemExit(), KeyboardInterrupt():
            with self.subTest(type(error)):
                held = [unittest.mock.Mock(spec=["close"], **{"close.side_effect": error})]
                self.consumer.close_model(held, PATIENCE)
                self.assertEqual(held, [])


class TestBuild(SyncTestCase):
    def test_gives_what_make_gives(self) -> None:
        self.assertEqual(self.consumer.build(lambda: 7, PATIENCE), 7)

    def test_not_on_the_callers_thread(self) -> None:
        thread = self.consumer.build(threading.current_thread, PATIENCE)
        self.assertIsNot(thread, threading.current_thread())

    def test_what_make_raises_passes_through_with_its_traceback(self) -> None:
        for error in TestErrors.ERRORS:
            with self.subTest(type(error)):
                try:
                    self.consumer.build(lambda e=error: _raise(e), PATIENCE)
                except BaseException as raised:
                    self.assertIs(raised, error)
                    functions = [frame.name for frame in traceback.extract_tb(raised.__traceback__)]
                    self.assertIn("_raise", functions)
                else:
                    self.fail("nothing was raised")

    def test_there_is_no_loop(self) -> None:
        self.assertEqual((self.consumer.reports(), self.consumer.tasks()), ([], 0))

    def test_stop_ends_every_thread(self) -> None:
        consumer = SyncConsumer()
        consumer.build(list, PATIENCE)
        streams = [consumer.stream(Words(), HI, PATIENCE) for _ in range(20)]
        for stream in streams[::2]:
            stream.open()
            stream.take()
        consumer.stop(PATIENCE)
        consumer.stop(PATIENCE)
        self.assertFalse(any(stream.thread.is_alive() for stream in streams))
