"""Adapters that take a cut answer for a whole one, or name it wrongly."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

import requests

from modeltest import Event, Finish, IncompleteResponseError, Request

from .parrot import CompressedParrot, Parrot, Raw

STOP = Finish("stop", raw="stop")


class TakesEveryEnd(Parrot):
    """A body that ends after some words is a whole answer."""

    def cut_short(self, raw: Raw, words: int) -> Event:
        return STOP if words else super().cut_short(raw, words)


class TakesTheEndOfTheConnection(Parrot):
    """A body without length or chunks is whole when its connection ends."""

    def cut_short(self, raw: Raw, words: int) -> Event:
        delimited = raw.chunked or "Content-Length" in raw.headers  # type: ignore[attr-defined]
        return super().cut_short(raw, words) if delimited or not words else STOP


class TrustsTheLength(Parrot):
    """A body with a Content-Length is whole, and nobody compares it with what came."""

    def ask(self, request: Request) -> requests.Response:
        response = super().ask(request)
        response.raw.enforce_content_length = False
        return response

    def cut_short(self, raw: Raw, words: int) -> Event:
        return STOP if "Content-Length" in raw.headers else super().cut_short(raw, words)


class TrustsTheCompression(CompressedParrot):
    """What could be decompressed is whole: its checksum vouches for it, had it come."""

    def cut_short(self, raw: Raw, words: int) -> Event:
        compressed = raw.headers.get("Content-Encoding") == "gzip"
        return STOP if compressed else super().cut_short(raw, words)


class TakesNothingForAnAnswer(Parrot):
    """An empty body is an empty answer."""

    def cut_short(self, raw: Raw, words: int) -> Event:
        return super().cut_short(raw, words) if words else STOP


class TakesCommentsForAnAnswer(Parrot):
    """A body that holds no word, but not nothing either, is an empty answer."""

    def cut_short(self, raw: Raw, words: int) -> Event:
        return super().cut_short(raw, words) if words or not raw.tell() else STOP


class Broken(Exception):
    """The connection broke."""


class SwallowsBreaks(Parrot):
    """A connection that breaks ends the answer."""

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        try:
            yield from super().chunks(raw)
        except IncompleteResponseError as error:
            if self.swallows(error.__cause__):
                raise Broken from error
            raise

    def read(self, raw: Raw) -> Iterator[Event]:
        try:
            yield from super().read(raw)
        except Broken:
            yield STOP

    def swallows(self, error: BaseException | None) -> bool:
        return True


class SwallowsResets(SwallowsBreaks):
    """A connection that is reset ends the answer."""

    def swallows(self, error: BaseException | None) -> bool:
        return "ConnectionResetError" in repr(error)


class SwallowsHalfChunks(SwallowsBreaks):
    """A chunk that is not whole is the last one."""

    def swallows(self, error: BaseException | None) -> bool:
        return "IncompleteRead(0 bytes read)" in repr(error)


class PassesErrorsThrough(Parrot):
    """The HTTP library's error comes out as it is."""

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        while chunk := raw.read1(65536, decode_content=True):
            yield chunk


class MendsTheLastEvent(Parrot):
    """What is left at the end is an event, and if it is half of one the provider cut it."""

    def decode(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        return super().decode(itertools.chain(chunks, [b"\n\n"]))

    def load(self, data: str) -> dict[str, Any]:
        try:
            return json.loads(data)
        except ValueError:
            return {"over": "length"}


class LeavesJSONErrors(MendsTheLastEvent):
    """What is left at the end is an event, and its error is the JSON library's."""

    def load(self, data: str) -> dict[str, Any]:
        return json.loads(data)
