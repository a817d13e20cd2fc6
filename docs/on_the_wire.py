"""What brings the fault of each check out: `ON_THE_WIRE`, by what names the check alone.

Bytes come from the wire format and the scripts that the checks play; what the consumer does, and
what is seen of an adapter that is wrong, is told.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterable
from typing import Any

from docs.wire_shown import (
    ShortChat,
    Snippet,
    body,
    course,
    head,
    marked,
    played,
    steps_shown,
    told,
    visible,
)
from modeltest import corpus
from modeltest.assertions.same_answer import with_bad_byte
from modeltest.backend import Await, Progress, Response, Send, Stall, answered, redirect, writes
from modeltest.backend.scripts import (
    bad_request,
    bursting,
    close_delimited,
    ended_cleanly,
    flowing,
    inside_chunk,
    left_half,
    one_and_a_half,
    reset,
    sent,
    short_of_length,
    silent_after,
    without_last_chunk,
)
from modeltest.checks import delivery, framing, release
from modeltest.checks.calls import LARGE
from modeltest.corpus import html_page
from modeltest.corpus.reencode import respellings
from modeltest.corpus.tool_cases import MADE_UP, bad_choices, bad_names, good_choices, good_names
from modeltest.harness import Target
from modeltest.interface import Finish, FinishReason, TextDelta, ToolCallDelta
from modeltest.wire import Framing


class _Events:
    """What the scripts ask of a context: the events of an endless answer."""

    def __init__(self, wire: ShortChat) -> None:
        self.event = wire.event


WIRE = ShortChat()
EVENTS: Any = _Events(WIRE)
TWO = sent(EVENTS, range(2))
STOP = Finish(FinishReason.STOP)
HELLO = WIRE.encode(TextDelta("Hello"), STOP)
STILL_OPEN = "the server sees nobody leave; the connection stays in use"


def _respelt(group: str, name: str, shows: str, *, ends: bool = False) -> Snippet:
    """Return a whole answer in one of the spellings that belong to a framing check."""
    found = {one.name: one for one in respellings(Framing.SSE, group)}
    chunks = found.pop(name).chunks(HELLO.chunks)
    return Snippet(shows, visible(b"".join(chunks), ends=ends), tuple(found))


def _spelled(shows: str, *events: TextDelta | ToolCallDelta | Finish) -> Snippet:
    return Snippet(shows, visible(WIRE.encode(*events).data))


def _pieces(send: Send) -> list[bytes]:
    """Return what each write of a step holds."""
    edges = (0, *send.cuts, len(send.data))
    return [send.data[start:stop] for start, stop in itertools.pairwise(edges)]


RELEASE = {
    "release/break": course(
        "The loop is left after one event, and nothing keeps the stream.",
        server=told(flowing(EVENTS)),
        consumer="takes one event, breaks out of the loop, drops the stream",
        fault=STILL_OPEN,
    ),
    "release/cancel": course(
        "The stream is cancelled before its first event was asked for.",
        server=told(flowing(EVENTS)),
        consumer="gets the stream, reads nothing; cancels its token, or calls close()",
        fault=f"the request went out, and {STILL_OPEN}",
    ),
    "release/close": course(
        "close() is called while a variable still holds the stream.",
        server=told(silent_after(EVENTS, 2)),
        consumer="takes one event, leaves the loop, keeps the stream, calls close()",
        fault=f"close() waits for more of the body; or {STILL_OPEN}",
    ),
    "release/with": course(
        "A with-block is left by `break`, and at its end.",
        server=told(flowing(EVENTS)),
        consumer="with closing(stream): takes one event, breaks",
        fault=f"the block is over, and {STILL_OPEN}",
    ),
    "release/unread": course(
        "next() is never called.",
        server=told(flowing(EVENTS)),
        consumer="gets the stream; closes it, or drops it and lets the collector run",
        fault=f"the request went out, and {STILL_OPEN}",
    ),
    "release/consumer-error": course(
        "The body of the loop raises.",
        server=told(flowing(EVENTS)),
        consumer="with closing(stream): takes one event, raises an error of its own",
        fault=f"another error comes out of the block; or {STILL_OPEN}",
    ),
    "release/twice": course(
        "The stream is used after it was closed.",
        server=told(flowing(EVENTS)),
        consumer="takes one event, calls close(), calls close() again; or asks for another event",
        fault="close() raises the second time; or iterating on raises, gives an event or sends a "
        "second request",
    ),
    "release/blocked": course(
        "The reader waits for a byte that does not come.",
        server=told(silent_after(EVENTS, 2)),
        consumer="waits for the third event; another thread cancels the token or calls close() "
        "(asynchronous: the task is cancelled)",
        fault=f"the reader stays blocked, its stack is shown; or {STILL_OPEN}",
    ),
    "release/finished": Snippet(
        "The end marker is not the end of the body. Whoever stops reading at the marker leaves "
        "the last chunk unread, and the connection can serve no second turn.",
        played(ended_cleanly((Send(HELLO.data),))),
    ),
    "release/failed": course(
        "The error is held, as an `except` block holds it. The turn may also fail by its status, "
        "or by an error event.",
        server=told(without_last_chunk(TWO)),
        consumer="catches the error and looks at it",
        fault="the error's traceback keeps the response alive; the connection stays in use",
    ),
    "release/nothing-left": course(
        "Many streams are left, in every way there is, and then as many again.",
        server=told(bursting(EVENTS)),
        consumer=f"leaves {release._ROUND} streams by break, by close(), by a with-block, unread "
        "and by cancelling; then the same once more",
        fault="the second round adds a thread, a task or a socket for each of its streams",
    ),
    "release/many": course(
        "Many streams are dropped, with the garbage collector on.",
        server=told(bursting(EVENTS)),
        consumer="300 times: takes one event, breaks, drops the stream",
        fault="the pool is full, and a request waits for ever; or a finalizer waits for a lock. "
        "The stack is shown",
    ),
    "release/clean-next": course(
        "A second turn follows an abandoned one on the same model.",
        server=f"{told(left_half(EVENTS, first=1000))}; to the second request "
        f"{told(silent_after(EVENTS, 8))}",
        consumer="takes one event and breaks, or calls close(); streams again",
        fault=f"the second turn begins with what was left of the first: {WIRE.event_text(1001)!r}",
    ),
}

DELIVERY = {
    "delivery/prompt": Snippet(
        "The next event is not sent until this one was taken. A reader that waits for a full "
        "buffer, or for the line after the blank line, waits for ever.",
        steps_shown(
            Send(one_and_a_half(EVENTS)(0)),
            Await(Progress(), 1),
            Send(one_and_a_half(EVENTS)(1)),
            Await(Progress(), 2),
        ),
        ("chunked", "HTTP/1.0", "two events a write"),
    ),
    "delivery/bounded": course(
        "The server sends as fast as it is read.",
        server=f"{delivery._PADDING // 1024} KiB of comments and an event, again and again",
        consumer="takes one event, and then no other",
        fault=f"the adapter reads on, beyond {delivery.SWALLOWED // 1024**2} MiB",
    ),
    "delivery/end": Snippet(
        "The answer is whole, but the body does not end.",
        steps_shown(Send(HELLO.data), Stall()),
    ),
    "delivery/loop": course(
        "Another task counts its turns. What comes next is not sent before it had some more.",
        server="waits for the turns; sends the head, waits, an event, waits, half an event, waits, "
        "the other half",
        consumer="reads the answer, while another task of its event loop wakes every few "
        "milliseconds",
        fault="the adapter holds the event loop, so the other task has no turn and the server says "
        "no more",
    ),
}

_GZIPPED = gzip.compress(EVENTS.event(0) + EVENTS.event(1))
_HALF = EVENTS.event(1)[: len(EVENTS.event(1).rstrip()) // 2 + 3]
_SHORT_TEXT, *_ = corpus.short_bodies(WIRE)
_SHORT_CALL = next(one for one in corpus.short_bodies(WIRE) if one.name == "a short tool call")
_LAST_DIGIT = _SHORT_CALL.data.rindex(b"0}")

TRUNCATION = {
    "truncation/clean": Snippet(
        "Nothing is wrong for HTTP. Only the finish reason and `[DONE]` are missing.",
        played(ended_cleanly(TWO)),
    ),
    "truncation/close-delimited": Snippet(
        "The connection's end is the body's end, whatever the reason for it.",
        played(close_delimited(TWO)),
    ),
    "truncation/closed": Snippet(
        "The connection closes before the last chunk, or inside a chunk.",
        played(inside_chunk(TWO)),
        ("before the last chunk",),
    ),
    "truncation/reset": Snippet(
        "The connection is reset once both events were taken.",
        played(reset(TWO, Progress(), 2)),
    ),
    "truncation/short": Snippet(
        "The head promises more than comes.",
        played(short_of_length(TWO)),
    ),
    "truncation/empty": Snippet(
        "There is nothing to read, or nothing but comments.",
        played(ended_cleanly((Send(WIRE.keep_alive), Send(WIRE.keep_alive)))),
        ("no byte",),
    ),
    "truncation/mid-event": Snippet(
        "The last line is torn, though the HTTP body is whole.",
        played(ended_cleanly((*TWO[:1], Send(_HALF)))),
        ("before the blank line", "before the end of the line"),
    ),
    "truncation/gzip": Snippet(
        "The gzip stream lacks its trailer. The HTTP body is whole.",
        f"{head(Response(headers=(('Content-Encoding', 'gzip'),)))}\n\n"
        f"({len(_GZIPPED) - 8} of {len(_GZIPPED)} bytes: the trailer is missing; then the last "
        "chunk, which ends the body)",
        ("in the middle",),
    ),
    "truncation/boundaries": Snippet(
        "The answer ends at one of the marks: cleanly, by the connection's end, before the last "
        "chunk, inside a chunk, short of its Content-Length, or by a reset.",
        marked(_SHORT_TEXT.chunks, _SHORT_TEXT.complete or 0, "✂"),
        tuple(one.name for one in corpus.incomplete_endings(WIRE)),
    ),
    "truncation/prefix": Snippet(
        "The answer ends after any byte, here inside a number: 3 is not 30.",
        visible(_SHORT_CALL.data[:_LAST_DIGIT]) + " ✂",
    ),
    "truncation/arguments": body(
        "The finish says that the call is whole. Its arguments say that it is not.",
        corpus.cut_argument_bodies(WIRE),
        "arguments cut inside a number, a finish for tool use",
    ),
    "truncation/good-endings": body(
        "An end marker without a finish reason is an end all the same.",
        corpus.good_endings(WIRE),
        "[DONE], no finish",
    ),
}

FINISH = {
    "finish/once-last": body(
        "Three lines belong to the end of this turn. They make one Finish.",
        corpus.whole_bodies(WIRE),
        "text",
    ),
    "finish/reasons": body(
        "The answer was cut off by its limit: the reason is `length`, and never `stop`.",
        corpus.reason_bodies(WIRE),
        "length",
    ),
    "finish/unknown": Snippet(
        "The word is none of the format's.", visible(corpus.unknown_reason_bodies(WIRE)[0].data)
    ),
    "finish/absent": body(
        "An empty reason in mid-stream ends nothing.",
        corpus.absent_reason_bodies(WIRE),
        "an empty reason before the finish",
    ),
    "finish/usage": body(
        "The counts grow from chunk to chunk, and only the last ones count. The 5 cached tokens "
        "are part of the prompt's 28.",
        corpus.usage_bodies(WIRE),
        "usage on every event, growing",
    ),
    "finish/after": body(
        "The turn is over, and goes on.",
        corpus.after_finish_bodies(WIRE),
        "text after the finish",
    ),
    "finish/duplicate": body(
        "The same finish comes twice.",
        corpus.duplicate_bodies(WIRE),
        "the finish twice",
    ),
    "finish/with-content": body(
        "The last piece of the text and the reason share a chunk.",
        corpus.finish_beside_content_bodies(WIRE),
        "finish beside the last text",
    ),
}

CALLS = {
    "calls/parallel": body(
        "The fragments of two calls come in turns; the index tells them apart.",
        corpus.parallel_call_bodies(WIRE),
        "fragments of two tool calls in turns",
    ),
    "calls/index": body(
        "The index is the same, the id is not: two calls.",
        corpus.index_bodies(WIRE),
        "the same index for two calls",
    ),
    "calls/identity": body(
        "The name comes again with every fragment. It is still one name.",
        corpus.identity_bodies(WIRE),
        "the name repeated on later fragments",
    ),
    "calls/empty": body(
        "The call's arguments are `{}`.",
        corpus.empty_argument_bodies(WIRE),
        "arguments null",
    ),
    "calls/reason": body(
        "The reason says stop, and yet there is a call.",
        corpus.tool_reason_bodies(WIRE),
        "a tool call under an ordinary stop",
    ),
    "calls/invalid": body(
        "A brace too many.",
        corpus.invalid_argument_bodies(WIRE),
        'arguments {"a": 1}}',
    ),
    "calls/large": Snippet(
        f"{LARGE:,} bytes of arguments in {len(corpus.large_call_bodies(WIRE)[0].parts)} events; "
        "these "
        "are the first two.",
        visible(b"".join(corpus.large_call_bodies(WIRE)[0].chunks[:2])),
    ),
}

_GREETING = WIRE.encode(TextDelta("Grüße")).data

FRAMING = {
    "framing/chunks": Snippet(
        "One event in writes of seven bytes, each as Python shows it. One of them tears the `ü`.",
        "\n".join(map(repr, _pieces(writes(_GREETING, 7)))),
        ("writes of 1, 2 and 3 bytes", "random cuts", "all at once"),
    ),
    "framing/line-ends": _respelt(
        "line-ends",
        "mixed line ends",
        "One line ends in CR, the next in CR LF.",
    ),
    "framing/comments": _respelt(
        "comments", "comments inside events", "A line that begins with a colon says nothing."
    ),
    "framing/space": _respelt(
        "space", "no space after the colon", "No space stands after the colon."
    ),
    "framing/fields": _respelt(
        "fields", "fields of no meaning", "Only the `data` lines carry the answer."
    ),
    "framing/blank-lines": _respelt(
        "blank-lines",
        "more blank lines",
        "Two blank lines come before the first event, and two more after each.",
        ends=True,
    ),
    "framing/split-data": _respelt(
        "split-data", "data over two lines", "The lines of one event are joined by a line end."
    ),
    "framing/unicode": _spelled(
        "The three bytes in the text are U+2028, as the provider sends it: unescaped.",
        TextDelta("a\u2028b"),
    ),
    "framing/charset": Snippet(
        "The header is wrong, and the body is UTF-8.",
        played(
            Response((Send(_GREETING),), content_type="text/event-stream; charset=iso-8859-1"),
        ),
        ("no charset",),
    ),
    "framing/large": _spelled("One line of 1.2 MB.", TextDelta("long text " * 120_000)),
    "framing/malformed": body(
        "A brace is missing in the second event. The others are good.",
        corpus.malformed_bodies(WIRE),
        "broken JSON between good events",
    ),
    "framing/unknown-event": body(
        "The second event is of a kind that nobody knows.",
        corpus.unknown_bodies(WIRE),
        "a delta of an unknown kind",
    ),
    "framing/any-bytes": Snippet(
        "Events that are JSON, but none of the provider's. Bytes without any sense follow.",
        visible(b"".join(framing._odd_events(Framing.SSE)[:7])),
    ),
    "framing/bom": _respelt("bom", "a byte order mark", "Three bytes stand before the first line."),
    "framing/invalid-utf8": Snippet(
        "The byte FF is in no UTF-8 text.",
        visible(with_bad_byte(HELLO.chunks[0])),
    ),
    "framing/empty-data": Snippet(
        "An event whose data is empty comes before each event.",
        visible(b"".join(b"data:\n\n" + chunk for chunk in HELLO.chunks)),
    ),
}

REFUSAL = WIRE.error_response(429)
ASK_LATER = answered(REFUSAL, ("Retry-After", "3600"))

FAULTS = {
    "faults/status": Snippet(
        "The server refuses; the error has to say 429 and the words.",
        played(answered(REFUSAL)),
        (*(f"HTTP {status}" for status in (400, 401, 500, 529)), "HTTP 502 with a page", "10 MB"),
    ),
    "faults/retry-after": Snippet(
        "The server refuses, and says when to come again. A second request within the hour comes "
        "early; a turn that has not ended after the deadline is asleep.",
        played(ASK_LATER),
        ("1 second", "a date"),
    ),
    "faults/not-a-stream": Snippet(
        "HTTP said 200; a proxy's page came.",
        played(answered(html_page(200, "Please log in"))),
        ("an error as JSON", "an answer as JSON, not streamed"),
    ),
    "faults/error-event": body(
        "HTTP said 200, and two pieces of text came.",
        corpus.error_bodies(WIRE),
        "an error object, after 2 texts",
    ),
    "faults/no-repeat": course(
        "A second request would be answered whole.",
        server=f"{told(Response(TWO))}; once the consumer has them, the connection closes; "
        "other events to every further request",
        consumer="reads to the end",
        fault="gets the events of the first answer, then those of the second",
    ),
    "faults/unreachable": course(
        "No answer comes, or none in HTTP.",
        server="does not listen; closes or resets the connection before any header; closes within "
        "the status line; says 'SSH-2.0-OpenSSH_9.6'",
        consumer="streams one turn",
        fault="an exception of the HTTP client comes out, instead of a ModelError",
    ),
    "faults/idle": course(
        "The connection stands, and nothing comes.",
        server="says nothing at all; or the headers, then nothing; or one event, then nothing; or "
        "six events with short pauses, which take longer than idle_timeout in all",
        consumer="reads to the end",
        fault="after idle_timeout and the deadline the adapter still waits; or it gives up an "
        "answer that was never silent for so long",
    ),
    "faults/redirect": Snippet(
        "The Location is at another origin, which looks for the key in what it is sent.",
        played(redirect(307, "http://127.0.0.1:9999/elsewhere")),
        (
            *(f"HTTP {status}" for status in (301, 302, 303, 308)),
            "a Location without a scheme, which begins with two slashes",
            "a redirect to the provider itself first",
        ),
    ),
    "faults/egress": course(
        "Every connection is watched, whoever opens it. What goes elsewhere is refused.",
        server=told(ended_cleanly(TWO)),
        consumer="streams one turn",
        fault="the adapter, or a library under it, connects to another address than base_url's",
    ),
    "faults/secret": course(
        "The error is looked at, and what it was raised from: str() and repr() of each.",
        server="refuses with 401, answers with a page, breaks off, or does not listen",
        consumer="streams one turn, catches the error",
        fault="the error's text has the api_key in it, as in a URL that the HTTP client quotes",
    ),
}

_SUBJECT = Target(new_model=object, event=WIRE.event, wire=WIRE)


def _asked(cases: Iterable[str]) -> str:
    return "the request has in it, each in a case of its own:\n" + "\n".join(
        f"  {case}" for case in cases
    )


TOOLS = {
    "tools/config": Snippet(
        "Nothing of it is sent. A bad name stands beside a good one.",
        _asked([*bad_names(_SUBJECT, WIRE.tool_names.refused), *dict(bad_choices(_SUBJECT))]),
    ),
    "tools/accepted": Snippet(
        "All of it is sent, each in one request.",
        _asked([*good_names(_SUBJECT), *dict(good_choices(_SUBJECT))]),
    ),
    "test_refused_tool_names": course(
        "The names are the test case's own: `refused_tool_names`.",
        server="an ordinary answer, if it is asked",
        consumer="streams a request that declares a tool of the name, one request a name",
        fault="the server has a request; or the error is no config_error, or does not quote the "
        "name",
    ),
    "test_accepted_tool_names": course(
        "The names are the test case's own: `accepted_tool_names`.",
        server="an ordinary answer",
        consumer="streams a request that declares a tool of the name, one request a name",
        fault="the server has no request, or two; or the name is not in it as it was given",
    ),
    "tools/traps": Snippet(
        "As Python spells them. None is in `[a-zA-Z0-9_-]{1,64}`, and each is to some pattern that "
        "looks like it.",
        _asked(bad_names(_SUBJECT, WIRE.tool_names.traps)),
    ),
    "tools/history": course(
        "The model made two names up in an earlier turn.",
        server="an ordinary answer, if it is asked",
        consumer=f"streams requests that replay calls of {' and '.join(map(repr, MADE_UP))}, "
        "beside good ones, in one message and in two, each call with a result; and of a name that "
        "is too long",
        fault="one of the names is sent as it is; or the same name in two ways, or both in the "
        "same; or a result without its call",
    ),
}

ISOLATION = {
    "isolation/interleaved": course(
        "Two streams of one model, read on one thread.",
        server=f"{WIRE.event_text(0)!r}, {WIRE.event_text(1)!r} … to the first request, "
        f"{WIRE.event_text(1000)!r}, {WIRE.event_text(1001)!r} … to the second; neither more "
        "than one event ahead of the other",
        consumer="takes an event of the first, one of the second, one of the first …",
        fault=f"the first stream gives {WIRE.event_text(1000)!r}",
    ),
    "isolation/parallel": course(
        "Eight streams of one model, read on eight threads, or by eight tasks.",
        server="answers none before all eight requests are there; then each gets words of its own",
        consumer="takes six events of each stream at the same time",
        fault="a stream gives a word of another one's answer, or the calls of two turns are mixed",
    ),
    "isolation/reuse": course(
        "One model, five turns.",
        server=f"{told(bad_request())}; two answers that fall silent inside an event; one that "
        "ends inside an event; an ordinary one",
        consumer="reads the error; cancels the second turn, closes the third, reads the fourth to "
        "its end; reads the last",
        fault="the last turn raises, or begins with what another one left in a buffer",
    ),
    "isolation/request": course(
        "The request is compared with a copy that was made before. It has a system message, a "
        "call, its result and a tool in it.",
        server=told(ended_cleanly(TWO)),
        consumer="streams the request; then two others, one after the other and side by side",
        fault="its messages or its tools are no longer what they were; or what one of the two said "
        "is sent for the other",
    ),
    "isolation/loops": course(
        "One model under two event loops, as of two calls of `asyncio.run()`.",
        server="a whole answer to each; then two streams, neither more than one event ahead of the "
        "other",
        consumer="reads an answer under one event loop, which is then closed, and one under the "
        "other; then one under each, in turns",
        fault="the second answer never comes, or ends without an event, or its error blames the "
        "provider",
    ),
}

ON_THE_WIRE: dict[str, Snippet] = {
    **RELEASE,
    **DELIVERY,
    **TRUNCATION,
    **FINISH,
    **CALLS,
    **FRAMING,
    **FAULTS,
    **TOOLS,
    **ISOLATION,
}
"""What brings the fault of a check out, by its id, or its test method where two share the id."""
