"""A secret, recognised in every spelling in which it may travel, and kept out of texts."""

from __future__ import annotations

import base64
import json
from functools import cached_property
from urllib.parse import quote, quote_plus

from modeltest.backend import REDACTED

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
        plain = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
        encoded = {_in_base64(value.encode(), before) for before in range(3)}
        urlsafe = {text.replace("+", "-").replace("/", "_") for text in encoded}
        return tuple(sorted({*plain, repr(value)[1:-1], *encoded, *urlsafe}, key=len, reverse=True))

    def is_in(self, text: str | bytes) -> bool:
        """Return whether `text` holds the secret, in whichever spelling and case of letters."""
        text = text if isinstance(text, str) else text.decode("utf-8", "replace")
        text = text.lower()  # percent-encoding has both cases, header folding may make another
        return any(spelling.lower() in text for spelling in self.spellings)

    def redact(self, text: str) -> str:
        """Return `text` without the secret, and without what shortening has left of it."""
        for spelling in self.spellings:
            text = text.replace(spelling, REDACTED)
        half = max(SHORTEST, (len(self._value) + 1) // 2)
        if len(self._value) > half:
            text = _without_ends(text, self._value, half)
        return text


def _in_base64(value: bytes, before: int) -> str:
    """Return the letters that `value` alone decides, with so many bytes before it."""
    text = base64.b64encode(bytes(before) + value).decode()
    return text[(before * 8 + 5) // 6 : (before + len(value)) * 8 // 6]


def _without_ends(text: str, value: str, half: int) -> str:
    """Return `text` without the beginnings and the ends of `value` of `half` letters or more."""
    for length in range(len(value) - 1, half - 1, -1):
        for part in (value[:length], value[-length:]):
            text = text.replace(part, REDACTED)
    return text
