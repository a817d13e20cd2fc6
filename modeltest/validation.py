"""The one validation of events: what is yielded is one of the contract's, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from modeltest.interface import Finish, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.text import short_repr

if TYPE_CHECKING:
    from modeltest.interface import Event


class NoEvent(Exception):  # noqa: N818 - a verdict about the adapter
    """What the adapter gave is no event; the text says what was expected."""


def as_event(given: Any, giver: str = "the adapter") -> Event:
    """Return `given` as exactly one of the contract's four events.

    An adapter may give a subclass, with more in it, and a `str` of its own in a field. That is
    right, and means the same; but such an object may compare, and keep alive, what it likes.

    Args:
        given: what was given.
        giver: who gave it, for the text of the error.

    Raises:
        NoEvent: it is none, or a field holds what the contract does not allow.
    """
    if type(given) is TextDelta and type(given.text) is str:
        return given  # nearly all of them
    is_exact = EXACT.get(type(given))
    if is_exact is not None and is_exact(given):
        event: Event = given
        return event
    # By its class: `__class__`, which isinstance() asks too, may say anything.
    kind = next((kind for kind in EXACT if issubclass(type(given), kind)), None)
    if kind is None:
        raise NoEvent(
            f"{giver} gave {short_repr(given)}; expected TextDelta, ReasoningDelta, "
            "ToolCallDelta or Finish, of modeltest"
        )
    fields = {name: _field(given, kind, name, giver) for name in kind.__match_args__}
    made: Event = kind(**fields)
    return made


def is_event(given: Any) -> bool:
    """Tell whether `given` is an event, its fields of the right types: as `as_event` does."""
    try:
        as_event(given)
    except NoEvent:
        return False
    return True


def weight(event: Event) -> int:
    """Return roughly how many bytes an event holds."""
    if isinstance(event, TextDelta):
        return _OBJECT + len(event.text)
    if isinstance(event, ReasoningDelta):
        return _OBJECT + len(event.text) + len(event.signature) + len(event.redacted)
    return _OBJECT + (len(event.arguments) if isinstance(event, ToolCallDelta) else 0)


_OBJECT = 64
"""Bytes of an event without its text, at least."""


def _field(given: Any, kind: type, name: str, giver: str) -> Any:
    try:
        value = getattr(given, name)
    except Exception as error:
        what = f"{kind.__name__}.{name}"
        raise NoEvent(f"{what} of {giver} raised {short_repr(error)}; expected a value") from None
    return _plain(value, kind, name, giver)


def _plain(value: Any, kind: type, name: str, giver: str) -> Any:
    """Return the value of a field as the contract's own type."""
    wanted = _TYPES.get(name, str)
    if not issubclass(type(value), wanted):
        hint = _EMPTY.get(wanted, "") if value is None and name != "reason" else ""
        raise NoEvent(
            f"{giver} gave {short_repr(value)} as {kind.__name__}.{name}; expected "
            f"{_ARTICLES[wanted]}{hint}"
        )
    if wanted is Usage:
        return Usage(**{name: _field(value, Usage, name, giver) for name in _COUNTS})
    if type(value) is wanted or name == "reason":
        return value
    # str(value) would call what the subclass makes of it.
    return str.__str__(value) if wanted is str else int.__int__(value)


_COUNTS = Usage.__match_args__
_TYPES: dict[str, type] = {
    "index": int,
    "usage": Usage,
    "discarded": Usage,
    **dict.fromkeys(_COUNTS, int),
}
"""Field → its type, where that is not str."""
_ARTICLES = {str: "a str", int: "an int", Usage: "a Usage"}
_EMPTY = {str: ' ("" where there is none)', Usage: " (it may be left out)"}
"""What to write instead of None."""


# Thousands of bodies are read in a second, and each event is judged here: no loops, no generators.


def _is_text(event: Any) -> bool:
    return type(event.text) is str


def _is_reasoning(event: Any) -> bool:
    return type(event.text) is type(event.signature) is type(event.redacted) is str


def _is_call(event: Any) -> bool:
    return (
        type(event.arguments) is type(event.id) is type(event.name) is str
        and type(event.index) is int
    )


def _is_finish(event: Any) -> bool:
    return (
        isinstance(event.reason, str)
        and type(event.raw) is str
        and _is_usage(event.usage)
        and _is_usage(event.discarded)
    )


def _is_usage(usage: Any) -> bool:
    return type(usage) is Usage and (
        type(usage.input_tokens)
        is type(usage.output_tokens)
        is type(usage.cache_read_tokens)
        is type(usage.cache_write_tokens)
        is int
    )


EXACT: dict[type[Any], Callable[[Any], bool]] = {
    TextDelta: _is_text,
    ToolCallDelta: _is_call,
    ReasoningDelta: _is_reasoning,
    Finish: _is_finish,
}
"""Class → whether all fields of an event of exactly that class are of exactly their types.

A subclass, and a field of a subclass, may be right as well: `as_event` tells.
"""
