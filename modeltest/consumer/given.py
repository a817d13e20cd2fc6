"""What an adapter yields, taken for an event of the contract or for none."""

from __future__ import annotations

import reprlib
from typing import Any

from modeltest.interface import Event, Finish, ReasoningDelta, TextDelta, ToolCallDelta, Usage

_KINDS = (TextDelta, ReasoningDelta, ToolCallDelta, Finish)
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 200


class NoEvent(Exception):  # noqa: N818 - a verdict about the adapter
    """What the adapter gave is no event; the text says what was expected."""


def as_event(given: Any) -> Event:
    """Return `given` as exactly one of the contract's four events.

    An adapter may give a subclass, with more in it, and a `str` of its own in a field. That is
    right, and means the same; but such an object may compare, and keep alive, what it likes.

    Raises:
        NoEvent: it is none, or a field holds what the contract does not allow.
    """
    if type(given) is TextDelta and type(given.text) is str:
        return given  # nearly all of them
    # By its class: `__class__`, which isinstance() asks too, may say anything.
    kind = next((kind for kind in _KINDS if issubclass(type(given), kind)), None)
    if kind is None:
        raise NoEvent(
            f"the adapter gave {short_repr(given)}; expected TextDelta, ReasoningDelta, "
            "ToolCallDelta or Finish, of modeltest"
        )
    fields = {name: _field(given, kind, name) for name in kind.__match_args__}
    return kind(**fields)


def weight(event: Event) -> int:
    """Return roughly how many bytes an event holds."""
    if isinstance(event, TextDelta):
        return _OBJECT + len(event.text)
    if isinstance(event, ReasoningDelta):
        return _OBJECT + len(event.text) + len(event.signature) + len(event.redacted)
    return _OBJECT + (len(event.arguments) if isinstance(event, ToolCallDelta) else 0)


_OBJECT = 64
"""Bytes of an event without its text, at least."""


def short_repr(given: object) -> str:
    """Return the `repr` of whatever the adapter gave, shortened, even if it raises."""
    return _repr.repr(given)


def _field(given: Any, kind: type, name: str) -> Any:
    try:
        value = getattr(given, name)
    except Exception as error:
        what = f"{kind.__name__}.{name}"
        raise NoEvent(
            f"{what} of the adapter raised {short_repr(error)}; expected a value"
        ) from None
    return _plain(value, kind, name)


def _plain(value: Any, kind: type, name: str) -> Any:
    """Return the value of a field as the contract's own type."""
    wanted = _TYPES.get(name, str)
    if not issubclass(type(value), wanted):
        what = f"{kind.__name__}.{name}"
        raise NoEvent(
            f"the adapter gave {short_repr(value)} as {what}; expected {_ARTICLES[wanted]}"
        )
    if wanted is Usage:
        return Usage(**{name: _field(value, Usage, name) for name in _COUNTS})
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
