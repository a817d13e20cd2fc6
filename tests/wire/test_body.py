"""A body is a value: what can be asked of it, and what it refuses to be made of."""

import unittest

from modeltest import APIError, Finish, FinishReason, IncompleteResponseError, TextDelta, Usage
from modeltest.wire import Body, Framing, Role, WireError, WirePart
from modeltest.wire.bedrock import BedrockConverse
from modeltest.wire.openai_chat import OpenAIChat
from tests.wire.turns import turn_of

STOP = Finish(FinishReason.STOP, "stop")


def body(*parts: tuple[Role, bytes], complete: int | None = None) -> Body:
    made = tuple(WirePart(role, data) for role, data in parts)
    return Body("b", made, (TextDelta("hi"), STOP), Framing.SSE, complete=complete)


WHOLE = body(
    (Role.TEXT, b"data: 1\n\n"),
    (Role.FINISH, b"data: 2  \r\n\r\n"),
    (Role.END, b"data: 3\n\n"),
    complete=2,
)


class TestBody(unittest.TestCase):
    def test_its_bytes(self) -> None:
        self.assertEqual(WHOLE.data, b"data: 1\n\ndata: 2  \r\n\r\ndata: 3\n\n")
        self.assertEqual(WHOLE.chunks[0], b"data: 1\n\n")
        self.assertEqual(b"".join(WHOLE.chunks), WHOLE.data)
        self.assertEqual(WHOLE.boundaries, (9, 22, 31))

    def test_what_it_says(self) -> None:
        self.assertEqual(WHOLE.text, "hi")
        self.assertEqual(WHOLE.finish, STOP)
        self.assertEqual(turn_of(WHOLE).message.text, "hi")
        self.assertEqual(repr(WHOLE), "<Body 'b': 3 events, 31 bytes>")

    def test_the_first_part_of_a_role(self) -> None:
        self.assertEqual(WHOLE.first(Role.FINISH), 1)
        self.assertIsNone(WHOLE.first(Role.USAGE))

    def test_it_is_complete_before_the_line_ends_of_its_completing_event(self) -> None:
        self.assertEqual(WHOLE.complete_at, len(b"data: 1\n\ndata: 2"))

    def test_a_binary_event_is_whole_or_nothing(self) -> None:
        # Its checksum may end in the bytes of a line end or a space.
        encoded = BedrockConverse().encode(TextDelta("hi"), Finish(FinishReason.STOP))
        padded = Body(
            "b",
            (*encoded.parts[:-1], WirePart(Role.FINISH, encoded.parts[-1].data[:-1] + b"\n")),
            encoded.events,
            encoded.framing,
            complete=encoded.complete,
        )
        self.assertEqual(padded.complete_at, len(padded.data))

    def test_incomplete_prefixes_are_the_boundaries_before_the_end_of_the_turn(self) -> None:
        self.assertEqual(WHOLE.incomplete_prefixes(), (b"", b"data: 1\n\n"))

    def test_a_body_that_ends_no_turn_is_incomplete_at_every_boundary(self) -> None:
        unfinished = body((Role.TEXT, b"data: 1\n\n"))
        self.assertIsNone(unfinished.complete_at)
        self.assertEqual(unfinished.incomplete_prefixes(), (b"", b"data: 1\n\n"))

    def test_cut_after_its_usage_it_keeps_it_and_before_it_has_none(self) -> None:
        usage = Usage(3, 2)
        whole = OpenAIChat().encode(TextDelta("hi"), Finish(FinishReason.STOP, usage=usage))
        kept, lost = whole.until(4, "kept"), whole.until(3, "lost")
        self.assertEqual([str(part.role) for part in kept.parts][-2:], ["finish", "usage"])
        assert kept.finish is not None
        assert lost.finish is not None
        self.assertEqual((kept.name, kept.finish.usage), ("kept", usage))
        self.assertEqual((lost.name, lost.finish.usage), ("lost", Usage()))
        self.assertEqual(lost.events[0], TextDelta("hi"))

    def test_renewed_it_means_the_same(self) -> None:
        part = WirePart(Role.TEXT, b"x")
        other = WHOLE.renewed("other", (part,))
        self.assertEqual((other.name, other.data, other.events), ("other", b"x", WHOLE.events))

    def test_an_error_is_what_the_turn_raises(self) -> None:
        error = WireError("shape", "overloaded", "try later", ())
        failed = Body("b", (), (), Framing.SSE, error=error)
        with self.assertRaises(APIError) as raised:
            turn_of(failed)
        self.assertEqual((raised.exception.type, raised.exception.message), error.words)
        self.assertIsNone(raised.exception.status)

    def test_words_that_an_error_does_not_have_are_not_asked_for(self) -> None:
        self.assertEqual(WireError("shape", "", "try later", ()).words, ("try later",))
        self.assertEqual(WireError("shape", "timeout", "", ()).words, ("timeout",))

    def test_an_unfinished_turn_is_incomplete(self) -> None:
        with self.assertRaises(IncompleteResponseError):
            turn_of(Body("b", (), (TextDelta("hi"),), Framing.SSE))


class TestBadUse(unittest.TestCase):
    def test_a_part_is_made_of_bytes(self) -> None:
        with self.assertRaisesRegex(TypeError, "expected bytes for the text event, got str: 'hi'"):
            WirePart(Role.TEXT, "hi")  # type: ignore[arg-type]

    def test_a_body_is_made_of_parts(self) -> None:
        with self.assertRaisesRegex(TypeError, "made of WireParts, got b'hi'"):
            Body("b", (b"hi",), (), Framing.SSE)  # type: ignore[arg-type]
