"""Bytes, values and endings as a failure shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.harness import Evidence
from modeltest.text import shortened
from modeltest.threads import ending_of

if TYPE_CHECKING:
    from modeltest.encoding import Body
    from modeltest.harness import Transcript


_SHOWN = 300
"""Characters of a body or an answer that a failure shows."""


def quoted(value: object, limit: int = _SHOWN) -> str:
    """Return the `repr` of a value, its end left out where it is long."""
    text = repr(str(value)) if isinstance(value, str) else repr(value)
    return shortened(text, limit)


def bytes_shown(body: Body) -> Evidence:
    """Return a body's bytes as evidence, shortened."""
    data = body.data
    if len(data) > _SHOWN:
        half = _SHOWN // 2
        return Evidence("wire", f"{data[:half]!r} … {data[-half:]!r} ({len(data)} bytes)")
    return Evidence("wire", repr(data))


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
