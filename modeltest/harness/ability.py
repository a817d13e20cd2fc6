"""What an adapter may lack, and why a check does not apply to one."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class Ability(StrEnum):
    """What an adapter may do, or lack; the value stands in `lacks`."""

    TOOLS = "tools"
    USAGE = "usage"
    REASONS = "reasons"
    REASONING = "reasoning"
    IMAGES = "images"
    SYSTEM = "system"
    HISTORY = "history"


class Cause(StrEnum):
    """Why a check does not apply; the value is how the line at the end of a class says it."""

    LACKS = "the adapter lacks what it is about"
    FORMAT = "not for this format"
    ATTRIBUTE = "needs an attribute of the test case"
    OTHER = "nothing to judge"


NOT_FOR_THIS_FORMAT = f"{Cause.FORMAT}: "
"""What stands before the reason where the provider's format leaves nothing to judge."""


def lacking(abilities: Iterable[str]) -> str:
    """Say what an adapter lacks."""
    return f"the adapter lacks {' and '.join(abilities)}"


def lacked(about: Iterable[str], lacks: Collection[str]) -> tuple[str, ...]:
    """Return what of `about` is lacked, in order, each once."""
    return tuple(dict.fromkeys(str(one) for one in about if one in lacks))
