"""Every adapter, and every way in which a provider refuses: what the error says, and what not."""

from __future__ import annotations

import asyncio
import json
import socket
import traceback
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import wraps
from typing import Any, NamedTuple

from modeltest import (
    APIError,
    ModelError,
    QuotaExhaustedError,
    RateLimitedError,
    Request,
    RequestsTransport,
    Urllib3Transport,
    user,
)
from modeltest.transports import Ledger
from modeltest.wire import (
    AnthropicMessages,
    Gemini,
    OllamaChat,
    OpenAIChat,
    OpenAIResponses,
    WireFormat,
)
from tests.adapters.anthropic_messages import AnthropicMessagesModel
from tests.adapters.gemini import GeminiModel
from tests.adapters.ollama_chat import OllamaChatModel
from tests.adapters.openai_chat import OpenAIChatModel
from tests.adapters.openai_chat_cancel import CancellableOpenAIChatModel
from tests.adapters.openai_chat_httpx import AsyncOpenAIChatModel
from tests.adapters.openai_chat_pump import PumpedOpenAIChatModel
from tests.adapters.openai_chat_stream import ClosableOpenAIChatModel
from tests.adapters.openai_responses import OpenAIResponsesModel
from tests.adapters.units.loopback import Exchange, Script, provider

KEY = "sk-test-4f9a"
HI = Request((user("hi"),))
STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529)


class Adapter(NamedTuple):
    """How a model is made, the format of its provider, and that of its streams."""

    new: Callable[..., Any]
    wire: WireFormat
    media: str = "text/event-stream"

    def spell(self, payload: dict[str, Any]) -> str:
        text = json.dumps(payload)
        return f"{text}\n" if self.media == "application/x-ndjson" else f"data: {text}\n\n"


ADAPTERS = (
    Adapter(OpenAIChatModel, OpenAIChat()),
    Adapter(ClosableOpenAIChatModel, OpenAIChat()),
    Adapter(CancellableOpenAIChatModel, OpenAIChat()),
    Adapter(PumpedOpenAIChatModel, OpenAIChat()),
    Adapter(AsyncOpenAIChatModel, OpenAIChat()),
    Adapter(OpenAIResponsesModel, OpenAIResponses()),
    Adapter(AnthropicMessagesModel, AnthropicMessages()),
    Adapter(GeminiModel, Gemini()),
    Adapter(OllamaChatModel, OllamaChat(), "application/x-ndjson"),
)


def consume(model: Any) -> None:
    """Read a stream to its end, whatever kind of stream it is."""

    async def read() -> None:
        async for _ in model.stream(HI):
            pass

    if isinstance(model, AsyncOpenAIChatModel):
        asyncio.run(read())
    else:
        for _ in model.stream(HI):
            pass


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and all that it holds on to as its reason, seen or suppressed."""
    if error is not None:
        yield error
        yield from chain(error.__cause__)
        yield from chain(error.__context__)
        for argument in error.args:
            if isinstance(argument, BaseException):
                yield from chain(argument)


def say(
    body: bytes | str, *headers: str, status: int = 500, media: str = "application/json"
) -> Script:
    data = body.encode() if isinstance(body, str) else body

    def script(exchange: Exchange) -> None:
        exchange.head(f"Content-Length: {len(data)}", *headers, status=status, media=media)
        exchange.raw(data)
        exchange.wait_until_left()

    return script


def each_adapter(test: Callable[[Any, Adapter], None]) -> Callable[[Any], None]:
    """Run a test once for each adapter."""

    @wraps(test)
    def run(self: Any) -> None:
        for adapter in ADAPTERS:
            with self.subTest(adapter.new.__name__):
                test(self, adapter)

    return run


@contextmanager
def model_at(url: str, adapter: Adapter, *, connections: int) -> Iterator[Any]:
    """A model that leaves no connection in use, of at least so many."""
    if adapter.new is AsyncOpenAIChatModel:  # its client lives no longer than the stream
        yield adapter.new(url, api_key=KEY)
        return
    over_urllib3 = adapter.new is AnthropicMessagesModel
    transport = Urllib3Transport() if over_urllib3 else RequestsTransport()
    ledger = Ledger()
    with transport.client(ledger) as client, ledger.all_released(at_least=connections):
        yield adapter.new(url, api_key=KEY, **{"pool" if over_urllib3 else "session": client})


class FailureTestCase(unittest.TestCase):
    def failure(self, adapter: Adapter, script: Script) -> ModelError:
        """The error of a turn, after one request; it does not reveal the key."""
        with provider(script) as server:
            error = self.error(adapter, server.url)
            self.assertEqual(len(server.exchanges), 1)
        return error

    def api_error(self, adapter: Adapter, script: Script) -> APIError:
        error = self.failure(adapter, script)
        assert isinstance(error, APIError), error
        return error

    def error(self, adapter: Adapter, url: str, *, connections: int = 1) -> ModelError:
        error: ModelError | None = None
        with model_at(url, adapter, connections=connections) as model:
            # Not assertRaises: it empties the error's frames, and so drops what is open in them.
            try:
                consume(model)
            except ModelError as raised:
                error = raised
        assert error is not None, "the turn did not fail"
        self.assertLess(len(str(error)), 700)
        for each in chain(error):
            self.assertNotIn(KEY, f"{each} {each!r}")
        self.assertNotIn(KEY, f"{vars(error)} {''.join(traceback.format_exception(error))}")
        return error


class TestRefusals(FailureTestCase):
    @each_adapter
    def test_the_status_and_the_providers_words(self, adapter: Adapter) -> None:
        for status in STATUSES:
            refusal = adapter.wire.error_response(status)
            error = self.api_error(
                adapter, say(refusal.body, status=status, media=refusal.content_type)
            )
            with self.subTest(status=status):
                said = json.loads(refusal.body)["error"]
                said = said if isinstance(said, dict) else {"message": said}
                kind = said.get("type") or said.get("status") or ""
                self.assertEqual((error.status, error.message), (status, said["message"]))
                self.assertEqual((error.type, error.code), (kind, str(said.get("code") or "")))
                self.assertIn(f"HTTP {status}", str(error))
                limited = status == 429
                self.assertIs(type(error), RateLimitedError if limited else APIError)

    @each_adapter
    def test_when_to_come_back(self, adapter: Adapter) -> None:
        soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
        refusal = adapter.wire.error_response(429)
        for value, least, most in (("7", 7, 7), (soon, 60, 91), ("3600", 3600, 3600)):
            error = self.api_error(adapter, say(refusal.body, f"Retry-After: {value}", status=429))
            assert isinstance(error, RateLimitedError)
            assert error.retry_after is not None
            self.assertTrue(least <= error.retry_after <= most, error.retry_after)
        for garbage in ("soon", "-5", ""):
            error = self.api_error(
                adapter, say(refusal.body, f"Retry-After: {garbage}", status=429)
            )
            assert isinstance(error, RateLimitedError)
            self.assertIsNone(error.retry_after)

    @each_adapter
    def test_nothing_left_to_spend(self, adapter: Adapter) -> None:
        said = {"message": "Pay.", "type": "insufficient_quota", "code": "insufficient_quota"}
        script = say(json.dumps({"error": said}), "Retry-After: 7", status=429)
        error = self.api_error(adapter, script)
        self.assertIsInstance(error, QuotaExhaustedError)
        self.assertEqual((error.code, error.message), ("insufficient_quota", "Pay."))

    @each_adapter
    def test_a_page(self, adapter: Adapter) -> None:
        page = "<html><head><title>502 Bad Gateway</title></head>" + "<p>nginx &amp; co</p>" * 5000
        error = self.api_error(adapter, say(page, status=502, media="text/html"))
        self.assertIn("HTTP 502", str(error))
        self.assertIn("502 Bad Gateway nginx & co", error.message)
        self.assertNotIn("<", error.message)

    @each_adapter
    def test_ten_megabytes(self, adapter: Adapter) -> None:
        for body in (b"x" * 10_000_000, json.dumps({"error": "x" * 10_000_000}).encode()):
            error = self.api_error(adapter, say(body))
            self.assertLess(len(error.body) + len(error.message), 1200)

    @each_adapter
    def test_words_in_other_places(self, adapter: Adapter) -> None:
        for payload in (
            {"detail": "Words."},
            {"message": "Words.", "type": "t"},
            [{"error": {"message": "Words."}}],
            {"error": "Words."},
        ):
            error = self.api_error(adapter, say(json.dumps(payload), status=400))
            self.assertEqual(error.message, "Words.")

    @each_adapter
    def test_a_redirect(self, adapter: Adapter) -> None:
        script = say("", "Location: http://127.0.0.1:1/", status=307, media="text/html")
        self.assertIn("redirects are not followed", str(self.api_error(adapter, script)))


class TestTheKey(FailureTestCase):
    """What `error` has checked of each: the key is nowhere in it, whatever the provider says."""

    @each_adapter
    def test_no_connection(self, adapter: Adapter) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        error = self.error(adapter, f"http://127.0.0.1:{port}", connections=0)
        self.assertIsNotNone(error.__cause__)

    @each_adapter
    def test_no_answer(self, adapter: Adapter) -> None:
        def closes(exchange: Exchange) -> None:
            pass

        self.assertIsNotNone(self.failure(adapter, closes).__cause__)

    @each_adapter
    def test_an_answer_that_repeats_it(self, adapter: Adapter) -> None:
        words = {"message": f"Incorrect API key: {KEY}", "type": KEY, "code": KEY}
        for script in (
            say(json.dumps({"error": words}), status=401),
            say(f"<html><h1>Sorry, {KEY}</h1>", status=502, media="text/html"),
            say(KEY, status=401, media=KEY),
            say(KEY, status=200, media="text/plain"),
        ):
            self.assertIn("[the API key]", str(self.failure(adapter, script)))

    @each_adapter
    def test_an_error_event_that_repeats_it(self, adapter: Adapter) -> None:
        words = {"message": f"Incorrect API key: {KEY}", "type": KEY, "code": KEY}

        def script(exchange: Exchange) -> None:
            exchange.chunked(media=adapter.media)
            exchange.chunk(adapter.spell({"type": "error", "error": words}))
            exchange.end()

        error = self.failure(adapter, script)
        self.assertIsInstance(error, APIError)
        self.assertIn("Incorrect API key: [the API key]", str(error))

    @each_adapter
    def test_what_is_not_http_and_repeats_it(self, adapter: Adapter) -> None:
        def status_line(exchange: Exchange) -> None:
            exchange.raw(f"{KEY} is no status line\r\n\r\n".encode())

        def header(exchange: Exchange) -> None:
            exchange.raw(f"HTTP/1.1 200 OK\r\n{KEY} is no header\r\n\r\n".encode())

        def chunk(exchange: Exchange) -> None:
            exchange.chunked(media=adapter.media)
            exchange.raw(f"{KEY} is no size of a chunk\r\n".encode())

        for script in (status_line, header, chunk):
            self.failure(adapter, script)

    @each_adapter
    def test_an_event_that_is_not_json_and_repeats_it(self, adapter: Adapter) -> None:
        def script(exchange: Exchange) -> None:
            exchange.chunked(media=adapter.media)
            exchange.chunk(f'data: {{"error": {KEY}\n\n')
            exchange.end()

        self.failure(adapter, script)

    @each_adapter
    def test_a_stream_that_breaks(self, adapter: Adapter) -> None:
        def script(exchange: Exchange) -> None:
            exchange.chunked(media=adapter.media)
            exchange.raw(b"ff\r\ndata: {")

        error = self.failure(adapter, script)
        self.assertIsNotNone(error.__cause__)

    @each_adapter
    def test_it_is_in_no_repr_of_the_model(self, adapter: Adapter) -> None:
        with model_at("http://127.0.0.1:1", adapter, connections=0) as model:
            self.assertNotIn(KEY, repr(model))
