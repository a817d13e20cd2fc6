"""Adapters that hold events back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from urllib3.exceptions import HTTPError

from modeltest import Event, IncompleteResponseError

from .parrot import Parrot, Raw


class FillsABuffer(Parrot):
    """Reads 4 kB at a time."""

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        try:
            yield from raw.stream(4096)
        except (OSError, HTTPError) as error:
            raise IncompleteResponseError(f"the connection broke: {error}") from error


class WaitsForTheNext(Parrot):
    """Gives an event once the next one shows that it is over."""

    def read(self, raw: Raw) -> Iterator[Event]:
        last = None
        for item in super().read(raw):
            if last is not None:
                yield last
            last = item
        if last is not None:
            yield last


class WaitsForAWholeBuffer(Parrot):
    """Decodes when what has come ends with an event, and not with a part of the next."""

    def decode(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        return super().decode(whole(chunks))


def whole(chunks: Iterable[bytes]) -> Iterator[bytes]:
    buffer = b""
    for chunk in chunks:
        buffer += chunk
        if buffer.endswith(b"\n\n"):
            yield buffer
            buffer = b""


class OneEventARead(Parrot):
    """Gives one event for each read, however many have come."""

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        buffer = b""
        for chunk in super().chunks(raw):
            event, end, buffer = (buffer + chunk).partition(b"\n\n")
            yield event + end
