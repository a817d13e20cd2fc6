"""What the kit does to an adapter, recorded: to be played again without the kit."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from modeltest.backend import Backend, Exchange, ResponseWriter
from modeltest.consumer import Stream
from modeltest.delivery import Target
from modeltest.harness import Check
from tests.benchmarks.targets import passed


@dataclass
class Answer:
    """What the server sent in answer to one request.

    Attributes:
        writes: each write's bytes, head and framing included.
        closes: whether it sent a FIN at the end.
        resets: whether it sent a RST.
    """

    writes: list[bytes] = field(default_factory=list)
    closes: bool = False
    resets: bool = False


@dataclass(frozen=True)
class Use:
    """What the consumer did: a verb of `modeltest.consumer.Stream`, on one of its streams."""

    stream: int
    verb: str
    arguments: tuple[Any, ...]


@dataclass
class Scene:
    """One case: the answers in the order of their requests, and the uses of the adapter."""

    answers: list[Answer] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)


def record(check: Check, target: Target) -> list[Scene]:
    """Run a check on a synchronous adapter, and return all it did to it."""
    scenes: list[Scene] = []
    answers: weakref.WeakKeyDictionary[Exchange, Answer] = weakref.WeakKeyDictionary()
    numbers: weakref.WeakKeyDictionary[Stream, int] = weakref.WeakKeyDictionary()
    begin_verb = Stream.start

    class RecordedBackend(Backend):
        def start(self) -> RecordedBackend:
            scenes.append(Scene())
            return super().start()

        def begin(self, *args: Any) -> Any:
            exchange, response = super().begin(*args)
            answers[exchange] = Answer()
            scenes[-1].answers.append(answers[exchange])
            return exchange, response

    class RecordedWriter(ResponseWriter):
        def write_raw(self, data: bytes) -> None:
            super().write_raw(data)
            answers[self.exchange].writes.append(data)

        def close(self) -> None:
            super().close()
            answers[self.exchange].closes = True

        def reset(self) -> None:
            super().reset()
            answers[self.exchange].resets = True

    def recorded_start(stream: Stream, verb: str, *args: Any) -> Any:
        number = numbers.setdefault(stream, len(numbers))
        scenes[-1].uses.append(Use(number, verb, args))
        return begin_verb(stream, verb, *args)

    with (
        mock.patch("modeltest.delivery.http.Backend", RecordedBackend),
        mock.patch("modeltest.backend.handler.ResponseWriter", RecordedWriter),
        mock.patch.object(Stream, "start", recorded_start),
    ):
        passed(check, target)
    return [scene for scene in scenes if scene.uses]
