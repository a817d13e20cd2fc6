"""Making a body small that shows a fault: who reads the failure reads the bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_TRIES = 150
"""Bodies that are tried to make one small."""


def smallest(body: bytes, still_fails: Callable[[bytes], bool], tries: int = _TRIES) -> bytes:
    """Return a part of `body` that still fails, as small as so many tries make it.

    Lines are left out first, then bytes; what is left stays in its order. The same call gives the
    same part.

    Args:
        body: it fails.
        still_fails: tells whether another one fails in the same way.
        tries: calls of it, at most.
    """
    budget = _Budget(still_fails, tries)
    small = _without_most(body.splitlines(keepends=True), budget)
    return b"".join(_without_most([bytes([byte]) for byte in b"".join(small)], budget))


class _Budget:
    """So many tries, and no more."""

    def __init__(self, still_fails: Callable[[bytes], bool], tries: int) -> None:
        self._still_fails = still_fails
        self.left = tries

    def fails(self, pieces: Sequence[bytes]) -> bool:
        self.left -= 1
        return self._still_fails(b"".join(pieces))


def _without_most(pieces: list[bytes], budget: _Budget) -> list[bytes]:
    """Leave out runs of pieces, long ones first, as long as it fails without them."""
    size = len(pieces)
    while size and pieces:
        # The last run first: what is left out moves none of the others.
        for start in range(max(0, len(pieces) - size), -1, -size):
            if not budget.left:
                return pieces
            fewer = pieces[:start] + pieces[start + size :]
            if budget.fails(fewer):
                pieces = fewer
        size //= 2
    return pieces
