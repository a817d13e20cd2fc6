"""Other encodings of the same events: what a reader must not notice.

The rules are those of server-sent events (the WHATWG specification); lines of JSON and a JSON array
leave fewer freedoms, and a binary event stream leaves none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING

from modeltest.encoding import Framing, WirePart

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from modeltest.encoding import Body


_EOL = re.compile(rb"\r\n|\r|\n")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[,:{\[]', re.DOTALL)


def _same(event: bytes) -> bytes:
    return event


@dataclass(frozen=True, slots=True)
class ReEncoding:
    """One other encoding.

    Attributes:
        check: the framing/* check that it belongs to, such as "line-ends".
        name: what it changes, such as "CRLF".
        change: makes the bytes of one whole event into other bytes that mean the same.
        prefix: bytes that may stand before the first event.
    """

    check: str
    name: str
    change: Callable[[bytes], bytes] = _same
    prefix: bytes = b""

    def chunks(self, events: Iterable[bytes]) -> tuple[bytes, ...]:
        """Return the events of a body, one a chunk, in this encoding."""
        changed = [self.change(event) for event in events]
        return (self.prefix + changed[0], *changed[1:]) if changed else (self.prefix,)

    def body(self, body: Body) -> Body:
        """Return `body` in this encoding; its parts and what it means stay.

        Its parts keep their roles, so it can be cut between events as before.
        """
        chunks = self.chunks(body.chunks)
        parts = tuple(WirePart(p.role, c) for p, c in zip(body.parts, chunks, strict=True))
        return body.renewed(f"{body.name}, {self.name}", parts)


def re_encodings(framing: Framing, check: str = "") -> tuple[ReEncoding, ...]:
    """Return the other encodings that `framing` allows, those of one check if it is named."""
    return tuple(found for found in _ALL[framing] if check in ("", found.check))


def re_encoded_bodies(bodies: Sequence[Body]) -> SearchStrategy[bytes]:
    """Return a strategy for other encodings of these bodies, which mean the same.

    Line ends, comments, a byte order mark, the order of fields: what the framing leaves free. A
    body whose framing leaves nothing free is given as it is.

    Raises:
        ValueError: there is no body.
    """
    from hypothesis import strategies as st

    def encodings(body: Body) -> list[bytes]:
        return [other.body(body).data for other in re_encodings(body.framing)] or [body.data]

    if not bodies:
        raise ValueError("expected at least one body to make others of, got none")
    return st.sampled_from([data for body in bodies for data in encodings(body)])


def _lines(event: bytes) -> list[bytes]:
    """Return the event's lines without their ends; the last, unfinished one is mostly empty."""
    return _EOL.split(event)


def _end_with(*ends: bytes) -> Callable[[bytes], bytes]:
    """Return a change that gives each line the next of `ends`; CRLF to an empty one.

    Were an empty line to end in LF after a line that ends in CR, the two would be one CRLF.
    """

    def change(event: bytes) -> bytes:
        *lines, rest = _lines(event)
        if len(ends) == 1:
            return b"".join(line + ends[0] for line in lines) + rest
        pairs = zip(lines, cycle(ends), strict=False)
        return b"".join(line + (end if line else b"\r\n") for line, end in pairs) + rest

    return change


def _each_line(change: Callable[[bytes], Sequence[bytes]]) -> Callable[[bytes], bytes]:
    """Return a change that puts lines in place of each line that is not empty."""

    def change_event(event: bytes) -> bytes:
        *lines, rest = _lines(event)
        changed = [new for line in lines for new in (change(line) if line else (line,))]
        return b"".join(line + b"\n" for line in changed) + rest

    return change_event


def _without_space(line: bytes) -> tuple[bytes, ...]:
    # A second space belongs to the value; the first is not part of it.
    name, _, value = line.partition(b": ")
    return (line,) if not value or value.startswith(b" ") else (name + b":" + value,)


def _two_spaces(line: bytes) -> tuple[bytes, ...]:
    # The second space becomes part of the value: harmless before JSON only.
    return (line.replace(b"data:", b"data: ", 1) if line.startswith(b"data: {") else line,)


def _split_data(line: bytes) -> tuple[bytes, ...]:
    """Return a data line of JSON as two: the line end between them is white space to JSON."""
    if not line.startswith(b"data: {"):
        return (line,)
    gaps = [found.end() for found in _TOKEN.finditer(line, 6) if not found[0].startswith(b'"')]
    at = min(gaps, key=lambda gap: abs(gap - len(line) // 2))
    return (line[:at], b"data: " + line[at:])


def _with_comments(line: bytes) -> tuple[bytes, ...]:
    return (b":", line, b": ping")


def _comment_after(event: bytes) -> bytes:
    return event + b": keep-alive\n\n"


def _with_fields(event: bytes) -> bytes:
    """Return the event with fields that change nothing, its type after its data."""
    *lines, rest = _lines(event)
    kinds = [line for line in lines if line.startswith(b"event:")] or [b"event: message"]
    data = [line for line in lines if line and not line.startswith(b"event:")]
    before, between = [b"id: 1", b"foo: bar"], [b"retry: 10", b"foo"]
    return b"\n".join([*before, *data, *between, *kinds, b"", rest]) if data else event


def _blank_lines_after(event: bytes) -> bytes:
    return event + b"\n\n"


_ALL: dict[Framing, tuple[ReEncoding, ...]] = {
    Framing.SSE: (
        ReEncoding("line-ends", "LF", _end_with(b"\n")),
        ReEncoding("line-ends", "CRLF", _end_with(b"\r\n")),
        ReEncoding("line-ends", "CR", _end_with(b"\r")),
        ReEncoding("line-ends", "mixed line ends", _end_with(b"\r", b"\n", b"\r\n")),
        ReEncoding("comments", "comments inside events", _each_line(_with_comments)),
        ReEncoding("comments", "comments between events", _comment_after),
        ReEncoding("comments", "many comments first", prefix=b": ping\n\n" * 300),
        ReEncoding("space", "no space after the colon", _each_line(_without_space)),
        ReEncoding("space", "two spaces after the colon", _each_line(_two_spaces)),
        ReEncoding("fields", "fields of no meaning", _with_fields),
        ReEncoding("blank-lines", "more blank lines", _blank_lines_after, prefix=b"\n\n"),
        ReEncoding("split-data", "data over two lines", _each_line(_split_data)),
        ReEncoding("bom", "a byte order mark", prefix=b"\xef\xbb\xbf"),
    ),
    Framing.NDJSON: (
        ReEncoding("line-ends", "CRLF", _end_with(b"\r\n")),
        ReEncoding("blank-lines", "empty lines", _blank_lines_after),
    ),
    Framing.JSON_ARRAY: (
        ReEncoding("line-ends", "CRLF", _end_with(b"\r\n")),
        ReEncoding("line-ends", "LF", _end_with(b"\n")),
        ReEncoding("blank-lines", "white space between elements", _blank_lines_after),
    ),
    Framing.EVENT_STREAM: (),
}
