"""Tool names: each provider's grammar, and where a request carries them."""

import re
import unicodedata
import unittest
from collections.abc import Callable
from typing import Any

from modeltest.encoding import COMMON_TOOL_NAMES, pluck
from modeltest.wire import ToolNameRule, WireFormat
from modeltest.wire.anthropic import AnthropicMessages
from modeltest.wire.bedrock import BedrockConverse
from modeltest.wire.cohere import CohereChat
from modeltest.wire.gemini import Gemini
from modeltest.wire.mistral import MistralChat
from modeltest.wire.ollama import OllamaChat
from modeltest.wire.openai_chat import OpenAIChat
from modeltest.wire.openai_responses import OpenAIResponses
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
            for name in (*rule.refused, *rule.traps):
                self.assertFalse(rule.accepts(name), (wire, name))
            self.assertFalse({*rule.refused} & {*rule.traps}, wire)
            self.assertEqual(rule.accepted, ("get_weather", "getWeather2", "a-1", "_x", "a" * 64))

    def test_its_examples_hold_what_anybody_would_refuse(self) -> None:
        for name in ("", "get weather", "fs/read", "r\u00e9sum\u00e9", "a" * 65):
            self.assertIn(name, STRICT.refused)

    def test_its_traps_are_let_through_by_careless_looks(self) -> None:
        looks: dict[str, Callable[[str], object]] = {
            "match and $": lambda name: re.match(r"^[a-zA-Z0-9_-]{1,64}$", name),
            "with re.MULTILINE": lambda name: re.search(r"^[a-zA-Z0-9_-]+$", name, re.MULTILINE),
            "strip": lambda name: re.fullmatch(r"[a-zA-Z0-9_-]+", name.strip()),
            "the part before a NUL": lambda name: STRICT.accepts(name.partition("\0")[0]),
            r"\w": lambda name: re.fullmatch(r"[\w-]+", name),
            r"\d": lambda name: re.fullmatch(r"[a-zA-Z\d_-]+", name),
            "isalnum": lambda name: name.replace("_", "").replace("-", "").isalnum(),
            "isidentifier": lambda name: name.isidentifier(),
            "isdigit": lambda name: all(c.isdigit() or STRICT.accepts(c) for c in name),
            "IGNORECASE": lambda name: re.fullmatch(r"[a-z0-9_-]+", name, re.IGNORECASE),
            "lower": lambda name: STRICT.accepts(name.lower()),
            "NFKC": lambda name: STRICT.accepts(unicodedata.normalize("NFKC", name)),
        }
        for name, accepts in looks.items():
            with self.subTest(name):
                self.assertTrue([trap for trap in STRICT.traps if accepts(trap)])
                self.assertTrue(accepts("get_weather"))
        for trap in STRICT.traps:
            with self.subTest(ascii(trap)):
                self.assertTrue([name for name, accepts in looks.items() if accepts(trap)])

    def test_where_there_is_no_rule_there_are_no_traps(self) -> None:
        self.assertEqual(ToolNameRule(None, None).traps, ())
        self.assertEqual(ToolNameRule(None, 64).traps, ())

    def test_the_common_rule_is_one_that_every_provider_accepts(self) -> None:
        for wire, _ in FORMATS:
            for name in COMMON_TOOL_NAMES.accepted:
                self.assertTrue(wire.tool_names.accepts(name), (wire, name))


class TestProviders(unittest.TestCase):
    def test_limits(self) -> None:
        limits = {type(wire).__name__: wire.tool_names.limit for wire, _ in FORMATS}
        known = {
            "OpenAIChat": 64,
            "OpenAIResponses": 128,
            "AnthropicMessages": 128,
            "Gemini": 128,
            "OllamaChat": None,
            "CohereChat": None,
            "MistralChat": 64,
            "BedrockConverse": 64,
            "AcmeLines": None,
        }
        self.assertEqual(limits | known, limits)

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

    def test_gemini_in_both_forms(self) -> None:
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
        self.check(Gemini(), camel, camel["toolConfig"]["functionCallingConfig"])
        self.check(Gemini(array=True), snake, snake["tool_config"]["function_calling_config"])

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
