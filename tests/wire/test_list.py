"""The one list of formats, the names of earlier versions, and bodies that are made once."""

import gc
import inspect
import unittest
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import modeltest.encoding
from modeltest import FinishReason, TextDelta, corpus, fuzz, wire
from modeltest.checks import ALL
from modeltest.wire import FORMATS, Framing, WireFormat
from modeltest.wire.openai_chat import OpenAIChat
from tests.wire import decoders
from tests.wire.formats import CASES


def classes() -> Iterator[type[WireFormat]]:
    """Yield every class that `modeltest.wire` exports and that can be made."""
    for name in wire.__all__:
        kind = getattr(wire, name)
        if isinstance(kind, type) and issubclass(kind, WireFormat) and hasattr(kind, "reasons"):
            yield kind


class TestFormats(unittest.TestCase):
    def test_every_format_is_in_the_list(self) -> None:
        self.assertEqual({kind.__name__: kind for kind in classes()}, dict(FORMATS))

    def test_every_format_has_a_decoder_and_no_decoder_reads_another(self) -> None:
        self.assertEqual(set(decoders.BY_FORMAT), set(FORMATS))

    def test_the_plain_form_is_the_first_variant(self) -> None:
        for name, kind in FORMATS.items():
            with self.subTest(name):
                self.assertEqual(kind.variants[0], {})
                made = [kind(**options) for options in kind.variants]
                self.assertEqual(made[0].name, kind.name)

    def test_encoding_names_no_check(self) -> None:
        for name in ("format", "script", "payloads", "body", "tools", "samples", "framing"):
            source = inspect.getsource(getattr(modeltest.encoding, name))
            self.assertEqual([check.id for check in ALL if check.id in source], [], name)


class TestEarlierNames(unittest.TestCase):
    def test_they_are_the_same_things(self) -> None:
        self.assertIs(wire.Together, wire.SameEvent)
        self.assertIs(wire.Piece, wire.RolePayload)
        self.assertIs(wire.Broken, wire.Malformed)
        self.assertIs(wire.CannotSpell, wire.Unsupported)
        self.assertIs(fuzz.respelled_bodies, fuzz.re_encoded_bodies)

    def test_spell_encodes(self) -> None:
        made = OpenAIChat()
        self.assertEqual(made.spell(TextDelta("hi")), made.encode(TextDelta("hi")))


class TestOnce(unittest.TestCase):
    def test_a_wire_has_its_bodies_made_once(self) -> None:
        made, other = OpenAIChat(), OpenAIChat(reasoning="reasoning")
        for case in ("whole_bodies", "short_bodies", "large_call_bodies"):
            ask = getattr(corpus, case)
            self.assertIs(ask(made), ask(made))
            self.assertIsNot(ask(made), ask(other))
        self.assertEqual(len(corpus.whole_bodies(other)), len(corpus.whole_bodies(made)) + 1)

    def test_they_go_with_their_wire(self) -> None:
        made = OpenAIChat()
        for case in CASES:
            getattr(corpus, case)(made)
        watched = weakref.ref(made)
        del made
        gc.collect()
        self.assertIsNone(watched())

    def test_a_wire_without_a_hash_has_them_made_each_time(self) -> None:
        @dataclass
        class Plain(WireFormat):
            greeting: str = "hi"
            name = "Plain"
            framing = Framing.SSE
            content_type = "text/event-stream"
            reasons = {"end": FinishReason.STOP}

            def text_event(self, text: str) -> Any:
                return {"text": f"{self.greeting} {text}"}

            def finish_event(self, word: str) -> Any:
                return {"finish": word}

        made = Plain()
        before = corpus.whole_bodies(made)[0].data
        made.greeting = "oh"
        self.assertNotEqual(corpus.whole_bodies(made)[0].data, before)
