"""Whether something that a reader yields is one of the contract's events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from modeltest.consumer import EXACT, is_event
from modeltest.interface import Finish

DELTAS: dict[type[Any], Callable[[Any], bool]] = {
    kind: fits for kind, fits in EXACT.items() if kind is not Finish
}
"""Kind of delta → whether the fields of one are of exactly the right types."""

__all__ = ["DELTAS", "is_event"]
