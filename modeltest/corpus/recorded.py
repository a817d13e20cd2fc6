"""Bodies of the author's own, of which nobody knows what they mean, and small changes to them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from modeltest.encoding import Body, Framing, Role, Unsupported, WirePart

if TYPE_CHECKING:
    from modeltest.corpus.reencode import ReEncoding


_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")
_ONE_EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
_ONE_LINE = re.compile(rb".*\n|.+\Z")
_ALL = re.compile(rb".+", re.DOTALL)


def recorded_body(name: str, data: bytes, framing: Framing) -> Body:
    """Return an author's body, its events separated as far as they can be."""
    events = {Framing.SSE: _ONE_EVENT, Framing.NDJSON: _ONE_LINE}.get(framing, _ALL)
    parts = tuple(WirePart(Role.OTHER, piece) for piece in events.findall(data))
    return Body(name, parts, (), framing)


def single_events(data: bytes) -> list[bytes]:
    """Return the server-sent events in `data`, one each."""
    found: list[bytes] = _ONE_EVENT.findall(data)
    return found


def re_encoded(body: Body, change: ReEncoding) -> Body:
    """Return `body` in another encoding; an event that is cut off at its end stays as it is."""
    whole = body.parts
    if body.framing is Framing.SSE and whole and not whole[-1].data.endswith(_BLANK_LINES):
        whole = whole[:-1]
    if not whole:
        return body
    changed = change.body(body.renewed(body.name, whole))
    return changed.renewed(changed.name, (*changed.parts, *body.parts[len(whole) :]))


def with_event(body: Body, number: int, event: bytes, name: str = "") -> Body:
    """Return `body` with another event in place of the one with this number."""
    parts = list(body.parts)
    parts[number] = WirePart(parts[number].role, event)
    return body.renewed(name or body.name, tuple(parts))


def with_text(events: Sequence[bytes], old: str, new: str, whose: str) -> tuple[bytes, ...]:
    """Return `events` with the text `old`, which stands in one of them, replaced by `new`.

    Args:
        events: each with its frame.
        old: the text as it was read.
        new: the text to be read.
        whose: what the events are, for the error.

    Raises:
        Unsupported: it cannot be found in the JSON of one of them.
    """
    for number, event in enumerate(events):
        for escaped in (False, True):
            needle = json.dumps(old, ensure_ascii=escaped).encode()
            if old and event.count(needle) == 1:
                text = json.dumps(new, ensure_ascii=False).encode()
                return (*events[:number], event.replace(needle, text), *events[number + 1 :])
    raise Unsupported(f"the text of {whose} cannot be found in its JSON: give a wire")


def with_broken_json(event: bytes) -> bytes:
    """Return an event whose JSON is cut short; its frame is whole.

    Raises:
        Unsupported: it holds no JSON object.
    """
    broken = re.sub(rb"}(\s*)\Z", rb"\1", event)
    if broken == event:
        raise Unsupported("the event holds no JSON object that could be broken: give a wire")
    return broken


def with_bad_byte(event: bytes) -> bytes:
    """Return the event with a byte that is no UTF-8 in the middle of its last JSON string."""
    at = event.rstrip(b" \r\n}]").rfind(b'"')
    return event[:at] + b"\xff" + event[at:]
