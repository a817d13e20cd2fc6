"""Where an adapter runs: on plain threads, or on an event loop. Checks know neither."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from modeltest.consumer.asynchronous import AsyncStream, Loop
from modeltest.consumer.pending import Hang, Pending
from modeltest.consumer.stacks import stack
from modeltest.consumer.stream import Stream
from modeltest.consumer.sync import SyncStream
from modeltest.consumer.threads import kit_thread, unwind
from modeltest.contract import Request


class Consumer(ABC):
    """Makes a model and its streams, on the side where the adapter is used."""

    @abstractmethod
    def build(self, make: Callable[[], Any], deadline: float) -> Any:
        """Return what `make()` gives, called where the adapter will run.

        Raises:
            Hang: it did not return within `deadline` seconds.

        Whatever `make` raises passes through.
        """

    @abstractmethod
    def stream(self, model: Any, request: Request, deadline: float) -> Stream:
        """Return a stream that is not opened yet."""

    @abstractmethod
    def reports(self) -> list[str]:
        """Return what the event loop's exception handler was told."""

    @abstractmethod
    def tasks(self) -> int:
        """Return how many tasks are alive."""

    @abstractmethod
    def stop(self, timeout: float) -> None:
        """End what the consumer started."""


class SyncConsumer(Consumer):
    """Consumes a `Model`."""

    def build(self, make: Callable[[], Any], deadline: float) -> Any:
        """Call `make()` on a thread that can be left behind."""
        results: list[Any] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(make())
            except BaseException as error:
                errors.append(error)
            pending.finish(None)

        thread = kit_thread(run, name="modeltest consumer")
        pending = Pending("new_model()", lambda: stack(thread.ident))
        thread.start()
        try:
            pending.wait(deadline)
        except Hang:
            unwind(thread)
            raise
        if errors:
            raise errors[0]
        return results[0]

    def stream(self, model: Any, request: Request, deadline: float) -> Stream:
        """Return a stream with a thread of its own."""
        return SyncStream(model, request, deadline)

    def reports(self) -> list[str]:
        """Return nothing: there is no loop."""
        return []

    def tasks(self) -> int:
        """Return 0: there is no loop."""
        return 0

    def stop(self, timeout: float) -> None:
        """Do nothing: each stream ends its own thread."""


class AsyncConsumer(Consumer):
    """Consumes an `AsyncModel` on a loop of its own."""

    def __init__(self) -> None:
        self._loop = Loop()

    def build(self, make: Callable[[], Any], deadline: float) -> Any:
        """Call `make()` on the loop, and await what it gives if it is a coroutine."""

        async def run() -> Any:
            model = make()
            return await model if inspect.iscoroutine(model) else model

        building = asyncio.run_coroutine_threadsafe(run(), self._loop.loop)
        try:
            return building.result(deadline)
        except TimeoutError:
            if building.done():
                raise  # its own
            raise Hang("new_model()", deadline, stack(self._loop.ident)) from None

    def stream(self, model: Any, request: Request, deadline: float) -> Stream:
        """Return a stream with a task of its own."""
        return AsyncStream(self._loop, model, request, deadline)

    def reports(self) -> list[str]:
        """Return what the loop's exception handler was told."""
        return list(self._loop.reports)

    def tasks(self) -> int:
        """Return how many tasks are alive on the loop."""
        return len(self._loop.tasks())

    def stop(self, timeout: float) -> None:
        """End the loop."""
        self._loop.close(timeout)
