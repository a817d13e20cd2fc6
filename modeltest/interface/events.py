"""What an adapter yields: deltas, and one `Finish`.

All events are frozen, compare by value and carry no reference to the connection they came from.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import Any


class FinishReason(StrEnum):
    """Why the model stopped, in words that no provider owns.

    A provider's word outside this set is passed through as a plain `str`; it then equals
    `Finish.raw`.
    """

    STOP = "stop"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    FILTERED = "filtered"


def _concise(event: Any) -> str:
    """Return the `repr` of an event without what it leaves at its default: reports show many."""
    given = ((field, getattr(event, field.name)) for field in fields(event))
    said = (
        f"{field.name}={_plain(value)!r}"
        for field, value in given
        if field.default is MISSING or value != field.default
    )
    return f"{type(event).__name__}({', '.join(said)})"


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, StrEnum) else value


@dataclass(frozen=True, slots=True, repr=False)
class Usage:
    """Token counts of one turn. The four are disjoint: their sum is what was processed.

    Attributes:
        input_tokens: prompt tokens that were neither read from nor written to a cache.
        output_tokens: generated tokens, reasoning included.
        cache_read_tokens: prompt tokens read from the provider's cache.
        cache_write_tokens: prompt tokens written to the provider's cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def counts(self) -> dict[str, int]:
        """Return the four counts by name, in declaration order."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_tokens": self.cache_read_tokens,
            "cache_write_tokens": self.cache_write_tokens,
        }

    __repr__ = _concise


@dataclass(frozen=True, slots=True, repr=False)
class TextDelta:
    """A piece of the answer's text."""

    text: str

    __repr__ = _concise


@dataclass(frozen=True, slots=True, repr=False)
class ReasoningDelta:
    """A piece of the model's reasoning.

    Attributes:
        text: readable reasoning, appended to what came before.
        signature: the provider's proof of the reasoning so far, to be sent back unchanged.
        redacted: opaque reasoning the provider encrypted, to be sent back unchanged.
    """

    text: str = ""
    signature: str = ""
    redacted: str = ""

    __repr__ = _concise


@dataclass(frozen=True, slots=True, repr=False)
class ToolCallDelta:
    """A piece of one tool call.

    Attributes:
        index: which call of the turn this belongs to, from 0.
        id: the provider's id of the call; empty on later pieces.
        name: the tool's name; empty on later pieces.
        arguments: a fragment of the arguments' JSON text, appended to what came before.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""

    __repr__ = _concise


@dataclass(frozen=True, slots=True, repr=False)
class Finish:
    """The end of a turn: given once, last, and only when the provider said that it ended.

    Attributes:
        reason: a `FinishReason`, or the provider's own word where it fits none.
        raw: the provider's own word, empty where it sent none.
        usage: the turn's totals.
        discarded: tokens of attempts thrown away by a retrying layer. An adapter sends one
            request, so it leaves this zero.
    """

    reason: str
    raw: str = ""
    usage: Usage = Usage()
    discarded: Usage = Usage()

    __repr__ = _concise


Event = TextDelta | ReasoningDelta | ToolCallDelta | Finish
"""Anything an adapter may yield."""
