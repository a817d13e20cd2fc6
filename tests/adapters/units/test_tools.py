from __future__ import annotations

import unittest

from modeltest import ConfigError, Message, Request, Tool, ToolChoice, ToolUse, user
from tests.adapters.tools import ANTHROPIC_NAMES, GEMINI_NAMES, OPENAI_CHAT_NAMES, check_tools

GOOD = ["get_weather", "a-1", "_x", "A", "7", "a" * 64]
BAD = [
    "get weather",
    "",
    "fs/read",
    "résumé",
    "a.b",
    "a:b",
    "a" * 65,
    "get_weather\n",
    "\nget_weather",
    "get\nweather",
    "get_weather\r",
    "٣",
    "é",
    "\uff41",
    "a\u2028",
    "a\x00",
    "$READFILE",
]


def request(*names: str, choice: ToolChoice | None = None) -> Request:
    return Request((user("hi"),), tuple(Tool(name) for name in names), choice)


class TestNames(unittest.TestCase):
    def test_good_names_pass(self) -> None:
        for name in GOOD:
            check_tools(request(name), OPENAI_CHAT_NAMES)
            check_tools(request(name), ANTHROPIC_NAMES)
        check_tools(request("a" * 128), ANTHROPIC_NAMES)

    def test_bad_names_are_refused_and_quoted(self) -> None:
        for name in BAD:
            with self.subTest(name=name), self.assertRaises(ConfigError) as caught:
                check_tools(request("fine", name), OPENAI_CHAT_NAMES)
            self.assertIn(repr(name), str(caught.exception))
        with self.assertRaises(ConfigError):
            check_tools(request("a" * 129), ANTHROPIC_NAMES)

    def test_the_first_character_may_have_a_rule_of_its_own(self) -> None:
        for name in ("a", "_x", "a.b:c-1", "a" * 128):
            check_tools(request(name), GEMINI_NAMES)
        for name in ("", "1a", "-a", ".a", "a/b", "a" * 129, "a\n", "é"):
            with self.subTest(name=name), self.assertRaises(ConfigError) as caught:
                check_tools(request(name), GEMINI_NAMES)
            self.assertIn(repr(name), str(caught.exception))

    def test_duplicates_are_refused(self) -> None:
        with self.assertRaisesRegex(ConfigError, "'f' is declared twice"):
            check_tools(request("f", "g", "f"), OPENAI_CHAT_NAMES)

    def test_names_in_the_history_are_checked(self) -> None:
        history = Request((user("hi"), Message("assistant", (ToolUse("c1", "$READFILE"),))))
        with self.assertRaisesRegex(ConfigError, r"\$READFILE"):
            check_tools(history, OPENAI_CHAT_NAMES)
        # A tool that is no longer declared may still be in the history.
        check_tools(Request((Message("assistant", (ToolUse("c1", "gone"),)),)), OPENAI_CHAT_NAMES)


class TestChoice(unittest.TestCase):
    def test_good_choices_pass(self) -> None:
        for tools in ((), ("f",)):
            for mode in ("auto", "none"):
                check_tools(request(*tools, choice=ToolChoice(mode)), OPENAI_CHAT_NAMES)
        for choice in (ToolChoice("required"), ToolChoice("tool", "f")):
            check_tools(request("f", choice=choice), OPENAI_CHAT_NAMES)

    def test_bad_choices_are_refused_and_quoted(self) -> None:
        for tools, choice, quoted in (
            (("f",), ToolChoice("always"), "'always'"),
            (("f",), ToolChoice(""), "''"),
            ((), ToolChoice("always"), "'always'"),
            ((), ToolChoice("required"), "'required'"),
            ((), ToolChoice("tool", "f"), "'f'"),
            (("f",), ToolChoice("tool"), "''"),
            (("f",), ToolChoice("tool", "g"), "'g'"),
        ):
            with self.subTest(choice=choice), self.assertRaises(ConfigError) as caught:
                check_tools(request(*tools, choice=choice), OPENAI_CHAT_NAMES)
            self.assertIn(quoted, str(caught.exception))
