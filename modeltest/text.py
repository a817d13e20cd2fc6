"""Shortening what is shown in a report: one way for texts, one for the `repr` of a value."""

from __future__ import annotations

import functools
import reprlib


def shortened(text: str, at_most: int = 300) -> str:
    """Return a text, its end left out and its length named, when it has more characters."""
    return text if len(text) <= at_most else f"{text[:at_most]}… ({len(text)} characters)"


def in_one_line(text: str, at_most: int = 300) -> str:
    """Return a text as it fits into a sentence: no line ends, and shortened."""
    return shortened(" ".join(text.split()), at_most)


def short_repr(value: object, at_most: int = 200) -> str:
    """Return the `repr` of any value, even if it raises; the middle of a long one is left out.

    It looks at no more of a large value than it shows.
    """
    return _repr(at_most).repr(value)


@functools.cache
def _repr(at_most: int) -> reprlib.Repr:
    made = reprlib.Repr()
    made.maxother = made.maxlong = at_most
    made.maxstring = at_most + 2  # its quotes
    return made
