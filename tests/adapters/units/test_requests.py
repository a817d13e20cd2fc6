"""How requests are spelled."""

from __future__ import annotations

import base64
import copy
import json
import unittest
from types import MappingProxyType
from typing import Any

from modeltest import (
    ConfigError,
    Image,
    Message,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
    user,
)
from tests.adapters.anthropic_messages_request import messages_request
from tests.adapters.gemini_request import gemini_request, nameless_id
from tests.adapters.ollama_chat_request import ollama_request
from tests.adapters.openai_chat_request import chat_request
from tests.adapters.openai_responses_request import responses_request

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = Tool("weather", "Tells it.", MappingProxyType(SCHEMA))
CONVERSATION = (
    Message("system", (Text("Be brief."),)),
    user("hi"),
    Message(
        "assistant",
        (
            Reasoning("hm", signature="s"),
            Reasoning("unsigned"),
            Reasoning(redacted="xyz"),
            Text("Let me see."),
            ToolUse("t1", "weather", MappingProxyType({"city": "Graz"})),
            ToolUse("t2", "weather"),
        ),
    ),
    Message("tool", (ToolResult("t1", "sunny"),)),
    Message("tool", (ToolResult("t2", "no city", is_error=True),)),
    user("thanks"),
)
PIXELS = b"\x89PNG\xff\xfe+/"  # base64 spells these with both of its signs, and pads them
IN_BASE64 = "iVBOR//+Ky8="
PNG = Image("image/png", PIXELS)
TWO_PICTURES = Message(
    "user", (Text("From "), PNG, Text("to"), Image("image/webp", b"w"), Text(""))
)


def chat(request: Request) -> dict[str, Any]:
    return json.loads(chat_request("m", request))


def messages(request: Request) -> dict[str, Any]:
    return json.loads(messages_request("m", 100, request))


def gemini(request: Request) -> dict[str, Any]:
    return json.loads(gemini_request(request))


def responses(request: Request) -> dict[str, Any]:
    return json.loads(responses_request("m", request))


def ollama(request: Request) -> dict[str, Any]:
    return json.loads(ollama_request("m", request))


class TestOpenAIChat(unittest.TestCase):
    def test_the_shortest_request(self) -> None:
        self.assertEqual(
            chat(Request((user("hi"),))),
            {
                "model": "m",
                "messages": [{"role": "user", "content": "hi"}],
                "stream": True,
                "stream_options": {"include_usage": True},
            },
        )

    def test_a_conversation(self) -> None:
        spelled = chat(Request(CONVERSATION, (TOOL,)))["messages"]
        self.assertEqual(
            [message["role"] for message in spelled],
            ["system", "user", "assistant", "tool", "tool", "user"],
        )
        self.assertEqual(spelled[2]["content"], "Let me see.")
        function = {"name": "weather", "arguments": '{"city": "Graz"}'}
        self.assertEqual(
            spelled[2]["tool_calls"][0], {"id": "t1", "type": "function", "function": function}
        )
        self.assertEqual(spelled[3], {"role": "tool", "tool_call_id": "t1", "content": "sunny"})

    def test_results_come_before_the_words_beside_them(self) -> None:
        both = Message("user", (Text("and?"), ToolResult("t1", "sunny")))
        spelled = chat(Request((both,)))["messages"]
        self.assertEqual([message["role"] for message in spelled], ["tool", "user"])

    def test_tools(self) -> None:
        function = {"name": "weather", "description": "Tells it.", "parameters": SCHEMA}
        payload = chat(Request((user("hi"),), (TOOL,)))
        self.assertEqual(payload["tools"], [{"type": "function", "function": function}])
        self.assertNotIn("tool_choice", payload)

    def test_choice(self) -> None:
        for choice, spelled in (
            (ToolChoice("auto"), "auto"),
            (ToolChoice("none"), "none"),
            (ToolChoice("required"), "required"),
            (ToolChoice("tool", "weather"), {"type": "function", "function": {"name": "weather"}}),
        ):
            payload = chat(Request((user("hi"),), (TOOL,), choice))
            self.assertEqual(payload["tool_choice"], spelled)

    def test_images(self) -> None:
        [spelled] = chat(Request((TWO_PICTURES,)))["messages"]
        self.assertEqual(
            spelled,
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "From "},
                    {
                        "type": "image_url",
                        "image_url": {"url": f"data:image/png;base64,{IN_BASE64}"},
                    },
                    {"type": "text", "text": "to"},
                    {"type": "image_url", "image_url": {"url": "data:image/webp;base64,dw=="}},
                ],
            },
        )

    def test_an_image_alone(self) -> None:
        [spelled] = chat(Request((Message("user", (PNG,)),)))["messages"]
        self.assertEqual([part["type"] for part in spelled["content"]], ["image_url"])


class TestAnthropicMessages(unittest.TestCase):
    def test_the_shortest_request(self) -> None:
        self.assertEqual(
            messages(Request((user("hi"),))),
            {
                "model": "m",
                "max_tokens": 100,
                "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
                "stream": True,
            },
        )

    def test_a_conversation(self) -> None:
        payload = messages(Request(CONVERSATION, (TOOL,)))
        self.assertEqual(payload["system"], "Be brief.")
        spelled = payload["messages"]
        self.assertEqual([message["role"] for message in spelled], ["user", "assistant", "user"])
        self.assertEqual(
            spelled[1]["content"],
            [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Graz"}},
                {"type": "tool_use", "id": "t2", "name": "weather", "input": {}},
            ],
        )
        self.assertEqual(
            [block.get("is_error") for block in spelled[2]["content"]], [False, True, None]
        )

    def test_an_empty_message_is_left_out(self) -> None:
        silent = Message("assistant", (Text(""), Reasoning("unsigned")))
        self.assertEqual(len(messages(Request((user("hi"), silent)))["messages"]), 1)

    def test_tools(self) -> None:
        payload = messages(Request((user("hi"),), (TOOL,)))
        tool = {"name": "weather", "description": "Tells it.", "input_schema": SCHEMA}
        self.assertEqual(payload["tools"], [tool])
        self.assertNotIn("tool_choice", payload)

    def test_choice(self) -> None:
        for choice, spelled in (
            (ToolChoice("auto"), {"type": "auto"}),
            (ToolChoice("none"), {"type": "none"}),
            (ToolChoice("required"), {"type": "any"}),
            (ToolChoice("tool", "weather"), {"type": "tool", "name": "weather"}),
        ):
            payload = messages(Request((user("hi"),), (TOOL,), choice))
            self.assertEqual(payload["tool_choice"], spelled)

    def test_images(self) -> None:
        result = Message("tool", (ToolResult("t1", "sunny"),))
        [spelled] = messages(Request((result, TWO_PICTURES)))["messages"]
        self.assertEqual(
            [block["type"] for block in spelled["content"]][:2], ["tool_result", "text"]
        )
        image = {"type": "base64", "media_type": "image/png", "data": IN_BASE64}
        webp = {"type": "base64", "media_type": "image/webp", "data": "dw=="}
        self.assertEqual(
            spelled["content"][1:],
            [
                {"type": "text", "text": "From "},
                {"type": "image", "source": image},
                {"type": "text", "text": "to"},
                {"type": "image", "source": webp},
            ],
        )


class TestGemini(unittest.TestCase):
    def test_the_shortest_request(self) -> None:
        self.assertEqual(
            gemini(Request((user("hi"),))),
            {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        )

    def test_a_conversation(self) -> None:
        payload = gemini(Request(CONVERSATION, (TOOL,)))
        self.assertEqual(payload["systemInstruction"], {"parts": [{"text": "Be brief."}]})
        _, assistant, results, thanks = payload["contents"]
        call = {"id": "t1", "name": "weather", "args": {"city": "Graz"}}
        self.assertEqual(
            assistant,
            {
                "role": "model",
                "parts": [
                    {"text": "Let me see.", "thoughtSignature": "s"},
                    {"functionCall": call},
                    {"functionCall": {"id": "t2", "name": "weather", "args": {}}},
                ],
            },
        )
        sunny = {"id": "t1", "name": "weather", "response": {"output": "sunny"}}
        no_city = {"id": "t2", "name": "weather", "response": {"error": "no city"}}
        self.assertEqual(
            results,
            {
                "role": "user",
                "parts": [{"functionResponse": sunny}, {"functionResponse": no_city}],
            },
        )
        self.assertEqual(thanks, {"role": "user", "parts": [{"text": "thanks"}]})

    def test_a_signature_without_a_part_after_it(self) -> None:
        said = Message("assistant", (Text("Yes."), Reasoning(signature="s")))
        [content] = gemini(Request((said,)))["contents"]
        self.assertEqual(
            content["parts"], [{"text": "Yes."}, {"text": "", "thoughtSignature": "s"}]
        )

    def test_an_id_that_the_provider_never_gave_is_not_sent(self) -> None:
        id_ = nameless_id("r", 0)
        call = Message("assistant", (ToolUse(id_, "weather"),))
        spelled = gemini_request(Request((call, Message("tool", (ToolResult(id_, "sunny"),)))))
        self.assertNotIn(b'"id"', spelled)
        self.assertEqual(spelled.count(b'"name": "weather"'), 2)

    def test_a_result_needs_its_call(self) -> None:
        with self.assertRaisesRegex(ConfigError, "'t9'"):
            gemini(Request((Message("tool", (ToolResult("t9", "sunny"),)),)))

    def test_results_come_before_the_words_beside_them(self) -> None:
        call = Message("assistant", (ToolUse("t1", "weather"),))
        both = Message("user", (Text("and?"), ToolResult("t1", "sunny")))
        _, results, words = gemini(Request((call, both)))["contents"]
        self.assertEqual([*results["parts"][0]], ["functionResponse"])
        self.assertEqual(words["parts"], [{"text": "and?"}])

    def test_an_empty_message_is_left_out(self) -> None:
        silent = Message("assistant", (Text(""), Reasoning("unsigned")))
        self.assertEqual(len(gemini(Request((user("hi"), silent)))["contents"]), 1)

    def test_tools(self) -> None:
        payload = gemini(Request((user("hi"),), (TOOL, Tool("now", "Tells the time."))))
        self.assertEqual(
            payload["tools"],
            [
                {
                    "functionDeclarations": [
                        {
                            "name": "weather",
                            "description": "Tells it.",
                            "parametersJsonSchema": SCHEMA,
                        },
                        {"name": "now", "description": "Tells the time."},
                    ]
                }
            ],
        )
        self.assertNotIn("toolConfig", payload)

    def test_choice(self) -> None:
        for choice, spelled in (
            (ToolChoice("auto"), {"mode": "AUTO"}),
            (ToolChoice("none"), {"mode": "NONE"}),
            (ToolChoice("required"), {"mode": "ANY"}),
            (ToolChoice("tool", "weather"), {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
        ):
            payload = gemini(Request((user("hi"),), (TOOL,), choice))
            self.assertEqual(payload["toolConfig"], {"functionCallingConfig": spelled})

    def test_images(self) -> None:
        [spelled] = gemini(Request((TWO_PICTURES,)))["contents"]
        self.assertEqual(
            spelled,
            {
                "role": "user",
                "parts": [
                    {"text": "From "},
                    {"inlineData": {"mimeType": "image/png", "data": IN_BASE64}},
                    {"text": "to"},
                    {"inlineData": {"mimeType": "image/webp", "data": "dw=="}},
                ],
            },
        )


class TestOpenAIResponses(unittest.TestCase):
    def test_the_shortest_request(self) -> None:
        self.assertEqual(
            responses(Request((user("hi"),))),
            {
                "model": "m",
                "input": [{"role": "user", "content": "hi"}],
                "stream": True,
                "store": False,
            },
        )

    def test_a_conversation(self) -> None:
        function = {"type": "function_call", "name": "weather"}
        output = {"type": "function_call_output"}
        self.assertEqual(
            responses(Request(CONVERSATION, (TOOL,)))["input"],
            [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "Let me see."},
                {**function, "call_id": "t1", "arguments": '{"city": "Graz"}'},
                {**function, "call_id": "t2", "arguments": "{}"},
                {**output, "call_id": "t1", "output": "sunny"},
                {**output, "call_id": "t2", "output": "no city"},
                {"role": "user", "content": "thanks"},
            ],
        )

    def test_results_come_before_the_words_beside_them(self) -> None:
        both = Message("user", (Text("and?"), ToolResult("t1", "sunny")))
        result, words = responses(Request((both,)))["input"]
        self.assertEqual(result["type"], "function_call_output")
        self.assertEqual(words, {"role": "user", "content": "and?"})

    def test_tools(self) -> None:
        payload = responses(Request((user("hi"),), (TOOL,)))
        tool = {"name": "weather", "description": "Tells it.", "parameters": SCHEMA}
        self.assertEqual(payload["tools"], [{"type": "function", **tool, "strict": False}])
        self.assertNotIn("tool_choice", payload)

    def test_choice(self) -> None:
        for choice, spelled in (
            (ToolChoice("auto"), "auto"),
            (ToolChoice("none"), "none"),
            (ToolChoice("required"), "required"),
            (ToolChoice("tool", "weather"), {"type": "function", "name": "weather"}),
        ):
            payload = responses(Request((user("hi"),), (TOOL,), choice))
            self.assertEqual(payload["tool_choice"], spelled)

    def test_images(self) -> None:
        beside = ToolResult("t1", "sunny")
        message = Message("user", (*TWO_PICTURES.parts, beside))
        result, spelled = responses(Request((message,)))["input"]
        self.assertEqual(result["type"], "function_call_output")
        image = {"type": "input_image", "detail": "auto"}
        self.assertEqual(
            spelled,
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "From "},
                    {**image, "image_url": f"data:image/png;base64,{IN_BASE64}"},
                    {"type": "input_text", "text": "to"},
                    {**image, "image_url": "data:image/webp;base64,dw=="},
                ],
            },
        )

    def test_an_image_alone(self) -> None:
        [spelled] = responses(Request((Message("user", (PNG,)),)))["input"]
        self.assertEqual([part["type"] for part in spelled["content"]], ["input_image"])


class TestOllama(unittest.TestCase):
    def test_the_shortest_request(self) -> None:
        self.assertEqual(
            ollama(Request((user("hi"),))),
            {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True},
        )

    def test_a_conversation(self) -> None:
        result = {"role": "tool", "tool_name": "weather"}
        graz = {"name": "weather", "arguments": {"city": "Graz"}}
        self.assertEqual(
            ollama(Request(CONVERSATION, (TOOL,)))["messages"],
            [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": "Let me see.",
                    "thinking": "hmunsigned",
                    "tool_calls": [
                        {"id": "t1", "function": graz},
                        {"id": "t2", "function": {"name": "weather", "arguments": {}}},
                    ],
                },
                {**result, "tool_call_id": "t1", "content": "sunny"},
                {**result, "tool_call_id": "t2", "content": "no city"},
                {"role": "user", "content": "thanks"},
            ],
        )

    def test_a_result_needs_its_call(self) -> None:
        with self.assertRaisesRegex(ConfigError, "'t9'"):
            ollama(Request((Message("tool", (ToolResult("t9", "sunny"),)),)))

    def test_results_come_before_the_words_beside_them(self) -> None:
        call = Message("assistant", (ToolUse("t1", "weather"),))
        both = Message("user", (Text("and?"), ToolResult("t1", "sunny")))
        spelled = ollama(Request((call, both)))["messages"]
        self.assertEqual([message["role"] for message in spelled], ["assistant", "tool", "user"])

    def test_tools(self) -> None:
        function = {"name": "weather", "description": "Tells it.", "parameters": SCHEMA}
        for choice in (None, ToolChoice("auto")):
            payload = ollama(Request((user("hi"),), (TOOL,), choice))
            self.assertEqual(payload["tools"], [{"type": "function", "function": function}])
            self.assertNotIn("tool_choice", payload)

    def test_a_model_that_may_call_none_is_shown_none(self) -> None:
        self.assertNotIn("tools", ollama(Request((user("hi"),), (TOOL,), ToolChoice("none"))))

    def test_a_choice_that_the_format_cannot_express(self) -> None:
        for choice in (ToolChoice("required"), ToolChoice("tool", "weather")):
            with self.assertRaisesRegex(ConfigError, choice.mode):
                ollama(Request((user("hi"),), (TOOL,), choice))

    def test_images(self) -> None:
        for message, content, images in (
            (TWO_PICTURES, "From to", [IN_BASE64, "dw=="]),
            (Message("user", (PNG,)), "", [IN_BASE64]),
        ):
            [spelled] = ollama(Request((message,)))["messages"]
            self.assertEqual(spelled, {"role": "user", "content": content, "images": images})


SPELLERS = (chat, messages, gemini, responses, ollama)


class TestAll(unittest.TestCase):
    def test_a_choice_without_tools_is_left_out(self) -> None:
        for spell in SPELLERS:
            for mode in ("auto", "none"):
                payload = spell(Request((user("hi"),), (), ToolChoice(mode)))
                self.assertFalse(payload.keys() & {"tool_choice", "toolConfig", "tools"})

    def test_the_request_is_not_changed(self) -> None:
        schema = copy.deepcopy(SCHEMA)
        request = Request((user("hi"),), (Tool("weather", "", schema),), ToolChoice("auto"))
        before = copy.deepcopy(request)
        for spell in SPELLERS:
            spell(request)
            self.assertEqual(request, before)

    def test_what_cannot_be_sent_is_a_config_error(self) -> None:
        loop: dict[str, Any] = {}
        loop["self"] = loop
        for parameters in ({"x": {1, 2}}, {"x": float("nan")}, {"x": object()}, loop):
            for spell in SPELLERS:
                with self.subTest(parameters=str(parameters)), self.assertRaises(ConfigError):
                    spell(Request((user("hi"),), (Tool("f", "", parameters),)))
                call = Message("assistant", (ToolUse("t1", "f", parameters),))
                with self.subTest(arguments=str(parameters)), self.assertRaises(ConfigError):
                    spell(Request((call,)))

    def test_an_unknown_role_is_a_config_error(self) -> None:
        for spell in SPELLERS:
            with self.assertRaisesRegex(ConfigError, "'robot'"):
                spell(Request((Message("robot", (Text("hi"),)),)))

    def test_an_instruction_without_words_is_left_out(self) -> None:
        silent = Message("system", (Text(""),))
        for spell in SPELLERS:
            self.assertEqual(spell(Request((silent, user("hi")))), spell(Request((user("hi"),))))

    def test_names_are_checked(self) -> None:
        for spell in SPELLERS:
            with self.assertRaisesRegex(ConfigError, "get weather"):
                spell(Request((user("hi"),), (Tool("get weather"),)))

    def test_a_large_image_arrives_whole(self) -> None:
        pixels = bytes(range(256)) * 20_000
        for spell in SPELLERS:
            message = Message("user", (Text("Look:"), Image("image/jpeg", pixels)))
            self.assertIn(base64.b64encode(pixels).decode(), str(spell(Request((message,)))))

    def test_an_image_elsewhere_than_with_the_user_is_a_config_error(self) -> None:
        for spell in SPELLERS:
            for role in ("system", "assistant", "tool"):
                with self.assertRaisesRegex(ConfigError, f"user message.*{role!r}"):
                    spell(Request((user("hi"), Message(role, (Text("hi"), PNG)))))

    def test_an_image_without_bytes_is_a_config_error(self) -> None:
        for spell in SPELLERS:
            with self.assertRaisesRegex(ConfigError, "image/png, got none"):
                spell(Request((Message("user", (Image("image/png", b""),)),)))

    def test_an_image_of_a_type_that_the_provider_does_not_take_is_a_config_error(self) -> None:
        taken = {
            chat: {"jpeg", "png", "gif", "webp"},
            messages: {"jpeg", "png", "gif", "webp"},
            gemini: {"jpeg", "png", "webp", "heic", "heif"},
            responses: {"jpeg", "png", "gif", "webp"},
            ollama: {"jpeg", "png", "webp"},
        }
        self.assertEqual([*taken], [*SPELLERS])
        everywhere = {"jpg", "jpeg", "png", "gif", "webp", "heic", "heif", "bmp", "svg+xml", "PNG"}
        for spell, kinds in taken.items():
            for kind in kinds:
                spell(Request((Message("user", (Image(f"image/{kind}", b"x"),)),)))
            for media_type in (*(f"image/{kind}" for kind in everywhere - kinds), "", "png\n"):
                with self.subTest(spell=spell, media_type=media_type):
                    with self.assertRaises(ConfigError) as caught:
                        spell(Request((Message("user", (Image(media_type, b"x"),)),)))
                    self.assertIn(f"got {media_type!r}", str(caught.exception))
