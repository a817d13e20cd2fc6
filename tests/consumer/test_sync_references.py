"""After `drop` nothing of the kit refers to the adapter's stream, frames or tracebacks.

The collector is off: what is in a cycle does not count as gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Self

from modeltest import CancelToken
from modeltest.threads import without_tracebacks
from tests.consumer.models import PATIENCE, SHORT, Mark, SyncTestCase, WeirdError, word


class Model:
    """Makes streams with a mark in each; `gone` tells when that is no longer referred to."""

    def __init__(self) -> None:
        self.gone = threading.Event()

    def mark(self) -> Mark:
        return Mark(self.gone)

    def stream(self, request: Any) -> Any:
        raise NotImplementedError


class Generator(Model):
    def stream(self, request: Any) -> Iterator[Any]:
        mark = self.mark()
        for index in range(3):
            yield word(index)
        del mark


class RaisingGenerator(Model):
    error: Callable[[], BaseException] = ValueError

    def stream(self, request: Any) -> Iterator[Any]:
        mark = self.mark()
        yield word(0)
        self._fail(mark)

    def _fail(self, mark: Mark) -> None:
        error = type(self).error()
        try:
            raise KeyError("the cause")
        except KeyError as cause:
            raise error from cause


class RaisingGroups(RaisingGenerator):
    def error() -> BaseException:  # type: ignore[misc]
        return BaseExceptionGroup("two", [_raised(ValueError()), _raised(KeyError())])


class RaisingNested(RaisingGenerator):
    def error() -> BaseException:  # type: ignore[misc]
        return OSError(_raised(ValueError()))


class RaisingWeird(RaisingGenerator):
    error = WeirdError


class RaisingExit(RaisingGenerator):
    error = SystemExit


class RaisingCycle(RaisingGenerator):
    def error() -> BaseException:  # type: ignore[misc]
        error = ValueError()
        error.__cause__ = KeyError()
        error.__cause__.__context__ = error
        return error


class Object(Model):
    def __init__(self, raise_in: str = "") -> None:
        super().__init__()
        self.raise_in = raise_in

    def stream(self, request: Any) -> Any:
        return Stream(self.mark(), self.raise_in)


class Stream:
    def __init__(self, mark: Mark, raise_in: str) -> None:
        self.mark = mark
        self.raise_in = raise_in
        self.index = 0

    def __iter__(self) -> Self:
        self._at("iter")
        return self

    def __next__(self) -> Any:
        self._at("next")
        self.index += 1
        if self.index > 3:
            raise StopIteration
        return word(self.index)

    def close(self) -> None:
        self._at("close")

    def __enter__(self) -> Self:
        self._at("enter")
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._at("exit")

    def _at(self, where: str) -> None:
        if where == self.raise_in:
            raise ValueError(where)


class RaisingAtCall(Model):
    def stream(self, request: Any) -> Any:
        mark = self.mark()
        raise ValueError(id(mark))


class WithToken(Model):
    def stream(self, request: Any, cancel: CancelToken) -> Iterator[Any]:
        mark = self.mark()
        cancel.add_callback(lambda: mark)
        for index in range(3):
            yield word(index)


def _raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as raised:
        return raised


MODELS: tuple[Callable[[], Model], ...] = (
    Generator,
    RaisingGenerator,
    RaisingGroups,
    RaisingNested,
    RaisingWeird,
    RaisingExit,
    RaisingCycle,
    WithToken,
    *(
        lambda where=where: Object(where)
        for where in ("", "iter", "next", "close", "enter", "exit")
    ),
)

VERBS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "nothing": (),
    "take": (("take", 1),),
    "take beyond the end": (("take", 9),),
    "drain": (("drain",),),
    "leave the loop": (("take", 1), ("break_loop",)),
    "close": (("take", 1), ("close",)),
    "close twice": (("close",), ("close",)),
    "closing": (("within", False, 1, "break"),),
    "its own with": (("within", True, 1, "end"),),
    "an error in the loop": (("within", False, 1, "error"),),
    "take after close": (("close",), ("take", 1)),
}


class TestReferences(SyncTestCase):
    def test_after_every_verb_on_every_kind_of_stream(self) -> None:
        for make in MODELS:
            for name, verbs in VERBS.items():
                model = make()
                with self.subTest(model=model, verbs=name):
                    stream = self.opened(model)
                    if not stream.log.events:
                        stream.take()  # a generator has no frame before
                    for verb, *arguments in verbs:
                        stream.start(verb, *arguments).wait(PATIENCE)
                    stream.drop()
                    self.assert_gone(model.gone)

    def test_after_an_error_at_the_call(self) -> None:
        model = RaisingAtCall()
        stream = self.stream(model)
        self.assertIsInstance(stream.open(), ValueError)
        self.assert_gone(model.gone)

    def test_errors_alone_hold_nothing(self) -> None:
        """Not even without a drop: a failed generator is over."""
        model = RaisingGenerator()
        stream = self.opened(model)
        stream.drain()
        stream.break_loop()
        self.assert_gone(model.gone)
        self.assertIn("_fail", "".join(stream.log.raised_at))

    def test_held_errors_hold_their_frames_until_they_are_let_go(self) -> None:
        model = RaisingGenerator()
        stream = self.opened(model)
        stream.log.hold_error = True
        stream.drain()
        stream.drop()
        self.assertFalse(model.gone.wait(SHORT))
        without_tracebacks(stream.log.error)
        self.assert_gone(model.gone)

    def test_after_a_cancel(self) -> None:
        for make in Generator, WithToken, Object:
            model = make()
            stream = self.opened(model)
            stream.take()
            stream.cancel()
            stream.take()
            stream.drop()
            self.assert_gone(model.gone)

    def test_after_a_close_from_elsewhere(self) -> None:
        for where in "", "close":
            model = Object(where)
            stream = self.opened(model)
            stream.close_from_elsewhere().wait(PATIENCE)
            stream.drop()
            self.assert_gone(model.gone)

    def test_after_a_release_without_drop(self) -> None:
        model = Object()
        stream = self.opened(model)
        stream.take()
        stream.drop_soon()
        self.assert_gone(model.gone)

    def test_after_a_hang_once_it_is_over(self) -> None:
        gate = threading.Event()

        class Hanging(Model):
            def stream(self, request: Any) -> Iterator[Any]:
                mark = self.mark()
                gate.wait()
                yield word(id(mark))

        for released in True, False:
            model = Hanging()
            stream = self.opened(model)
            self.hang(stream, "take", 1, shows="gate.wait()")
            if released:
                stream.drop_soon()
            gate.set()
            if not released:
                stream.drop()
            self.assert_gone(model.gone)
            gate.clear()

    def test_the_model_that_failed_to_be_built(self) -> None:
        gone = threading.Event()

        def make() -> Any:
            mark = Mark(gone)
            raise ValueError(id(mark))

        with self.assertRaises(ValueError):
            self.consumer.build(make, PATIENCE)
        self.assert_gone(gone)

    def test_a_model_is_given_up(self) -> None:
        gone = threading.Event()
        model = self.consumer.build(lambda: Mark(gone), PATIENCE)
        del model
        self.assert_gone(gone)
