"""`generate` closes the stream on every way out."""

import unittest
from collections.abc import Iterable, Iterator
from typing import Never

from modeltest import (
    AsyncModel,
    Event,
    Finish,
    IncompleteResponseError,
    Model,
    ModelError,
    OutputTruncatedError,
    Request,
    StreamProtocolError,
    TextDelta,
    assemble,
    generate,
    user,
)

REQUEST = Request((user("hi"),))
STOP = Finish("stop")


class Stream:
    """Events, then perhaps an error; counts how often it is closed."""

    def __init__(self, events: Iterable[Event], error: BaseException | None = None) -> None:
        self._events = events
        self._error = error
        self.closed = 0

    def __iter__(self) -> Iterator[Event]:
        yield from self._events
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self.closed += 1


class StreamModel:
    """Gives the one stream it was made with."""

    def __init__(self, stream: Iterable[Event]) -> None:
        self._stream = stream
        self.requests = []

    def stream(self, request: Request) -> Iterable[Event]:
        self.requests.append(request)
        return self._stream


class GeneratorModel:
    """A generator function as a whole adapter; notes that its `finally` ran."""

    def __init__(self, *events: Event) -> None:
        self._events = events
        self.released = False

    def stream(self, request: Request) -> Iterator[Event]:
        try:
            yield from self._events
        finally:
            self.released = True


class TestGenerate(unittest.TestCase):
    def assert_closed_once(self, stream: Stream, error: type[BaseException] | None = None) -> None:
        model = StreamModel(stream)
        if error is None:
            generate(model, REQUEST)
        else:
            with self.assertRaises(error):
                generate(model, REQUEST)
        self.assertEqual(stream.closed, 1)

    def test_it_gives_the_turn(self) -> None:
        events = [TextDelta("hi"), STOP]
        self.assertEqual(generate(StreamModel(Stream(events)), REQUEST), assemble(events))

    def test_it_sends_the_request_once_and_unchanged(self) -> None:
        model = StreamModel(Stream([STOP]))
        generate(model, REQUEST)
        self.assertEqual(len(model.requests), 1)
        self.assertIs(model.requests[0], REQUEST)

    def test_a_whole_turn_is_closed(self) -> None:
        self.assert_closed_once(Stream([TextDelta("hi"), STOP]))

    def test_an_error_of_the_adapter_closes(self) -> None:
        self.assert_closed_once(Stream([TextDelta("half")], ModelError("boom")), ModelError)

    def test_an_incomplete_stream_is_closed(self) -> None:
        self.assert_closed_once(Stream([TextDelta("half")]), IncompleteResponseError)

    def test_a_truncated_turn_is_closed(self) -> None:
        self.assert_closed_once(Stream([Finish("length")]), OutputTruncatedError)

    def test_a_stream_left_in_the_middle_is_closed(self) -> None:
        self.assert_closed_once(Stream([STOP, TextDelta("late"), STOP]), StreamProtocolError)

    def test_an_interrupt_closes(self) -> None:
        for interrupt in (KeyboardInterrupt, SystemExit):
            with self.subTest(interrupt.__name__):
                self.assert_closed_once(Stream([TextDelta("half")], interrupt()), interrupt)

    def test_a_generator_runs_its_finally(self) -> None:
        model = GeneratorModel(STOP, TextDelta("late"), STOP)
        with self.assertRaises(StreamProtocolError) as caught:
            generate(model, REQUEST)
        # The exception's traceback holds the frames, so no reference count does the closing.
        self.assertTrue(model.released, caught.exception)

    def test_what_cannot_be_closed_need_not_be(self) -> None:
        self.assertEqual(generate(StreamModel([TextDelta("hi"), STOP]), REQUEST).message.text, "hi")

    def test_an_error_at_the_call_passes_through(self) -> None:
        error = ModelError("refused")

        class Refusing:
            def stream(self, request: Request) -> Never:
                raise error

        with self.assertRaises(ModelError) as caught:
            generate(Refusing(), REQUEST)
        self.assertIs(caught.exception, error)

    def test_an_error_while_closing_does_not_hide_the_first(self) -> None:
        class Stubborn(Stream):
            def close(self) -> Never:
                raise OSError("already gone")

        with self.assertRaises(OSError) as caught:
            generate(StreamModel(Stubborn([TextDelta("half")])), REQUEST)
        self.assertIsInstance(caught.exception.__context__, IncompleteResponseError)


class TestProtocols(unittest.TestCase):
    def test_what_has_stream_is_a_model(self) -> None:
        for protocol in (Model, AsyncModel):
            with self.subTest(protocol.__name__):
                self.assertIsInstance(GeneratorModel(), protocol)
                self.assertNotIsInstance(object(), protocol)


if __name__ == "__main__":
    unittest.main()
