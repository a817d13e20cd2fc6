"""Every adapter against a real server: what it sends, how it reads, and how it lets go."""

from __future__ import annotations

import asyncio
import copy
import gc
import gzip
import json
import socket
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any
from unittest import mock

import requests
import urllib3
from requests.adapters import HTTPAdapter

from modeltest import (
    APIError,
    CancelToken,
    ConfigError,
    Finish,
    IncompleteResponseError,
    ModelError,
    Request,
    TextDelta,
    Tool,
    generate,
    user,
)
from tests.adapters.anthropic_messages import AnthropicMessagesModel
from tests.adapters.gemini import GeminiModel
from tests.adapters.ollama_chat import OllamaChatModel
from tests.adapters.openai_chat import OpenAIChatModel
from tests.adapters.openai_chat_cancel import CancellableOpenAIChatModel
from tests.adapters.openai_chat_httpx import AsyncOpenAIChatModel
from tests.adapters.openai_chat_pump import PumpedOpenAIChatModel
from tests.adapters.openai_chat_retry import RetryingOpenAIChatModel
from tests.adapters.openai_chat_stream import ChatStream, ClosableOpenAIChatModel
from tests.adapters.openai_responses import OpenAIResponsesModel
from tests.adapters.units.loopback import PATIENCE, Exchange, Provider, Script, answer, provider

KEY = "sk-test-4f9a"
HI = Request((user("hi"),))


@contextmanager
def no_collector() -> Iterator[None]:
    """A release must not wait for the cyclic garbage collector."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def in_thread(work: Callable[[], Any]) -> Callable[[], Any]:
    """Run `work` beside the test; the result waits for it, and raises what it raised."""
    results: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            results.append((work(), None))
        except BaseException as error:
            results.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def result() -> Any:
        thread.join(PATIENCE)
        assert results, "still blocked"
        value, error = results[0]
        if error is not None:
            raise error
        return value

    return result


class Chat:
    """What the OpenAI adapters have in common."""

    path = "/v1/chat/completions"
    key_header = ("authorization", f"Bearer {KEY}")
    model_class: Callable[..., OpenAIChatModel] = OpenAIChatModel

    def new_model(self, server: Provider, **options: Any) -> Any:
        session = requests.Session()
        session.trust_env = False
        self.addCleanup(session.close)  # type: ignore[attr-defined]
        return self.model_class(f"{server.url}/v1", api_key=KEY, session=session, **options)

    def new_model_with_pool_of_one(self, server: Provider) -> Any:
        session = requests.Session()
        self.addCleanup(session.close)  # type: ignore[attr-defined]
        session.mount("http://", HTTPAdapter(pool_maxsize=1, pool_block=True))
        return self.model_class(f"{server.url}/v1", api_key=KEY, session=session)

    def delta(self, text: str) -> str:
        chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
        return f"data: {json.dumps(chunk)}\n\n"

    def ending(self) -> list[str]:
        finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
        return [
            f"data: {json.dumps(finish)}\n\n",
            f"data: {json.dumps(usage)}\n\n",
            "data: [DONE]\n\n",
        ]

    complete_after = 1  # pieces of the ending


class Contract:
    """The tests; combined with a TestCase below, so that this class is no test by itself."""

    closes_from_any_thread = False
    marks_its_end = True

    def model_sent(self, exchange: Exchange) -> str:
        """The model that a request names; and it asks for a stream."""
        payload = exchange.json()
        assert payload["stream"] is True
        return payload["model"]

    def words_sent(self, exchange: Exchange) -> str:
        """The last words of a request."""
        said = exchange.json()["messages"][-1]["content"]
        return said if isinstance(said, str) else said[0]["text"]

    # -- a whole turn

    def body(self, *texts: str) -> list[str]:
        return [*map(self.delta, texts), *self.ending()]

    def test_a_turn(self) -> None:
        with provider(answer(*self.body("a", "b"))) as server:
            turn = generate(self.new_model(server), HI)
        self.assertEqual(turn.message.text, "ab")
        self.assertEqual((turn.usage.input_tokens, turn.usage.output_tokens), (7, 3))

    def test_what_is_sent(self) -> None:
        request = Request((user("hi"),), (Tool("f"),))
        before = copy.deepcopy(request)
        with provider(answer(*self.body("a"))) as server:
            generate(self.new_model(server, model="m-1"), request)
        [exchange] = server.exchanges
        name, value = self.key_header
        self.assertEqual((exchange.method, exchange.path), ("POST", self.path))
        self.assertEqual(exchange.headers[name], value)
        self.assertEqual(exchange.headers["content-type"], "application/json")
        self.assertEqual(exchange.headers["accept-encoding"], "identity")
        self.assertEqual(self.model_sent(exchange), "m-1")
        self.assertEqual(request, before)

    def test_nothing_is_sent_for_a_bad_request(self) -> None:
        with provider(answer(*self.body("a"))) as server:
            model = self.new_model(server)
            with self.assertRaisesRegex(ConfigError, "get weather"):
                list(model.stream(Request((user("hi"),), (Tool("get weather"),))))
            self.assertEqual(server.connections, 0)

    def test_a_key_that_no_header_may_hold(self) -> None:
        for key in ("sk\n", "sk-é", "a\x00"):
            with self.assertRaises(ConfigError) as caught:
                type(self.new_model_for_nobody())("http://127.0.0.1:1", api_key=key)
            self.assertNotIn(key, repr(caught.exception))

    def new_model_for_nobody(self) -> Any:
        with provider(answer()) as server:
            return self.new_model(server)

    def test_the_connection_serves_again(self) -> None:
        with provider(answer(*self.body("a"))) as server:
            model = self.new_model(server)
            for _ in range(3):
                self.assertEqual(generate(model, HI).message.text, "a")
            self.assertEqual((len(server.exchanges), server.connections), (3, 1))

    def test_every_way_to_write_it(self) -> None:
        whole = "".join(self.body("aé", "🎈b")).encode()

        def chunks(size: int) -> Script:
            return answer(*(whole[at : at + size] for at in range(0, len(whole), size)))

        def length(exchange: Exchange) -> None:
            exchange.head(f"Content-Length: {len(whole)}")
            exchange.raw(whole)
            exchange.keep_alive = True

        def until_close(exchange: Exchange) -> None:
            exchange.raw(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + whole)

        def zipped(exchange: Exchange) -> None:
            exchange.chunked("Content-Encoding: gzip")
            packed = gzip.compress(whole)
            for at in range(0, len(packed), 5):
                exchange.chunk(packed[at : at + 5])
            exchange.end()

        for script in (
            chunks(1),
            chunks(2),
            chunks(7),
            chunks(10_000),
            length,
            until_close,
            zipped,
        ):
            with provider(script) as server:
                self.assertEqual(generate(self.new_model(server), HI).message.text, "aé🎈b")

    def test_events_come_as_they_are_sent(self) -> None:
        def chunked(exchange: Exchange) -> None:
            exchange.chunked()
            self.send_in_step(exchange.chunk, seen)
            exchange.end()

        def until_close(exchange: Exchange) -> None:
            exchange.raw(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            self.send_in_step(lambda text: exchange.raw(text.encode()), seen)

        for script in (chunked, until_close):
            seen = threading.Semaphore(1)
            with provider(script) as server:
                for _ in self.new_model(server).stream(HI):
                    seen.release()

    def send_in_step(self, send: Callable[[str], None], seen: threading.Semaphore) -> None:
        for n in range(20):
            assert seen.acquire(timeout=PATIENCE), "the event was not delivered"
            send(self.delta(f"{n} "))
        for piece in self.ending():
            send(piece)

    def test_the_turn_ends_at_its_marker(self) -> None:
        if not self.marks_its_end:
            self.skipTest("the format has none")

        def script(exchange: Exchange) -> None:
            exchange.chunked()
            for piece in self.body("a"):
                exchange.chunk(piece)
            exchange.wait_until_left()

        with provider(script) as server, no_collector():
            self.assertEqual(generate(self.new_model(server), HI).message.text, "a")
            self.assertTrue(server.exchanges[0].left.wait(PATIENCE))

    # -- stopping early

    def endless(self, exchange: Exchange) -> None:
        exchange.chunked()
        n = 0
        while True:
            exchange.chunk(self.delta(f"x{n} "))
            n += 1
            time.sleep(0.001)

    def silent(self, exchange: Exchange) -> None:
        exchange.chunked()
        for n in range(self.before_silence):
            exchange.chunk(self.delta(f"x{n} "))
        exchange.wait_until_left()

    before_silence = 1

    def assert_released(self, server: Provider) -> None:
        for exchange in server.exchanges:
            self.assertTrue(exchange.left.wait(PATIENCE), "the connection is still open")

    def test_break(self) -> None:
        with provider(self.endless) as server, no_collector():
            for _ in self.new_model(server).stream(HI):
                break
            self.assert_released(server)

    def test_break_and_close(self) -> None:
        with provider(self.endless) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            for _ in stream:
                break
            stream.close()
            self.assert_released(server)
            stream.close()
            self.assertEqual(list(stream), [])
            self.assertEqual(len(server.exchanges), 1)

    def test_with_block(self) -> None:
        with provider(self.endless) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            with closing(stream):
                next(iter(stream))
            self.assert_released(server)

    def test_consumer_error(self) -> None:
        with provider(self.endless) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            with self.assertRaisesRegex(KeyError, "mine"), closing(stream):
                for _ in stream:
                    raise KeyError("mine")
            self.assert_released(server)

    def test_never_read(self) -> None:
        with provider(self.endless) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            stream.close()
            self.assertEqual(list(stream), [])
            self.assert_released(server)

    def test_never_read_and_dropped(self) -> None:
        with provider(self.endless) as server, no_collector():
            self.new_model(server).stream(HI)
            self.assert_released(server)

    def test_dropped_while_silent(self) -> None:
        with provider(self.silent) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            next(iter(stream))
            del stream
            self.assert_released(server)

    def test_many(self) -> None:
        threads = threading.active_count()
        with provider(self.endless) as server:
            model = self.new_model(server)
            for _ in range(100):
                for _ in model.stream(HI):
                    break
            self.assert_released(server)
        deadline = time.monotonic() + PATIENCE
        while threading.active_count() > threads and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertLessEqual(threading.active_count(), threads)

    def test_the_next_turn_is_clean(self) -> None:
        with provider(self.endless) as server:
            model = self.new_model(server)
            for _ in model.stream(HI):
                break
            server.script = answer(*self.body("clean"))
            self.assertEqual(generate(model, HI).message.text, "clean")

    def test_unread_events_stay_on_the_wire(self) -> None:
        sent = [0]
        filled = threading.Event()

        def script(exchange: Exchange) -> None:
            exchange.chunked()
            exchange._sock.settimeout(0.3)
            try:
                while sent[0] < 64 * 1024 * 1024:
                    exchange.chunk(self.delta("x" * 10_000))
                    sent[0] += 10_000
            except TimeoutError:
                pass
            finally:
                filled.set()

        with provider(script) as server:
            stream = self.new_model(server).stream(HI)
            next(iter(stream))
            filled.wait(PATIENCE)
            self.assertLess(sent[0], 32 * 1024 * 1024)
            stream.close()

    # -- the provider fails

    def test_truncated(self) -> None:
        pieces = self.body("a", "b")
        for count in range(2 + self.complete_after):
            for ending in ("end", "close", "reset", "half", "inside"):

                def script(exchange: Exchange, count: int = count, ending: str = ending) -> None:
                    exchange.chunked()
                    for piece in pieces[:count]:
                        exchange.chunk(piece)
                    if ending == "inside":
                        exchange.raw(b"ff\r\ndata: {")
                    if ending == "half":
                        exchange.chunk(pieces[count][:-1])
                    if ending in ("end", "half"):
                        exchange.end()
                    if ending == "reset":
                        time.sleep(0.02)
                        exchange.reset()

                with self.subTest(count=count, ending=ending), provider(script) as server:
                    stream = self.new_model(server).stream(HI)
                    events = []
                    with self.assertRaises(IncompleteResponseError) as caught:
                        for event in stream:
                            events.append(event)
                    seen_by_transport = ending in ("close", "reset", "inside")
                    self.assertEqual(caught.exception.__cause__ is not None, seen_by_transport)
                    self.assertTrue(all(isinstance(event, TextDelta) for event in events))
                    self.assertEqual(list(stream), [])
                    stream.close()

    def test_a_connection_that_breaks_after_the_answer(self) -> None:
        pieces = self.body("a")
        for count in range(1 + self.complete_after, len(pieces) + 1):

            def script(exchange: Exchange, count: int = count) -> None:
                exchange.chunked()
                for piece in pieces[:count]:
                    exchange.chunk(piece)

            with self.subTest(count=count), provider(script) as server:
                self.assertEqual(generate(self.new_model(server), HI).message.text, "a")

    def test_a_compressed_body_that_is_cut(self) -> None:
        packed = gzip.compress("".join([*self.body("a")[:1], self.delta("b" * 1000)]).encode())

        def script(exchange: Exchange, data: bytes) -> None:
            exchange.chunked("Content-Encoding: gzip")
            exchange.chunk(data)
            exchange.end()

        for data in (packed[: len(packed) // 2], packed[:-9], packed[:20] + b"x" * 40, b"no gzip"):
            with (
                provider(partial(script, data=data)) as server,
                self.assertRaises(IncompleteResponseError),
            ):
                generate(self.new_model(server), HI)

    def test_nothing_or_comments_only(self) -> None:
        for body in ([], [": ping\n\n"], [": ping\n\n"] * 3):
            with provider(answer(*body)) as server, self.assertRaises(IncompleteResponseError):
                generate(self.new_model(server), HI)

    def test_an_http_error(self) -> None:
        def script(exchange: Exchange) -> None:
            body = json.dumps({"error": {"message": f"Words about {KEY}.", "type": "t"}}).encode()
            exchange.head(f"Content-Length: {len(body)}", status=400, media="application/json")
            exchange.raw(body)
            exchange.keep_alive = True

        with provider(script) as server:
            model = self.new_model(server)
            with self.assertRaisesRegex(APIError, r"HTTP 400 \(t\): Words") as caught:
                list(model.stream(HI))
            self.assertNotIn(KEY, str(caught.exception))
            self.assertEqual(len(server.exchanges), 1)
            server.script = answer(*self.body("a"))
            self.assertEqual(generate(model, HI).message.text, "a")
            self.assertEqual(server.connections, 1)

    def test_a_failed_turn_releases_while_its_error_is_held(self) -> None:
        def script(exchange: Exchange) -> None:
            exchange.chunked()
            exchange.chunk('event: error\ndata: {"error": {"message": "Words."}}\n\n')
            exchange.wait_until_left()

        with provider(script) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            with self.assertRaisesRegex(APIError, "Words") as caught:
                list(stream)
            self.assert_released(server)
            del caught

    def test_a_pool_of_one_is_not_exhausted(self) -> None:
        def script(exchange: Exchange, status: int) -> None:
            exchange.head("Content-Length: 1000000", status=status, media="application/json")
            exchange.raw(b"{" * 100_000)
            exchange.wait_until_left()

        for status in (200, 500):
            with provider(partial(script, status=status)) as server:
                model = self.new_model_with_pool_of_one(server)
                for _ in range(2):
                    with self.assertRaises(APIError):
                        list(model.stream(HI))
                server.script = self.endless
                for _ in range(2):
                    stream = model.stream(HI)
                    in_thread(lambda stream=stream: next(iter(stream)))()
                    stream.close()

    def test_a_redirect_is_not_followed(self) -> None:
        def redirect(exchange: Exchange) -> None:
            exchange.head(
                f"Location: {other.url}/", "Content-Length: 0", status=status, media="text/html"
            )

        for status in (301, 302, 303, 307, 308):
            with provider(answer()) as other, provider(redirect) as server:
                with self.assertRaisesRegex(APIError, str(status)):
                    list(self.new_model(server).stream(HI))
                self.assertEqual(other.connections, 0)

    def test_unreachable(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        with provider(lambda exchange: None) as closes:
            model = self.new_model(closes)
            with self.assertRaises(ModelError) as caught:
                list(model.stream(HI))
            self.assertIsNotNone(caught.exception.__cause__)
            model._url = f"http://127.0.0.1:{port}/"
            with self.assertRaises(ModelError) as caught:
                list(model.stream(HI))
            self.assertNotIn(KEY, repr(caught.exception))

    def test_silence(self) -> None:
        def nothing(exchange: Exchange) -> None:
            exchange.wait_until_left()

        for before, script in ((0, nothing), (0, self.silent), (1, self.silent)):
            self.before_silence = before
            with provider(script) as server, no_collector():
                with self.assertRaisesRegex(ModelError, "silent|Read timed out"):
                    list(self.new_model(server, idle_timeout=0.1).stream(HI))
                self.assert_released(server)

    def test_silence_after_the_answer(self) -> None:
        def script(exchange: Exchange) -> None:
            exchange.chunked()
            exchange.chunk("".join(self.body("a")[: 1 + self.complete_after]))
            exchange.wait_until_left()

        with provider(script) as server:
            # Longer than a busy machine takes between the headers and the body.
            turn = generate(self.new_model(server, idle_timeout=1.0), HI)
            self.assertEqual(turn.message.text, "a")

    # -- many streams

    def echo(self, exchange: Exchange) -> None:
        text = self.words_sent(exchange)
        answer(*self.body(*(f"{text}{n} " for n in range(20))))(exchange)

    def test_parallel_streams(self) -> None:
        with provider(self.echo) as server:
            model = self.new_model(server)
            results = {
                name: in_thread(lambda name=name: generate(model, Request((user(name),))))
                for name in "abcdefgh"
            }
            for name, result in results.items():
                words = result().message.text.split()
                self.assertEqual(words, [f"{name}{n}" for n in range(20)])

    def test_interleaved_streams(self) -> None:
        with provider(self.echo) as server:
            model = self.new_model(server)
            streams = [iter(model.stream(Request((user(name),)))) for name in "ab"]
            for first, second in zip(*streams, strict=True):
                if isinstance(first, Finish):
                    break
                self.assertEqual((first.text[0], second.text[0]), ("a", "b"))

    # -- another thread

    def test_close_from_another_thread(self) -> None:
        if not self.closes_from_any_thread:
            self.skipTest("a generator cannot be closed while it runs")
        for self.before_silence in (0, 1):
            with provider(self.silent) as server, no_collector():
                stream = self.new_model(server).stream(HI)
                for _ in range(self.before_silence):
                    next(stream)
                rest = in_thread(lambda stream=stream: list(stream))
                time.sleep(0.05)
                stream.close()
                self.assertEqual(rest(), [])
                self.assert_released(server)
                self.assertEqual(list(stream), [])

    def test_close_races_with_reading(self) -> None:
        if not self.closes_from_any_thread:
            self.skipTest("a generator cannot be closed while it runs")
        with provider(self.endless) as server, no_collector():
            model = self.new_model(server)
            for n in range(40):
                stream = model.stream(HI)
                rest = in_thread(lambda stream=stream: list(stream))
                time.sleep(n * 0.0003)
                stream.close()
                rest()
            self.assert_released(server)


class TestGenerator(Chat, Contract, unittest.TestCase):
    def test_the_key_is_not_replaced_by_one_from_netrc(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix="netrc") as netrc:
            netrc.write("machine 127.0.0.1 login someone password other\n")
            netrc.flush()
            with (
                mock.patch.dict("os.environ", NETRC=netrc.name),
                requests.Session() as session,
                provider(answer(*self.body("a"))) as server,
            ):
                model = OpenAIChatModel(f"{server.url}/v1", api_key=KEY, session=session)
                generate(model, HI)
        self.assertEqual(server.exchanges[0].headers["authorization"], f"Bearer {KEY}")


class TestStreamObject(Chat, Contract, unittest.TestCase):
    model_class = ClosableOpenAIChatModel
    closes_from_any_thread = True

    def test_the_request_is_sent_at_the_call(self) -> None:
        with provider(self.endless) as server, self.new_model(server).stream(HI):
            self.assertEqual(len(server.exchanges), 1)

    def test_a_dropped_stream_closes_its_body(self) -> None:
        with provider(self.silent) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            body = stream._body
            del stream
            self.assert_released(server)
            body.close()

    def test_an_event_that_comes_while_it_is_closed_is_not_given(self) -> None:
        reading, closing_ = threading.Event(), threading.Event()

        def events() -> Iterator[TextDelta]:
            reading.set()
            closing_.wait(PATIENCE)
            yield TextDelta("late")

        body = mock.Mock(wake=closing_.set)
        stream = ChatStream(body, events())
        rest = in_thread(lambda: list(stream))
        reading.wait(PATIENCE)
        stream.close()
        self.assertEqual(rest(), [])
        body.close.assert_called_once_with()

    def test_it_is_a_context_manager(self) -> None:
        with provider(self.endless) as server, no_collector():
            with self.new_model(server).stream(HI) as stream:
                for _ in stream:
                    break
            self.assert_released(server)


class TestPump(Chat, Contract, unittest.TestCase):
    model_class = PumpedOpenAIChatModel
    closes_from_any_thread = True

    def test_a_full_queue_does_not_hold_the_thread(self) -> None:
        for drop in (True, False):
            with provider(self.endless) as server, no_collector():
                stream = self.new_model(server).stream(HI)
                next(stream)
                pump, thread = stream._pump, stream._thread
                while len(pump._ready) < 16:
                    time.sleep(0.001)
                if drop:
                    del stream
                    thread.join(PATIENCE)
                else:
                    stream.close()
                self.assertFalse(thread.is_alive())
                self.assert_released(server)

    def test_an_error_is_raised_once(self) -> None:
        with provider(answer(self.delta("a"))) as server:
            stream = self.new_model(server).stream(HI)
            self.assertEqual(next(stream), TextDelta("a"))
            with self.assertRaises(IncompleteResponseError):
                next(stream)
            self.assertEqual(list(stream), [])


class TestCancel(Chat, Contract, unittest.TestCase):
    model_class = CancellableOpenAIChatModel

    def test_cancel_while_blocked(self) -> None:
        for self.before_silence in (0, 1):
            with provider(self.silent) as server, no_collector():
                token = CancelToken()
                events = in_thread(
                    lambda token=token: list(self.new_model(server).stream(HI, cancel=token))
                )
                time.sleep(0.05)
                token.cancel()
                self.assertEqual(len(events()), self.before_silence)
                self.assert_released(server)

    def test_cancelled_before_it_began(self) -> None:
        with provider(self.endless) as server:
            token = CancelToken()
            stream = self.new_model(server).stream(HI, token)
            token.cancel()
            self.assertEqual(list(stream), [])
            self.assertEqual(server.connections, 0)

    def test_cancelled_while_the_consumer_is_busy(self) -> None:
        with provider(self.endless) as server, no_collector():
            token = CancelToken()
            stream = self.new_model(server).stream(HI, token)
            next(stream)
            time.sleep(0.05)
            token.cancel()
            self.assertEqual(list(stream), [])
            self.assert_released(server)

    def test_a_finished_stream_leaves_no_callback(self) -> None:
        token = CancelToken()
        with provider(answer(*self.body("a"))) as server:
            list(self.new_model(server).stream(HI, token))
            self.assertEqual(token._callbacks, [])
            token.cancel()

    def test_an_error_is_still_an_error(self) -> None:
        with (
            provider(answer(self.delta("a"))) as server,
            self.assertRaises(IncompleteResponseError),
        ):
            list(self.new_model(server).stream(HI, CancelToken()))


class TestRetry(Chat, Contract, unittest.TestCase):
    model_class = staticmethod(partial(RetryingOpenAIChatModel, backoff=0.001))

    def test_cancel_while_blocked(self) -> None:
        for self.before_silence in (0, 1):
            with provider(self.silent) as server, no_collector():
                token = CancelToken()
                stream = self.new_model(server).stream(HI, cancel=token)
                events = in_thread(lambda stream=stream: list(stream))
                time.sleep(0.05)
                token.cancel()
                self.assertEqual(len(events()), self.before_silence)
                self.assert_released(server)


class TestAnthropic(Contract, unittest.TestCase):
    path = "/v1/messages"
    key_header = ("x-api-key", KEY)
    complete_after = 3

    def new_model(self, server: Provider, **options: Any) -> AnthropicMessagesModel:
        pool = urllib3.PoolManager()
        self.addCleanup(pool.clear)
        return AnthropicMessagesModel(server.url, api_key=KEY, pool=pool, **options)

    def new_model_with_pool_of_one(self, server: Provider) -> AnthropicMessagesModel:
        pool = urllib3.PoolManager(maxsize=1, block=True)
        self.addCleanup(pool.clear)
        return AnthropicMessagesModel(server.url, api_key=KEY, pool=pool)

    def spell(self, **data: Any) -> str:
        return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"

    def delta(self, text: str) -> str:
        delta = {"type": "text_delta", "text": text}
        return self.spell(type="content_block_delta", index=0, delta=delta)

    def ending(self) -> list[str]:
        usage = {"input_tokens": 7, "output_tokens": 3}
        return [
            self.spell(type="content_block_stop", index=0),
            self.spell(type="message_delta", delta={"stop_reason": "end_turn"}, usage=usage),
            self.spell(type="message_stop"),
        ]


class TestResponses(Contract, unittest.TestCase):
    path = "/v1/responses"
    key_header = ("authorization", f"Bearer {KEY}")
    complete_after = 2

    def new_model(self, server: Provider, **options: Any) -> OpenAIResponsesModel:
        session = requests.Session()
        session.trust_env = False
        self.addCleanup(session.close)
        return OpenAIResponsesModel(f"{server.url}/v1", api_key=KEY, session=session, **options)

    def new_model_with_pool_of_one(self, server: Provider) -> OpenAIResponsesModel:
        session = requests.Session()
        self.addCleanup(session.close)
        session.mount("http://", HTTPAdapter(pool_maxsize=1, pool_block=True))
        return OpenAIResponsesModel(server.url, api_key=KEY, session=session)

    def words_sent(self, exchange: Exchange) -> str:
        return exchange.json()["input"][-1]["content"]

    def spell(self, **data: Any) -> str:
        return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"

    def delta(self, text: str) -> str:
        return self.spell(type="response.output_text.delta", delta=text, output_index=0)

    def ending(self) -> list[str]:
        usage = {"input_tokens": 7, "output_tokens": 3}
        response = {"status": "completed", "usage": usage}
        return [
            self.spell(type="response.output_text.done", text="…", output_index=0),
            self.spell(type="response.completed", response=response),
        ]


class TestGemini(Contract, unittest.TestCase):
    path = "/v1beta/models/m-1:streamGenerateContent?alt=sse"
    key_header = ("x-goog-api-key", KEY)
    complete_after = 1
    marks_its_end = False

    def new_model(self, server: Provider, **options: Any) -> GeminiModel:
        session = requests.Session()
        session.trust_env = False
        self.addCleanup(session.close)
        return GeminiModel(f"{server.url}/v1beta", api_key=KEY, session=session, **options)

    def new_model_with_pool_of_one(self, server: Provider) -> GeminiModel:
        session = requests.Session()
        self.addCleanup(session.close)
        session.mount("http://", HTTPAdapter(pool_maxsize=1, pool_block=True))
        return GeminiModel(server.url, api_key=KEY, session=session)

    def model_sent(self, exchange: Exchange) -> str:
        return exchange.path.split("/")[3].partition(":")[0]

    def words_sent(self, exchange: Exchange) -> str:
        return exchange.json()["contents"][-1]["parts"][0]["text"]

    def spell(self, text: str, **more: Any) -> str:
        candidate = {"content": {"parts": [{"text": text}]}, "index": 0, **more}
        return f"data: {json.dumps({'candidates': [candidate]})}\n\n"

    def delta(self, text: str) -> str:
        return self.spell(text)

    def ending(self) -> list[str]:
        usage = {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3}}
        return [self.spell("", finishReason="STOP"), f"data: {json.dumps(usage)}\n\n"]


class TestOllama(unittest.TestCase):
    """What lines of JSON have of their own; the kit's checks have seen the rest."""

    def new_model(self, server: Provider, key: str = KEY, **options: Any) -> OllamaChatModel:
        session = requests.Session()
        self.addCleanup(session.close)
        return OllamaChatModel(server.url, api_key=key, model="m-1", session=session, **options)

    def lines(self, *lines: dict[str, Any], media: str = "application/x-ndjson") -> Script:
        def script(exchange: Exchange) -> None:
            exchange.chunked(media=media)
            for line in lines:
                exchange.chunk(json.dumps(line) + "\n")
            exchange.end()

        return script

    word = {"message": {"content": "a"}, "done": False}
    done = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3}

    def test_a_turn(self) -> None:
        with provider(self.lines(self.word, self.done)) as server:
            model = self.new_model(server)
            for _ in range(2):
                turn = generate(model, HI)
                self.assertEqual((turn.message.text, turn.usage.input_tokens), ("a", 7))
        first, _ = server.exchanges
        self.assertEqual((first.method, first.path), ("POST", "/api/chat"))
        self.assertEqual(first.headers["authorization"], f"Bearer {KEY}")
        self.assertEqual(first.json()["model"], "m-1")
        self.assertEqual(server.connections, 1)

    def test_without_a_key_none_is_sent(self) -> None:
        with provider(self.lines(self.done)) as server:
            generate(self.new_model(server, key=""), HI)
        self.assertNotIn("authorization", server.exchanges[0].headers)

    def test_another_media_type_is_an_error(self) -> None:
        for media in ("text/event-stream", "application/json"):
            with provider(self.lines(self.word, self.done, media=media)) as server:
                with self.assertRaisesRegex(APIError, f"expected application/x-ndjson .{media}"):
                    self.new_model(server).stream(HI)

    def test_nothing_is_sent_for_a_bad_request(self) -> None:
        with provider(self.lines(self.done)) as server:
            with self.assertRaisesRegex(ConfigError, "get weather"):
                self.new_model(server).stream(Request((user("hi"),), (Tool("get weather"),)))
        self.assertEqual(server.connections, 0)

    def test_close_from_another_thread(self) -> None:
        def silent(exchange: Exchange) -> None:
            exchange.chunked(media="application/x-ndjson")
            exchange.wait_until_left()

        with provider(silent) as server, no_collector():
            stream = self.new_model(server).stream(HI)
            rest = in_thread(lambda: list(stream))
            time.sleep(0.05)
            stream.close()
            self.assertEqual(rest(), [])
            self.assertTrue(server.exchanges[0].left.wait(PATIENCE))

    def test_silence(self) -> None:
        def nothing(exchange: Exchange) -> None:
            exchange.wait_until_left()

        def silent(exchange: Exchange, lines: int) -> None:
            exchange.chunked(media="application/x-ndjson")
            for _ in range(lines):
                exchange.chunk(json.dumps(self.word) + "\n")
            exchange.wait_until_left()

        for script in (nothing, partial(silent, lines=0), partial(silent, lines=1)):
            with provider(script) as server, no_collector():
                with self.assertRaisesRegex(ModelError, "silent|Read timed out") as caught:
                    list(self.new_model(server, idle_timeout=0.1).stream(HI))
                self.assertTrue(server.exchanges[0].left.wait(PATIENCE))
                del caught


class TestHttpx(Chat, unittest.TestCase):
    """What an async generator has of its own; the kit's checks have seen the rest."""

    silent, before_silence = Contract.silent, 1

    def read(self, server: Provider, **options: Any) -> list[Any]:
        model = AsyncOpenAIChatModel(f"{server.url}/v1", api_key=KEY, **options)
        events: list[Any] = []

        async def read() -> None:
            async for event in model.stream(HI):
                events.append(event)

        asyncio.run(read())
        return events

    def test_silence(self) -> None:
        def nothing(exchange: Exchange) -> None:
            exchange.wait_until_left()

        async def fail(server: Provider) -> None:
            model = AsyncOpenAIChatModel(f"{server.url}/v1", api_key=KEY, idle_timeout=0.1)
            with self.assertRaisesRegex(ModelError, "silent|ReadTimeout"):
                async for _ in model.stream(HI):
                    pass
            # While the event loop still runs, which at its end closes what was left open.
            left = server.exchanges[0].left
            self.assertTrue(await asyncio.to_thread(left.wait, PATIENCE))

        for before, script in ((0, nothing), (0, self.silent), (1, self.silent)):
            self.before_silence = before
            with provider(script) as server, no_collector():
                asyncio.run(fail(server))

    def test_silence_after_the_answer(self) -> None:
        def script(exchange: Exchange) -> None:
            exchange.chunked()
            exchange.chunk(self.delta("a"))
            exchange.chunk(self.ending()[0])
            exchange.wait_until_left()

        with provider(script) as server:
            *_, finish = self.read(server, idle_timeout=0.1)
            self.assertIsInstance(finish, Finish)

    def test_a_connection_that_breaks_after_the_answer(self) -> None:
        def script(exchange: Exchange) -> None:
            exchange.chunked()
            exchange.chunk(self.delta("a"))
            exchange.chunk(self.ending()[0])

        with provider(script) as server:
            *_, finish = self.read(server)
            self.assertIsInstance(finish, Finish)
