"""What no stream may give, noted while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

_MOST = 10
"""Faults after which nothing more need be read."""


class Fault(NamedTuple):
    """Something that no stream may give: what it is, in words, and how to fix it."""

    text: str
    fix: str


@dataclass
class Faults:
    """What the streams of a model gave that no stream may give.

    Attributes:
        found: some of it; a stream may have one in each event.
        full: whether there is so much that nothing more need be read.
    """

    found: list[Fault] = field(default_factory=list)
    full: bool = False

    def note(self, text: str, fix: str) -> None:
        """Note one more."""
        fault = Fault(text, fix)
        if fault not in self.found:
            self.found.append(fault)
        self._count += 1
        self.full |= self._count >= _MOST

    _count: int = field(default=0, init=False, repr=False)
