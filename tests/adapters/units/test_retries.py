"""When a request is sent again, how often, and after how long."""

from __future__ import annotations

import json
import socket
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from unittest import mock

import requests

from modeltest import (
    APIError,
    CancelToken,
    IncompleteResponseError,
    ModelError,
    QuotaExhaustedError,
    RateLimitedError,
    Request,
    TextDelta,
    Tool,
    generate,
    user,
)
from modeltest.interface import ConfigError
from tests.adapters import openai_chat_retry
from tests.adapters.openai_chat_retry import RetryingOpenAIChatModel
from tests.adapters.units.loopback import PATIENCE, Exchange, Provider, Script, answer, provider

HI = Request((user("hi"),))
DELTA = f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': 'a'}}]})}\n\n"
WHOLE = answer(DELTA, "data: [DONE]\n\n")


def refuse(status: int, *headers: str, **said: str) -> Script:
    body = json.dumps({"error": {"message": "Words.", **said}}).encode()

    def script(exchange: Exchange) -> None:
        exchange.head(
            f"Content-Length: {len(body)}", *headers, status=status, media="application/json"
        )
        exchange.raw(body)
        exchange.keep_alive = True

    return script


def hang_up(exchange: Exchange) -> None:
    """Close without a word."""


def in_turn(*scripts: Script) -> Script:
    """One script a request; the last one for all that follow."""
    left = list(scripts)

    def script(exchange: Exchange) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(exchange)

    return script


class RetryTestCase(unittest.TestCase):
    def new_model(self, url: str, **options: Any) -> RetryingOpenAIChatModel:
        session = requests.Session()
        session.trust_env = False
        self.addCleanup(session.close)
        options = {"backoff": 0.001, **options}
        return RetryingOpenAIChatModel(url, api_key="sk-test-4f9a", session=session, **options)

    def failed(self, server: Provider, **options: Any) -> ModelError:
        with self.assertRaises(ModelError) as caught:
            list(self.new_model(server.url, **options).stream(HI))
        return caught.exception

    @contextmanager
    def pauses(self, during: Callable[[], None] = lambda: None) -> Iterator[list[float]]:
        """What is waited for, without a wait."""
        seconds: list[float] = []

        def wait(pause: float, cancel: CancelToken) -> None:
            seconds.append(pause)
            during()

        with mock.patch.object(openai_chat_retry, "_wait", wait):
            yield seconds


class TestWhat(RetryTestCase):
    def test_what_may_pass_is_tried_again(self) -> None:
        for status in (408, 409, 429, 500, 502, 503, 504, 529, 599):
            with self.subTest(status), provider(in_turn(refuse(status), WHOLE)) as server:
                turn = generate(self.new_model(server.url), HI)
                self.assertEqual(turn.message.text, "a")
                self.assertEqual(len(server.exchanges), 2)

    def test_the_same_request_is_sent(self) -> None:
        with provider(in_turn(refuse(500), refuse(500), WHOLE)) as server:
            generate(self.new_model(server.url), HI)
        first, second, third = (exchange.json() for exchange in server.exchanges)
        self.assertEqual([first, first], [second, third])

    def test_what_does_not_pass_is_not(self) -> None:
        for status in (201, 302, 307, 400, 401, 402, 403, 404, 410, 413, 422, 451):
            for headers in ((), ("Retry-After: 0",)):
                with provider(in_turn(refuse(status, *headers), WHOLE)) as server:
                    error = self.failed(server)
                    with self.subTest(status=status, headers=headers):
                        assert isinstance(error, APIError)
                        self.assertEqual(error.status, status)
                        self.assertEqual(len(server.exchanges), 1)

    def test_an_exhausted_quota_is_not(self) -> None:
        refusal = refuse(429, "Retry-After: 0", code="insufficient_quota")
        with provider(in_turn(refusal, WHOLE)) as server:
            self.assertIsInstance(self.failed(server), QuotaExhaustedError)
            self.assertEqual(len(server.exchanges), 1)

    def test_a_bad_request_is_not_sent(self) -> None:
        with provider(WHOLE) as server, self.assertRaises(ConfigError):
            list(self.new_model(server.url).stream(Request((user("hi"),), (Tool("a b"),))))
        self.assertEqual(server.connections, 0)

    def test_a_connection_that_fails_before_the_answer(self) -> None:
        for script in (hang_up, Exchange.reset):
            with provider(in_turn(script, script, WHOLE)) as server:
                self.assertEqual(generate(self.new_model(server.url), HI).message.text, "a")
                self.assertEqual(len(server.exchanges), 3)

    def test_no_connection(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        with self.pauses() as pauses, self.assertRaisesRegex(ModelError, "refused"):
            list(self.new_model(f"http://127.0.0.1:{port}").stream(HI))
        self.assertEqual(len(pauses), 2)

    def test_a_url_that_is_none(self) -> None:
        with self.pauses() as pauses, self.assertRaises(ModelError):
            list(self.new_model("nowhere").stream(HI))
        self.assertEqual(pauses, [])

    def test_silence_is_not_tried_again(self) -> None:
        with provider(Exchange.wait_until_left) as server:
            self.failed(server, idle_timeout=0.1)
            self.assertEqual(len(server.exchanges), 1)

    def test_nothing_once_the_stream_has_begun(self) -> None:
        for pieces in ((), (": ping\n\n",), (DELTA,)):

            def broken(exchange: Exchange, pieces: tuple[str, ...] = pieces) -> None:
                exchange.chunked()
                for piece in pieces:
                    exchange.chunk(piece)

            with provider(in_turn(broken, WHOLE)) as server:
                events = []
                with self.assertRaises(IncompleteResponseError):
                    for event in self.new_model(server.url).stream(HI):
                        events.append(event)
                self.assertEqual(events, [TextDelta("a")] if DELTA in pieces else [])
                self.assertEqual(len(server.exchanges), 1)

    def test_an_error_event_is_not_tried_again(self) -> None:
        event = 'data: {"error": {"message": "Words.", "code": "rate_limit_exceeded"}}\n\n'
        with provider(in_turn(answer(event), WHOLE)) as server:
            self.assertIsInstance(self.failed(server), RateLimitedError)
            self.assertEqual(len(server.exchanges), 1)


class TestHowOften(RetryTestCase):
    def test_as_often_as_allowed(self) -> None:
        for script in (refuse(503), hang_up):
            for retries in (0, 1, 2, 5):
                with provider(script) as server:
                    self.failed(server, retries=retries)
                    self.assertEqual(len(server.exchanges), 1 + retries)

    def test_the_last_error_is_raised(self) -> None:
        scripts = [refuse(500), hang_up, refuse(503, message="The last words.", type="t", code="c")]
        with provider(in_turn(*scripts)) as server:
            error = self.failed(server)
            assert isinstance(error, APIError)
            self.assertEqual(
                (error.status, error.message, error.type, error.code),
                (503, "The last words.", "t", "c"),
            )
            self.assertIsNone(error.__context__)

    def test_each_stream_counts_for_itself(self) -> None:
        with provider(refuse(503)) as server:
            model = self.new_model(server.url)
            for _ in range(2):
                with self.assertRaises(APIError):
                    list(model.stream(HI))
            self.assertEqual(len(server.exchanges), 6)


class TestHowLong(RetryTestCase):
    def test_longer_from_try_to_try(self) -> None:
        for _ in range(20):
            with provider(refuse(503)) as server, self.pauses() as pauses:
                self.failed(server, retries=3, backoff=1.0, max_wait=3.0)
                for pause, longest in zip(pauses, (1.0, 2.0, 3.0), strict=True):
                    self.assertTrue(longest / 2 <= pause <= longest, pauses)

    def test_not_all_at_the_same_time(self) -> None:
        with provider(refuse(503)) as server, self.pauses() as pauses:
            for _ in range(20):
                self.failed(server, retries=1)
            self.assertGreater(len(set(pauses)), 10)

    def test_as_long_as_asked(self) -> None:
        for status in (429, 503):
            with provider(refuse(status, "Retry-After: 7")) as server, self.pauses() as pauses:
                self.failed(server)
                self.assertEqual(pauses, [7.0, 7.0])

    def test_a_hint_of_nothing_is_not_taken_at_its_word(self) -> None:
        for hint in ("0", "Wed, 21 Oct 2015 07:28:00 GMT"):
            with provider(refuse(503, f"Retry-After: {hint}")) as server, self.pauses() as pauses:
                self.failed(server, retries=1, backoff=1.0)
                self.assertTrue(0.5 <= pauses[0] <= 1.0, pauses)

    def test_a_hint_that_says_nothing(self) -> None:
        with provider(refuse(503, "Retry-After: soon")) as server, self.pauses() as pauses:
            self.failed(server, retries=1, backoff=1.0)
            self.assertTrue(0.5 <= pauses[0] <= 1.0, pauses)

    def test_a_hint_beyond_measure_is_an_error_at_once(self) -> None:
        tomorrow = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
        for hint in ("3600", "61", tomorrow):
            with provider(refuse(429, f"Retry-After: {hint}")) as server:
                error = self.failed(server)
                assert isinstance(error, RateLimitedError)
                self.assertGreater(error.retry_after or 0, 60)
                self.assertEqual(len(server.exchanges), 1)

    def test_what_is_beyond_measure_can_be_set(self) -> None:
        for max_wait, tries in ((6.9, 1), (7.0, 2)):
            with provider(refuse(429, "Retry-After: 7")) as server, self.pauses():
                self.failed(server, retries=1, max_wait=max_wait)
                self.assertEqual(len(server.exchanges), tries)

    def test_never_sooner_than_asked(self) -> None:
        moment: list[datetime] = []

        def seconds(exchange: Exchange) -> None:
            moment.append(datetime.now(UTC) + timedelta(seconds=1))
            refuse(429, "Retry-After: 1")(exchange)

        def date(exchange: Exchange) -> None:
            # As a provider makes one: what is beyond the second is lost.
            moment.append(datetime.now(UTC) + timedelta(seconds=0.4))
            refuse(429, f"Retry-After: {format_datetime(moment[-1], usegmt=True)}")(exchange)

        def late(exchange: Exchange) -> None:
            came.append(datetime.now(UTC))
            WHOLE(exchange)

        came: list[datetime] = []
        for script in (seconds, date):
            with provider(in_turn(script, late)) as server:
                generate(self.new_model(server.url), HI)
                self.assertGreaterEqual(came[-1], moment[-1])

    def test_no_connection_is_held_meanwhile(self) -> None:
        def endless(exchange: Exchange) -> None:
            exchange.head("Content-Length: 1000000", status=503, media="text/plain")
            exchange.raw(b"x" * 100_000)
            exchange.wait_until_left()

        with provider(in_turn(endless, WHOLE)) as server:

            def during() -> None:
                self.assertTrue(server.exchanges[0].left.wait(PATIENCE))

            with self.pauses(during) as pauses:
                generate(self.new_model(server.url), HI)
            self.assertEqual(len(pauses), 1)


class TestStopping(RetryTestCase):
    def test_cancelled_while_it_waits(self) -> None:
        with provider(refuse(503, "Retry-After: 30")) as server:
            token, events = CancelToken(), []
            model = self.new_model(server.url)
            thread = threading.Thread(target=lambda: events.extend(model.stream(HI, cancel=token)))
            thread.start()
            deadline = time.monotonic() + PATIENCE
            while not token._callbacks and time.monotonic() < deadline:
                time.sleep(0.001)
            token.cancel()
            thread.join(PATIENCE)
            self.assertFalse(thread.is_alive())
            self.assertEqual((events, len(server.exchanges)), ([], 1))

    def test_a_token_does_not_keep_what_waited(self) -> None:
        with provider(in_turn(refuse(503), WHOLE)) as server:
            token = CancelToken()
            list(self.new_model(server.url).stream(HI, token))
            self.assertEqual(token._callbacks, [])

    def test_closed_before_it_began(self) -> None:
        with provider(refuse(503)) as server:
            with closing(self.new_model(server.url).stream(HI)):
                pass
            self.assertEqual(server.connections, 0)

    def test_closed_after_a_second_try(self) -> None:
        def silent(exchange: Exchange) -> None:
            exchange.chunked()
            exchange.chunk(DELTA)
            exchange.wait_until_left()

        with provider(in_turn(refuse(503), silent)) as server:
            stream = self.new_model(server.url).stream(HI)
            self.assertEqual(next(iter(stream)), TextDelta("a"))
            stream.close()
            self.assertTrue(server.exchanges[1].left.wait(PATIENCE))
            self.assertEqual(list(stream), [])
