"""What a body is spelled from: the contract's events, and a few things that only a wire can say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from modeltest.interface import Event, Finish, ReasoningDelta, TextDelta, ToolCallDelta
from modeltest.wire.pieces import Piece, WireError

EVENTS = (TextDelta, ReasoningDelta, ToolCallDelta, Finish)


class Unsupported(Exception):  # noqa: N818 - not a fault: a check skips with its reason
    """The format has no way to say this.

    A format raises it where it is asked for something that its provider never sends; a check
    that meets it is skipped, with the reason shown.

    Attributes:
        reason: one sentence's worth of why, such as "Ollama: arguments are sent whole".
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


CannotSpell = Unsupported
"""Its name in earlier versions."""


@dataclass(frozen=True, slots=True)
class Together:
    """Two contract events or more that share one event of the wire; a Finish stands last."""

    events: tuple[Event, ...]


Item = Event | Together | Piece | WireError
"""One step of a script."""


class UsagePlacement(StrEnum):
    """Where a body tells its token counts."""

    AFTER = "after the finish"
    ON = "on the finish"
    BEFORE = "before the finish"
    EVERY = "on every event, growing"


def check_script(script: Sequence[object]) -> tuple[Item, ...]:
    """Return `script` if each step of it is an Item.

    Raises:
        TypeError: with the step that is not, and what it may be.
    """
    items: list[Item] = []
    for step in script:
        if isinstance(step, Together) and len(step.events) > 1:
            check_script(step.events)
        elif not isinstance(step, (*EVENTS, Piece, WireError)):
            raise TypeError(
                "a body is spelled from TextDelta, ReasoningDelta, ToolCallDelta, Finish, "
                f"Together (of two events or more), Piece and WireError; got {step!r:.80}"
            )
        items.append(step)
    return tuple(items)


def events_of(script: Sequence[Item]) -> Iterator[Event]:
    """Yield the contract events of a script, in order."""
    for item in script:
        if isinstance(item, Together):
            yield from item.events
        elif isinstance(item, EVENTS):
            yield item


def whole_arguments(format_name: str, delta: ToolCallDelta) -> dict[str, Any]:
    """Return the arguments of a call for a format that sends them as an object.

    Raises:
        Unsupported: `delta` is no whole call, or its arguments are no JSON object.
    """
    try:
        arguments = json.loads(delta.arguments or "{}", parse_constant=_refuse_constant)
    except ValueError:
        arguments = None
    if not delta.name or not isinstance(arguments, dict):
        raise Unsupported(
            f"{format_name} sends a call whole, its arguments as an object: "
            f"{delta.arguments!r:.40} is none"
        )
    return arguments


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
