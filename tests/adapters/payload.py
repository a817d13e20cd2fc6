"""JSON to a provider, and JSON from it: read by type, for it is the network that wrote it."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from modeltest import ConfigError, StreamProtocolError

_T = TypeVar("_T")


def encode(value: Any) -> str:
    """Return the JSON text of a request or a part of one, in ASCII.

    Raises:
        ConfigError: something in it, such as a tool's parameters, is not JSON.
    """
    try:
        # default=dict: the request's mappings may be read-only proxies.
        return json.dumps(value, allow_nan=False, default=dict)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the request is not JSON: {error}") from error


def decode(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def decode_object(text: str) -> dict[str, Any]:
    """Return the object that an event's data holds.

    Raises:
        StreamProtocolError: it is no JSON object. The text is not quoted: it may be anything.
    """
    try:
        value = decode(text)
    except ValueError as error:
        raise StreamProtocolError(f"expected JSON as an event's data: {error}") from error
    if not isinstance(value, dict):
        raise StreamProtocolError(
            f"expected a JSON object as an event's data, got {type(value).__name__}"
        )
    return value


def get_text(parent: dict[str, Any], name: str) -> str:
    """Return a string; missing and null are empty. Raises StreamProtocolError."""
    return _get(parent, name, str, "")


def get_count(parent: dict[str, Any], name: str) -> int:
    """Return a number of tokens; missing and null are 0. Raises StreamProtocolError."""
    count = _get(parent, name, int, 0)
    if count < 0:
        raise StreamProtocolError(f"{name!r}: expected a count, got {count}")
    return count


def get_index(parent: dict[str, Any]) -> int | None:
    """Return the "index" of a block, call or choice, if it has one. Raises StreamProtocolError."""
    return None if parent.get("index") is None else _get(parent, "index", int, 0)


def get_object(parent: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object; missing and null are empty. Raises StreamProtocolError."""
    return _get(parent, name, dict, {})


def get_objects(parent: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a list of objects; missing and null are empty. Raises StreamProtocolError."""
    items = _get(parent, name, list, [])
    for item in items:
        if not isinstance(item, dict):
            raise StreamProtocolError(f"{name!r}: expected objects, got {type(item).__name__}")
    return items


def _get(parent: dict[str, Any], name: str, kind: type[_T], default: _T) -> _T:
    value = parent.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise StreamProtocolError(f"{name!r}: expected {kind.__name__}, got {type(value).__name__}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    # Python reads NaN and Infinity; JSON has neither.
    raise ValueError(f"{name} is not JSON")
