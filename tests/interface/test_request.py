"""What is asked of a model."""

import dataclasses
import unittest

from modeltest import (
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

CALL = ToolUse("call_1", "get_weather", {"city": "Oslo"})
OTHER_CALL = ToolUse("call_2", "get_time")


class TestMessage(unittest.TestCase):
    def test_text_joins_the_text_parts_only(self) -> None:
        message = Message(
            "assistant",
            (Reasoning("hmm"), Text("It is "), CALL, Text("cold"), ToolResult("call_1", "-3")),
        )
        self.assertEqual(message.text, "It is cold")
        pictured = Message("user", (Text("What "), Image("image/png", b"\x89PNG"), Text("is it?")))
        self.assertEqual(pictured.text, "What is it?")

    def test_text_is_empty_without_text_parts(self) -> None:
        self.assertEqual(Message("assistant", (CALL,)).text, "")

    def test_tool_uses_keep_their_order(self) -> None:
        message = Message("assistant", (CALL, Text("and"), OTHER_CALL))
        self.assertEqual(message.tool_uses, (CALL, OTHER_CALL))

    def test_tool_uses_are_empty_without_calls(self) -> None:
        self.assertEqual(user("hi").tool_uses, ())

    def test_user_makes_a_user_message_of_one_text(self) -> None:
        self.assertEqual(user("hi"), Message("user", (Text("hi"),)))


class TestDefaults(unittest.TestCase):
    def test_a_request_offers_no_tools(self) -> None:
        self.assertEqual(Request((user("hi"),)), Request((user("hi"),), tools=(), tool_choice=None))

    def test_a_tool_takes_an_object_without_properties(self) -> None:
        self.assertEqual(
            Tool("now"),
            Tool(name="now", description="", parameters={"type": "object", "properties": {}}),
        )

    def test_tools_do_not_share_their_parameters(self) -> None:
        self.assertIsNot(Tool("a").parameters, Tool("b").parameters)

    def test_calls_do_not_share_their_arguments(self) -> None:
        self.assertEqual(OTHER_CALL.arguments, {})
        self.assertIsNot(ToolUse("a", "b").arguments, ToolUse("a", "b").arguments)

    def test_a_tool_result_is_no_error(self) -> None:
        self.assertFalse(ToolResult("call_1", "ok").is_error)

    def test_a_choice_of_mode_names_no_tool(self) -> None:
        self.assertEqual(ToolChoice("auto"), ToolChoice(mode="auto", name=""))


class TestValues(unittest.TestCase):
    def test_parts_are_frozen_and_slotted(self) -> None:
        request = Request((user("hi"),), (Tool("now"),), ToolChoice("auto"))
        parts = (Text("hi"), Reasoning(), CALL, ToolResult("call_1", "ok"), Image("image/png", b""))
        for value in (request, *request.messages, *request.tools, request.tool_choice, *parts):
            with self.subTest(value):
                self.assertFalse(hasattr(value, "__dict__"))
                with self.assertRaises(dataclasses.FrozenInstanceError):
                    setattr(value, dataclasses.fields(value)[0].name, None)

    def test_an_image_does_not_show_its_bytes(self) -> None:
        image = Image("image/png", b"\x89PNG" * 1000)
        self.assertEqual(repr(image), "Image(media_type='image/png')")
        self.assertEqual(image, Image("image/png", b"\x89PNG" * 1000))
        self.assertNotEqual(image, Image("image/png", b"\x89PNG"))

    def test_requests_compare_by_value(self) -> None:
        self.assertEqual(Request((user("hi"),)), Request((user("hi"),)))
        self.assertNotEqual(Request((user("hi"),)), Request((user("ho"),)))


if __name__ == "__main__":
    unittest.main()
