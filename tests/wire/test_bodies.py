"""Every body of every format means what it claims, as a decoder of its own reads it."""

import unittest

from modeltest import APIError, Finish, IncompleteResponseError, StreamProtocolError, assemble
from modeltest.corpus import empty_argument_bodies, short_bodies, whole_bodies
from modeltest.wire import Body, Role, Unsupported
from tests.wire.decoders import Decoder, Failed
from tests.wire.formats import CASES, FORMATS, all_bodies, bodies_of, meaning, without_usage
from tests.wire.turns import turn_of
from tests.wire.unframe import Malformed


class TestEveryBody(unittest.TestCase):
    def test_the_decoder_reads_what_the_body_claims(self) -> None:
        for wire, decoder in FORMATS:
            for body in all_bodies(wire):
                with self.subTest(wire=wire.name, body=body.name):
                    self.check(body, decoder)

    def check(self, body: Body, decoder: type[Decoder]) -> None:
        if body.error is not None:
            with self.assertRaises(Failed) as failed:
                decoder().read(body.data)
            for word in body.error.words:
                self.assertIn(word, str(failed.exception))
        elif body.first(Role.MALFORMED) is not None or self.goes_on_after_its_finish(body):
            with self.assertRaises(Malformed):
                decoder().read(body.data)
        else:
            self.assertEqual(meaning(decoder().read(body.data)), meaning(body.events))

    def goes_on_after_its_finish(self, body: Body) -> bool:
        return body.finish is not None and body.events[-1] is not body.finish

    def test_the_turn_it_claims_is_what_assemble_makes_of_the_decoded_events(self) -> None:
        for wire, decoder in FORMATS:
            for body in whole_bodies(wire):
                with self.subTest(wire=wire.name, body=body.name):
                    turn = turn_of(body)
                    self.assertEqual(assemble(decoder().read(body.data)), turn)
                    self.assertEqual(turn.usage, body.finish and body.finish.usage)

    def test_it_says_where_it_is_documented(self) -> None:
        for wire, _ in FORMATS[:-1]:
            for body in all_bodies(wire):
                self.assertTrue(body.source, (wire, body))
                self.assertTrue(body.name, wire)

    def test_names_tell_bodies_apart(self) -> None:
        for wire, _ in FORMATS:
            for case in CASES:
                try:
                    names = [body.name for body in bodies_of(wire, case)]
                except Unsupported as refusal:
                    self.assertIn(wire.name, refusal.reason)
                    continue
                self.assertEqual(len(names), len(set(names)), (wire, case, names))

    def test_a_case_that_can_be_encoded_by_none_is_a_mistake(self) -> None:
        for case in CASES:
            encoded = 0
            for wire, _ in FORMATS:
                try:
                    encoded += len(bodies_of(wire, case))
                except Unsupported:
                    continue
            self.assertGreater(encoded, 0, case)

    def test_only_bodies_that_end_the_turn_are_complete(self) -> None:
        for wire, _ in FORMATS:
            for body in all_bodies(wire):
                with self.subTest(wire=wire.name, body=body.name):
                    fails = body.error is not None or body.first(Role.MALFORMED) is not None
                    self.assertEqual(body.complete is None, body.finish is None or fails)


class TestCuts(unittest.TestCase):
    """A cut body is no answer, or the same answer: what the truncation checks rest on."""

    def test_no_boundary_before_the_end_of_the_turn_gives_a_finish(self) -> None:
        for wire, decoder in FORMATS:
            for body in all_bodies(wire):
                with self.subTest(wire=wire.name, body=body.name):
                    prefixes = body.incomplete_prefixes()
                    self.assertEqual(prefixes[0], b"")
                    for prefix in prefixes:
                        self.assertIsNone(self.finish(decoder, prefix))

    def finish(self, decoder: type[Decoder], data: bytes) -> Finish | None:
        try:
            events = decoder().read(data)
        except (Malformed, Failed):
            return None
        return next((event for event in events if isinstance(event, Finish)), None)

    def test_every_prefix_of_a_whole_turn_fails_or_is_the_same_turn(self) -> None:
        for wire, decoder in FORMATS:
            for body in short_bodies(wire):
                with self.subTest(wire=wire.name, body=body.name):
                    self.check_prefixes(body, decoder)

    def check_prefixes(self, body: Body, decoder: type[Decoder]) -> None:
        whole, data = without_usage(meaning(body.events)), body.data
        least = body.complete_at
        assert least is not None
        for cut in range(len(data)):
            try:
                events = decoder().read(data[:cut])
            except Malformed:
                continue
            if any(isinstance(event, Finish) for event in events):
                self.assertGreaterEqual(cut, least)
                self.assertEqual(without_usage(meaning(events)), whole)

    def test_a_whole_turn_is_complete_from_its_completing_event_on(self) -> None:
        for wire, decoder in FORMATS:
            for body in whole_bodies(wire):
                with self.subTest(wire=wire.name, body=body.name):
                    assert body.complete is not None
                    assert body.complete_at is not None
                    end = body.boundaries[body.complete - 1]
                    self.assertIsNotNone(self.finish(decoder, body.data[:end]))
                    self.assertLessEqual(body.complete_at, end)
                    # What lies between is no more than line ends and padding.
                    self.assertEqual(body.data[body.complete_at : end].strip(b" \r\n"), b"")


class TestOutcomes(unittest.TestCase):
    """What an agent loop must get, by the contract's own rules."""

    def outcome(self, body: Body) -> type[BaseException] | None:
        try:
            turn_of(body)
        except Exception as error:
            return type(error)
        return None

    def check(self, case: str, *expected: type[BaseException] | None) -> None:
        for wire, _ in FORMATS:
            try:
                bodies = bodies_of(wire, case)
            except Unsupported:
                continue
            for body in bodies:
                self.assertIn(self.outcome(body), expected, (wire, case, body))

    def test_whole_turns_give_a_turn(self) -> None:
        for case in (
            "whole_bodies",
            "short_bodies",
            "absent_reason_bodies",
            "duplicate_bodies",
            "finish_beside_content_bodies",
            "parallel_call_bodies",
            "index_bodies",
            "identity_bodies",
            "empty_argument_bodies",
            "good_endings",
            "unknown_bodies",
        ):
            self.check(case, None)

    def test_broken_turns_give_none(self) -> None:
        self.check("error_bodies", APIError)
        self.check("malformed_bodies", StreamProtocolError)
        self.check("after_finish_bodies", StreamProtocolError)
        self.check("incomplete_endings", IncompleteResponseError)

    def test_usage_alone_ends_nothing(self) -> None:
        self.check("usage_bodies", None, IncompleteResponseError)

    def test_calls_without_arguments_have_empty_ones(self) -> None:
        for wire, _ in FORMATS:
            for body in empty_argument_bodies(wire):
                (call,) = turn_of(body).message.tool_uses
                self.assertEqual(call.arguments, {}, (wire, body))


class TestParts(unittest.TestCase):
    def test_each_text_is_one_part_and_no_part_holds_another_event(self) -> None:
        for wire, _ in FORMATS:
            body = next(body for body in whole_bodies(wire) if body.name == "text")
            roles = [part.role for part in body.parts]
            self.assertEqual(roles.count(Role.TEXT), 3, wire)
            self.assertEqual(roles.count(Role.FINISH), 1, wire)
