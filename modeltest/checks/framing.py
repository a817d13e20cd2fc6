"""framing: the bytes do not matter."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from modeltest.assertions import (
    bytes_shown,
    ending,
    expect_known_error,
    expect_refusal,
    expect_same,
    expect_turn,
    quoted,
)
from modeltest.backend import Response, Send, writes
from modeltest.corpus import (
    ReEncoding,
    malformed_bodies,
    odd_events,
    re_encoded,
    re_encodings,
    retyped_bodies,
    try_bodies,
    unknown_bodies,
    with_bad_byte,
    with_event,
)
from modeltest.encoding import Framing, Role, Unsupported
from modeltest.harness import Evidence, Example, Failure, Level, Skip, check
from modeltest.interface import Finish, FinishReason, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeltest.delivery import ServedContext
    from modeltest.encoding import Body, WireFormat
    from modeltest.harness import Answer, CheckContext


BY_THE_STANDARD = (
    "split lines at LF, CR LF and CR only, on bytes; strip one space after the colon; ignore "
    "comments and unknown fields; dispatch at the blank line; or use a tested decoder"
)


def _re_encoded_hello(group: str) -> Callable[[WireFormat], tuple[Body, ...]]:
    """Return what gives a short answer in each re-encoding of a check, named after it."""

    def bodies(wire: WireFormat) -> tuple[Body, ...]:
        hello = _hello(wire)
        found = re_encodings(wire.framing, group)
        return tuple(replace(one.body(hello), name=one.name) for one in found)

    return bodies


def _hello(wire: WireFormat) -> Body:
    return wire.encode(TextDelta("Hello"), Finish(FinishReason.STOP))


@check(
    "framing/chunks",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "One event in writes of seven bytes, each as Python shows it. One of them tears the `ü`.",
        sends=lambda wire: Response((writes(wire.encode(TextDelta("Grüße")).data, 7),)),
        others=("writes of 1, 2 and 3 bytes", "random cuts", "all at once"),
    ),
)
def chunking_does_not_matter(context: CheckContext) -> None:
    """How the body is cut into writes does not matter.

    Networks cut where they like: inside a character, between CR and LF. A reader that decodes
    or splits each read on its own tears what lies across.
    """
    for body in context.short_bodies():
        for name, cuts in _ways_to_cut(body.data).items():
            _compare(context, body, body, name, cuts=cuts)


@check(
    "framing/line-ends",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "One line ends in CR, the next in CR LF.",
        case="mixed line ends",
        sends=_re_encoded_hello("line-ends"),
    ),
)
def line_endings_do_not_matter(context: CheckContext) -> None:
    """Lines may end in LF, CR LF or CR, each event delivered before the next is sent.

    Servers and proxies differ. A reader that waits for the byte after a CR holds each event
    back; one that does not swallow the LF sees a blank line that is none.
    """
    _compare_encodings(context, "line-ends")
    for body in context.plain_bodies():
        _compare_torn(context, body)
        for longer in re_encodings(body.framing, "split-data"):
            # Here a blank line that is none cuts an event in two.
            _compare_torn(context, re_encoded(body, longer))
    for body in context.paced_bodies():
        for change in _encodings(context.framing, "line-ends"):
            name = f"{change.name}, one at a time"
            _compare(context, body, re_encoded(body, change), name, paced=True)


@check(
    "framing/comments",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "A line that begins with a colon says nothing.",
        case="comments inside events",
        sends=_re_encoded_hello("comments"),
    ),
)
def comments_are_ignored(context: CheckContext) -> None:
    """Comments between and inside events are ignored.

    Providers keep the connection alive with them, by the hundred before the first event.
    """
    _compare_encodings(context, "comments")


@check(
    "framing/space",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "No space stands after the colon.",
        case="no space after the colon",
        sends=_re_encoded_hello("space"),
    ),
)
def space_after_colon_is_optional(context: CheckContext) -> None:
    """The space after the colon may be missing, or be two.

    `line.startswith("data: ")` drops every event of a server that sends `data:{`.
    """
    _compare_encodings(context, "space")


@check(
    "framing/fields",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "Only the `data` lines carry the answer.",
        case="fields of no meaning",
        sends=_re_encoded_hello("fields"),
    ),
)
def unknown_fields_are_ignored(context: CheckContext) -> None:
    """Fields of no meaning to the answer are ignored, in any order.

    id, retry and event come and go with gateways.
    """
    _compare_encodings(context, "fields")


@check(
    "framing/blank-lines",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "Two blank lines come before the first event, and two more after each.",
        case="more blank lines",
        sends=_re_encoded_hello("blank-lines"),
    ),
)
def extra_blank_lines_are_ignored(context: CheckContext) -> None:
    """More blank lines than needed change nothing.

    An empty event is no event, and no error.
    """
    _compare_encodings(context, "blank-lines")


@check(
    "framing/split-data",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "The lines of one event are joined by a line end.",
        case="data over two lines",
        sends=_re_encoded_hello("split-data"),
    ),
)
def data_over_several_lines_is_joined(context: CheckContext) -> None:
    """Data over several lines is one payload.

    Servers that print their JSON indented send a data line for each line of it.
    """
    _compare_encodings(context, "split-data")


@check(
    "framing/unicode",
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "The three bytes in the text are U+2028, as the provider sends it: unescaped.",
        sends=lambda wire: wire.encode(TextDelta("a\u2028b")),
    ),
)
def unicode_line_separators_are_text(context: CheckContext) -> None:
    """U+0085, U+2028 and U+2029 inside a text are text.

    `str.splitlines`, and so iter_lines(decode_unicode=True), splits there, and tears the JSON.
    """
    for separator in ("\u0085", "\u2028", "\u2029"):
        _expect_text(context, f"U+{ord(separator):04X}", f"a{separator}b")


@check(
    "framing/charset",
    fix="decode as UTF-8, whatever the Content-Type says or leaves out",
    example=Example(
        "The header is wrong, and the body is UTF-8.",
        sends=lambda wire: Response(
            (Send(wire.encode(TextDelta("Grüße")).data),),
            content_type="text/event-stream; charset=iso-8859-1",
        ),
        others=("no charset",),
    ),
)
def body_is_utf8_whatever_the_header_says(context: ServedContext) -> None:
    """The body is UTF-8, whatever charset the header names or leaves out.

    requests takes ISO-8859-1 for text without a charset, and makes mojibake of every accent.
    """
    media_type = context.content_type.partition(";")[0]
    for header in (media_type, f"{media_type}; charset=iso-8859-1"):
        for body in context.plain_bodies():
            _compare(context, body, body, header, content_type=header)
        if context.wire is None:
            with suppress(Unsupported):  # an event whose text cannot be found is compared as it is
                _expect_text(context, f"{header}, an accent", "Grüße", header)


@check(
    "framing/large",
    in_memory=True,
    fix="let a line be as long as the answer; a limit, if any, is an error and lies above 10 MB",
    example=Example(
        "One line of 1.2 MB.", sends=lambda wire: wire.encode(TextDelta("long text " * 120_000))
    ),
)
def large_events_arrive_whole(context: CheckContext) -> None:
    """Events of 70 kB, 200 kB and 1.2 MB arrive whole.

    Line limits of 64 kB are common in readers, and cut in silence.
    """
    for size in (70_000, 200_000, 1_200_000):
        _expect_text(context, f"{size // 1000} kB", "long text " * (size // 10))


@check(
    "framing/malformed",
    in_memory=True,
    fix="raise StreamProtocolError where an event cannot be read; `except ValueError: continue` "
    "loses a piece of the answer",
    example=Example(
        "A brace is missing in the second event. The others are good.",
        case="broken JSON between good events",
        sends=malformed_bodies,
    ),
)
def malformed_event_is_an_error(context: CheckContext) -> None:
    """An event that cannot be read is an error, never skipped in silence.

    A skipped event is a hole in the answer that nobody sees.
    """
    for body in context.malformed_bodies():
        context.deliver(body, _expect_malformed)


@check(
    "framing/unknown-event",
    bodies=unknown_bodies,
    fix="skip event types, blocks, delta kinds and fields that are not known",
    example=Example(
        "The second event is of a kind that nobody knows.", case="a delta of an unknown kind"
    ),
)
def unknown_events_are_ignored(answer: Answer) -> None:
    """Events, blocks, deltas and fields that the format does not define are skipped.

    Providers add them without notice. They are no text, and no error.
    """
    expect_turn(answer)


@check(
    "framing/any-bytes",
    in_memory=True,
    fix="let every error of decoding, parsing and looking up come out as StreamProtocolError; "
    "test the type of what JSON gives before using it",
    example=Example(
        "Events that are JSON, but none of the provider's. Bytes without any sense follow.",
        sends=lambda wire: b"".join(odd_events(wire.framing)[:7]),
    ),
)
def any_bytes_are_an_event_or_an_error(context: CheckContext) -> None:
    """Any bytes at all are events or a declared error, and come to an end.

    A body that is no answer (an HTML page, a proxy's message, half a frame) must not raise
    KeyError or UnicodeDecodeError into the agent loop, which catches neither.
    """
    bodies = context.plain_bodies()
    chunks = [chunk for body in bodies for chunk in body.chunks]
    odd = odd_events(context.framing)
    with context.reading(bodies[0].renewed("", bodies[0].parts)) as read:

        def expect_declared(data: bytes) -> None:
            try:
                log = read(data)
                if log.error is not None:
                    expect_known_error(context, log, log.error, "some bytes", ())
            except Failure as failure:
                given = Evidence("bytes", quoted(data, 2000))
                raise failure.with_evidence((given,)) from None

        try_bodies(
            [*dict.fromkeys(chunks), *odd], expect_declared, bodies=[body.data for body in bodies]
        )
        if context.framing is not Framing.EVENT_STREAM:  # a frame's checksum covers its bytes
            for data in retyped_bodies(body.chunks for body in bodies):
                expect_declared(data)


@check(
    "framing/bom",
    Level.SHOULD,
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "Three bytes stand before the first line.",
        case="a byte order mark",
        sends=_re_encoded_hello("bom"),
    ),
)
def bom_is_ignored(context: CheckContext) -> None:
    """One byte order mark at the start is ignored, also when its bytes come apart.

    No provider is known to send one; some proxies' recordings have it.
    """
    for body in (*context.plain_bodies(), *context.bodies_from_text_on()):
        for change in _encodings(body.framing, "bom"):
            marked = re_encoded(body, change)
            _compare(context, body, marked, "whole")
            _compare(context, body, marked, "in pieces", cuts=(1, 2, *marked.boundaries[:-1]))


@check(
    "framing/invalid-utf8",
    Level.SHOULD,
    in_memory=True,
    fix='decode with errors="replace", or raise a ModelError from the UnicodeDecodeError',
    example=Example(
        "The byte FF is in no UTF-8 text.", sends=lambda wire: with_bad_byte(_hello(wire).chunks[0])
    ),
)
def invalid_utf8_does_not_crash(context: CheckContext) -> None:
    """A byte that is no UTF-8 becomes U+FFFD, or a declared error.

    A UnicodeDecodeError from inside a reader is neither.
    """
    if context.framing is Framing.EVENT_STREAM:
        raise Skip("a frame's checksum covers its bytes")
    body = context.plain_bodies()[0]
    text = body.first(Role.TEXT) or 0
    spoiled = with_event(body, text, with_bad_byte(body.chunks[text]))
    context.deliver(spoiled, _expect_any_text_or_error, "")


@check(
    "framing/empty-data",
    Level.SHOULD,
    in_memory=True,
    fix=BY_THE_STANDARD,
    example=Example(
        "An event whose data is empty comes before each event.",
        sends=lambda wire: b"".join(b"data:\n\n" + chunk for chunk in _hello(wire).chunks),
    ),
)
def empty_data_is_ignored(context: CheckContext) -> None:
    """An event with empty data is ignored.

    `data:` and a blank line comes from keep-alives. It is no JSON, and no reason to fail.
    """
    if context.framing is not Framing.SSE:
        raise Skip(f"{context.framing} has no data lines")
    empty = ReEncoding("empty-data", "empty data", lambda event: b"data:\n\n" + event)
    for body in context.plain_bodies():
        _compare(context, body, re_encoded(body, empty), empty.name)


def _expect_malformed(answer: Answer) -> None:
    what = f"an answer with {answer.body.name}"
    expect_refusal(answer, answer.log, what, bytes_shown(answer.body))


def _expect_any_text_or_error(answer: Answer) -> None:
    if answer.log.error is not None:
        expect_refusal(answer, answer.log, "a body with an invalid byte")


# Comparing


def _encodings(framing: Framing, group: str) -> Sequence[ReEncoding]:
    """Return the other encodings that the framing allows for one check.

    Raises:
        Skip: it allows none.
    """
    found = re_encodings(framing, group)
    if not found:
        raise Skip(f"{framing} leaves no choice as to {group}")
    return found


def _compare_encodings(context: CheckContext, group: str) -> None:
    for body in context.plain_bodies():
        for change in _encodings(body.framing, group):
            changed = re_encoded(body, change)
            if changed.data != body.data:
                _compare(context, body, changed, change.name)


def _compare_torn(context: CheckContext, body: Body) -> None:
    """Let each CR LF come in two pieces: a reader of lines may see a blank one between them."""
    (crlf,) = (one for one in _encodings(body.framing, "line-ends") if one.name == "CRLF")
    torn = re_encoded(body, crlf)
    cuts = [match.start() + 1 for match in re.finditer(b"\r\n", torn.data)]
    if cuts:
        _compare(context, body, torn, "CRLF, each in two pieces", cuts=cuts)


def _compare(
    context: CheckContext,
    plain: Body,
    other: Body,
    how: str,
    *,
    cuts: Sequence[int] | None = None,
    content_type: str | None = None,
    paced: bool = False,
) -> None:
    """Expect of another encoding what the plain one gives, as one case."""
    name = f"{plain.name}, {how}" if plain.name else how
    try:
        wanted = context.plain(plain)
    except Skip as skip:
        context.leave_unjudged(str(skip), name)
        return
    context.deliver(
        other,
        lambda answer: expect_same(answer, wanted),
        name,
        cuts=cuts,
        content_type=content_type,
        paced=paced,
    )


def _ways_to_cut(data: bytes) -> dict[str, Sequence[int]]:
    """Return byte offsets where a body may be cut into pieces, by what is special about them."""
    ways: dict[str, Sequence[int]] = {
        f"{size} byte{'s' * (size > 1)} at a time": range(size, len(data), size)
        for size in (1, 2, 3, 7)
    }
    ways |= {f"random cuts, seed {seed}": _random_cuts(data, seed) for seed in range(3)}
    return {**ways, "all at once": ()}


def _random_cuts(data: bytes, seed: int) -> tuple[int, ...]:
    chance = random.Random(seed)  # noqa: S311 - the same cuts in every run
    number = min(len(data) - 1, 30)
    return tuple(sorted(chance.sample(range(1, len(data)), number)))


def _expect_text(
    context: CheckContext, name: str, text: str, content_type: str | None = None
) -> None:
    """Expect the text of an event that was given another one."""
    for body in context.bodies_with_text(text):
        case = f"{body.name}, {name}" if body.name else name
        context.deliver(body, partial(_expect_in_text, text), case, content_type=content_type)


def _expect_in_text(text: str, answer: Answer) -> None:
    got = answer.log.text
    if text not in got:
        raise Failure(
            f"expected the text {quoted(text, 60)}, got {quoted(got, 60)}: {ending(answer.log)}."
        )
