"""One answer in many spellings: the reading of each must equal that of the plain one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from modeltest import corpus
from modeltest.assertions.text import says_nothing_first
from modeltest.assertions.turn import answer, bodies_or_none
from modeltest.backend import Await, End, Progress, Response, Send, Step, ended_cleanly, events
from modeltest.consumer import Log
from modeltest.corpus import Respelling, respellings
from modeltest.delivery import CheckContext, ending
from modeltest.harness import Evidence, Failure, Skip, shown
from modeltest.interface import ReasoningDelta, TextDelta, ToolCallDelta
from modeltest.wire import Body, Framing

_EVENTS = 4
_ONE_EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r)", re.DOTALL)

Merged = list[tuple[str, ...]]
"""What a stream gave, without how it was cut into deltas."""


class Plain:
    """An answer in its plain spelling, to be compared with others.

    Attributes:
        name: of the answer; empty where the author's `event` gave it.
        chunks: its events, one each.
        content_type: of the response.
        framing: how the events are told apart.
        body: what it means, where a wire says so.
    """

    def __init__(
        self, context: CheckContext, chunks: Iterable[bytes], body: Body | None = None
    ) -> None:
        wire = context.target.wire
        self.name = body.name if body is not None else ""
        self.chunks = tuple(chunks)
        self.content_type = "text/event-stream" if wire is None else wire.content_type
        self.framing = context.framing
        self.body = body
        self._context = context
        self._wanted: Merged | None = None

    def response(self, steps: Iterable[Step], content_type: str | None = None) -> Response:
        """Return the response that plays `steps` and then ends the body."""
        return Response((*steps, End()), content_type=content_type or self.content_type)

    def respellings(self, group: str) -> tuple[Respelling, ...]:
        """Return the other spellings that the framing allows for one check.

        Raises:
            Skip: it allows none.
        """
        found = respellings(self.framing, group)
        if not found:
            raise Skip(f"{self.framing} leaves no choice as to {group}")
        return found

    def read(self) -> Log:
        """Return what the adapter makes of the plain spelling.

        Raises:
            Skip: no text, where the author's events should carry some.
        """
        with self._context.apart(self.response(events(self.chunks))) as scenario:
            scenario.set_up()
            log = scenario.read()
        if self.body is None and not log.text:
            raise Skip(f"the adapter gives no text for event(i) ({ending(log)})")
        return log

    def compare(
        self,
        spelling: str,
        steps: tuple[Step, ...],
        *,
        content_type: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Expect of a spelling what the plain one gives, as one case."""
        if self._wanted is None:
            self._wanted = self._merged(self.read())
        name = f"{self.name}, {spelling}" if self.name and spelling else self.name or spelling
        with self._context.case(name, self.response(steps, content_type)) as scenario:
            log = scenario.read(progress)
            if (got := self._merged(log)) != self._wanted:
                raise _differs(self._wanted, got, log, steps)

    def _merged(self, log: Log) -> Merged:
        return merged(log, b"".join(self.chunks))

    def compare_paced(self, respelling: Respelling) -> None:
        """Expect the same of a respelling, each chunk's event delivered before the next is sent."""
        progress = Progress()
        steps = tuple(
            step
            for number, chunk in enumerate(self.chunks, 1)
            for step in (
                Send(b"".join(respelling.chunks(_single(chunk, self.framing))), events=1),
                Await(progress, number),
            )
        )
        self.compare(f"{respelling.name}, one at a time", steps, progress=progress)


def plain_answers(context: CheckContext, *, short: bool = False) -> list[Plain]:
    """Return the answers to respell: the wire's bodies, or a few of the author's events.

    Args:
        context: whose target is under test.
        short: the wire's short bodies, where each byte costs.
    """
    wire = context.target.wire
    if wire is not None:
        bodies = corpus.short_bodies(wire) if short else corpus.whole_bodies(wire)
        return [Plain(context, body.chunks, body) for body in bodies]
    # The author's event(0) may be several events, such as one that only names the role.
    return [Plain(context, _single(b"".join(event_groups(context)), Framing.SSE))]


def _single(data: bytes, framing: Framing) -> list[bytes]:
    """Return the events in `data`, one each."""
    return _ONE_EVENT.findall(data) if framing is Framing.SSE else [data]


def event_groups(context: CheckContext) -> list[bytes]:
    """Return the first of the author's events; each gives the consumer something to take.

    One that gives nothing, such as a first one that only names the role, is sent with the next.
    """
    first, second, *others = (context.event(index) for index in range(_EVENTS))
    silent = says_nothing_first(context)
    return [first + second, *others] if silent else [first, second, *others]


def merged(log: Log, sent: bytes) -> Merged:
    """Return the events of a log with adjacent deltas of one kind joined, and how it ended.

    Two readings of the answer that was `sent` are then equal, however it was cut into deltas.
    """
    runs: Merged = []
    for event in log.events:
        *kind, value = _parts(event, sent)
        if runs and list(runs[-1][:-1]) == kind and kind != ["event"]:
            runs[-1] = (*kind, runs[-1][-1] + value)
        elif value:
            runs.append((*kind, value))
    outcome = "ended" if log.error is None else f"raised {type(log.error).__name__}"
    return [*runs, (outcome,)]


def _parts(event: object, sent: bytes) -> tuple[str, ...]:
    match event:
        case TextDelta():
            return "text", event.text
        case ReasoningDelta():
            return "reasoning", event.text + event.signature + event.redacted
        case ToolCallDelta():
            # An adapter may make up an id where none was sent, another one each time.
            id_ = event.id if event.id.encode("utf-8", "replace") in sent else ""
            return "call", str(event.index), id_ + event.name + event.arguments
    return "event", repr(event)


def _differs(wanted: Merged, got: Merged, log: Log, steps: tuple[Step, ...]) -> Failure:
    data = b"".join(step.data for step in steps if isinstance(step, Send))
    detail = f" ({shown(log.error)})" if log.error is not None else ""
    return Failure(
        f"this spelling gives another answer than the plain one{detail}.",
        (
            Evidence("plain", cut(wanted)),
            Evidence("this", cut(got)),
            Evidence("wire", cut(data)),
        ),
    )


def with_broken_json(event: bytes) -> bytes:
    """Return an event whose JSON is cut short; its frame is whole.

    Raises:
        Skip: it holds no JSON object.
    """
    broken = re.sub(rb"}(\s*)\Z", rb"\1", event)
    if broken == event:
        raise Skip("the event holds no JSON object that could be broken: give a wire")
    return broken


def malformed_answers(context: CheckContext) -> dict[str, Response]:
    """Return answers with an event that cannot be read behind one that can.

    None where nobody knows how to spoil an event.
    """
    wire = context.target.wire
    if wire is not None:
        return {
            body.name: answer(context, body)
            for body in bodies_or_none(lambda: corpus.malformed_bodies(wire))
        }
    try:
        spoiled = (context.event(0), with_broken_json(context.event(1)))
    except Skip:
        return {}
    return {"a malformed event": ended_cleanly(events(spoiled))}


def with_bad_byte(event: bytes) -> bytes:
    """Return the event with a byte that is no UTF-8 in the middle of its last JSON string."""
    at = event.rstrip(b" \r\n}]").rfind(b'"')
    return event[:at] + b"\xff" + event[at:]


def cut(value: object, limit: int = 300) -> str:
    """Return the `repr` of a value, its end left out when it is long."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
