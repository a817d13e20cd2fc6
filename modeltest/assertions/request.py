"""What the body of a request says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


def parsed(body: bytes) -> Any:
    """Return the JSON value of a request's body; None if it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value: strings, and the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        yield from _texts(value.values())
    elif isinstance(value, Sequence):
        yield from _texts(value)


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of every member of every object in a JSON value."""
    if isinstance(value, Mapping):
        yield from value.items()
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from members(item)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from texts_in(value)
