"""Bodies that no provider would send on purpose."""

import itertools
import os
import sys
import unittest
import warnings
from typing import Any
from unittest import mock

from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from modeltest import corpus, fuzz
from modeltest.wire import BedrockConverse, OllamaChat, OpenAIChat

EVENTS = [b"data: a\n\n", b"event: x\ndata: b\n\n", b"data: [DONE]\n\n"]
WIRE = OpenAIChat()


def without_hypothesis() -> Any:
    return mock.patch.dict(sys.modules, {"hypothesis": None})


class TestStrategies(unittest.TestCase):
    def assertGives(self, strategy: st.SearchStrategy[bytes], condition: Any) -> None:
        try:
            find(
                strategy,
                condition,
                settings=settings(max_examples=5000, derandomize=True, database=None),
            )
        except NoSuchExample:
            self.fail("no such body is ever given")

    @settings(max_examples=50, derandomize=True, database=None)
    @given(fuzz.arbitrary_bytes(10))
    def test_arbitrary_bytes(self, body: bytes) -> None:
        self.assertLessEqual(len(body), 10)

    def test_mutated_bodies(self) -> None:
        strategy = fuzz.mutated_bodies([b"a" * 20, b"b" * 20])
        self.assertGives(strategy, lambda body: body == b"a" * 20)
        self.assertGives(strategy, lambda body: body.startswith(b"bbb") and len(body) < 20)
        self.assertGives(strategy, lambda body: body.startswith(b"bbb") and len(body) > 20)
        self.assertGives(strategy, lambda body: b"[DONE]" in body)

    def test_event_sequences(self) -> None:
        strategy = fuzz.event_sequences(EVENTS, max_size=3)
        self.assertGives(strategy, lambda body: body == EVENTS[2] + EVENTS[0])
        sequences = {b"".join(s) for n in range(4) for s in itertools.product(EVENTS, repeat=n)}

        @settings(max_examples=50, derandomize=True, database=None)
        @given(strategy)
        def check(body: bytes) -> None:
            self.assertIn(body, sequences)

        check()

    def test_respelled_bodies(self) -> None:
        body = corpus.whole_bodies(WIRE)[0]
        strategy = fuzz.re_encoded_bodies([body])
        self.assertGives(strategy, lambda data: data == body.data.replace(b"\n", b"\r\n"))
        self.assertGives(strategy, lambda data: data.startswith(b"\xef\xbb\xbf"))
        binary = corpus.whole_bodies(BedrockConverse())[0]
        self.assertGives(fuzz.re_encoded_bodies([binary]), lambda data: data == binary.data)
        both = fuzz.re_encoded_bodies([binary, corpus.whole_bodies(OllamaChat())[0]])
        self.assertGives(both, lambda data: data == binary.data)
        self.assertGives(both, lambda data: b"\r\n" in data and data.startswith(b"{"))

    def test_chunkings(self) -> None:
        body = b"0123456789"

        @settings(max_examples=100, derandomize=True, database=None)
        @given(fuzz.chunkings(body, max_cuts=3))
        def check(chunks: tuple[bytes, ...]) -> None:
            self.assertEqual(b"".join(chunks), body)
            self.assertTrue(all(chunks))
            self.assertLessEqual(len(chunks), 4)

        check()
        self.assertGives(fuzz.chunkings(b"ab"), lambda chunks: chunks == (b"a", b"b"))
        self.assertGives(fuzz.chunkings(b""), lambda chunks: chunks == ())

    def test_any_bodies(self) -> None:
        strategy = fuzz.any_bodies(EVENTS)
        self.assertGives(strategy, lambda body: body.count(EVENTS[0]) == 2)
        self.assertGives(strategy, lambda body: body == b"".join(EVENTS))
        self.assertGives(strategy, lambda body: len(body) > 1 and body[:1] not in b"de")
        self.assertGives(fuzz.any_bodies(EVENTS, [b"whole"]), lambda body: body == b"whole")

    def test_nothing_to_make_others_of(self) -> None:
        for make in (
            fuzz.mutated_bodies,
            fuzz.event_sequences,
            fuzz.re_encoded_bodies,
            fuzz.any_bodies,
            lambda events: list(fuzz.seeded_bodies(events, 1)),
            lambda events: fuzz.try_bodies(events, lambda body: None),
        ):
            with self.assertRaisesRegex(ValueError, "at least one (body|event) to make others of"):
                make([])  # type: ignore[operator]


class TestRetypedBodies(unittest.TestCase):
    def test_every_value_has_every_other_type_once(self) -> None:
        body = (
            b'data: {"a": "x"}\n\n',
            b'data: {"b": [{"c": 1}, {"c": 2}]}\n\n',
            b"data: [DONE]\n\n",
        )
        found = list(fuzz.retyped_bodies([body, body]))
        self.assertEqual(len(found), len(set(found)))
        self.assertIn(b'data: {"a": null}\n\n', found)
        self.assertNotIn(b'data: {"a": "x"}\n\n', found)
        self.assertIn(b'data: {"a": "x"}\n\ndata: {"b": 7}\n\n', found)
        self.assertIn(b'data: {"a": "x"}\n\ndata: {"b": [{"c": []}, {"c": 2}]}\n\n', found)
        self.assertNotIn(b'data: {"a": "x"}\n\ndata: {"b": [{"c": 1}, {"c": null}]}\n\n', found)
        # Of seven samples, two of them lists: a text 6, a list 5, an item 6, a number 6.
        self.assertEqual(len(found), 6 + 5 + 6 + 6)

    def test_what_is_no_json_is_left_out(self) -> None:
        self.assertEqual(list(fuzz.retyped_bodies([EVENTS])), [])


class TestSeededBodies(unittest.TestCase):
    def test_the_same_for_the_same_seed(self) -> None:
        bodies = [list(fuzz.seeded_bodies(EVENTS, 40, seed)) for seed in (1, 1, 2)]
        self.assertEqual(bodies[0], bodies[1])
        self.assertNotEqual(bodies[0], bodies[2])
        self.assertEqual([len(some) for some in bodies], [40] * 3)

    def test_every_kind_comes(self) -> None:
        bodies = list(fuzz.seeded_bodies(EVENTS, 200))
        self.assertTrue(any(body.count(EVENTS[0]) > 1 for body in bodies))
        self.assertTrue(any(b"\xff" in body for body in bodies))
        whole = b"".join(EVENTS)
        self.assertTrue(any(0 < len(whole) - len(body) < 9 for body in bodies))

    def test_of_whole_bodies(self) -> None:
        bodies = list(fuzz.seeded_bodies(EVENTS, 40, bodies=[b"x" * 99, b"y" * 99]))
        self.assertTrue(any(b"x" * 30 in body for body in bodies))
        self.assertTrue(any(b"y" * 30 in body for body in bodies))


class TestTryBodies(unittest.TestCase):
    def bodies(self, *args: Any, **options: Any) -> list[bytes]:
        tried: list[bytes] = []
        fuzz.try_bodies(EVENTS, tried.append, *args, **options)
        return tried

    def test_the_same_bodies_in_every_run(self) -> None:
        first = self.bodies()
        self.assertEqual(first, self.bodies())
        self.assertGreater(len(set(first)), 50)

    def test_how_many(self) -> None:
        self.assertEqual(len(self.bodies(7)), 7)
        with mock.patch.dict(os.environ, {"MODELTEST_EXAMPLES": "9"}):
            self.assertEqual(len(self.bodies()), 9)
        for wrong in ("0", "-1", "many", "", "1.5", "\u0663"):
            with (
                self.subTest(wrong),
                mock.patch.dict(os.environ, {"MODELTEST_EXAMPLES": wrong}),
                self.assertRaisesRegex(ValueError, "MODELTEST_EXAMPLES: expected a number above 0"),
            ):
                self.bodies()

    def test_whole_bodies_are_changed(self) -> None:
        self.assertTrue(any(b"x" * 30 in body for body in self.bodies(bodies=[b"x" * 99])))

    def test_the_smallest_that_fails(self) -> None:
        tried: list[bytes] = []

        def expect(body: bytes) -> None:
            if b"data" in body:
                tried.append(body)
                raise LookupError(body)

        with self.assertRaises(LookupError):
            fuzz.try_bodies(EVENTS, expect)
        self.assertLessEqual(len(tried[-1]), len(EVENTS[0]))

    def test_one_of_two_faults_comes_out_by_itself(self) -> None:
        def expect(body: bytes) -> None:
            if b"data" in body:
                raise LookupError(body)
            if body:
                raise KeyError(body)

        with self.assertRaises(LookupError):  # of which KeyError is one
            fuzz.try_bodies(EVENTS, expect)

    def test_without_hypothesis(self) -> None:
        with without_hypothesis(), self.assertWarnsRegex(UserWarning, "Hypothesis is not inst"):
            tried = self.bodies(20)
        self.assertEqual(tried, list(fuzz.seeded_bodies(EVENTS, 20)))

    def test_a_failure_without_hypothesis(self) -> None:
        def expect(body: bytes) -> None:
            raise LookupError(body)

        with without_hypothesis(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.assertRaises(LookupError):
                fuzz.try_bodies(EVENTS, expect)


if __name__ == "__main__":
    unittest.main()
