"""Bytes, values and endings as a failure shows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from modeltest.harness import Evidence
from modeltest.text import shortened
from modeltest.threads import ending_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeltest.encoding import Body, Role
    from modeltest.harness import Transcript


_SHOWN = 300
"""Characters of a body or an answer that a failure shows."""


def quoted(value: object, limit: int = _SHOWN) -> str:
    """Return the `repr` of a value, its end left out where it is long."""
    text = repr(str(value)) if isinstance(value, str) else repr(value)
    return shortened(text, limit)


def bytes_shown(body: Body, *roles: Role, at: int | None = None) -> Evidence:
    """Return a body's bytes as evidence; of a long one those in question.

    Args:
        body: the body.
        roles: of the events in question, the likeliest first; by default what cannot be read,
            an error, or how the turn ends.
        at: the byte in question, where that is known.
    """
    data = body.data
    if len(data) <= _SHOWN:
        return Evidence("wire", repr(data))
    where = _event_of(body, roles or _IN_QUESTION) if at is None else (at - _SHOWN // 3, at)
    return Evidence("wire", excerpt(data, *where))


def excerpt(data: bytes, start: int, end: int) -> str:
    """Return the bytes from one place to another, or some more, and where they are."""
    start = max(0, min(start - _BEFORE, len(data) - _SHOWN))
    end = min(len(data), max(start + _SHOWN, min(end, start + 2 * _SHOWN)))
    before, after = "… " * (start > 0), " …" * (end < len(data))
    return f"{before}{data[start:end]!r}{after} (bytes {start} to {end} of {len(data)})"


def differing(wanted: str, got: str) -> tuple[str, str]:
    """Return two texts as a failure shows them: long ones from where they begin to differ."""
    start = max(0, _alike(wanted, got) - _BEFORE)
    if start == 0 or max(len(wanted), len(got)) <= _SHOWN:
        return shortened(wanted), shortened(got)
    return f"… {shortened(wanted[start:])}", f"… {shortened(got[start:])}"


def _alike(wanted: str, got: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(wanted, got, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(wanted), len(got)))


_BEFORE = 40
"""Bytes, or characters, that are shown before the place in question."""


def place_of_difference(data: bytes, wanted: str, got: str) -> int | None:
    """Return where in `data` a text begins to differ from what was made of it; None if unknown."""
    alike = _alike(wanted, got)
    # An event may begin anywhere in a piece: what stands in one is found.
    for start, end in ((0, 12), (0, 6), (0, 3), (-4, 1), (-2, 1), (0, 1)):
        first = max(0, alike + start)
        piece = wanted[first : alike + end]
        found = _find(data, piece, 1 + wanted[:first].count(piece)) if piece else -1
        if found >= 0:
            return found
    return None


def _find(data: bytes, piece: str, times: int) -> int:
    """Return where a text stands in JSON for the n-th time; -1 if it does not."""
    at = -1
    for spelled in dict.fromkeys((json.dumps(piece, ensure_ascii=False), json.dumps(piece))):
        at = -1
        for _ in range(times):
            at = data.find(spelled[1:-1].encode("utf-8", "replace"), at + 1)
            if at < 0:
                break
        else:
            return at
    return at


_IN_QUESTION = ("malformed", "error", "finish")
"""Roles of events, in words: this module is below what knows the format."""


def _event_of(body: Body, roles: Sequence[Role | str]) -> tuple[int, int]:
    """Return where the first event of one of the roles is; the end where there is none."""
    for role in roles:
        number = next((n for n, part in enumerate(body.parts) if part.role == role), None)
        if number is not None:
            return (0, *body.boundaries)[number], body.boundaries[number]
    return len(body.data), len(body.data)


def around(data: bytes, at: int) -> str:
    """Return the bytes before and after a place in `data`."""
    before, after = data[max(0, at - _AROUND) : at], data[at : at + _AROUND]
    place = f"byte {at} of {len(data)}: {'…' * (at > _AROUND)}{before!r}"
    return f"{place} | {after!r}{'…' * (at + _AROUND < len(data))}" if after else place


_AROUND = 60
"""Bytes on each side of a place that a failure shows."""


def ending(log: Transcript) -> str:
    """Say how a stream ended."""
    return ending_of(log.error, ended=log.ended)
