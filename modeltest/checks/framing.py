"""framing: the bytes do not matter."""

from __future__ import annotations

import json
import random
import re
from contextlib import suppress

from modeltest import corpus
from modeltest.assertions import (
    Plain,
    answer,
    bodies_or_skip,
    cut,
    event_groups,
    expect_meaning,
    expect_refusal,
    plain_answers,
    refusals,
    wire_shown,
    with_bad_byte,
    with_broken_json,
)
from modeltest.backend import End, Response, Send, events
from modeltest.corpus import Respelling, respellings, retyped_bodies, try_bodies
from modeltest.delivery import CheckContext, body_reader, ending
from modeltest.harness import Evidence, Failure, Level, Need, Skip, check, shown
from modeltest.interface import TextDelta
from modeltest.wire import Framing, ndjson_line, sse_event

BY_THE_STANDARD = (
    "split lines at LF, CR LF and CR only, on bytes; strip one space after the colon; ignore "
    "comments and unknown fields; dispatch at the blank line; or use a tested decoder"
)


@check("framing/chunks", fix=BY_THE_STANDARD)
def chunking_does_not_matter(context: CheckContext) -> None:
    """How the body is cut into writes does not matter.

    Networks cut where they like: inside a character, between CR and LF. A reader that decodes
    or splits each read on its own tears what lies across.
    """
    for plain in plain_answers(context, short=True):
        data = b"".join(plain.chunks)
        ways: dict[str, tuple[int, ...]] = {
            f"{size} byte{'s' * (size > 1)} a write": tuple(range(size, len(data), size))
            for size in (1, 2, 3, 7)
        }
        ways |= {f"random cuts, seed {seed}": _random_cuts(data, seed) for seed in range(3)}
        ways["all at once"] = ()
        for name, cuts in ways.items():
            plain.compare(name, (Send(data, cuts),))


@check("framing/line-ends", fix=BY_THE_STANDARD)
def line_endings_do_not_matter(context: CheckContext) -> None:
    """Lines may end in LF, CR LF or CR, each event delivered before the next is sent.

    Servers and proxies differ. A reader that waits for the byte after a CR holds each event
    back; one that does not swallow the LF sees a blank line that is none.
    """
    _try_respelled(context, "line-ends")
    for plain in plain_answers(context):
        _try_torn(plain)
    paced = Plain(context, event_groups(context))
    for respelling in paced.respellings("line-ends"):
        paced.compare_paced(respelling)


@check("framing/comments", fix=BY_THE_STANDARD)
def comments_are_ignored(context: CheckContext) -> None:
    """Comments between and inside events are ignored.

    Providers keep the connection alive with them, by the hundred before the first event.
    """
    _try_respelled(context, "comments")


@check("framing/space", fix=BY_THE_STANDARD)
def space_after_colon_is_optional(context: CheckContext) -> None:
    """The space after the colon may be missing, or be two.

    `line.startswith("data: ")` drops every event of a server that sends `data:{`.
    """
    _try_respelled(context, "space")


@check("framing/fields", fix=BY_THE_STANDARD)
def unknown_fields_are_ignored(context: CheckContext) -> None:
    """Fields of no meaning to the answer are ignored, in any order.

    id, retry and event come and go with gateways.
    """
    _try_respelled(context, "fields")


@check("framing/blank-lines", fix=BY_THE_STANDARD)
def extra_blank_lines_are_ignored(context: CheckContext) -> None:
    """More blank lines than needed change nothing.

    An empty event is no event, and no error.
    """
    _try_respelled(context, "blank-lines")


@check("framing/split-data", fix=BY_THE_STANDARD)
def data_over_several_lines_is_joined(context: CheckContext) -> None:
    """Data over several lines is one payload.

    Servers that print their JSON indented send a data line for each line of it.
    """
    _try_respelled(context, "split-data")
    for plain in plain_answers(context):
        _try_torn(plain, *plain.respellings("split-data"))


@check("framing/unicode", fix=BY_THE_STANDARD)
def unicode_line_separators_are_text(context: CheckContext) -> None:
    """U+0085, U+2028 and U+2029 inside a text are text.

    `str.splitlines`, and so iter_lines(decode_unicode=True), splits there, and tears the JSON.
    """
    for separator in ("\u0085", "\u2028", "\u2029"):
        name = f"U+{ord(separator):04X}"
        _try_changed_text(context, name, f"a{separator}b")


@check(
    "framing/charset",
    fix="decode as UTF-8, whatever the Content-Type says or leaves out",
)
def body_is_utf8_whatever_the_header_says(context: CheckContext) -> None:
    """The body is UTF-8, whatever charset the header names or leaves out.

    requests takes ISO-8859-1 for text without a charset, and makes mojibake of every accent.
    """
    for plain in plain_answers(context):
        media_type = plain.content_type.partition(";")[0]
        for header in (media_type, f"{media_type}; charset=iso-8859-1"):
            plain.compare(header, events(plain.chunks), content_type=header)
            if context.target.wire is None:
                with suppress(Skip):  # an event whose text cannot be found is compared as it is
                    _try_changed_text(context, f"{header}, an accent", "Grüße", header)


@check(
    "framing/large",
    fix="let a line be as long as the answer; a limit, if any, is an error and lies above 10 MB",
)
def large_events_arrive_whole(context: CheckContext) -> None:
    """Events of 70 kB, 200 kB and 1.2 MB arrive whole.

    Line limits of 64 kB are common in readers, and cut in silence.
    """
    for size in (70_000, 200_000, 1_200_000):
        _try_changed_text(context, f"{size // 1000} kB", "long text " * (size // 10))


@check(
    "framing/malformed",
    fix="raise StreamProtocolError where an event cannot be read; `except ValueError: continue` "
    "loses a piece of the answer",
)
def malformed_event_is_an_error(context: CheckContext) -> None:
    """An event that cannot be read is an error, never skipped in silence.

    A skipped event is a hole in the answer that nobody sees.
    """
    if context.target.wire is not None:
        for body in bodies_or_skip(lambda: corpus.malformed_bodies(context.target.wire)):
            with context.case(body.name, answer(context, body)) as scenario:
                expect_refusal(
                    scenario, scenario.read(), f"an answer with {body.name}", wire_shown(body)
                )
        return
    first, second, third = (context.event(index) for index in range(3))
    cases = {
        "between two good events": (first, with_broken_json(second), third),
        "last": (first, second, with_broken_json(third)),
    }
    for name, chunks in cases.items():
        with context.case(name, Response((*events(chunks), End()))) as scenario:
            log = scenario.read()
            wire = Evidence("wire", cut(b"".join(chunks)))
            expect_refusal(scenario, log, f"an answer with a malformed event {name}", wire)


@check(
    "framing/unknown-event",
    needs=(Need.WIRE,),
    fix="skip event types, blocks, delta kinds and fields that are not known",
)
def unknown_events_are_ignored(context: CheckContext) -> None:
    """Events, blocks, deltas and fields that the format does not define are skipped.

    Providers add them without notice. They are no text, and no error.
    """
    for body in bodies_or_skip(lambda: corpus.unknown_bodies(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            expect_meaning(scenario, body, scenario.read())


@check(
    "framing/any-bytes",
    fix="let every error of decoding, parsing and looking up come out as StreamProtocolError; "
    "test the type of what JSON gives before using it",
)
def any_bytes_are_an_event_or_an_error(context: CheckContext) -> None:
    """Any bytes at all are events or a declared error, and come to an end.

    A body that is no answer (an HTML page, a proxy's message, half a frame) must not raise
    KeyError or UnicodeDecodeError into the agent loop, which catches neither.
    """
    plain = plain_answers(context)
    chunks = [chunk for one in plain for chunk in one.chunks]
    with (
        context.case("") as scenario,
        body_reader(scenario, plain[0].content_type) as read,
    ):

        def expect_declared(body: bytes) -> None:
            log = read(body)
            shown_body = (Evidence("body", cut(body, 1000)),)
            if log.error is not None and not isinstance(log.error, refusals(scenario)):
                raise Failure(
                    f"some bytes raised {shown(log.error)}; expected events, or an error of the "
                    "adapter's model_error.",
                    shown_body,
                )
            try:
                scenario.expect_events_only()
            except Failure as failure:
                raise failure.with_evidence(shown_body) from None

        whole = [b"".join(one.chunks) for one in plain]
        try_bodies([*chunks, *_odd_events(plain[0].framing)], expect_declared, bodies=whole)
        if plain[0].framing is not Framing.EVENT_STREAM:  # a frame's checksum covers its bytes
            for body in retyped_bodies(one.chunks for one in plain):
                expect_declared(body)


@check("framing/bom", Level.SHOULD, fix=BY_THE_STANDARD)
def bom_is_ignored(context: CheckContext) -> None:
    """One byte order mark at the start is ignored, also when its bytes come apart.

    No provider is known to send one; some proxies' recordings have it.
    """
    # event(0) may only name the role: that it is lost would not show, the text of event(1) does.
    beginning_with_text = Plain(context, [context.event(1), context.event(2)])
    for plain in (*plain_answers(context), beginning_with_text):
        for respelling in plain.respellings("bom"):
            first, *rest = respelling.chunks(plain.chunks)
            for name, cuts in {"whole": (), "in pieces": (1, 2)}.items():
                plain.compare(name, (Send(first, cuts), *events(rest)))


@check(
    "framing/invalid-utf8",
    Level.SHOULD,
    fix='decode with errors="replace", or raise a ModelError from the UnicodeDecodeError',
)
def invalid_utf8_does_not_crash(context: CheckContext) -> None:
    """A byte that is no UTF-8 becomes U+FFFD, or a declared error.

    A UnicodeDecodeError from inside a reader is neither.
    """
    plain = plain_answers(context)[0]
    if plain.framing is Framing.EVENT_STREAM:
        raise Skip("a frame's checksum covers its bytes")
    spoiled = (with_bad_byte(plain.chunks[0]), *plain.chunks[1:])
    with context.case("", plain.response(events(spoiled))) as scenario:
        log = scenario.read()
        if log.error is not None:
            expect_refusal(scenario, log, "a body with an invalid byte")


@check("framing/empty-data", Level.SHOULD, fix=BY_THE_STANDARD)
def empty_data_is_ignored(context: CheckContext) -> None:
    """An event with empty data is ignored.

    `data:` and a blank line comes from keep-alives. It is no JSON, and no reason to fail.
    """
    for plain in plain_answers(context):
        if plain.framing is not Framing.SSE:
            raise Skip(f"{plain.framing} has no data lines")
        steps = tuple(
            step for chunk in plain.chunks for step in (Send(b"data:\n\n"), Send(chunk, events=1))
        )
        plain.compare("", steps)


def _try_torn(plain: Plain, *before: Respelling) -> None:
    """Let each CR LF come in two writes: a reader of lines may see a blank one between them."""
    (crlf,) = (one for one in respellings(plain.framing, "line-ends") if one.name == "CRLF")
    chunks = plain.chunks
    for respelling in (*before, crlf):
        chunks = respelling.chunks(chunks)
    data = b"".join(chunks)
    cuts = tuple(match.start() + 1 for match in re.finditer(b"\r\n", data))
    name = ", ".join(one.name for one in (*before, crlf))
    plain.compare(f"{name}, each CR LF in two writes", (Send(data, cuts),))


def _try_respelled(context: CheckContext, group: str) -> None:
    for plain in plain_answers(context):
        for respelling in plain.respellings(group):
            plain.compare(respelling.name, events(respelling.chunks(plain.chunks)))


def _try_changed_text(
    context: CheckContext, name: str, text: str, content_type: str | None = None
) -> None:
    """Expect the text of an event that was given another one."""
    wire = context.target.wire
    if wire is not None:
        chunks = bodies_or_skip(lambda: [wire.encode(TextDelta(text))])[0].chunks
    else:
        chunks = (_with_text(context, text), context.event(1))
    with context.case(name, Plain(context, ()).response(events(chunks), content_type)) as scenario:
        log = scenario.read()
        if text not in log.text:
            raise Failure(
                f"expected the text {cut(text, 60)}, got {cut(log.text, 60)}: {ending(log)}."
            )


def _with_text(context: CheckContext, text: str) -> bytes:
    """Return event(0) with its text, as the adapter reads it, replaced in the JSON."""
    event = context.event(0)
    old = json.dumps(Plain(context, [event]).read().text, ensure_ascii=False).encode()
    if event.count(old) != 1:
        raise Skip("the text of event(0) cannot be found in its JSON: give a wire")
    return event.replace(old, json.dumps(text, ensure_ascii=False).encode())


def _odd_events(framing: Framing) -> list[bytes]:
    """Return events whose JSON is whole, but none that the provider would send."""
    payloads = (
        "{}",
        "null",
        "[]",
        "7",
        '""',
        '{"type": 1}',
        '{"choices": null, "error": []}',
        "[" * 100_000,  # Python's json raises RecursionError
    )
    match framing:
        case Framing.SSE:
            return [sse_event(payload) for payload in payloads]
        case Framing.NDJSON:
            return [ndjson_line(payload) for payload in payloads]
    return []


def _random_cuts(data: bytes, seed: int) -> tuple[int, ...]:
    chance = random.Random(seed)  # noqa: S311 - the same cuts in every run
    number = min(len(data) - 1, 30)
    return tuple(sorted(chance.sample(range(1, len(data)), number)))
