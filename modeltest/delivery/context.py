"""One run of one check on one adapter: its cases, each with everything fresh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from modeltest.backend import Backend, Response
from modeltest.consumer import Hang, without_tracebacks
from modeltest.delivery.leaks import Spills
from modeltest.delivery.scenario import Scenario
from modeltest.harness import Check, Failure, Level, Skip, Target, hung
from modeltest.transports import EgressGuard, Ledger
from modeltest.wire import Framing

_EVENT_STREAM = Response.content_type


@dataclass(frozen=True)
class Broken:
    """A case that failed."""

    name: str
    level: Level
    failure: Failure


class CheckContext:
    """What a check function is given.

    Attributes:
        check: the check.
        target: the adapter under test.
        egress: refuses and records connections to anything but the backends.
        spills: what the adapter leaked into the interpreter so far.
        broken: the cases that failed.
        tried: how many cases were tried.
        unjudged: why cases could not be judged, with their names.
    """

    def __init__(self, check: Check, target: Target, egress: EgressGuard, spills: Spills) -> None:
        self.check = check
        self.target = target
        self.egress = egress
        self.spills = spills
        self.broken: list[Broken] = []
        self.tried = 0
        self.unjudged: dict[str, list[str]] = {}

    def event(self, index: int) -> bytes:
        """Return the bytes of the author's i-th event."""
        return self.target.event(index)

    @property
    def framing(self) -> Framing:
        """How the author's events are told apart."""
        return Framing.SSE if self.target.wire is None else self.target.wire.framing

    @property
    def keep_alive(self) -> bytes:
        """Bytes between events that mean nothing.

        Raises:
            Unsupported: the framing has none.
        """
        wire = self.target.wire
        return b": keep-alive\n\n" if wire is None else wire.keep_alive

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
        self.tried += 1
        try:
            with self.apart(*responses) as scenario:
                scenario.set_up()
                yield scenario
        except Skip as skip:
            self.tried -= 1
            self.leave_unjudged(str(skip), name)
        except Failure as failure:
            self.note_broken(failure, name, level)
            if failure.hung:
                raise

    def note_broken(self, failure: Failure, name: str = "", level: Level | None = None) -> None:
        """Note that a case, or the whole check, failed; one that is noted already stays once."""
        if any(broken.failure is failure for broken in self.broken):
            return
        if name and level not in (None, self.check.level):
            name = f"{name} [{level}]"
        # A traceback kept here would keep the adapter's stream, and be part of a cycle.
        without_tracebacks(failure)
        self.broken.append(Broken(name, level or self.check.level, failure))

    def leave_unjudged(self, reason: str, name: str = "") -> None:
        """Note that a case, or the whole check, cannot judge this adapter."""
        self.unjudged.setdefault(reason, []).extend([name] if name else [])

    @contextmanager
    def apart(self, *responses: Response) -> Iterator[Scenario]:
        """Prepare a case that is not judged and not set up yet; its exceptions pass through.

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
                scenario = Scenario(self.target, backend, Ledger(), self.spills, cleanup)
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
        wire = self.target.wire
        if wire is None or response.content_type != _EVENT_STREAM:
            return response
        if wire.content_type.partition(";")[0] == _EVENT_STREAM:
            return response
        return replace(response, content_type=wire.content_type)


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
