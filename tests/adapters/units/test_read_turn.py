"""Whole bodies: every cut, every chunk size, and bytes that are no body at all."""

from __future__ import annotations

import io
import json
import unittest
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from modeltest import (
    Event,
    Finish,
    Message,
    ModelError,
    OutputTruncatedError,
    TruncatedToolArgumentsError,
    assemble,
)
from tests.adapters.anthropic_messages_turn import MessagesTurn
from tests.adapters.file_body import FileBody
from tests.adapters.openai_chat_turn import ChatTurn
from tests.adapters.read_turn import TurnReader, read_turn
from tests.adapters.units import test_anthropic_messages_turn as anthropic
from tests.adapters.units import test_openai_chat_turn as chat

DECLARED = (ModelError, TruncatedToolArgumentsError)


def sse(*data: Any) -> bytes:
    texts = (value if isinstance(value, str) else json.dumps(value) for value in data)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


CHAT = [
    sse(chat.text("aé"), chat.text("🎈"), chat.stop(), {"usage": {"prompt_tokens": 1}}, "[DONE]"),
    sse(chat.chunk({"reasoning": "hm"}), chat.text("a", "stop"), "[DONE]"),
    sse(*chat.WEATHER, chat.stop("tool_calls"), "[DONE]"),
    sse(chat.text("a"), *chat.WEATHER, chat.call(id="c2", name="now"), chat.stop(), "[DONE]"),
    sse(chat.text("a"), *chat.WEATHER, chat.stop("length"), "[DONE]"),
    sse(chat.text("a"), *chat.WEATHER, "[DONE]"),
]
ANTHROPIC = [
    sse(anthropic.START, *anthropic.text("aé🎈"), anthropic.stop(), anthropic.END),
    sse(*anthropic.call('{"city": ', '"Graz"}'), anthropic.stop("tool_use"), anthropic.END),
    sse(
        *anthropic.call('{"n": 12}'),
        *anthropic.call(index=1),
        anthropic.stop("tool_use"),
        anthropic.END,
    ),
    sse(*anthropic.call('{"n": 12}'), anthropic.stop("max_tokens"), anthropic.END),
]
FORMATS: list[tuple[Callable[[], TurnReader], list[bytes]]] = [
    (ChatTurn, CHAT),
    (MessagesTurn, ANTHROPIC),
]

NAMES = st.sampled_from(
    [
        "choices",
        "delta",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "index",
        "finish_reason",
        "usage",
        "error",
        "type",
        "message",
        "content_block",
        "partial_json",
        "stop_reason",
        "text",
        "prompt_tokens",
    ]
)
WORDS = st.sampled_from(
    [
        "stop",
        "tool_calls",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message_stop",
        "text_delta",
        "input_json_delta",
        "tool_use",
        "text",
        "error",
        "end_turn",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.text(max_size=3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=15,
)


def read(turn: TurnReader, body: bytes, size: int = 64 * 1024) -> list[Event]:
    return list(read_turn(FileBody(io.BytesIO(body), size=size), turn))


def message(events: list[Event]) -> tuple[Message, str]:
    """The message whatever the reason, and the reason."""
    *deltas, finish = events
    assert isinstance(finish, Finish)
    return assemble([*deltas, Finish("stop")]).message, finish.reason


class TestBodies(unittest.TestCase):
    def test_every_prefix_is_an_error_or_the_same_turn(self) -> None:
        for new_turn, bodies in FORMATS:
            for body in bodies:
                whole = message(read(new_turn(), body))
                for cut in range(len(body)):
                    try:
                        events = read(new_turn(), body[:cut])
                    except DECLARED:
                        continue
                    with self.subTest(body=body[:cut]):
                        self.assertEqual(message(events), whole)

    def test_the_chunks_do_not_matter(self) -> None:
        for new_turn, bodies in FORMATS:
            for body in bodies:
                whole = read(new_turn(), body)
                for size in (1, 2, 3, 7):
                    self.assertEqual(read(new_turn(), body, size), whole)

    def test_a_large_event(self) -> None:
        for size in (70_000, 200_000, 1_200_000):
            events = read(ChatTurn(), sse(chat.text("x" * size), chat.stop()))
            self.assertEqual(len(assemble(events).message.text), size)

    def test_the_reason_is_told_even_if_the_call_is_whole(self) -> None:
        with self.assertRaises(OutputTruncatedError):
            assemble(read(ChatTurn(), CHAT[4]))

    @settings(max_examples=300, deadline=None, database=None)
    @given(st.data())
    def test_any_bytes_are_events_or_a_declared_error(self, data: st.DataObject) -> None:
        new_turn, bodies = data.draw(st.sampled_from(FORMATS))
        body = bytearray(data.draw(st.sampled_from(bodies) | st.binary(max_size=200)))
        for _ in range(data.draw(st.integers(0, 3))):
            at = data.draw(st.integers(0, len(body)))
            end = data.draw(st.integers(at, min(len(body), at + 20)))
            body[at:end] = data.draw(st.binary(max_size=8))
        try:
            events = read(new_turn(), bytes(body))
        except DECLARED:
            return
        self.assertEqual(sum(isinstance(event, Finish) for event in events), 1)
        self.assertIsInstance(events[-1], Finish)

    @settings(max_examples=150, deadline=None, database=None)
    @given(st.lists(st.dictionaries(NAMES, VALUES, max_size=5), max_size=4))
    def test_any_json_is_events_or_a_declared_error(self, data: list[dict[str, Any]]) -> None:
        for new_turn, _ in FORMATS:
            with suppress(*DECLARED):
                read(new_turn(), sse(*data))
