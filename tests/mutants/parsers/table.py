"""Which checks a mutant fails: written beside the mutant, collected here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class Row:
    """One mutant.

    Attributes:
        must: ids of the checks that catch it.
        may: ids of others that its fault may show in; a new check is not named here until it does.
        says: a pattern that the text of the first of `must` has in it; any text when empty.
        served: the fault is of the adapter, or of what it makes of a response: it shows over HTTP
            alone.
        in_memory_only: the fault shows where the iterator is looked at, which no adapter hands out.
    """

    must: tuple[str, ...]
    may: tuple[str, ...]
    says: str
    served: bool
    in_memory_only: bool

    @property
    def allowed(self) -> set[str]:
        """The ids of all checks that may fail."""
        return {*self.must, *self.may}


BROKEN: dict[type, Row] = {}
"""Mutant → what it fails, in the order in which they are written."""


def fails(
    *must: str,
    may: Iterable[str] = (),
    says: str = "",
    served: bool = False,
    in_memory_only: bool = False,
) -> Callable[[T], T]:
    """Enter a mutant: these checks must fail for it; see `Row`."""

    def enter(mutant: T) -> T:
        BROKEN[mutant] = Row(must, tuple(may), says, served, in_memory_only)
        return mutant

    return enter
