"""The content that the bodies of every format are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modeltest.interface import TextDelta

TEXT = (TextDelta("Hello"), TextDelta(", "), TextDelta("world!"))
"""An answer in three deltas."""

ALPHABETS = tuple(
    TextDelta(text)
    for text in (
        "Gr\u00fc\u00dfe, ",
        "\u4e16\u754c ",
        "\U0001f30d\u200d\U0001f525 ",  # two characters of four bytes, joined by one of three
        "e\u0301 \U0001f1f3\U0001f1f4",  # a combining accent; a flag of two characters
        "\n",  # nothing but white space
        "ha",
        "ha",  # the same as the one before
    )
)
"""An answer in characters of two, three and four bytes, with deltas that look dispensable."""

ARGUMENTS: Mapping[str, Any] = {
    "city": "Z\u00fcrich \u4e16 \U0001f326",
    "note": 'a "b" {c}\\',
    "days": 30,
}
"""Arguments with all that trips a reader: characters of several bytes; quotes, braces and a
backslash inside a string; a number at the end."""

CUT_ARGUMENTS: Mapping[str, str] = {
    "inside a string": '{"city": "Par',
    "inside a number": '{"city": "Paris", "days": 3',
    "after a pair": '{"city": "Paris", ',
    "after a brace": "{",
}
"""Where arguments are cut → what is left of them."""

INVALID_ARGUMENTS = ("no json", '{"a": 1}}', '{"a": 1}{"b": 2}', "[1]", '{"a": NaN}')
"""Arguments that are no JSON object."""
