"""An asynchronous adapter for Parrot over httpx, and broken ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, closing, suppress
from contextvars import ContextVar
from typing import Any

import httpx

from modeltest import (
    APIError,
    CancelToken,
    Event,
    Finish,
    IncompleteResponseError,
    ModelError,
    Request,
    TextDelta,
)
from tests.adapters.sse import SSEDecoder

from .parrot import CancellableParrot, Parrot


class AsyncParrot(Parrot):
    """An async generator: the request goes out when the first event is asked for."""

    def __init__(self, base_url: str, client: None) -> None:
        super().__init__(base_url, client)  # type: ignore[arg-type]

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        # No TLS, so no certificates: to load them takes longer than a stream.
        async with (
            httpx.AsyncClient(verify=False, timeout=None) as client,
            self.opened(client, request) as response,
            aclosing(self.receive(response)) as events,
        ):
            async for event in events:
                yield event

    async def beginning(self, response: httpx.Response) -> str:
        start = b""
        async for chunk in response.aiter_bytes():
            start += chunk
            if len(start) >= 2000:
                break
        return start[:2000].decode("utf-8", "replace")

    @asynccontextmanager
    async def opened(self, client: Any, request: Request) -> AsyncGenerator[httpx.Response, None]:
        post = client.build_request(
            "POST", self.url, json=self.payload(request), headers=self.headers
        )
        try:
            response = await client.send(post, stream=True)
        except httpx.HTTPError as error:
            raise ModelError(f"no answer: {error}") from error
        async with aclosing(response):
            if response.status_code != 200:
                raise APIError(response.status_code, await self.beginning(response))
            yield response

    async def receive(self, response: httpx.Response) -> AsyncGenerator[Event, None]:
        decoder, words = SSEDecoder(), 0
        try:
            async for chunk in response.aiter_bytes():
                for data in [self.load(sse.data) for sse in decoder.feed(chunk) if sse.data]:
                    if "over" in data:
                        yield Finish(data["over"], raw=data["over"])
                        return
                    yield TextDelta(data["word"])
                    words += 1
        except httpx.HTTPError as error:
            raise IncompleteResponseError(f"the connection broke: {error}") from error
        raise IncompleteResponseError(f"the answer ended after {words} words")


class LeavesATask(AsyncParrot):
    """A task for each stream watches the time, and nobody cancels it."""

    def __init__(self, base_url: str, client: None) -> None:
        super().__init__(base_url, client)
        self.tasks: list[asyncio.Task[None]] = []

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        self.tasks.append(asyncio.create_task(asyncio.sleep(600)))
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                yield event


class ReadsOnWhenCancelled(AsyncParrot):
    """Takes its cancellation for an error of the provider, and asks again."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        while True:
            try:
                async with aclosing(super().stream(request)) as events:
                    async for event in events:
                        yield event
            except asyncio.CancelledError:
                continue


class SwallowsItsCancellation(AsyncParrot):
    """Ends quietly when its task is cancelled: the agent runs on with half an answer."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        try:
            async with aclosing(super().stream(request)) as events:
                async for event in events:
                    yield event
        except asyncio.CancelledError:
            return


class TakesItsCancellationForAnError(AsyncParrot):
    """A cancelled task looks like a provider that failed, and is tried again."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        try:
            async with aclosing(super().stream(request)) as events:
                async for event in events:
                    yield event
        except asyncio.CancelledError as error:
            raise ModelError("cancelled") from error


class KeepsItsDecoderInTheContext(AsyncParrot):
    """A context variable holds the decoder: two streams that one task reads share it."""

    decoder: ContextVar[SSEDecoder] = ContextVar("decoder")

    async def receive(self, response: httpx.Response) -> AsyncGenerator[Event, None]:
        self.decoder.set(SSEDecoder())
        try:
            async for chunk in response.aiter_bytes():
                for data in [self.load(sse.data) for sse in self.decoder.get().feed(chunk)]:
                    if "over" in data:
                        yield Finish(data["over"], raw=data["over"])
                        return
                    yield TextDelta(data["word"])
        except httpx.HTTPError as error:
            raise IncompleteResponseError(f"the connection broke: {error}") from error
        raise IncompleteResponseError("the answer ended before it was over")


# Event loops


class ReadsInThreads(AsyncParrot):
    """Correct as well: what blocks does so in a thread, and the event loop goes on."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        token = CancelToken()
        events = self.blocking(request, token)
        pool = ThreadPoolExecutor(1)
        try:
            while (event := await self.result(pool.submit(next, events, None))) is not None:
                yield event
        finally:
            token.cancel()  # a thread that still reads comes back
            pool.shutdown(wait=False)

    def blocking(self, request: Request, token: CancelToken) -> Generator[Event, None, None]:
        model = CancellableParrot(self.url, None)  # type: ignore[arg-type] # it uses no session
        model.url = self.url
        yield from model.stream(request, token)

    async def result(self, found: Future[Event | None]) -> Event | None:
        return await asyncio.wrap_future(found)


class LooksAgainAndAgain(ReadsInThreads):
    """Reads in a thread, and sleeps on the event loop until that has something."""

    async def result(self, found: Future[Event | None]) -> Event | None:
        while not found.done():
            time.sleep(0.001)  # noqa: ASYNC251 - the fault
        return found.result()


class BlocksTheLoop(ReadsInThreads):
    """Waits for the provider in a coroutine, as if there were no other."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        with closing(self.blocking(request, CancelToken())) as events:
            for event in events:
                yield event


class SharesAClient(AsyncParrot):
    """Correct as well: all streams share a client, which belongs to the first event loop."""

    def __init__(self, base_url: str, client: None) -> None:
        super().__init__(base_url, client)
        self.client = httpx.AsyncClient(verify=False, timeout=None)

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        async with (
            self.opened(self.client, request) as response,
            aclosing(self.receive(response)) as events,
        ):
            async for event in events:
                yield event

    async def aclose(self) -> None:
        await self.client.aclose()


class EndsUnderASecondLoop(SharesAClient):
    """What its client says to another event loop is taken for the end of the answer."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        with suppress(RuntimeError):
            async with aclosing(super().stream(request)) as events:
                async for event in events:
                    yield event


class BlamesTheProvider(SharesAClient):
    """What its client says to another event loop is taken for the provider's fault."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        try:
            async with aclosing(super().stream(request)) as events:
                async for event in events:
                    yield event
        except RuntimeError:
            raise ModelError("the provider closed the connection") from None


class WaitsForTheFirstLoop(AsyncParrot):
    """A task that was started under the first event loop lets the streams of all begin."""

    def __init__(self, base_url: str, client: None) -> None:
        super().__init__(base_url, client)
        self.waiting: list[asyncio.Future[None]] = []
        self.gate: asyncio.Task[None] | None = None

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        self.gate = self.gate or asyncio.create_task(self.keep_gate())
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        await turn
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                yield event

    async def keep_gate(self) -> None:
        while True:
            while self.waiting:
                turn = self.waiting.pop(0)
                if not turn.done():
                    turn.get_loop().call_soon_threadsafe(turn.set_result, None)
            await asyncio.sleep(0.001)

    async def aclose(self) -> None:
        if self.gate is not None:
            self.gate.cancel()
