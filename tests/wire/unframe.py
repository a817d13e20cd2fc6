"""Bytes → events, by each framing's rules; small, strict and independent of the encoder."""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any


class Malformed(Exception):
    """An event of the body is none."""


def loads(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Malformed(str(error)) from error


def sse(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the type and data of each event; one without its blank line is none."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    kind, data = "", []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for line in lines[:-1]:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                yield kind or "message", "\n".join(data)
            kind, data = "", []
        elif name == "event":
            kind = value
        elif name == "data":
            data.append(value)


def ndjson(body: bytes) -> Iterator[Any]:
    """Yield each line's value; a line without its end is none."""
    for line in body.split(b"\n")[:-1]:
        if line.strip():
            yield loads(line)


def array(body: bytes) -> Iterator[Any]:
    """Yield each element as soon as it is whole; fail on what is neither element nor comma."""
    text = body.decode("utf-8", "replace")
    at, decoder = 0, json.JSONDecoder()
    while at < len(text):
        if text[at] in "[],\r\n \t":
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError as error:
            raise Malformed(str(error)) from error
        yield value


def frames(body: bytes) -> Iterator[tuple[dict[str, str], bytes]]:
    """Yield the headers and payload of each whole frame; check both checksums."""
    while len(body) >= 12:
        total, size, crc = struct.unpack_from("!III", body)
        if zlib.crc32(body[:8]) != crc:
            raise Malformed("prelude checksum")
        if len(body) < total:
            return
        message, body = body[:total], body[total:]
        if zlib.crc32(message[:-4]) != struct.unpack_from("!I", message, total - 4)[0]:
            raise Malformed("message checksum")
        yield dict(_headers(message[12 : 12 + size])), message[12 + size : -4]


def _headers(block: bytes) -> Iterator[tuple[str, str]]:
    while block:
        end = 1 + block[0]
        kind, size = struct.unpack_from("!BH", block, end)
        assert kind == 7, kind
        yield block[1:end].decode(), block[end + 3 : end + 3 + size].decode()
        block = block[end + 3 + size :]
