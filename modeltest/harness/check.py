"""What a check is: one function, with its id, level, needs, reason, fix and an example."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeltest.backend import Response
    from modeltest.encoding import Body, WireFormat

    Shown = Response | Body | Iterable[Body] | bytes | str


class Level(StrEnum):
    """How much a failure weighs."""

    MUST = "MUST"
    """It fails the test."""
    SHOULD = "SHOULD"
    """It warns; under `strict` it fails the test."""


class Need(StrEnum):
    """What a check cannot do without; the value is the attribute that gives it."""

    WIRE = "wire"
    RETRIES = "retries"
    IDLE_TIMEOUT = "idle_timeout"
    REFUSED_TOOL_NAMES = "refused_tool_names"
    ACCEPTED_TOOL_NAMES = "accepted_tool_names"
    EVENT_LOOP = "event_loop"
    """Not to be set: an asynchronous adapter runs on one."""


@dataclass(frozen=True)
class Example:
    """What the documentation shows of a check: bytes, or a sequence, that reproduce its fault.

    It shows a sequence where it says what the consumer does, else bytes.

    Attributes:
        text: what is special about it, in a sentence or two.
        case: the name of the body that is shown, among the check's `bodies` or those of `sends`.
        sends: the example wire format → what the server sends: a response, a body, bytes, bodies of
            which `case` is one; or text that lists cases which differ in the request alone.
        then: the same → what it sends to a second request.
        server: what the server does, in words, where no response says it.
        consumer: what the consumer does, in words.
        fault: what is seen of an adapter that is wrong, in words.
        others: the names of the check's other cases, where they do not follow from its bodies.
    """

    text: str
    case: str = ""
    sends: Callable[[WireFormat], Shown] | None = None
    then: Callable[[WireFormat], Response] | None = None
    server: str = ""
    consumer: str = ""
    fault: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """One rule of the contract.

    Attributes:
        id: "group/name", as in the contract.
        level: MUST or SHOULD; single cases of it may be SHOULD where it is MUST.
        requirement: one sentence; the first line of the test method's docstring.
        why: what goes wrong in practice when it is broken.
        fix: what to do about it.
        needs: what the test case must set for it.
        example: what the documentation shows.
        judge: the function that judges. Where there are `bodies` it is given the `Answer` to
            each; else the `CheckContext`. It raises `Failure`.
        bodies: asks a wire format for the bodies that are to be read, one case each.
        in_memory: whether it can judge a stream parser, which is given bytes and no server.
    """

    id: str
    level: Level
    requirement: str
    why: str
    fix: str
    needs: tuple[Need, ...]
    example: Example | None
    judge: Callable[[Any], None]
    bodies: Callable[[WireFormat], Iterable[Body]] | None = None
    in_memory: bool = False

    @property
    def group(self) -> str:
        """The first half of the id."""
        return self.id.partition("/")[0]

    @property
    def method(self) -> str:
        """The test method that runs it: `test_` and the function's name."""
        return f"test_{self.judge.__name__}"


def check(
    id: str,  # noqa: A002 - the contract's word
    level: Level = Level.MUST,
    *,
    fix: str,
    needs: tuple[Need, ...] = (),
    bodies: Callable[[WireFormat], Iterable[Body]] | None = None,
    in_memory: bool = False,
    example: Example | None = None,
) -> Callable[[Callable[[Any], None]], Check]:
    """Make a `Check` of a function; its docstring gives the requirement and the why.

    Args:
        id: as in the contract.
        level: MUST or SHOULD.
        fix: what to do about a failure.
        needs: what the test case must set; the wire format follows from `bodies`.
        bodies: the bodies that are delivered, in whichever way; the function is then given the
            answer to each. Without them it is given the context, and plays what it needs.
        in_memory: a function that is given the context needs no server. With `bodies` none does.
        example: what the documentation shows.

    Raises:
        TypeError: the docstring lacks the requirement or the why.
    """

    def make(function: Callable[[Any], None]) -> Check:
        requirement, _, why = (function.__doc__ or "").partition("\n")
        if not requirement or not why.strip():
            raise TypeError(f"check {id}: the docstring gives a requirement, then the why")
        wanted = needs if bodies is None or Need.WIRE in needs else (Need.WIRE, *needs)
        return Check(
            id,
            level,
            requirement.strip(),
            " ".join(why.split()),
            fix,
            wanted,
            example,
            function,
            bodies,
            in_memory or bodies is not None,
        )

    return make
