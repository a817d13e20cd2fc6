"""After `drop`, or the owner's cancellation, nothing of the kit refers to the adapter's stream.

The collector is off: what is in a cycle does not count as gone.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

from tests.consumer.models import PATIENCE, AsyncTestCase, Mark, word
from tests.consumer.test_sync_references import VERBS


class Model:
    """Makes streams with a mark in each; `gone` tells when that is no longer referred to."""

    def __init__(self) -> None:
        self.gone = threading.Event()

    def mark(self) -> Mark:
        return Mark(self.gone)

    def stream(self, request: Any) -> Any:
        raise NotImplementedError


class Generator(Model):
    async def stream(self, request: Any) -> AsyncIterator[Any]:
        mark = self.mark()
        for index in range(3):
            yield word(index)
        del mark


class RaisingGenerator(Model):
    async def stream(self, request: Any) -> AsyncIterator[Any]:
        mark = self.mark()
        yield word(0)
        await self._fail(mark)

    async def _fail(self, mark: Mark) -> None:
        await asyncio.sleep(0)
        try:
            raise KeyError("the cause")
        except KeyError as cause:
            raise ValueError from cause


class Object(Model):
    def __init__(self, raise_in: str = "") -> None:
        super().__init__()
        self.raise_in = raise_in

    async def stream(self, request: Any) -> Any:
        await asyncio.sleep(0)
        return Stream(self.mark(), self.raise_in)


class Stream:
    def __init__(self, mark: Mark, raise_in: str) -> None:
        self.mark = mark
        self.raise_in = raise_in
        self.index = 0

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        await self._at("next")
        self.index += 1
        if self.index > 3:
            raise StopAsyncIteration
        return word(self.index)

    async def aclose(self) -> None:
        await self._at("close")

    async def __aenter__(self) -> Self:
        await self._at("enter")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._at("exit")

    async def _at(self, where: str) -> None:
        await asyncio.sleep(0)
        if where == self.raise_in:
            raise ValueError(where)


class Waiting(Model):
    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        mark = self.mark()
        yield word(0)
        self.waiting.set()
        await asyncio.Event().wait()
        del mark


class RaisingAtCall(Model):
    async def stream(self, request: Any) -> Any:
        mark = self.mark()
        await asyncio.sleep(0)
        raise ValueError(id(mark))


MODELS: tuple[Callable[[], Model], ...] = (
    Generator,
    RaisingGenerator,
    *(lambda where=where: Object(where) for where in ("", "next", "close", "enter", "exit")),
)


class TestReferences(AsyncTestCase):
    def test_after_every_verb_on_every_kind_of_stream(self) -> None:
        for make in MODELS:
            for name, verbs in VERBS.items():
                model = make()
                with self.subTest(model=model, verbs=name):
                    stream = self.opened(model)
                    stream.take()
                    for verb, *arguments in verbs:
                        stream.start(verb, *arguments).wait(PATIENCE)
                    stream.drop()
                    self.assert_gone(model.gone)

    def test_after_an_error_at_the_call(self) -> None:
        model = RaisingAtCall()
        self.assertIsInstance(self.stream(model).open(), ValueError)
        self.assert_gone(model.gone)

    def test_after_a_cancel_between_two_verbs(self) -> None:
        for make in MODELS:
            model = make()
            stream = self.opened(model)
            stream.take()
            stream.cancel()
            self.assert_gone(model.gone)

    def test_after_a_cancel_while_it_waits(self) -> None:
        model = Waiting()
        stream = self.opened(model)
        reading = stream.start("take", 2)
        self.assertTrue(model.waiting.wait(PATIENCE))
        stream.cancel()
        self.assertIsInstance(reading.wait(PATIENCE), asyncio.CancelledError)
        self.assert_gone(model.gone)

    def test_after_a_hang(self) -> None:
        model = Waiting()
        stream = self.opened(model)
        stream.take()
        self.hang(stream, "take", 1, shows="await asyncio.Event().wait()")
        stream.drop_soon()
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
        stream.drop_soon()
        self.assert_gone(model.gone)

    def test_the_model_that_failed_to_be_built(self) -> None:
        gone = threading.Event()

        async def make() -> Any:
            mark = Mark(gone)
            await asyncio.sleep(0)
            raise ValueError(id(mark))

        with self.assertRaises(ValueError):
            self.consumer.build(make, PATIENCE)
        self.assert_gone(gone)
