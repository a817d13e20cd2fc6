"""The examples: their size, what they import, and faults that they had once."""

import ast
import asyncio
import contextlib
import json
import threading
import unittest
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from docs.examples import (
    anthropic_messages,
    gemini,
    ollama_chat,
    openai_chat,
    openai_chat_httpx,
    openai_responses,
)
from docs.examples.events import BadRequestError, Call, ChatError, Done, Text, Thought
from docs.examples.reading import SSEDecoder, get, seconds_of

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
HI = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]}
REQUEST = {**HI, "tools": [], "choice": None}


def turn(reader: Any, *payloads: Any) -> list[Any]:
    """Return what a reader makes of a whole turn; raises as it does."""
    given = []
    for payload in payloads:
        given += reader.take(payload if isinstance(payload, str) else json.dumps(payload))
    return given + list(reader.finish())


def chat(text: str = "", reason: str | None = None) -> Any:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}


def candidate(text: str | None = None, reason: str | None = None) -> Any:
    parts = [{"text": text}] if text is not None else []
    return {"candidates": [{"content": {"parts": parts}, "finishReason": reason}]}


class TestSize(unittest.TestCase):
    def test_they_stay_few_and_short(self) -> None:
        files = list(EXAMPLES.glob("*.py"))
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        self.assertLessEqual(len(files), 20)
        self.assertLessEqual(lines, 2200)

    def test_production_code_does_not_import_the_kit(self) -> None:
        for path in EXAMPLES.glob("*.py"):
            if not path.name.startswith("test_"):
                with self.subTest(path.name):
                    tree = ast.parse(path.read_text(encoding="utf-8"))
                    imported = [
                        name
                        for node in ast.walk(tree)
                        for name in (
                            [alias.name for alias in node.names]
                            if isinstance(node, ast.Import)
                            else [node.module or ""]
                            if isinstance(node, ast.ImportFrom)
                            else []
                        )
                    ]
                    self.assertFalse([name for name in imported if name.startswith("modeltest")])


class TestMarker(unittest.TestCase):
    def test_a_blank_behind_the_marker_ends_the_turn(self) -> None:
        self.assertEqual(
            turn(openai_chat.Turn(), chat("a"), chat(reason="stop"), "[DONE] "),
            [Text("a"), Done("stop", "stop")],
        )

    def test_more_than_the_marker_is_no_end(self) -> None:
        error = '{"error": {"message": "overloaded"}}'
        for data in ("[DONE]x", f"[DONE]\n{error}", "[DONE][DONE]", "[done]"):
            with self.subTest(data), self.assertRaises(ChatError):
                turn(openai_chat.Turn(), chat("a"), chat(reason="stop"), data)

    def test_a_second_line_of_data_belongs_to_its_event(self) -> None:
        body = b'data: [DONE]\ndata: {"error": {"message": "overloaded"}}\n\n'
        (data,) = SSEDecoder().feed(body)
        with self.assertRaises(ChatError):
            turn(openai_chat.Turn(), chat("a"), data)


class TestGeminiReason(unittest.TestCase):
    def test_the_last_reason_counts(self) -> None:
        given = turn(gemini.Turn(), candidate("a", "STOP"), candidate("b", "MAX_TOKENS"))
        self.assertEqual(given, [Text("a"), Text("b"), Done("length", "MAX_TOKENS")])

    def test_content_without_another_reason_is_an_error(self) -> None:
        with self.assertRaisesRegex(ChatError, "content after finishReason"):
            turn(gemini.Turn(), candidate("a", "STOP"), candidate("b"))

    def test_an_empty_part_after_the_reason_is_no_content(self) -> None:
        given = turn(gemini.Turn(), candidate("a", "STOP"), candidate(""))
        self.assertEqual(given, [Text("a"), Done("stop", "STOP")])


def _message(*deltas: Any) -> list[Any]:
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
    pieces = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    return [start, *pieces, end, {"type": "message_stop"}]


HALVES: dict[str, tuple[Callable[[], Any], Callable[[str, str], list[Any]]]] = {
    "chat": (openai_chat.Turn, lambda a, b: [chat(a), chat(b), chat(reason="stop")]),
    "gemini": (gemini.Turn, lambda a, b: [candidate(a), candidate(b, "STOP")]),
    "messages": (
        anthropic_messages.Turn,
        lambda a, b: _message(*({"type": "text_delta", "text": text} for text in (a, b))),
    ),
    "ollama": (
        ollama_chat.Turn,
        lambda a, b: [
            {"message": {"content": a}, "done": False},
            {"message": {"content": b}, "done": True, "done_reason": "stop"},
        ],
    ),
    "responses": (
        openai_responses.Turn,
        lambda a, b: [
            *({"type": "response.output_text.delta", "delta": text} for text in (a, b)),
            {"type": "response.completed", "response": {"status": "completed"}},
        ],
    ),
}


class TestSurrogates(unittest.TestCase):
    def test_no_half_is_given_out(self) -> None:
        for name, (make, payloads) in HALVES.items():
            with self.subTest(name):
                given = turn(make(), *payloads("a\ud83d", "\ude00b"))
                text = "".join(event.text for event in given if isinstance(event, Text))
                self.assertEqual(text.encode(), "a��b".encode())

    def test_a_pair_in_one_piece_is_its_character(self) -> None:
        self.assertEqual(get({"text": "\ud83d\ude00 ä \ud83d"}, "text", str), "😀 ä �")


class TestFields(unittest.TestCase):
    def test_null_and_missing_are_empty(self) -> None:
        empty = {"choices": [{"index": None, "delta": None, "finish_reason": None}], "usage": None}
        given = turn(openai_chat.Turn(), empty, {"choices": None}, {}, chat("a", "stop"))
        self.assertEqual(given, [Text("a"), Done("stop", "stop")])
        given = turn(
            gemini.Turn(), {"candidates": None, "usageMetadata": None}, candidate("a", "STOP")
        )
        self.assertEqual(given[0], Text("a"))
        given = turn(ollama_chat.Turn(), {"message": None}, {"done": True, "done_reason": "stop"})
        self.assertEqual(given, [Done("stop", "stop")])

    def test_another_type_is_an_error(self) -> None:
        for made, payload in (
            (openai_chat.Turn, {"choices": {}}),
            (openai_chat.Turn, {"choices": [1]}),
            (openai_chat.Turn, {"choices": [{"delta": {"content": 1}}]}),
            (openai_chat.Turn, {"usage": {"prompt_tokens": "1"}, "choices": []}),
            (gemini.Turn, {"candidates": [{"content": []}]}),
            (anthropic_messages.Turn, {"type": 1}),
            (ollama_chat.Turn, {"message": "a"}),
            (openai_responses.Turn, {"type": "response.completed", "response": []}),
        ):
            with self.subTest(payload=payload), self.assertRaises(ChatError):
                turn(made(), payload)

    def test_retry_after(self) -> None:
        self.assertEqual(seconds_of("7"), 7.0)
        self.assertEqual(seconds_of("Thu, 01 Jan 1970 00:00:00 GMT"), 0.0)
        for nonsense in ("", "soon", "-1", "9" * 400, "1e3"):
            with self.subTest(nonsense):
                self.assertIsNone(seconds_of(nonsense))


class Refusal(BaseHTTPRequestHandler):
    """Refuses each request and sets a cookie; remembers the cookies that came."""

    cookies: list[str | None] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.cookies.append(self.headers["Cookie"])
        self.send_response(503)
        self.send_header("Set-Cookie", "who=somebody; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


class TestCookies(unittest.TestCase):
    def setUp(self) -> None:
        server = self.enterContext(ThreadingHTTPServer(("127.0.0.1", 0), Refusal))
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        Refusal.cookies = []

    def test_a_session_of_their_own_keeps_none(self) -> None:
        for kind in (
            openai_chat.OpenAIChat,
            anthropic_messages.AnthropicMessages,
            gemini.Gemini,
            ollama_chat.OllamaChat,
            openai_responses.OpenAIResponses,
        ):
            with self.subTest(kind.__name__):
                model = kind(self.url, "secret")
                for _ in range(2):
                    with self.assertRaisesRegex(ChatError, "HTTP 503"):
                        list(model.stream(REQUEST))
        self.assertEqual(Refusal.cookies, [None] * 10)

    def test_nor_does_a_client_of_its_own(self) -> None:
        async def ask() -> None:
            model = openai_chat_httpx.AsyncOpenAIChat(self.url, "secret")
            async with contextlib.aclosing(model):
                for _ in range(2):
                    with self.assertRaisesRegex(ChatError, "HTTP 503"):
                        async for _ in model.stream(REQUEST):
                            pass

        asyncio.run(ask())
        self.assertEqual(Refusal.cookies, [None] * 2)


RICH = {
    "messages": [
        {"role": "system", "parts": [{"type": "text", "text": "SYSTEM"}]},
        {
            "role": "user",
            "parts": [
                {"type": "text", "text": "LOOK"},
                {"type": "image", "media_type": "image/png", "data": b"png"},
            ],
        },
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "text": "HMM", "signature": "PROOF", "redacted": ""},
                {"type": "reasoning", "text": "", "signature": "", "redacted": "HIDDEN"},
                {"type": "text", "text": "WAIT"},
                {"type": "call", "id": "c1", "name": "look", "arguments": {"n": 12345678901234567}},
                {"type": "call", "id": "c2", "name": "hear", "arguments": {}},
            ],
        },
        {
            "role": "tool",
            "parts": [
                {"type": "result", "id": "c1", "content": "SEEN", "is_error": False},
                {"type": "result", "id": "c2", "content": "DEAF", "is_error": True},
            ],
        },
    ],
    "tools": [
        {"name": name, "description": "TOOL", "parameters": {"type": "object", "x-own": 1}}
        for name in ("look", "hear")
    ],
    "choice": {"mode": "auto", "name": ""},
}

BODIES: dict[str, tuple[Callable[[Any], bytes], tuple[str, ...]]] = {
    "chat": (lambda request: openai_chat.chat_request("m", request), ()),
    "messages": (
        lambda request: json.dumps(anthropic_messages.messages_request(request)).encode(),
        ("PROOF", "HIDDEN", "HMM"),
    ),
    "gemini": (gemini.gemini_request, ("PROOF",)),
    "ollama": (lambda request: ollama_chat.ollama_request("m", request), ("HMM",)),
    "responses": (lambda request: openai_responses.responses_request("m", request), ("HIDDEN",)),
}


class TestRequests(unittest.TestCase):
    def test_every_part_is_sent_once_and_in_order(self) -> None:
        for name, (made, more) in BODIES.items():
            text = made(RICH).decode()
            with self.subTest(name):
                for marker in ("SYSTEM", "LOOK", "WAIT", "SEEN", "DEAF", "cG5n", *more):
                    self.assertEqual(text.count(marker), 1, marker)
                self.assertIn("12345678901234567", text)
                self.assertEqual(text.count("x-own"), 2)
                said = text.replace("SYSTEM", "", 1)
                places = [said.index(marker) for marker in ("LOOK", "WAIT", "SEEN", "DEAF")]
                self.assertEqual(places, sorted(places))
                self.assertGreaterEqual(text.count("c1"), 2)

    def test_what_the_provider_would_refuse_is_not_sent(self) -> None:
        image = {"type": "image", "media_type": "image/tiff", "data": b"x"}
        call = {"type": "call", "id": "c", "name": "no name", "arguments": {}}
        for request in (
            {**REQUEST, "messages": [{"role": "user", "parts": [image]}]},
            {
                **REQUEST,
                "messages": [{"role": "system", "parts": [{**image, "media_type": "image/png"}]}],
            },
            {**REQUEST, "messages": [{"role": "assistant", "parts": [call]}]},
            {**REQUEST, "messages": [{"role": "robot", "parts": []}]},
            {**REQUEST, "choice": {"mode": "required", "name": ""}},
            {**REQUEST, "choice": {"mode": "perhaps", "name": ""}},
            {**RICH, "choice": {"mode": "tool", "name": "smell"}},
            {**RICH, "tools": [*RICH["tools"], *RICH["tools"]]},
            {**RICH, "tools": [{"name": "look\n", "description": "", "parameters": {}}]},
        ):
            for name, (made, _) in BODIES.items():
                with self.subTest(name, request=request), self.assertRaises(BadRequestError):
                    made(request)


class TestSecondTurn(unittest.TestCase):
    def test_encrypted_reasoning_and_call_come_back(self) -> None:
        item = {"type": "reasoning", "summary": [], "encrypted_content": "HIDDEN"}
        call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
        given = turn(
            openai_responses.Turn(),
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 1, "item": call},
            {"type": "response.completed", "response": {}},
        )
        self.assertEqual(
            given,
            [
                Thought(redacted="HIDDEN"),
                Call(0, "c1", "look"),
                Call(0, arguments="{}"),
                Done("tool_use", "completed"),
            ],
        )

    def test_gemini_has_its_proof_back_on_the_call(self) -> None:
        parts = [
            {"type": "reasoning", "text": "", "signature": "PROOF", "redacted": ""},
            {"type": "call", "id": "nameless:r:0", "name": "look", "arguments": {}},
        ]
        request = {**REQUEST, "messages": [{"role": "assistant", "parts": parts}]}
        (content,) = json.loads(gemini.gemini_request(request))["contents"]
        self.assertEqual(
            content["parts"],
            [{"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "PROOF"}],
        )


if __name__ == "__main__":
    unittest.main()
