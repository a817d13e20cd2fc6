"""One body, read once: the rules that hold whatever the body says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import GeneratorType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NoReturn

from modeltest.assertions import Assembler, WholeAnswer, around, check_finish, refused_by_assemble
from modeltest.delivery.files import BodyFile, EndlessReading, PiecewiseFile
from modeltest.delivery.rules import FIXES, as_assertion, broken, lines_of, raised
from modeltest.harness import Evidence, Failure, count
from modeltest.interface import (
    Event,
    Finish,
    ModelError,
    ReasoningDelta,
    TextDelta,
    TruncatedToolArgumentsError,
    Usage,
)
from modeltest.threads import shown, without_tracebacks
from modeltest.validation import EXACT, is_event

if TYPE_CHECKING:
    from modeltest.harness import ErrorTypes
    from modeltest.interface import Message


__unittest = True  # keeps this module's lines out of a failure's traceback

StreamSSE = Callable[[BinaryIO], Iterable[Event]]
"""A stream parser: given the body as a binary file, it yields the events of the turn."""

_DELTAS = {kind: fits for kind, fits in EXACT.items() if kind is not Finish}
"""Kind of delta → whether the fields of one are of exactly the right types."""

_AGAIN = 3
"""How often an iterator that is over is asked again."""


@dataclass(frozen=True)
class SSEResult:
    """What a reader made of a body, every rule of `read_sse` kept.

    Attributes:
        events: what it yielded, in order.
        message: the answer, adjacent deltas merged; None where the response failed.
        usage: the token counts of its Finish; zero where it gave none.
        error: how the response failed, None if it did not: what the stream parser raised, its
            traceback removed, or what `assemble` makes of the events: `IncompleteResponseError`
            where no Finish came, `TruncatedToolArgumentsError`, `StreamProtocolError`. That an
            answer ended at the token limit, or was filtered, is no error here: see `finish`.
    """

    events: tuple[Event, ...]
    message: Message | None
    usage: Usage
    error: BaseException | None

    @property
    def finish(self) -> Finish | None:
        """The Finish, or None."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Finish) else None


class Reading:
    """What came of one body, each event judged as it comes.

    Attributes:
        body: the whole body.
        cut: how many of its bytes are read.
        events: what was yielded.
        finish: the Finish among them.
        error: what was raised.
    """

    __slots__ = ("_declared", "_limit", "_sound", "body", "cut", "error", "events", "finish")

    def __init__(
        self,
        body: bytes,
        cut: int,
        declared: tuple[type[BaseException], ...],
        sound: Finish | None = None,
    ) -> None:
        """Begin with nothing.

        Args:
            body: the whole body.
            cut: how many of its bytes are read.
            declared: the types of error by which a response may fail.
            sound: a Finish that was found good; one like it is not checked again.
        """
        self.body = body
        self.cut = cut
        self.events: list[Event] = []
        self.finish: Finish | None = None
        self.error: BaseException | None = None
        # No format says more than one thing a byte.
        self._limit = cut + 1_000
        self._declared = declared
        self._sound = sound

    ended = True
    raised_at: ClassVar[list[str]] = []

    @property
    def text(self) -> str:
        """The text of all text deltas, joined."""
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    def run(self, stream_sse: StreamSSE, file: BinaryIO) -> None:
        """Let the reader read `file` to its end, and take what comes.

        Raises:
            Failure: it breaks a rule.
        """
        kept = self.events
        iterator: Iterator[object] = iter(())
        try:
            iterator = _iterator_of(stream_sse(file))
            for event in iterator:
                if self.finish is not None or len(kept) >= self._limit:
                    self._refuse(event)
                fits = _DELTAS.get(type(event))
                if fits is None or not fits(event):
                    self._take_other(event)
                kept.append(event)  # type: ignore[arg-type] # it has just been looked at
        except Failure:
            raise
        except EndlessReading as error:
            raise broken(
                "reader/ends",
                "the stream parser keeps reading after the end of the body, and does not return.",
                Evidence("reads", lines_of(error)),
                self.evidence(),
            ) from None
        except Exception as error:
            self._fail(error)
        if type(iterator) is not GeneratorType:  # the language sees to it that those are over
            self._expect_over(iterator)

    def _fail(self, error: Exception) -> None:
        self.error = error
        if self.finish is not None:
            raise broken(
                "reader/one-finish",
                "the stream parser gave a Finish and then raised; expected one of the two.",
                Evidence("first", repr(self.finish)),
                Evidence("then", raised(error)),
                self.evidence(),
            )
        if not isinstance(error, self._declared):
            names = " or ".join(kind.__name__ for kind in self._declared)
            raise broken(
                "reader/error-type",
                f"the stream parser raised {shown(error)}; expected {names}.",
                Evidence("raised", raised(error)),
                self.evidence(),
            ) from error
        # Its traceback leads back to this reading: a cycle for each of thousands of cuts.
        if error.__context__ is None:
            error.__traceback__ = None
        else:
            without_tracebacks(error)

    def _expect_over(self, iterator: Iterator[object]) -> None:
        """Ask for more: nothing may come. One that raises its error again is over, too."""
        for _ in range(1 if self.error is None else _AGAIN):
            try:
                event = next(iterator)
            except StopIteration:
                return
            except self._declared:
                continue
            except Exception as error:
                event = raised(error)
            rule, end = (
                ("reader/end-last", "it had ended")
                if self.error is None
                else ("reader/error-last", f"it had raised {shown(self.error)}")
            )
            raise broken(
                rule,
                f"the stream parser yielded more after {end}; expected nothing.",
                Evidence("got", f"{event!r:.200}"),
                self.evidence(),
            )

    def outcome(self) -> tuple[Message | None, BaseException | None]:
        """Return the answer, or how the response failed, as `assemble` reads the events."""
        error = self.error or refused_by_assemble(self.events)
        if error is not None:
            return None, error
        return assembled_message(self.events), None

    def result(self) -> SSEResult:
        """Return it as a value."""
        message, error = self.outcome()
        usage = Usage() if self.finish is None else self.finish.usage
        return SSEResult(tuple(self.events), message, usage, error)

    def evidence(self) -> Evidence:
        """Return the bytes where the body ended, and those that were cut off."""
        return Evidence("body", around(self.body, self.cut))

    def _take_other(self, event: object) -> None:
        """Take what is no delta; a subclass of one is."""
        if isinstance(event, Finish):
            self._take_finish(event)
        elif not is_event(event):
            self._refuse(event)

    def _take_finish(self, finish: Finish) -> None:
        if finish != self._sound:
            if not is_event(finish):
                self._refuse(finish)
            try:
                check_finish(finish)
            except AssertionError as error:
                raise broken("reader/finish", f"{error}.", self.evidence()) from None
        self.finish = finish

    def _refuse(self, event: object) -> NoReturn:
        if self.finish is not None:
            what = "a second Finish" if isinstance(event, Finish) else "an event after its Finish"
            raise broken(
                "reader/one-finish",
                f"the stream parser gave {what}; expected one Finish at most, the last event.",
                Evidence("first", repr(self.finish)),
                Evidence("then", f"{event!r:.200}"),
                self.evidence(),
            )
        if not is_event(event):
            raise broken(
                "reader/events",
                f"the stream parser yielded {event!r:.200}; expected TextDelta, ReasoningDelta, "
                "ToolCallDelta or Finish, their fields of the types that they declare.",
                self.evidence(),
            )
        raise broken(
            "reader/ends",
            f"the stream parser gave {len(self.events)} events for {self.cut} bytes, and "
            "does not come to an end.",
            Evidence("last", repr(self.events[-1])),
            self.evidence(),
        )


class Parser:
    """A `stream_sse`, each of its readings held to the rules.

    Attributes:
        reads: how many bodies it was given.
        model_error: the exception type, or types, by which a turn may fail.
        package: the top-level package that `stream_sse` comes from.
    """

    def __init__(self, stream_sse: StreamSSE, model_error: ErrorTypes = ModelError) -> None:
        """Prepare.

        Raises:
            TypeError: `stream_sse` cannot be called, or `model_error` is no exception.
        """
        if not callable(stream_sse):
            raise TypeError(f"expected stream_sse(body), a function; got {stream_sse!r}")
        own = model_error if isinstance(model_error, tuple) else (model_error,)
        if not own or not all(_is_exception(kind) for kind in own):
            raise TypeError(
                f"model_error: expected an exception class or a tuple of them, got {model_error!r}"
            )
        self._stream_sse = stream_sse
        self.package = str(getattr(stream_sse, "__module__", "")).partition(".")[0]
        self.model_error = model_error
        self._declared = tuple(dict.fromkeys((*own, ModelError, TruncatedToolArgumentsError)))
        self._sound: Finish | None = None
        self.reads = 0

    def read(
        self, body: bytes, *, cut: int | None = None, cuts: Sequence[int] | None = None
    ) -> Reading:
        """Let it read `body`.

        Args:
            body: the whole body.
            cut: how many of its bytes; all when None.
            cuts: byte offsets that no read goes across; reads give what they ask for when None.

        Raises:
            Failure: it breaks a rule.
        """
        self.reads += 1
        length = len(body) if cut is None else cut
        reading = Reading(body, length, self._declared, self._sound)
        data = body[:length]
        reading.run(self._stream_sse, BodyFile(data) if cuts is None else PiecewiseFile(data, cuts))
        self._sound = reading.finish or self._sound
        return reading


def read_sse(
    stream_sse: StreamSSE, body: bytes, *, model_error: ErrorTypes = ModelError
) -> SSEResult:
    """Let a reader read `body`, and hold it to the rules that hold for any body.

    At most one Finish, and nothing after it; every Finish keeps `check_finish`; an error ends the
    events, and so does the end; a response that fails does so with `model_error`, `ModelError` or
    `TruncatedToolArgumentsError`; only events are yielded; the reader comes to an end.

    Args:
        stream_sse: the reader. It is given the body as a binary file, and yields events.
        body: the body of a response.
        model_error: the exception type, or types, by which the reader says that a turn failed.

    Raises:
        AssertionError: a rule is broken; the text names it, and what came.
        TypeError: `body` is no bytes, `stream_sse` cannot be called.
    """
    parser = Parser(stream_sse, model_error)
    with as_assertion():
        return parser.read(checked(body)).result()


def checked(body: object) -> bytes:
    """Return `body` if it is bytes.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(body, bytes | bytearray | memoryview):
        raise TypeError(f"expected the body as bytes, got {type(body).__name__}: {body!r:.80}")
    return bytes(body)


def assembled_message(events: Iterable[Event]) -> Message:
    """Return the message that events make which `assemble` does not refuse."""
    assembler = Assembler()
    for event in merged_texts(events):
        assembler.add(event)
    return assembler.message()


def merged_texts(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events, adjacent pieces of text and of plain reasoning joined."""
    for kind, run in itertools.groupby(events, key=_joinable):
        if kind is None:
            yield from run
        else:
            yield kind("".join(getattr(event, "text", "") for event in run))


def _iterator_of(stream: Any) -> Iterator[object]:
    """Return the iterator of what `stream_sse` returned.

    Raises:
        Failure: it has none.
    """
    if type(stream) is GeneratorType:  # as most are, and thousands are looked at in a second
        return stream
    if isinstance(stream, Iterable):
        return iter(stream)
    close = getattr(stream, "close", None)
    if callable(close):
        close()  # a coroutine that nobody awaits would complain
    raise broken(
        "reader/iterable", f"stream_sse(body) returned {stream!r}; expected an iterable of events."
    )


def _is_exception(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Exception)


def _joinable(event: Event) -> type[TextDelta | ReasoningDelta] | None:
    """Return the type of an event that is nothing but a piece of text; None for others."""
    match event:
        case TextDelta() | ReasoningDelta(signature="", redacted=""):
            return type(event)
    return None


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
    parser, data = Parser(stream_sse, model_error), checked(body)
    if not 0 <= cut <= len(data):
        raise ValueError(f"expected a cut from 0 to {len(data)}, the body's length; got {cut}")
    with as_assertion():
        _expect_error_or_same(parser, WholeAnswer(data, parser.read(data)), data, cut)


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
    parser, data = Parser(stream_sse, model_error), checked(body)
    with as_assertion():
        whole = WholeAnswer(data, parser.read(data))
        first: Failure | None = None
        number = 0
        for cut in range(len(data)):
            try:
                _expect_error_or_same(parser, whole, data, cut)
            except Failure as failure:
                first, number = first or failure, number + 1
        if first is not None:
            found = f"{number} of {count(len(data), 'cut')} fail; the first: {first}"
            raise Failure(found, fix=first.fix) from first.__cause__


def _expect_error_or_same(parser: Parser, whole: WholeAnswer, data: bytes, cut: int) -> None:
    reading = parser.read(data, cut=cut)
    try:
        whole.expect_error_or_same(parser, reading, cut)
    except Failure as failure:
        fix = FIXES["reader/prefix"]
        raise Failure(f"reader/prefix: {failure.statement}", failure.evidence, fix=fix) from None
