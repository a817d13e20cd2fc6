"""A body cut short: an error, or the same turn."""

from __future__ import annotations

from typing import Any

from modeltest.harness import Evidence, Failure, count
from modeltest.interface import Message, ModelError, ToolUse
from modeltest.reader.reading import ErrorTypes, Reader, Reading, StreamSSE, checked
from modeltest.reader.verdict import as_assertion, broken

__unittest = True  # keeps this module's lines out of a failure's traceback

_SHOWN = 300
"""Characters of an answer that a failure shows."""


def check_sse_prefix(
    stream_sse: StreamSSE, body: bytes, cut: int, *, model_error: ErrorTypes = ModelError
) -> None:
    """Hold a reader to `read_sse`'s rules for `body` and for its first `cut` bytes.

    If the cut body succeeds, its answer must be the whole one's: the same text, reasoning, calls
    with the same parsed arguments, and the same reason. Usage may come after the end of the turn,
    and is not compared; nor are the ids of calls, which some readers make up.

    Args:
        stream_sse: the reader.
        body: a whole body.
        cut: how many of its bytes are read, from 0 to all.
        model_error: the exception type, or types, by which the reader says that a turn failed.

    Raises:
        AssertionError: a rule is broken; the text shows the bytes before and after the cut.
        ValueError: `cut` is no place in `body`.
        TypeError: `body` is no bytes, `stream_sse` cannot be called.
    """
    reader, data = Reader(stream_sse, model_error), checked(body)
    if not 0 <= cut <= len(data):
        raise ValueError(f"expected a cut from 0 to {len(data)}, the body's length; got {cut}")
    with as_assertion():
        Whole(reader.read(data)).expect_error_or_same(reader, cut)


def check_sse_prefixes(
    stream_sse: StreamSSE, body: bytes, *, model_error: ErrorTypes = ModelError
) -> None:
    """Do what `check_sse_prefix` does for every cut from 0 to the last byte.

    The whole body is read once, and each cut once. The time grows with the square of the body's
    length: take short ones.

    Raises:
        AssertionError: a rule is broken; the text says for how many cuts, and shows the first.
        TypeError: `body` is no bytes, `stream_sse` cannot be called.
    """
    reader, data = Reader(stream_sse, model_error), checked(body)
    with as_assertion():
        expect_every_cut(reader, data)


def expect_every_cut(reader: Reader, data: bytes) -> None:
    """Hold `reader` to the rules for `data` and all that it may be cut to.

    Raises:
        Failure: the first cut for which one is broken, and how many there are.
    """
    whole = Whole(reader.read(data))
    first: Failure | None = None
    number = 0
    for cut in range(len(data)):
        try:
            whole.expect_error_or_same(reader, cut)
        except Failure as failure:
            first, number = first or failure, number + 1
    if first is not None:
        of = count(len(data), "cut")
        found = f"{number} of {of} fail; the first: {first}"
        raise Failure(found, fix=first.fix) from first.__cause__


class Whole:
    """A whole body as a reader reads it, to be compared with what it reads of a part."""

    def __init__(self, reading: Reading) -> None:
        """Take the reading of the whole body."""
        self._body = reading.body
        self._reading = reading
        self._error = reading.outcome()[1]
        self._answer = answer(reading)

    def expect_error_or_same(self, reader: Reader, cut: int) -> None:
        """Let `reader` read the first `cut` bytes.

        Raises:
            Failure: it breaks a rule of its own, or finds another answer than in the whole.
        """
        reading = reader.read(self._body, cut=cut)
        if reading.finish is None or self._is_like(reading):
            return
        got = answer(reading)
        if got is None or got == self._answer:
            return
        wanted = self._answer if self._error is None else f"the whole raises {self._error!r}"
        raise broken(
            "reader/prefix",
            f"the body cut after {cut} of {len(self._body)} bytes was taken for a finished answer, "
            "and another one than the whole.",
            reading.evidence(),
            Evidence("whole", shortened(wanted)),
            Evidence("got", shortened(got)),
        )

    def _is_like(self, reading: Reading) -> bool:
        """Tell quickly whether the same events came: the rule, where a body may be cut late."""
        whole, part = self._reading, reading
        return (
            whole.finish is not None
            and part.finish is not None
            and part.finish.reason == whole.finish.reason
            and part.events[:-1] == whole.events[:-1]
        )


def answer(reading: Reading) -> tuple[object, ...] | None:
    """Return what a successful reading says, without how it was cut into deltas; else None.

    The parts of the message in order, calls without their ids, and the reason last.
    """
    message, _ = reading.outcome()
    if message is None or reading.finish is None:
        return None
    return (*parts_of(message), str(reading.finish.reason))


def parts_of(message: Message) -> tuple[object, ...]:
    """Return the parts of a message, calls as (name, arguments)."""
    return tuple(
        (part.name, dict(part.arguments)) if isinstance(part, ToolUse) else part
        for part in message.parts
    )


def shortened(value: Any) -> str:
    """Return the `repr` of a value, or a text, its end left out when it is long."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
