"""What the careful adapters make of whole answers and of errors; the contract cuts them short."""

from __future__ import annotations

import json
import traceback
import unittest
from collections.abc import Iterable
from typing import Any, ClassVar

from modeltest import (
    APIError,
    ConfigError,
    Message,
    ModelError,
    RateLimitedError,
    Request,
    Text,
    Tool,
    ToolUse,
    Turn,
    Usage,
    generate,
    user,
)
from modeltest.backend import Backend, End, Framing, Response, Send, events
from tests.real.anthropic_clients import CarefulAnthropicModel
from tests.real.openai_clients import CarefulOpenAIModel

KEY = "sk-test-4f9a"
HI = Request((user("hi"),))
CALLED = Message("assistant", (Text("Let me see."), ToolUse("call_1", "weather", {"in": "Oslo"})))


def named(*payloads: dict[str, Any]) -> list[bytes]:
    return [b"event: %s\ndata: %s\n\n" % (p["type"].encode(), encoded(p)) for p in payloads]


def unnamed(*payloads: dict[str, Any]) -> list[bytes]:
    return [b"data: %s\n\n" % encoded(payload) for payload in payloads]


def encoded(payload: Any) -> bytes:
    return json.dumps(payload).encode()


def choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def called(arguments: str, **begins: str) -> dict[str, Any]:
    name = {"name": begins["name"]} if begins else {}
    call = {"index": 0, "function": {**name, "arguments": arguments}}
    return choice({"tool_calls": [{**call, "id": begins["id"]} if begins else call]})


class CarefulTestCase:
    """What holds for both; `Test…` below say with which adapter."""

    model: type[CarefulOpenAIModel | CarefulAnthropicModel]
    turn: ClassVar[list[bytes]]
    error: ClassVar[list[bytes]]
    usage: Usage

    def generate(self, response: Response, request: Request = HI) -> Turn:
        with Backend(response) as backend:
            return generate(self.model(backend.url, KEY), request)

    def answer(self, pieces: Iterable[bytes]) -> Turn:
        return self.generate(Response((*events(pieces), End())))

    def test_whole_turn_is_read(self) -> None:
        turn = self.answer(self.turn)
        self.assertEqual(turn.message, CALLED)
        self.assertEqual(turn.finish.reason, "tool_use")
        self.assertEqual(turn.usage, self.usage)

    def test_error_in_stream_has_the_providers_words(self) -> None:
        with self.assertRaises(APIError) as caught:
            self.answer(self.error)
        self.assertIsNone(caught.exception.status)
        self.assertEqual(caught.exception.type, "overloaded_error")
        self.assertEqual(caught.exception.message, "try later")

    def test_rate_limit_says_how_long(self) -> None:
        body = encoded({"error": {"type": "rate_limit_error", "message": f"{KEY} is too fast"}})
        limited = Response(
            (Send(body),),
            status=429,
            content_type="application/json",
            headers=(("Retry-After", "7"),),
            framing=Framing.LENGTH,
        )
        with self.assertRaises(RateLimitedError) as caught:
            self.generate(limited)
        self.assertEqual(caught.exception.status, 429)
        self.assertEqual(caught.exception.retry_after, 7)
        self.assertIn("is too fast", str(caught.exception))
        self.assertNotIn(KEY, "".join(traceback.format_exception(caught.exception)))

    def test_event_that_is_not_json_is_a_model_error(self) -> None:
        with self.assertRaises(ModelError):
            self.answer([*self.turn[:1], b"event: message_stop\ndata: {oops\n\n"])

    def test_bad_tool_name_is_refused_before_sending(self) -> None:
        with Backend(Response()) as backend:
            model = self.model(backend.url, KEY)
            with self.assertRaises(ConfigError):
                generate(model, Request((user("hi"),), tools=(Tool("no spaces"),)))
            self.assertEqual(backend.exchanges, [])


class TestCarefulOpenAITurns(CarefulTestCase, unittest.TestCase):
    model = CarefulOpenAIModel
    usage = Usage(input_tokens=9, output_tokens=5, cache_read_tokens=2)
    turn: ClassVar = [
        *unnamed(
            choice({"role": "assistant", "content": "Let me "}),
            choice({"content": "see."}),
            called("", id="call_1", name="weather"),
            called('{"in": '),
            called('"Oslo"}'),
            choice({}, "tool_calls"),
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 11,
                    "completion_tokens": 5,
                    "total_tokens": 16,
                    "prompt_tokens_details": {"cached_tokens": 2},
                },
            },
        ),
        b"data: [DONE]\n\n",
    ]
    error = unnamed(
        choice({"content": "Let me "}),
        {"error": {"type": "overloaded_error", "message": "try later"}},
    )


class TestCarefulAnthropicTurns(CarefulTestCase, unittest.TestCase):
    model = CarefulAnthropicModel
    usage = Usage(input_tokens=9, output_tokens=5, cache_read_tokens=2, cache_write_tokens=1)
    turn = named(
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "role": "assistant",
                "content": [],
                "usage": {
                    "input_tokens": 9,
                    "output_tokens": 1,
                    "cache_read_input_tokens": 2,
                    "cache_creation_input_tokens": 1,
                },
            },
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": "Let me "},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "see."},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "call_1", "name": "weather", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"in": "Oslo"}'},
        },
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    )
    error = named(
        {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 9}}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "try later"}},
    )
