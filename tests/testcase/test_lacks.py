"""What an adapter lacks is neither sent nor judged, and a run says how much was not."""

import unittest
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

from modeltest.corpus import fitting_request
from modeltest.interface import Image, Message, Request, Text, Tool, ToolResult, ToolUse, user
from modeltest.wire import OpenAIChat
from tests.adapters.less import TextOnlyModel

from .running import SET_UP, acme, case, python, run, text_of

CALL = ToolUse("call_1", "f", {})
RICH = Request(
    (
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("What is it?"), Image("image/png", b"\x89PNG"))),
        Message("assistant", (Text("Let me see."), CALL)),
        Message("tool", (ToolResult("call_1", "a cat"),)),
        user("And now?"),
    ),
    (Tool("f"),),
)


def wired(**attributes: Any) -> Any:
    def new_model(url: str, client: Any) -> TextOnlyModel:
        return TextOnlyModel(url, api_key="modeltest-key", session=client)

    return case(new_model=staticmethod(new_model), wire=OpenAIChat(), **attributes)


class TestSetting(unittest.TestCase):
    def test_a_slip_is_a_clear_error(self) -> None:
        for slip in (("tool",), "tools", ("tools", 3), None):
            text = text_of(run(acme(lacks=slip), SET_UP))
            self.assertIn('.lacks: expected a tuple of "tools", "usage", ', text)
            self.assertIn(repr(slip), text)


class TestSkips(unittest.TestCase):
    def reason(self, tests: Any, name: str) -> str:
        with redirect_stderr(StringIO()):
            result = run(tests, name)
        ((_, reason),) = result.skipped
        return reason

    def test_reasons_are_told_apart(self) -> None:
        lacks = wired(lacks=("tools",))
        self.assertEqual(
            self.reason(lacks, "test_large_arguments_arrive_whole"), "the adapter lacks tools"
        )
        self.assertIn("needs `wire`", self.reason(acme(), "test_large_arguments_arrive_whole"))

    def test_the_line_at_the_end(self) -> None:
        names = (
            "test_large_arguments_arrive_whole",
            "test_usage_is_reported_once",
            "test_retry_after_is_honoured",
            "test_break_releases",
        )
        said = StringIO()
        with redirect_stderr(said):
            run(wired(lacks=("tools", "usage")), *names)
        self.assertEqual(
            said.getvalue(),
            "\nTestAcme: 3 of 4 checks did not apply: 2 the adapter lacks what it is about; "
            "1 needs an attribute of the test case\n",
        )

    def test_pytest_shows_it(self) -> None:
        arguments = (
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "filterwarnings=",
            "tests/adapters/test_less.py",
        )
        chosen = ("-k", "TestTextOnly and (large_arguments or break_releases)")
        result = python("-m", "pytest", *arguments, *chosen)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("TestTextOnly: 1 of 2 checks did not apply", result.stdout)
        strict = python("-m", "pytest", "-W", "error", *arguments, *chosen)
        self.assertEqual(strict.returncode, 0, strict.stdout)


class TestRequests(unittest.TestCase):
    def test_nothing_lacking_is_left_as_it_is(self) -> None:
        self.assertEqual(fitting_request(RICH, ()), RICH)

    def test_each_is_left_out(self) -> None:
        without_tools = fitting_request(RICH, ("tools",))
        self.assertEqual(without_tools.tools, ())
        roles = [message.role for message in without_tools.messages]
        self.assertEqual(roles, ["system", "user", "assistant", "user"])
        self.assertNotIn("Image", repr(fitting_request(RICH, ("images",))))
        self.assertNotIn("brief", repr(fitting_request(RICH, ("system",))))
        last = fitting_request(RICH, ("history",)).messages
        self.assertEqual([message.text for message in last], ["Be brief.", "And now?"])
        self.assertEqual(fitting_request(RICH, ("tools", "system", "history")), Request((last[1],)))
