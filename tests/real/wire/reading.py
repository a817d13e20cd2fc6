"""What a published package reads from each body of a format, compared with what the format claims.

Nothing here knows a provider. A test case says how its package reads an answer, as the contract's
events; the bodies come over loopback, as they would from the provider.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, ClassVar

from modeltest import Event, Finish, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.backend import Backend, Framing, Response, Send
from modeltest.corpus import large_call_body
from modeltest.wire import Body, ErrorResponse, Role, Unsupported, WireFormat
from tests.real.quick import quick_and_quiet
from tests.wire.formats import CASES, bodies_of, meaning

WHOLE = (
    "whole_bodies",
    "short_bodies",
    "reason_bodies",
    "usage_bodies",
    "finish_beside_content_bodies",
    "parallel_call_bodies",
    "identity_bodies",
    "empty_argument_bodies",
    "good_endings",
    "unknown_bodies",
)
"""The functions of the corpus that return whole turns, as any reader should take them."""

VALID = tuple(case for case in WHOLE if case != "unknown_bodies")
"""Those of them that hold nothing but what the provider documents."""

KEY = "sk-test-4f9a"
STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529)
LARGE = 100_000
_LARGE_CALL = "large_call_body"
TOOL, CALLED = "get_weather", "get_time"
PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}


class NotWhole:
    """Said at last of an answer whose reason came, but not what ends the turn."""


Said = Event | Usage | NotWhole
"""What a package says of an answer. Counts come on their own; the latest count."""


class Failed(Exception):
    """The package reports, without raising, that the provider failed."""


def ended(word: Any) -> Finish:
    """Return the end of a turn, in the provider's own word."""
    return Finish(str(word), str(word))


class ReadsBodies:
    """One way to read: mixed into a `unittest.TestCase` that has what is declared here.

    Attributes:
        wires: the formats that the package reads.
        differs: a body's name → why the package reads it otherwise than the format claims. Each
            is tried, and must differ.
    """

    wires: ClassVar[tuple[WireFormat, ...]]
    differs: ClassVar[Mapping[str, str]] = {}
    cases: ClassVar[Sequence[str]] = (_LARGE_CALL, *CASES)
    """The functions of the corpus that give the bodies."""

    in_order: ClassVar[bool] = True
    """Whether text, reasoning and calls come in the order in which they were sent."""

    drops_call_ids: ClassVar[str] = ""
    """Why the package does not hand out the ids of calls, if so. None may then come."""

    @classmethod
    def setUpClass(cls: Any) -> None:
        super().setUpClass()
        cls.enterClassContext(quick_and_quiet())

    def connect(self, url: str) -> Any:
        """Return the package's client, pointed at `url`; it tries nothing twice."""
        raise NotImplementedError

    def read(self, client: Any) -> Iterator[Said]:
        """Ask for a stream, and yield what the package makes of it."""
        raise NotImplementedError

    def test_every_body_is_read_as_the_format_claims(self: Any) -> None:
        met: set[str] = set()
        for wire in self.wires:
            with self.provider() as (backend, client):
                for case, body in every_body(wire, self.cases):
                    met.add(body.name)
                    with self.subTest(wire=wire.name, case=case, body=body.name):
                        before = len(backend.exchanges)
                        backend.play(Response((Send(body.data),), content_type=wire.content_type))
                        self.check(body, client)
                        self.assertEqual(len(backend.exchanges), before + 1, "requests")
        self.assertEqual(sorted(self.differs.keys() - met), [], "no body has these names")

    def check(self: Any, body: Body, client: Any) -> None:
        in_order = list if self.in_order else _by_kind
        found = difference(self._as_told(body), lambda: self.read(client), in_order)
        if why := self.differs.get(body.name):
            self.assertTrue(found, f"it agrees, although {why}")
        else:
            self.assertEqual(found, "", f"\n{body.data[:2000]!r}")

    def _as_told(self, body: Body) -> Body:
        if not self.drops_call_ids:
            return body
        events = [replace(e, id="") if isinstance(e, ToolCallDelta) else e for e in body.events]
        return replace(body, events=tuple(events))

    @contextmanager
    def provider(self, *responses: Response) -> Iterator[tuple[Backend, Any]]:
        """Yield a backend, and the package's client pointed at it."""
        with Backend(*responses) as backend:
            client = self.connect(backend.url)
            try:
                yield backend, client
            finally:
                close = getattr(client, "close", None)
                if close is not None:
                    close()


class SpeaksTheFormat(ReadsBodies):
    """One package: besides, what else a format says of its provider."""

    def ask(self, client: Any) -> str:
        """Ask for an answer that is not streamed, and return its text."""
        raise NotImplementedError

    def call(self, client: Any) -> None:
        """Send a request with `TOOL` that demands a call, after a call of `CALLED`."""
        raise NotImplementedError

    def test_endless_answer_is_read(self: Any) -> None:
        for wire in self.wires:
            data = b"".join(map(wire.event, range(4)))
            script = Response((Send(data),), content_type=wire.content_type)
            with self.provider(script) as (_, client):
                said = read(self.read(client))
            wanted = "".join(map(wire.event_text, range(4)))
            self.assertEqual("".join(event.text for event in said), wanted)

    def test_refusals_are_errors(self: Any) -> None:
        for wire in self.wires:
            with self.provider() as (backend, client):
                for status in STATUSES:
                    with self.subTest(wire=wire.name, status=status):
                        refusal = wire.error_response(status)
                        backend.play(refused(refusal))
                        with self.assertRaises(Exception) as caught:
                            read(self.read(client))
                        self.assertEqual(missing(refusal.words, caught.exception), [])

    def test_answer_that_is_not_streamed_is_read(self: Any) -> None:
        for wire in self.wires:
            try:
                data = wire.json_answer()
            except Unsupported:
                continue
            steps = (Send(data),)
            whole = Response(steps, content_type="application/json", framing=Framing.LENGTH)
            with self.provider(whole) as (_, client):
                self.assertEqual(self.ask(client), "Hello", wire.name)

    def test_requests_name_their_tools_where_the_format_says(self: Any) -> None:
        for wire in self.wires:
            refusal = refused(wire.error_response(400))
            with self.provider(refusal) as (backend, client):
                for send in (lambda: self.call(client), lambda: read(self.read(client))):  # noqa: B023
                    with suppress(Exception):  # the request counts, and is refused
                        send()
                called, plain = (json.loads(exchange.body) for exchange in backend.exchanges)
            self.assertEqual(wire.sent_tool_names(called), (TOOL,))
            self.assertEqual(wire.sent_call_names(called), (CALLED,))
            self.assertEqual(len(wire.sent_tool_choices(called)), "required" in wire.tool_choices)
            self.assertEqual(wire.sent_tool_names(plain), ())
            self.assertEqual(wire.sent_call_names(plain), ())
            self.assertEqual(wire.sent_tool_choices(plain), ())


class EventsHaveTypes(ReadsBodies):
    """One package that declares its events, and does not check them as it reads."""

    event_type: ClassVar[Any]
    """What the package calls an event: a type that pydantic can check."""

    def test_every_event_has_all_that_its_type_demands(self: Any) -> None:
        import pydantic  # the packages that need it here bring it

        adapter = pydantic.TypeAdapter(self.event_type)
        for wire in self.wires:
            for case, body in every_body(wire, VALID):
                for event in json_events(body):
                    with self.subTest(wire=wire.name, case=case, body=body.name, event=event):
                        adapter.validate_python(event)


def every_body(
    wire: WireFormat, cases: Sequence[str] = ReadsBodies.cases
) -> Iterator[tuple[str, Body]]:
    """Yield every body that the format offers, by the function that gives it."""
    for case in cases:
        if case == _LARGE_CALL:
            yield case, large_call_body(wire, LARGE)
            continue
        try:
            bodies = bodies_of(wire, case)
        except Unsupported:
            continue
        for body in bodies:
            yield case, body


def json_events(body: Body) -> Iterator[Any]:
    """Yield the payloads of server-sent events, all but `[DONE]` and pings."""
    for part in body.parts:
        for line in part.data.splitlines():
            if line.startswith(b"data: {") and b'"ping"' not in line:
                yield json.loads(line.removeprefix(b"data: "))


def _by_kind(events: Iterable[Event]) -> list[Event]:
    kinds = (ReasoningDelta, TextDelta, ToolCallDelta, Finish)
    return sorted(events, key=lambda event: kinds.index(type(event)))


def difference(
    body: Body,
    reading: Callable[[], Iterable[Said]],
    in_order: Callable[[Iterable[Event]], list[Event]] = list,
) -> str:
    """Return how the package's reading differs from the body's meaning; empty: it does not."""
    fails = body.error is not None or body.first(Role.MALFORMED) is not None
    try:
        said = in_order(read(reading()))
    except Exception as error:
        if not fails:
            return f"it raised {error!r}"
        lost = missing(body.error.words, error) if body.error else []
        return f"{lost} is not in {error!r}" if lost else ""
    if fails:
        return f"it raised nothing: {said}"
    wanted = meaning(in_order(_plain(body.events)))
    if body.finish is None:
        said = [replace(e, usage=Usage()) if isinstance(e, Finish) else e for e in said]
    return "" if meaning(said) == wanted else f"expected {wanted}\ngot {meaning(said)}"


def read(said: Iterable[Said]) -> list[Event]:
    """Return what the package said: one Finish for each word, where it first came, with counts."""
    events: list[Event] = []
    usage = Usage()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a package thinks of its own dependencies
        for item in said:
            if isinstance(item, Usage):
                usage = item
            elif isinstance(item, NotWhole):
                events = [event for event in events if not isinstance(event, Finish)]
            elif not isinstance(item, Finish) or item not in events:
                events.append(item)
    return [replace(e, usage=usage) if isinstance(e, Finish) else e for e in events]


def _plain(events: Iterable[Event]) -> Iterator[Event]:
    """Yield `events` as a package tells them: the provider's word, or no Finish without one."""
    for event in events:
        if not isinstance(event, Finish):
            yield event
        elif event.raw:
            yield replace(event, reason=event.raw)


def missing(words: Iterable[str], error: BaseException) -> list[str]:
    """Return those of the provider's `words` that neither the error nor its fields have."""
    shown = f"{error} {vars(error)} {getattr(error, 'response', '')}"
    return [word for word in words if word not in shown]


def refused(refusal: ErrorResponse) -> Response:
    """Return the response that an `ErrorResponse` describes."""
    return Response(
        (Send(refusal.body),),
        status=refusal.status,
        content_type=refusal.content_type,
        framing=Framing.LENGTH,
    )


def arguments_of(value: Any) -> str:
    """Return the arguments of a call as JSON text."""
    return value if isinstance(value, str) else json.dumps(value)
