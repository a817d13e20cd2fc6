"""Tool names: each provider's grammar, and where a request carries them."""

import unittest
from typing import Any

from modeltest.wire import (
    AnthropicMessages,
    BedrockConverse,
    CohereChat,
    Gemini,
    MistralChat,
    OllamaChat,
    OpenAIChat,
    OpenAIResponses,
    ToolNameRule,
    WireFormat,
)
from modeltest.wire.tools import pluck
from tests.wire.formats import FORMATS

STRICT = ToolNameRule("[a-zA-Z0-9_-]+", 64)


class TestRule(unittest.TestCase):
    def test_the_whole_name_is_matched(self) -> None:
        for name in ("get_weather", "a-1", "_x", "9", "a" * 64):
            self.assertTrue(STRICT.accepts(name), name)
        for name in ("", "a b", "a.b", "fs/read", "a" * 65, "a\n", "\na", "a\u0663", "\u00e9", "$"):
            self.assertFalse(STRICT.accepts(name), name)

    def test_without_grammar_or_limit_everything_but_nothing_is_taken(self) -> None:
        free = ToolNameRule(None, None)
        self.assertTrue(free.accepts("a b\n" * 99))
        self.assertFalse(free.accepts(""))
        self.assertEqual(free.refused, ("",))

    def test_a_limit_without_grammar(self) -> None:
        rule = ToolNameRule(None, 3)
        self.assertTrue(rule.accepts("a.b"))
        self.assertFalse(rule.accepts("a.bc"))
        self.assertIn("aaaa", rule.refused)

    def test_its_examples_keep_to_it(self) -> None:
        for wire, _ in FORMATS:
            rule = wire.tool_names
            for name in rule.accepted:
                self.assertTrue(rule.accepts(name), (wire, name))
            for name in rule.refused:
                self.assertFalse(rule.accepts(name), (wire, name))
            self.assertEqual(rule.accepted, ("get_weather", "a-1", "_x", "a" * 64))

    def test_its_examples_hold_the_traps_of_python(self) -> None:
        for trap in ("get_weather\n", "get\nweather", "a\u0663", "\u00e9", "", "a" * 65):
            self.assertIn(trap, STRICT.refused)


class TestProviders(unittest.TestCase):
    def test_limits(self) -> None:
        limits = {type(wire).__name__: wire.tool_names.limit for wire, _ in FORMATS}
        self.assertEqual(
            limits,
            {
                "OpenAIChat": 64,
                "OpenAIResponses": 128,
                "AnthropicMessages": 128,
                "Gemini": 128,
                "OllamaChat": None,
                "CohereChat": None,
                "MistralChat": 64,
                "BedrockConverse": 64,
                "AcmeLines": None,
            },
        )

    def test_gemini_takes_dots_and_colons_but_no_leading_digit(self) -> None:
        rule = Gemini().tool_names
        for name in ("a.b", "a:b", "_", "a-1"):
            self.assertTrue(rule.accepts(name))
        for name in ("1a", ".a", "-a", "a/b"):
            self.assertFalse(rule.accepts(name))

    def test_who_refuses_two_tools_of_one_name(self) -> None:
        unique = {type(wire).__name__ for wire, _ in FORMATS if wire.tool_names.unique}
        self.assertEqual(unique, {"AnthropicMessages", "Gemini"})

    def test_which_choices_a_request_can_express(self) -> None:
        self.assertEqual(OllamaChat().tool_choices, {"auto", "none"})
        self.assertEqual(CohereChat().tool_choices, {"auto", "none", "required"})
        self.assertEqual(OpenAIChat().tool_choices, {"auto", "none", "required", "tool"})


FUNCTIONS = [{"type": "function", "function": {"name": name}} for name in ("f", "g")]
CALLED = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "h"}}]}
CHAT = {
    "tools": FUNCTIONS,
    "tool_choice": "auto",
    "messages": [{"role": "user", "content": "hi"}, CALLED],
}


class TestRequests(unittest.TestCase):
    def check(self, wire: WireFormat, request: Any, choice: Any) -> None:
        self.assertEqual(wire.sent_tool_names(request), ("f", "g"), wire)
        self.assertEqual(wire.sent_tool_choices(request), (choice,), wire)
        self.assertEqual(wire.sent_call_names(request), ("h",), wire)
        for nothing in ({}, [], None, "tools", {"tools": "f"}, {"tools": [None, {"name": []}]}):
            self.assertEqual(wire.sent_call_names(nothing), (), wire)
        self.assertEqual(wire.sent_tool_names({}), ())
        self.assertEqual(wire.sent_tool_choices({}), ())

    def test_the_shape_of_chat_completions(self) -> None:
        for wire in (OpenAIChat(), MistralChat(), OllamaChat(), CohereChat()):
            self.check(wire, CHAT, "auto")

    def test_openai_responses(self) -> None:
        request = {
            "tools": [{"type": "function", "name": "f"}, {"type": "function", "name": "g"}],
            "tool_choice": {"type": "function", "name": "f"},
            "input": [{"role": "user", "content": "hi"}, {"type": "function_call", "name": "h"}],
        }
        self.check(OpenAIResponses(), request, {"type": "function", "name": "f"})

    def test_anthropic(self) -> None:
        request = {
            "tools": [{"name": "f", "input_schema": {}}, {"name": "g", "input_schema": {}}],
            "tool_choice": {"type": "any"},
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"name": "h"}]},
            ],
        }
        self.check(AnthropicMessages(), request, {"type": "any"})

    def test_gemini_in_both_spellings(self) -> None:
        call = {"name": "h", "args": {}}
        camel = {
            "tools": [{"functionDeclarations": [{"name": "f"}, {"name": "g"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            "contents": [{"role": "model", "parts": [{"text": "x"}, {"functionCall": call}]}],
        }
        snake = {
            "tools": [{"function_declarations": [{"name": "f"}, {"name": "g"}]}],
            "tool_config": {"function_calling_config": {"mode": "ANY"}},
            "contents": [{"role": "model", "parts": [{"function_call": call}]}],
        }
        self.check(Gemini(), camel, camel["toolConfig"])
        self.check(Gemini(array=True), snake, snake["tool_config"])

    def test_bedrock(self) -> None:
        request = {
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "f"}}, {"toolSpec": {"name": "g"}}],
                "toolChoice": {"any": {}},
            },
            "messages": [{"role": "assistant", "content": [{"toolUse": {"name": "h"}}]}],
        }
        self.check(BedrockConverse(), request, {"any": {}})


class TestPluck(unittest.TestCase):
    def test_what_is_missing_or_of_another_type_is_passed_over(self) -> None:
        value = {"a": [{"b": 1}, {"c": 2}, "text", [3], {"b": None}]}
        self.assertEqual(list(pluck(value, ("a", "*", "b"))), [1, None])
        self.assertEqual(list(pluck("text", ("*",))), [])
        self.assertEqual(list(pluck(b"text", ("*",))), [])
        self.assertEqual(list(pluck(value, ())), [value])
