"""The body of a request, as it was meant, and what it says."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from modeltest.harness import Skip

if TYPE_CHECKING:
    from modeltest.backend import Exchange


def content(exchange: Exchange) -> bytes:
    """Return a request's body, decompressed; as it is where it is not what its head says.

    Raises:
        Skip: it is compressed in a way that is not known here.
    """
    encoding = exchange.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in _DECODERS:
        raise Skip(f"the request is compressed with {encoding}, which is not read here")
    try:
        return _DECODERS[encoding](exchange.body)
    except (OSError, EOFError, zlib.error):
        return exchange.body


def _inflated(body: bytes) -> bytes:
    """Return what was deflated, as the standard has it or as many do it: without its head."""
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, wbits=-zlib.MAX_WBITS)


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.decompress,
    "x-gzip": gzip.decompress,
    "deflate": _inflated,
}


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
