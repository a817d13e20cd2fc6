"""One body in many spellings, and bytes that are no body at all."""

from __future__ import annotations

import json
from collections.abc import Iterator

from modeltest.assertions import wire_shown, with_bad_byte, with_broken_json
from modeltest.checks import framing
from modeltest.corpus import Respelling, respellings, retyped_bodies, try_bodies
from modeltest.harness import Check, Evidence, Failure, Skip, shown
from modeltest.interface import Finish, FinishReason, TextDelta
from modeltest.reader.clause import Clause, same_as
from modeltest.reader.prefix import answer, shortened
from modeltest.reader.reading import Reading
from modeltest.reader.trial import ReaderTrial
from modeltest.reader.turns import expect_failure, expect_turn
from modeltest.wire import Body, Framing, WirePart

_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")

STEPS = (1, 2, 3, 7)
"""How many bytes at most a read gives."""

TORN = ("line-ends", "bom")
"""Spellings that have something to be torn between two reads: CR and LF, a mark of three bytes."""


def respelled(check: Check) -> Clause:
    """Return the clause that the other spellings of a body are read like the plain one."""
    group = check.id.partition("/")[2]

    def run(trial: ReaderTrial) -> None:
        for number, body in enumerate(_bodies_to_respell(trial, group)):
            others = respellings(body.framing, group)
            if not others:
                raise Skip(f"{body.framing} can be spelled in one way only")
            steps = (0, 1) if group in TORN or number == 0 else (0,)
            for other in others:
                if _respell(body, other).data != body.data:
                    for step in steps:
                        _try_spelling(trial, body, other, step, step)

    return same_as(check)(run)


def _bodies_to_respell(trial: ReaderTrial, group: str) -> Iterator[Body]:
    for body in trial.answers:
        yield body
        if group == "line-ends":
            # Here a blank line that is none cuts an event in two.
            for longer in respellings(body.framing, "split-data"):
                yield _respell(body, longer)
        if group == "bom" and trial.is_read(body):
            # Many a first event says nothing, and is not missed.
            telling = body.parts[_first_telling(trial, body) :]
            yield body.renewed(f"{body.name}, without its start", telling)


def _respell(body: Body, other: Respelling) -> Body:
    """Return `body` in another spelling; an event that is cut off at its end stays as it is."""
    whole = body.parts
    if body.framing is Framing.SSE and not whole[-1].data.endswith(_BLANK_LINES):
        whole = whole[:-1]
    if not whole:
        return body
    respelled = other.body(body.renewed(body.name, whole))
    return respelled.renewed(respelled.name, (*respelled.parts, *body.parts[len(whole) :]))


@same_as(framing.chunking_does_not_matter)
def chunking_does_not_matter(trial: ReaderTrial) -> None:
    """Judge reads that give a few bytes."""
    for body in trial.answers:
        for step in STEPS:
            _try_spelling(trial, body, Respelling("chunks", ""), step)


@same_as(framing.unicode_line_separators_are_text)
def unicode_line_separators_are_text(trial: ReaderTrial) -> None:
    """Judge texts with separators in them."""
    for separator in ("\u0085", "\u2028", "\u2029"):
        _try_text(trial, f"U+{ord(separator):04X}", f"a{separator}b")


@same_as(framing.large_events_arrive_whole)
def large_events_arrive_whole(trial: ReaderTrial) -> None:
    """Judge long texts."""
    for size in (70_000, 200_000, 1_200_000):
        _try_text(trial, f"{size // 1000} kB", "long text " * (size // 10))


@same_as(framing.malformed_event_is_an_error)
def malformed_event_is_an_error(trial: ReaderTrial) -> None:
    """Judge the wire's spoiled bodies, and the author's with their JSON cut short."""
    if trial.wire is not None:
        for body in trial.spelled("malformed_bodies"):
            with trial.case(body.name):
                expect_turn(body, trial.read(body))
    for body in trial.recorded:
        with trial.case(f"{body.name}, broken JSON"):
            number = _first_telling(trial, body)
            broken = _changed(body, number, with_broken_json(body.chunks[number]))
            expect_failure(broken, trial.read(broken))


@same_as(framing.invalid_utf8_does_not_crash)
def invalid_utf8_does_not_crash(trial: ReaderTrial) -> None:
    """Judge a bad byte by the rules that hold for any body."""
    for body in trial.answers:
        if body.framing is Framing.EVENT_STREAM:
            raise Skip("a frame's checksum covers its bytes")
        with trial.case(body.name):
            number = _first_telling(trial, body)
            trial.read(_changed(body, number, with_bad_byte(body.chunks[number])))


@same_as(framing.empty_data_is_ignored)
def empty_data_is_ignored(trial: ReaderTrial) -> None:
    """Judge events with empty data before all others."""
    empty = Respelling("empty-data", "empty data", lambda event: b"data:\n\n" + event)
    for body in trial.answers:
        if body.framing is not Framing.SSE:
            raise Skip(f"{body.framing} has no data lines")
        _try_spelling(trial, body, empty)


@same_as(framing.any_bytes_are_an_event_or_an_error)
def any_bytes_are_an_event_or_an_error(trial: ReaderTrial) -> None:
    """Judge any bytes by the rules that hold for any body."""
    bodies = [body.data for body in trial.answers]
    events = list(dict.fromkeys(chunk for body in trial.answers for chunk in body.chunks))

    def expect_rules(body: bytes) -> None:
        try:
            trial.reader.read(body)
        except Failure as failure:
            raise failure.with_evidence((Evidence("paste", repr(body)),)) from None

    with trial.case("some bytes"):
        try_bodies(events, expect_rules, bodies=bodies)
        text = (body for body in trial.answers if body.framing is not Framing.EVENT_STREAM)
        for odd in retyped_bodies(body.chunks for body in text):
            expect_rules(odd)


def _try_spelling(
    trial: ReaderTrial, body: Body, respelling: Respelling, step: int = 0, plain_step: int = 0
) -> None:
    """Expect of a spelling, `step` bytes a read, what the plain one gives at `plain_step`."""
    pieces = f"{step} byte{'s' * (step > 1)} a read" if step else ""
    name = ", ".join(filter(None, (body.name, respelling.name, pieces)))
    with trial.case(name):
        plain, other = trial.plain(body, plain_step), _respell(body, respelling)
        reading = trial.read(other, step)
        error = reading.outcome()[1]
        if error is not None:
            raise Failure(
                f"this spelling raised {shown(error)}; the plain one gives an answer.",
                (wire_shown(other),),
            )
        if _said(reading) != _said(plain):
            raise Failure(
                "this spelling gives another answer than the plain one.",
                (
                    Evidence("plain", shortened(_said(plain))),
                    Evidence("this", shortened(_said(reading))),
                    wire_shown(other),
                ),
            )


def _said(reading: Reading) -> tuple[object, ...]:
    return (answer(reading), reading.finish)


def _try_text(trial: ReaderTrial, name: str, text: str) -> None:
    """Expect a body's text that was given in place of another one."""
    stop = Finish(FinishReason.STOP)
    if trial.wire is not None:
        for body in trial.asked(lambda wire: [wire.encode(TextDelta(text), stop)]):
            with trial.case(name):
                expect_turn(body, trial.read(body))
    for body in trial.recorded:
        with trial.case(f"{body.name}, {name}"):
            got = "".join(
                e.text
                for e in trial.read(_with_text(trial, body, text)).events
                if isinstance(e, TextDelta)
            )
            if text not in got:
                raise Failure(
                    f"expected the text {shortened(repr(text))}, got {shortened(repr(got))}."
                )


def _with_text(trial: ReaderTrial, body: Body, text: str) -> Body:
    """Return a body with the text of its first delta, as the reader gives it, replaced."""
    old = next((e.text for e in trial.plain(body).events if isinstance(e, TextDelta)), "")
    for number, chunk in enumerate(body.chunks):
        for escaped in (False, True):
            needle = json.dumps(old, ensure_ascii=escaped).encode()
            if old and chunk.count(needle) == 1:
                new = json.dumps(text, ensure_ascii=False).encode()
                return _changed(body, number, chunk.replace(needle, new))
    raise Skip(f"the text of {body.name} cannot be found in its JSON: give a wire")


def _first_telling(trial: ReaderTrial, body: Body) -> int:
    """Return the number of the first event of `body` for which the reader gives an event.

    Raises:
        Skip: the body is not even read as it stands.
    """
    trial.plain(body)  # and so it gives one for the last, at least
    return next(n for n, end in enumerate(body.boundaries) if _tells(trial, body, end))


def _tells(trial: ReaderTrial, body: Body, end: int) -> bool:
    try:
        return bool(trial.reader.read(body.data, cut=end).events)
    except Failure:
        return False  # what becomes of a cut body is judged elsewhere


def _changed(body: Body, number: int, event: bytes) -> Body:
    parts = list(body.parts)
    parts[number] = WirePart(parts[number].role, event)
    return body.renewed(body.name, tuple(parts))


SPELLINGS: tuple[Clause, ...] = (
    chunking_does_not_matter,
    respelled(framing.line_endings_do_not_matter),
    respelled(framing.comments_are_ignored),
    respelled(framing.space_after_colon_is_optional),
    respelled(framing.unknown_fields_are_ignored),
    respelled(framing.extra_blank_lines_are_ignored),
    respelled(framing.data_over_several_lines_is_joined),
    unicode_line_separators_are_text,
    large_events_arrive_whole,
    malformed_event_is_an_error,
    any_bytes_are_an_event_or_an_error,
    respelled(framing.bom_is_ignored),
    invalid_utf8_does_not_crash,
    empty_data_is_ignored,
)
"""The clauses about how a body is spelled."""
