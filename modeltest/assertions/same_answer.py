"""Two readings that must be the same: of one answer in another encoding, or cut short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from modeltest.assertions.assembly import Assembler, refused_by_assemble
from modeltest.assertions.refusal import expect_known_error
from modeltest.assertions.report import around, quoted
from modeltest.harness import Evidence, Failure
from modeltest.interface import (
    Finish,
    ProtocolError,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolUse,
)
from modeltest.threads import shown

if TYPE_CHECKING:
    from modeltest.harness import Answer, Declares, Transcript
    from modeltest.interface import Event


Merged = list[tuple[str, ...]]
"""What a stream gave, without how it was cut into deltas."""


def expect_same(answer: Answer, plain: Transcript) -> None:
    """Expect of another encoding what the plain one gives.

    Raises:
        Failure: with both readings, and the bytes.
    """
    data = answer.body.data
    wanted, got = merged(plain, data), merged(answer.log, data)
    if got == wanted:
        return
    error = answer.log.error
    detail = f" ({shown(error)})" if error is not None else ""
    raise Failure(
        f"the re-encoded stream was parsed differently{detail}.",
        (
            Evidence("plain", quoted(wanted)),
            Evidence("this", quoted(got)),
            Evidence("wire", quoted(data)),
        ),
    )


def merged(log: Transcript, sent: bytes) -> Merged:
    """Return the events of a log with adjacent deltas of one kind joined, and how it ended.

    Two readings of the answer that was `sent` are then equal, however it was cut into deltas.
    """
    runs: list[tuple[list[str], list[str]]] = []
    for event in log.events:
        *kind, value = _parts(event, sent)
        if runs and runs[-1][0] == kind and kind != ["event"]:
            runs[-1][1].append(value)
        elif value:
            runs.append((kind, [value]))
    outcome = "ended" if log.error is None else f"raised {type(log.error).__name__}"
    return [*((*kind, "".join(values)) for kind, values in runs), (outcome,)]


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


class WholeAnswer:
    """A whole answer as it was read, to be compared with what is read of a part of it."""

    def __init__(self, data: bytes, log: Transcript) -> None:
        """Take the reading of `data`, the whole body."""
        self._data = data
        self._events = list(log.events)
        self._error = log.error or refused_by_assemble(log.events)
        self._said = None if self._error is not None else _said(log.events)

    def expect_error_or_same(self, declares: Declares, log: Transcript, cut: int) -> None:
        """Expect of the body's first `cut` bytes an error, or the same answer as of the whole.

        Usage may come after the end of the turn, and is not compared; nor are the ids of calls,
        which some readers make up.

        Raises:
            Failure: it was taken for another answer, or raised an error of another type.
        """
        what = f"the answer cut after {cut} of {len(self._data)} bytes"
        body = Evidence("body", around(self._data, cut))
        if log.error is not None:
            expect_known_error(declares, log, log.error, what, (body,))
            return
        finish = next((event for event in log.events if isinstance(event, Finish)), None)
        if finish is None or self._is_like(finish, log.events):
            return
        got = _said(log.events)
        if got is None or got == self._said or refused_by_assemble(log.events) is not None:
            return  # the same, or whoever assembles the turn learns of it
        whole = quoted(self._said)
        if self._error is not None:
            whole = f"the whole raises {shown(self._error)}"
        raise Failure(
            f"{what} was taken for a finished answer, and another one than the whole.",
            (body, Evidence("whole", whole), Evidence("got", quoted(got))),
        )

    def _is_like(self, finish: Finish, events: Sequence[Event]) -> bool:
        """Tell quickly whether the same events came: the rule, where a body may be cut late."""
        last = self._events[-1] if self._events else None
        return (
            isinstance(last, Finish)
            and finish.reason == last.reason
            and list(events[:-1]) == self._events[:-1]
        )


def _said(events: Sequence[Event]) -> tuple[object, ...] | None:
    """Return what a turn says; None where the events contradict each other.

    The parts of its message in order, calls without their ids, and the reason last.
    """
    assembler = Assembler()
    try:
        for event in events:
            assembler.add(event)
        message = assembler.message()
    except ProtocolError:
        return None
    parts = (
        (part.name, dict(part.arguments)) if isinstance(part, ToolUse) else part
        for part in message.parts
    )
    reasons = (str(event.reason) for event in events if isinstance(event, Finish))
    return (*parts, next(reasons, ""))
