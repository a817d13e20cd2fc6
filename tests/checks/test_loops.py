"""What the two checks of event loops tell apart."""

import asyncio
import socket
import unittest
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from modeltest import Event, Request
from modeltest.checks import BY_NAME
from modeltest.consumer import AsyncConsumer
from modeltest.delivery import Target, run
from modeltest.harness import Outcome, Status
from modeltest.threads import Progress
from modeltest.transports import OwnTransport
from tests.mutants import parrot
from tests.mutants.awaiting import AsyncParrot

GOES_ROUND, TWO = "delivery/loop", "isolation/loops"


def judge(model: Any, name: str, deadline: float = 5.0) -> Outcome:
    target = Target(
        new_model=model,
        event=parrot.event,
        transport=OwnTransport(),
        consumer=AsyncConsumer,
        deadline=deadline,
    )
    return run(BY_NAME[name], target)


class Relaying(AsyncParrot):
    """Does something before the answer of its own."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
        await self.before()
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                yield event

    async def before(self) -> None: ...


class TestGoesRound(unittest.TestCase):
    def test_a_hang_that_leaves_the_loop_alone_is_not_blamed_on_it(self) -> None:
        class Waits(Relaying):
            async def before(self) -> None:
                await asyncio.Event().wait()

        outcome = judge(Waits, GOES_ROUND, deadline=0.3)
        self.assertRegex(outcome.text, r"\Adelivery/loop: anext\(\) did not return within 0\.3 s; ")

    def test_a_synchronous_adapter_is_not_judged(self) -> None:
        for name in (GOES_ROUND, TWO):
            outcome = run(BY_NAME[name], Target(new_model=parrot.Parrot, event=parrot.event))
            self.assertIs(outcome.status, Status.SKIPPED)
            self.assertEqual(outcome.text, "for asynchronous adapters: here is no event loop")


class TestTwo(unittest.TestCase):
    def test_a_model_that_knows_its_loop_says_so(self) -> None:
        class Bound(Relaying):
            def __init__(self, base_url: str, client: None) -> None:
                super().__init__(base_url, client)
                self.loop = asyncio.get_running_loop()

            async def before(self) -> None:
                if asyncio.get_running_loop() is not self.loop:
                    raise RuntimeError("this model belongs to another event loop")

        self.assertIs(judge(Bound, TWO).status, Status.PASSED)

    def test_an_answer_under_neither_is_judged_elsewhere(self) -> None:
        class Refuses(Relaying):
            async def before(self) -> None:
                raise ValueError("not today")

        outcome = judge(Refuses, TWO)
        self.assertIs(outcome.status, Status.SKIPPED, outcome.text)
        self.assertIn("the adapter gives no text of an ordinary answer", outcome.text)

    def test_one_that_fails_when_it_is_used_again(self) -> None:
        class Once(Relaying):
            used = 0

            async def before(self) -> None:
                self.used += 1
                if self.used > 1:
                    raise ValueError("used before")

        outcome = judge(Once, TWO)
        self.assertIs(outcome.status, Status.WARNED)
        self.assertRegex(
            outcome.text,
            r"one after the other: under one of two event loops the adapter raised ValueError: used "
            r"before; expected the answer, or an error \(ModelError, RuntimeError, …\) that says",
        )

    def test_answers_that_are_mixed_up(self) -> None:
        class Shares(AsyncParrot):
            """Gives each stream the events that any of them has read."""

            def __init__(self, base_url: str, client: None) -> None:
                super().__init__(base_url, client)
                self.read: list[Event] = []

            async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # type: ignore[override]
                async with aclosing(super().stream(request)) as events:
                    async for event in events:
                        self.read.append(event)
                        yield self.read[-2] if len(self.read) > 4 else event

        outcome = judge(Shares, TWO)
        self.assertIs(outcome.status, Status.WARNED)
        self.assertRegex(outcome.text, r"side by side: under one of two event loops the answer was")

    def test_one_stream_that_ends_at_once_holds_up_no_other(self) -> None:
        class Second(Relaying):
            loop: Any = None

            async def before(self) -> None:
                Second.loop = Second.loop or asyncio.get_running_loop()
                if asyncio.get_running_loop() is not Second.loop and not Second.loop.is_closed():
                    raise RuntimeError("another event loop")

        self.assertIs(judge(Second, TWO).status, Status.PASSED)


class TestConsumer(unittest.TestCase):
    def test_the_loop_ticks_until_it_ends(self) -> None:
        consumer, ticks = AsyncConsumer(), Progress()
        self.addCleanup(consumer.stop, 5)
        consumer.tick(ticks)
        self.assertTrue(ticks.wait(5, 5))
        self.assertEqual(consumer.tasks(), 0)
        consumer.stop(5)
        count = ticks.count
        self.assertFalse(ticks.wait(count + 1, 0.05))

    def test_connections_stay_until_it_stops(self) -> None:
        near, far = socket.socketpair()
        self.addCleanup(far.close)
        far.settimeout(5)

        async def connect() -> None:
            await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=near)

        consumer = AsyncConsumer()
        consumer.build(connect, 5)
        consumer.close_loop(5)
        far.setblocking(False)
        self.assertRaises(BlockingIOError, far.recv, 1)
        far.settimeout(5)
        consumer.stop(5)
        self.assertEqual(far.recv(1), b"")
        consumer.stop(5)  # harmless


if __name__ == "__main__":
    unittest.main()
