"""One check serves both: the three original checks on a sync and on an async adapter.

And each of them catches an async adapter with the fault that it is there for.
"""

from __future__ import annotations

import json
import unittest
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import httpx

from modeltest import Event, Finish, IncompleteResponseError, OwnTransport, Request, TextDelta
from modeltest.checks import BY_NAME
from modeltest.consumer.asynchronous import AsyncConsumer
from modeltest.delivery import Target, run
from modeltest.harness import Outcome, Status
from tests.adapters.openai_chat import OpenAIChatModel
from tests.adapters.openai_chat_httpx import AsyncOpenAIChatModel
from tests.adapters.sse import SSEDecoder
from tests.consumer.models import PATIENCE

ORIGINAL = ("release/break", "release/cancel", "truncation/clean")


def event(index: int) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": {"content": f"word{index} "}}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


SYNC = Target(
    new_model=lambda url, client: OpenAIChatModel(url, api_key="k", session=client), event=event
)


def asynchronous(model: type[AsyncOpenAIChatModel]) -> Target:
    return replace(
        SYNC,
        new_model=lambda url, client: model(url, api_key="k"),
        transport=OwnTransport(),
        consumer=AsyncConsumer,
    )


class KeepsItsStreams(AsyncOpenAIChatModel):
    """Whoever breaks out of the loop is not the last to refer to the stream."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._streams: list[AsyncGenerator[Event, None]] = []

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        stream = super().stream(request)
        self._streams.append(stream)
        return stream


class SendsAtTheCall(AsyncOpenAIChatModel):
    """The request goes out at once, and its release is in a generator that may never begin."""

    async def stream(self, request: Request) -> AsyncIterator[Event]:  # type: ignore[override]
        client = httpx.AsyncClient(verify=False)
        response = await client.send(client.build_request("POST", self._url), stream=True)
        return self._read(client, response)

    async def _read(self, client: httpx.AsyncClient, response: httpx.Response) -> Any:
        decoder = SSEDecoder()
        async with aclosing(client), aclosing(response):
            async for chunk in response.aiter_bytes():
                for sse in decoder.feed(chunk):
                    yield TextDelta(sse.data)
        raise IncompleteResponseError


class TakesAnEndForTheEnd(AsyncOpenAIChatModel):
    """A body that ends without an error is an answer to it."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        try:
            async with aclosing(super().stream(request)) as events:
                async for event in events:
                    yield event
        except IncompleteResponseError:
            yield Finish("stop")


class TestOneCheckServesBoth(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        # httpx imports half of itself with the first request: not within a short deadline.
        example = replace(asynchronous(AsyncOpenAIChatModel), deadline=PATIENCE)
        run(BY_NAME["truncation/clean"], example)

    def outcomes(self, target: Target, failing: str = "") -> dict[str, Outcome]:
        """Return what the checks find; the deadline is short where it is waited for in vain."""
        return {
            name: run(BY_NAME[name], replace(target, deadline=1.0 if name == failing else PATIENCE))
            for name in ORIGINAL
        }

    def test_the_sync_and_the_async_example_pass(self) -> None:
        for target in SYNC, asynchronous(AsyncOpenAIChatModel):
            for name, outcome in self.outcomes(target).items():
                with self.subTest(consumer=target.consumer, check=name):
                    self.assertIs(outcome.status, Status.PASSED, outcome.text)

    def test_each_catches_its_async_mutant_and_no_other(self) -> None:
        for name, mutant, reason in (
            ("release/break", KeepsItsStreams, "still open"),
            ("release/cancel", SendsAtTheCall, "still open"),
            ("truncation/clean", TakesAnEndForTheEnd, "taken for a finished answer"),
        ):
            outcomes = self.outcomes(asynchronous(mutant), failing=name)
            failed = {name: o.text for name, o in outcomes.items() if o.status is not Status.PASSED}
            with self.subTest(mutant):
                self.assertEqual(failed.keys(), {name}, failed)
                self.assertIn(reason, failed[name])
