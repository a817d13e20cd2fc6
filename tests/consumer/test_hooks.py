"""How a stream is begun and its events read where the adapter has its own ways."""

import threading
import unittest
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from modeltest import CancelToken, Finish, TextDelta
from modeltest.consumer.asynchronous import AsyncConsumer
from modeltest.consumer.consumer import Consumer
from modeltest.consumer.hooks import AdapterHooks
from modeltest.consumer.stream import Stream
from modeltest.consumer.sync import SyncConsumer
from modeltest.threads import Hang

from .models import HI, PATIENCE, SHORT


@dataclass(frozen=True)
class Piece:
    """An event of the adapter's own."""

    text: str = ""
    done: bool = False


OWN = (Piece("a b"), Piece(), Piece("c"), Piece(done=True))


def translate(piece: Piece) -> Any:
    if piece.done:
        return Finish("stop", raw="stop")
    return [TextDelta(word) for word in piece.text.split()] or None


KITS = [TextDelta("a"), TextDelta("b"), TextDelta("c"), Finish("stop", raw="stop")]


class Chat:
    """Begins its streams by another name, with a request of its own."""

    def __init__(self, *pieces: Any) -> None:
        self.pieces = pieces or OWN
        self.asked: list[Any] = []
        self.given = 0

    def ask(self, prompt: str, cancel: CancelToken | None = None) -> Iterator[Any]:
        self.asked.append((prompt, cancel))
        for piece in self.pieces:
            self.given += 1
            yield piece

    async def ask_async(self, prompt: str) -> AsyncIterator[Any]:
        for piece in self.ask(prompt):
            yield piece


class StreamObject:
    """Not a generator: iterated once, and closed."""

    def __init__(self, pieces: Any) -> None:
        self.pieces = iter(pieces)
        self.closed = False

    def __iter__(self) -> Iterator[Any]:
        return self.pieces

    def close(self) -> None:
        self.closed = True


def prompt_of(request: Any) -> str:
    return request.messages[0].parts[0].text


def ask(model: Chat, request: Any) -> Any:
    return model.ask(prompt_of(request))


class HooksTestCase(unittest.TestCase):
    consumer: Consumer

    def stream(self, model: Any, **hooks: Any) -> Stream:
        kind = AsyncConsumer if hooks.pop("asynchronous", False) else SyncConsumer
        self.consumer = kind(AdapterHooks(**hooks))
        self.addCleanup(self.consumer.stop, PATIENCE)
        return self.consumer.stream(model, HI, PATIENCE)

    def read(self, model: Any, **hooks: Any) -> list[Any]:
        stream = self.stream(model, **hooks)
        stream.read()
        self.assertIsNone(stream.log.error)
        return stream.log.events

    def faults(self) -> list[str]:
        return [fault.text for fault in self.consumer.faults.found]


class TestSync(HooksTestCase):
    def test_a_generator_of_another_name_with_events_of_its_own(self) -> None:
        model = Chat()
        self.assertEqual(self.read(model, open_stream=ask, translate=translate), KITS)
        self.assertEqual(model.asked, [("hi", None)])
        self.assertEqual(self.faults(), [])

    def test_a_stream_object(self) -> None:
        made = StreamObject(OWN)
        events = self.read(object(), open_stream=lambda *_: made, translate=translate)
        self.assertEqual((events, made.closed), (KITS, True))

    def test_translate_alone(self) -> None:
        class Model:
            def stream(self, request: Any) -> Iterator[Piece]:
                yield from OWN

        self.assertEqual(self.read(Model(), translate=translate), KITS)

    def test_translate_may_be_a_generator_and_leave_the_kits_own_as_they_are(self) -> None:
        def parts(piece: Any) -> Iterator[Any]:
            if isinstance(piece, Piece):
                yield TextDelta(piece.text)
                yield TextDelta("!")
            else:
                yield piece

        events = self.read(Chat(Piece("a"), Finish("stop")), open_stream=ask, translate=parts)
        self.assertEqual(events, [TextDelta("a"), TextDelta("!"), Finish("stop")])

    def test_the_kits_events_are_counted(self) -> None:
        model = Chat()
        stream = self.stream(model, open_stream=ask, translate=translate)
        self.assertIsNone(stream.open())
        steps = []
        for _ in range(4):
            self.assertIsNone(stream.take())
            steps.append((len(stream.log.events), stream.log.progress.count, model.given))
        # The second word waits, and needs nothing of the adapter; None is passed over.
        self.assertEqual(steps, [(1, 1, 1), (2, 2, 1), (3, 3, 3), (4, 4, 4)])
        self.assertIsNone(stream.take())
        self.assertTrue(stream.log.ended)

    def test_a_with_block_takes_the_kits_events_too(self) -> None:
        model = Chat()
        stream = self.stream(model, open_stream=ask, translate=translate)
        stream.open()
        self.assertIsNone(stream.within(own_manager=False, count=1, leave_by="break"))
        self.assertEqual((stream.log.events, model.given), (KITS[:1], 1))

    def test_what_it_raises_is_the_adapters(self) -> None:
        def refuses(model: Any, request: Any) -> Any:
            raise ConnectionError("no")

        stream = self.stream(Chat(), open_stream=refuses)
        self.assertIsInstance(stream.open(), ConnectionError)

    def test_a_hang_names_the_hook(self) -> None:
        over = threading.Event()
        self.addCleanup(over.set)
        stream = self.stream(Chat(), open_stream=lambda *_: over.wait())
        with self.assertRaisesRegex(Hang, r"^open_stream\(\) did not return"):
            stream.start("open").wait(SHORT)

    def test_cancel_is_given_to_the_hook_that_takes_it(self) -> None:
        def asked(model: Chat, request: Any, cancel: CancelToken | None = None) -> Any:
            return model.ask(prompt_of(request), cancel)

        model = Chat()
        stream = self.stream(model, open_stream=asked)
        self.assertTrue(stream.can_be_cancelled)
        token = stream.token
        stream.open()
        stream.take()
        self.assertEqual(model.asked, [("hi", token)])
        self.assertFalse(self.stream(model, open_stream=ask).can_be_cancelled)

    def test_the_look_is_at_the_hook(self) -> None:
        async def later(model: Any, request: Any) -> Any: ...

        for hook, expected in (
            (ask, ("open_stream()", True, False, False)),
            (later, ("open_stream()", True, True, False)),
            (None, ("stream()", False, False, False)),
        ):
            consumer = SyncConsumer(AdapterHooks(open_stream=hook))
            self.addCleanup(consumer.stop, PATIENCE)
            info = consumer.look_at(Chat(), PATIENCE)
            seen = (info.opener, info.can_stream, info.is_asynchronous, info.is_generator)
            with self.subTest(hook):
                self.assertEqual(seen, expected)


class TestAsync(HooksTestCase):
    def test_ways_to_begin(self) -> None:
        def plain(model: Chat, request: Any) -> Any:
            return model.ask_async(prompt_of(request))

        async def later(model: Chat, request: Any) -> Any:
            return model.ask_async(prompt_of(request))

        async def generator(model: Chat, request: Any) -> Any:
            async for piece in model.ask_async(prompt_of(request)):
                yield piece

        for begin in plain, later, generator:
            with self.subTest(begin.__name__):
                hooks = {"open_stream": begin, "translate": translate, "asynchronous": True}
                self.assertEqual(self.read(Chat(), **hooks), KITS)

    def test_the_kits_events_are_counted(self) -> None:
        model = Chat()
        stream = self.stream(
            model,
            open_stream=lambda model, request: model.ask_async(prompt_of(request)),
            translate=translate,
            asynchronous=True,
        )
        stream.open()
        taken = []
        for _ in range(3):
            stream.take()
            taken.append((len(stream.log.events), model.given))
        self.assertEqual(taken, [(1, 1), (2, 1), (3, 3)])


class TestWrongTranslate(HooksTestCase):
    """A fault of the test case, told as such; the adapter's error is none."""

    def test_it_is_named(self) -> None:
        def raises(piece: Piece) -> Any:
            raise KeyError("kind")

        def half(piece: Piece) -> Any:
            yield TextDelta("a")
            raise OSError("half")

        expected = "expected an event of modeltest, several, or None"
        for hook, text in (
            (raises, r"translate\(Piece\(text='x', done=False\)\) raised KeyError\('kind'\)\.$"),
            (half, r"translate\(Piece\(.*\)\) raised OSError\("),
            (lambda piece: 7, rf"translate\(Piece\(.*\)\) gave 7; {expected}\.$"),
            (lambda piece: "text", rf"translate\(Piece\(.*\)\) gave 'text'; {expected}\.$"),
            (lambda piece: [piece], r"translate gave Piece\(.*\); expected TextDelta, "),
            (lambda piece: TextDelta(None), r"translate gave None as TextDelta\.text; expected a"),
            (lambda piece: iter(KITS[0].__class__("a") for _ in iter(int, 1)), "more than 10,000"),
        ):
            with self.subTest(text):
                self.assertEqual(self.read(Chat(Piece("x")), open_stream=ask, translate=hook), [])
                (fault,) = self.faults()
                self.assertRegex(fault, text)
                self.assertIn("translate(event)", self.consumer.faults.found[0].fix)

    def test_a_stream_of_faults_is_not_read_on(self) -> None:
        model = Chat(*(Piece(str(i)) for i in range(1000)))
        stream = self.stream(model, open_stream=ask, translate=lambda piece: 7)
        stream.read()
        self.assertLess(model.given, 20)


if __name__ == "__main__":
    unittest.main()
