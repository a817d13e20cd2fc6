"""Over HTTP: a check on an adapter, each case with everything fresh."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from modeltest.backend import (
    Await,
    Backend,
    End,
    Response,
    Send,
    SocketsClosed,
    close_delimited,
    ended_cleanly,
    events,
    inside_chunk,
    reset,
    sent,
    short_of_length,
    without_last_chunk,
)
from modeltest.corpus import (
    malformed_bodies,
    short_bodies,
    single_events,
    whole_bodies,
    with_broken_json,
    with_text,
)
from modeltest.delivery.leaks import caught_leaks
from modeltest.delivery.runner import judge
from modeltest.delivery.scenario import Scenario
from modeltest.delivery.sending import send
from modeltest.encoding import Body, Framing, Role, Unsupported, WirePart
from modeltest.harness import (
    CheckContext,
    Failure,
    Need,
    Outcome,
    SetUpError,
    Skip,
    Status,
    hung,
    needed,
    refused,
)
from modeltest.interface import Finish, FinishReason, TextDelta
from modeltest.threads import (
    Hang,
    Progress,
    adapter_threads,
    ending_of,
    threads_as_daemons,
    without_tracebacks,
)
from modeltest.transports import EgressGuard, Ledger, neutral_environment

if TYPE_CHECKING:
    from modeltest.backend import Step
    from modeltest.consumer import Log
    from modeltest.delivery.leaks import Leaks
    from modeltest.delivery.sending import Sending
    from modeltest.delivery.target import Target
    from modeltest.encoding import WireFormat
    from modeltest.harness import Answer, Check, ErrorTypes, Evidence, Level, Transcript
    from modeltest.interface import Request


EVENT_STREAM = "text/event-stream"
"""The media type of server-sent events; a response that says nothing else has it."""

_EVENTS = 4
"""Events of the author's that make an answer to be re-encoded."""

_ENDINGS: dict[str, Callable[[tuple[Step, ...]], Response]] = {
    "": ended_cleanly,
    "ended cleanly": ended_cleanly,
    "close-delimited": close_delimited,
    "closed before the last chunk": without_last_chunk,
    "closed inside a chunk": inside_chunk,
    "short of its Content-Length": short_of_length,
}
_RESET = "reset"


class ServedContext(CheckContext):
    """What a check function is given where there is an adapter, and a server it talks to.

    Attributes:
        target: the adapter under test.
        egress: refuses and records connections to anything but the backends.
        leaks: what the adapter leaked into the interpreter so far.
    """

    skips = (Skip, Unsupported)
    harm = (SocketsClosed,)
    endings = (*list(_ENDINGS)[1:], _RESET)
    good_endings = ("", "close-delimited")

    def __init__(self, check: Check, target: Target, egress: EgressGuard, leaks: Leaks) -> None:
        super().__init__(check)
        self.target = target
        self.egress = egress
        self.leaks = leaks
        self._given: dict[bytes, int] = {}

    # What there is to deliver

    def event(self, index: int) -> bytes:
        """Return the bytes of the author's i-th event."""
        return self.target.event(index)

    @property
    def model_error(self) -> ErrorTypes:
        """The exception type, or types, by which a turn may fail."""
        return self.target.model_error

    @property
    def wire(self) -> WireFormat | None:
        """The provider's wire format, or None."""
        wire: WireFormat | None = self.target.wire
        return wire

    @property
    def framing(self) -> Framing:
        """How the author's events are separated."""
        return Framing.SSE if self.wire is None else self.wire.framing

    @property
    def keep_alive(self) -> bytes:
        """Bytes between events that mean nothing.

        Raises:
            Unsupported: the framing has none.
        """
        return b": keep-alive\n\n" if self.wire is None else self.wire.keep_alive

    def plain_bodies(self) -> Sequence[Body]:
        """Return the wire's whole turns; without one, a few of the author's events."""
        return [self._some_events()] if self.wire is None else whole_bodies(self.wire)

    def short_bodies(self) -> Sequence[Body]:
        """Return the wire's short turns; without one, a few of the author's events."""
        return [self._some_events()] if self.wire is None else short_bodies(self.wire)

    def bodies_with_text(self, text: str) -> Iterator[Body]:
        """Yield the wire's body with this text; without one, event(0) with its text replaced."""
        if self.wire is not None:
            yield self.wire.encode(TextDelta(text), Finish(FinishReason.STOP))
            return
        first = self._events("", [self.event(0)])
        changed = with_text(first.chunks, self.plain(first).text, text, "event(0)")
        yield self._events("", [*changed, self.event(1)])

    def bodies_from_text_on(self) -> Iterator[Body]:
        """Yield event(1) and the next one: event(0) may only name the role."""
        yield self._events("", [self.event(1), self.event(2)])

    def malformed_bodies(self) -> Iterator[Body]:
        """Yield the wire's malformed bodies; without one, the author's events with broken JSON."""
        if self.wire is not None:
            yield from malformed_bodies(self.wire)
            return
        first, second, third = (self.event(index) for index in range(3))
        broken = (first, with_broken_json(second), third)
        yield self._events("a malformed event between two good events", broken)
        yield self._events("a malformed event last", (first, second, with_broken_json(third)))

    def paced_bodies(self) -> Iterator[Body]:
        """Yield some of the author's events, each of which gives the consumer something."""
        yield self._events("", self._event_groups())

    def _some_events(self) -> Body:
        # The author's event(0) may be several events, such as one that only names the role.
        return self._events("", single_events(b"".join(self._event_groups())))

    def _event_groups(self) -> list[bytes]:
        """Return the first of the author's events; one that gives nothing is sent with the next."""
        first, second, *others = (self.event(index) for index in range(_EVENTS))
        silent = self.says_nothing_first()
        return [first + second, *others] if silent else [first, second, *others]

    def says_nothing_first(self) -> bool:
        """Tell whether event(0) gives nothing where event(1) does: it may only name the role.

        An adapter that gives each event only once it has the next gives nothing for either.
        """
        return not self._gives(0) and self._gives(1)

    def _gives(self, index: int) -> bool:
        return bool(self._read(ended_cleanly(sent(self, [index]))).events)

    def _events(self, name: str, chunks: Iterable[bytes]) -> Body:
        parts = tuple(WirePart(Role.OTHER, chunk) for chunk in chunks)
        return Body(name, parts, (), self.framing)

    # How it is delivered

    def deliver(
        self,
        body: Body,
        expect: Callable[[Answer], object],
        name: str | None = None,
        *,
        cuts: Sequence[int] | None = None,
        ending: str = "",
        content_type: str | None = None,
        paced: bool = False,
        level: Level | None = None,
    ) -> None:
        """Send a body, and judge what the adapter made of it; see `CheckContext.deliver`."""
        progress = Progress()
        steps = self._steps(body, cuts, progress if paced else None)
        if ending == _RESET:
            # Once the adapter has given all that it gives of the steps: an earlier reset would
            # discard what it has not read yet.
            response = reset(steps, progress, self._given.get(body.data, 0))
        else:
            response = _ENDINGS[ending](steps)
        response = replace(response, content_type=content_type or self.content_type)
        with self.case(body.name if name is None else name, response, level=level) as scenario:
            log = scenario.read(progress)
            self._given[body.data] = max(len(log.events), self._given.get(body.data, 0))
            expect(scenario.answer(body, log))

    def _steps(
        self, body: Body, cuts: Sequence[int] | None, progress: Progress | None
    ) -> tuple[Step, ...]:
        if cuts is not None:
            return (Send(body.data, tuple(cuts)),)
        if progress is None:
            return events(body.chunks)
        return tuple(
            step
            for number, chunk in enumerate(body.chunks, 1)
            for step in (Send(chunk, events=1), Await(progress, number))
        )

    @property
    def content_type(self) -> str:
        """The media type of the provider's streams."""
        return EVENT_STREAM if self.wire is None else self.wire.content_type

    @contextmanager
    def reading(self, body: Body) -> Iterator[Callable[[bytes], Transcript]]:
        """Give a function that lets one model read any bytes; see `CheckContext.reading`.

        In process where the transport can, and where the adapter uses its client; else over HTTP.
        """
        with self.case(body.name, ended_cleanly(events(body.chunks))) as scenario:
            transport = self.target.transport
            if transport.plays_in_process:
                url = scenario.backend.url
                with transport.in_process(url, self.content_type) as give:
                    before = len(scenario.backend.exchanges)
                    read = _reader(scenario, give)
                    read(b"")
                    if len(scenario.backend.exchanges) == before:
                        yield read
                        return
            yield _reader(scenario, self._give_over_http(scenario))

    def _give_over_http(self, scenario: Scenario) -> Callable[[bytes], None]:
        def give(data: bytes) -> None:
            scenario.backend.play(Response((Send(data),), content_type=self.content_type))

        return give

    def read_apart(self, body: Body) -> Log:
        """Return what the adapter makes of `body`, which is no case.

        Raises:
            Skip: no text, where the author's events should carry some.
        """
        response = Response((*events(body.chunks), End()), content_type=self.content_type)
        log = self._read(response)
        if not body.events and not log.text:
            raise Skip(
                f"the adapter gives no text for event(i) ({ending_of(log.error, ended=log.ended)})"
            )
        return log

    def _read(self, response: Response) -> Log:
        with self.apart(response) as scenario:
            scenario.set_up()
            return scenario.read()

    def plain_text(self, indices: Iterable[int]) -> str:
        """Return the text of these events, as the adapter gives it when nothing is special.

        They are sent as they are and the body then ends; that the turn is cut does not matter.

        Raises:
            Skip: they carry no text; there is nothing to compare.
        """
        log = self._read(ended_cleanly(sent(self, indices)))
        if not log.text:
            raise Skip(
                f"the adapter gives no text for event(i) ({ending_of(log.error, ended=log.ended)})"
            )
        return log.text

    def response(self, body: Body, *ending_steps: Step) -> Response:
        """Return the response that sends `body`, one event a write, and then plays more steps."""
        return Response((*events(body.chunks), *ending_steps), content_type=self.content_type)

    def ordinary_response(self, *texts: str, first: int = 0) -> Response:
        """Return a whole answer of these texts; without a wire one that is cut, after two events.

        Args:
            texts: what it says, where there is a wire.
            first: number of the first event, where there is none.
        """
        if self.wire is None:
            return ended_cleanly(sent(self, range(first, first + 2)))
        return self.response(self.wire.encode(*map(TextDelta, texts), Finish(FinishReason.STOP)))

    def malformed_responses(self) -> dict[str, Response]:
        """Return answers with an event that cannot be read behind one that can, by name.

        None where nobody knows how to spoil an event.
        """
        try:
            if self.wire is not None:
                return {body.name: self.response(body) for body in malformed_bodies(self.wire)}
            spoiled = (self.event(0), with_broken_json(self.event(1)))
        except Unsupported:
            return {}
        return {"a malformed event": ended_cleanly(events(spoiled))}

    @contextmanager
    def case(
        self, name: str, *responses: Response, level: Level | None = None
    ) -> Iterator[Scenario]:
        """Try one case: a fresh backend, client, ledger and model.

        A `Failure` in the block is kept, with what the server and the client saw, and the
        check goes on with its next case; after a hang it does not. A `Skip` leaves the case
        unjudged.

        Args:
            name: what is special about the case; empty if the check has only one.
            responses: what the backend answers, in turn.
            level: of this case, where it is not the check's.

        Raises:
            Failure: the adapter hung.
            SetUpError: `new_model` or `event` cannot be used.
            BackendError: the backend failed.
        """
        with self.judging(name, level), self.apart(*responses) as scenario:
            scenario.set_up()
            yield scenario

    def send(self, scenario: Scenario, request: Request) -> Sending:
        """Let the adapter stream `request`, and return all that it sent for it."""
        return send(scenario, request, self.egress.attempts)

    def note_failure(self, failure: Failure, name: str = "", level: Level | None = None) -> None:
        """Note that a case, or the whole check, failed."""
        # A traceback kept here would keep the adapter's stream, and be part of a cycle.
        without_tracebacks(failure)
        super().note_failure(failure, name, level)

    @contextmanager
    def apart(self, *responses: Response) -> Iterator[Scenario]:
        """Prepare a scenario that is not judged and not set up yet; its exceptions pass through.

        Responses that leave their media type at server-sent events have the wire's.

        Raises:
            Failure: what the block raised, or that it hung, with what server, client and
                threads have to say.
            BackendError: the backend failed; then nothing that the adapter did counts.
        """
        backend = Backend(*map(self.typed, responses))
        try:
            with ExitStack() as cleanup:
                cleanup.enter_context(backend)
                self.egress.allow(*backend.address)
                scenario = Scenario(self.target, backend, Ledger(), self.leaks, cleanup)
                try:
                    with _no_faulty_events(scenario):
                        yield scenario
                        scenario.drop_model()
                except (Failure, Hang) as error:
                    failure = hung(error) if isinstance(error, Hang) else error
                    raise failure.with_evidence(scenario.evidence()) from None
        finally:
            backend.raise_faults()

    def typed(self, response: Response) -> Response:
        """Return `response` with the wire's media type, if it was left at server-sent events."""
        if self.wire is None or response.content_type != EVENT_STREAM:
            return response
        if self.wire.content_type.partition(";")[0] == EVENT_STREAM:
            return response
        return replace(response, content_type=self.wire.content_type)


def _reader(scenario: Scenario, give: Callable[[bytes], None]) -> Callable[[bytes], Log]:
    """Return what lets the scenario's model read a body that `give` hands to it."""

    def read(data: bytes) -> Log:
        give(data)
        log = scenario.read()
        scenario.expect_events_only()
        return log

    return read


@contextmanager
def _no_faulty_events(scenario: Scenario) -> Iterator[None]:
    """Expect, whatever else happens in the block, that the adapter gave nothing but events.

    Raises:
        Failure: naming the first thing that was none.
    """
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        # A check cannot judge such a stream, and may stumble over it.
        scenario.expect_events_only(hung=isinstance(error, Hang))
        raise
    scenario.expect_events_only()


def run(check: Check, target: Target) -> Outcome:
    """Run `check` on an adapter, over HTTP.

    No text of the outcome holds the target's `api_key`.

    Raises:
        SetUpError: the test case is at fault: `new_model` or `event` cannot be used.
        BackendError: the kit is at fault, not the adapter.
    """
    missing = [need for need in check.needs if not getattr(target, need.value)]
    if Need.EVENT_LOOP in missing:
        return Outcome(check, Status.SKIPPED, "for asynchronous adapters: here is no event loop")
    if missing:
        return Outcome(check, Status.SKIPPED, needed(*missing))
    redact = target.secret.redact
    with _guarded() as egress, caught_leaks() as leaks:
        context = ServedContext(check, target, egress, leaks)
        try:
            judge(context, context.run)
        except SetUpError as error:
            raise error.without_cause(redact) from None
    outcome = context.outcome(*_attempts_shown(context))
    return replace(outcome, text=redact(outcome.text), attempts=tuple(egress.attempts))


@contextmanager
def _guarded() -> Iterator[EgressGuard]:
    """Surround a check with everything that keeps author, kit and adapter apart."""
    collecting = gc.isenabled()
    gc.disable()  # a leak must not pass because the collector happened to run
    try:
        # A thread that serves all of an adapter's models was started in an earlier check.
        guard = EgressGuard(threads=adapter_threads())
        with neutral_environment(), threads_as_daemons(), guard as egress:
            yield egress
    finally:
        (gc.enable if collecting else gc.disable)()  # a check may have changed it


def _attempts_shown(context: ServedContext) -> list[Evidence]:
    """Return the connections that were refused, unless a failure shows them already."""
    labels = {found.label for one in context.failed for found in one.failure.evidence}
    attempts = context.egress.attempts
    return [refused(attempts)] if attempts and "refused" not in labels else []
