"""A secret, recognised in every spelling in which it may travel, and kept out of texts."""

from __future__ import annotations

import base64
import json
import re
from functools import cached_property
from urllib.parse import quote, quote_plus

from modeltest.redaction import REDACTED

SHORTEST = 8
"""Characters below which a text is found by chance where no secret is."""


class Secret:
    """A text that must not turn up where it does not belong."""

    def __init__(self, value: str) -> None:
        """Take the secret; one of fewer than `SHORTEST` characters is recognised nowhere."""
        self._value = value

    def __repr__(self) -> str:
        return f"<Secret of {len(self._value)} characters>"

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The secret as it is, in a URL, in JSON, in a `repr` and in Base64; the longest first.

        In Base64 (as in Basic authentication) the letters depend on where it stands among the
        other bytes: one spelling for each of the three places, without the letters it shares
        with its neighbours.
        """
        value = self._value
        if len(value) < SHORTEST:
            return ()
        plain = {value, " ".join(value.split()), quote(value, safe=""), quote_plus(value)}
        plain |= {json.dumps(value)[1:-1], ascii(value)[1:-1], repr(value.encode())[2:-1]}
        encoded = {_in_base64(value.encode(), before) for before in range(3)}
        urlsafe = {text.replace("+", "-").replace("/", "_") for text in encoded}
        found = {*plain, repr(value)[1:-1], *encoded, *urlsafe}
        long = (spelling for spelling in found if len(spelling) >= SHORTEST)
        return tuple(sorted(long, key=len, reverse=True))

    def is_in(self, text: str | bytes) -> bool:
        """Return whether `text` holds the secret, in whichever spelling and case of letters."""
        text = text if isinstance(text, str) else text.decode("utf-8", "replace")
        text = text.lower()  # percent-encoding has both cases, header folding may make another
        return any(spelling.lower() in text for spelling in self.spellings)

    def redact(self, text: str) -> str:
        """Return `text` without the secret, and without what shortening has left of it."""
        for spelling in self.spellings:
            text = _without(text, spelling)
        for spelling in self.spellings:
            text = _without_ends(text, spelling)
        return text


def _in_base64(value: bytes, before: int) -> str:
    """Return the letters that `value` alone decides, with so many bytes before it."""
    text = base64.b64encode(bytes(before) + value).decode()
    return text[(before * 8 + 5) // 6 : (before + len(value)) * 8 // 6]


def _without(text: str, part: str) -> str:
    """Return `text` without `part`, whatever the case of its letters."""
    if part.lower() not in text.lower():
        return text
    return re.sub(re.escape(part), REDACTED, text, flags=re.IGNORECASE)


def _without_ends(text: str, value: str) -> str:
    """Return `text` without the beginnings and the ends of `value` that are half of it or more.

    And without a shorter beginning where the text was cut.
    """
    half = max(SHORTEST, (len(value) + 1) // 2)
    for length in range(len(value) - 1, half - 1, -1):
        for part in (value[:length], value[-length:]):
            text = _without(text, part)
    if "…" in text:
        for length in range(half - 1, _SHORT_BEGINNING - 1, -1):
            text = _without(text, f"{value[:length]}…")
    return text


_SHORT_BEGINNING = 3
"""Characters of a secret's beginning that are removed where a text was cut."""
