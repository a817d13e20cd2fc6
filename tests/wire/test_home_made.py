"""The worked example of the documentation: a provider of one's own in some thirty lines."""

import ast
import inspect
import unittest

from modeltest import Finish, FinishReason, TextDelta
from modeltest.corpus import malformed_bodies, unknown_bodies, whole_bodies
from modeltest.wire import Framing, Role, SameEvent, Unsupported, WireFormat
from tests.adapters import home_made_wire
from tests.adapters.home_made_wire import AcmeLines
from tests.wire.formats import CASES, bodies_of


class TestHomeMade(unittest.TestCase):
    """That its bodies mean what they claim is tested with those of the other formats."""

    def test_it_answers_to_almost_every_check(self) -> None:
        refused = set()
        for case in CASES:
            try:
                self.assertTrue(bodies_of(AcmeLines(), case))
            except Unsupported:
                refused.add(case)
        self.assertEqual(
            refused,
            {
                "absent_reason_bodies",
                "after_finish_bodies",
                "index_bodies",
                "identity_bodies",
                "incomplete_endings",
            },
        )

    def test_it_takes_some_thirty_lines(self) -> None:
        (made,) = [
            node
            for node in ast.parse(inspect.getsource(home_made_wire)).body
            if isinstance(node, ast.ClassDef)
        ]
        source = ast.unparse(made).split("\n")
        code = [line for line in source if line.strip() and '"""' not in line]
        self.assertLessEqual(len(code), 32)

    def test_what_it_sends(self) -> None:
        wire = AcmeLines()
        body = wire.encode(TextDelta("hi"), *wire.tool_call(0, "f", "{}"), wire.finish("tool"))
        self.assertEqual(
            body.data.decode().split("\n"),
            [
                '{"say":"hi"}',
                '{"call":0,"id":"call_0","tool":"f","json":""}',
                '{"call":0,"json":"{"}',
                '{"call":0,"json":"}"}',
                '{"over":"tool"}',
                "",
            ],
        )

    def test_one_line_says_a_thing_once(self) -> None:
        wire = AcmeLines()
        with self.assertRaises(Unsupported):
            wire.encode(SameEvent((TextDelta("a"), TextDelta("b"))))
        body = wire.encode(SameEvent((TextDelta("a"), Finish(FinishReason.STOP))))
        self.assertEqual(body.data, b'{"say":"a","over":"done"}\n')


class TestTheLeast(unittest.TestCase):
    def test_text_and_a_finish_are_enough_for_a_format(self) -> None:
        class Least(WireFormat):
            name = "Least"
            framing = Framing.SSE
            content_type = "text/event-stream"
            reasons = {"end": FinishReason.STOP}

            def text_event(self, text: str) -> str:
                return text

            def finish_event(self, word: str) -> str:
                return f"[{word}]"

        wire = Least()
        self.assertEqual(
            wire.encode(TextDelta("hi"), wire.finish("end")).data, b"data: hi\n\ndata: [end]\n\n"
        )
        self.assertEqual(
            [body.name for body in whole_bodies(wire)], ["text", "text of several alphabets"]
        )
        self.assertEqual(wire.event(3), b"data: word3 \n\n")
        self.assertEqual(len(unknown_bodies(wire)), 1)
        with self.assertRaisesRegex(Unsupported, "what a malformed event is"):
            malformed_bodies(wire)

    def test_the_hooks_of_a_spoiled_event_are_given_what_is_whole(self) -> None:
        class Named(WireFormat):
            name = "Named"
            framing = Framing.SSE
            content_type = "text/event-stream"
            reasons = {"end": FinishReason.STOP}

            def text_event(self, text: str) -> dict[str, str]:
                return {"t": text}

            def finish_event(self, word: str) -> dict[str, str]:
                return {"over": word}

            def event_name(self, payload: dict[str, str]) -> str:
                return "token" if "t" in payload else "done"

        for body in malformed_bodies(Named()):
            (spoiled,) = (part.data for part in body.parts if part.role is Role.MALFORMED)
            self.assertRegex(spoiled, rb'\Aevent: token\ndata: \{"t":"[^"]*"\n\n\Z')
