"""Bodies are made once: they never change, and a run asks for the same ones again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from modeltest.encoding import Body, WireFormat


Corpus = Callable[["WireFormat"], "tuple[Body, ...]"]
"""What a check asks for: the bodies of one kind, in a wire's format."""


def once(make: Corpus) -> Corpus:
    """Return `make` with what it returned kept for as long as there is the wire."""
    # Weak, so that a run of many test cases keeps no more than the wires that it has.
    made: WeakKeyDictionary[WireFormat, tuple[Body, ...]] = WeakKeyDictionary()

    @wraps(make)
    def kept(wire: WireFormat) -> tuple[Body, ...]:
        if type(wire).__hash__ is None:
            return make(wire)  # such as a format that is a dataclass
        if wire not in made:
            made[wire] = make(wire)
        return made[wire]

    return kept
