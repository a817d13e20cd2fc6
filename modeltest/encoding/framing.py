"""How events lie in a body: the bytes around a payload, whoever the provider is."""

from __future__ import annotations

import json
import struct
from binascii import crc32
from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Framing(StrEnum):
    """How one event is separated from the next."""

    SSE = "server-sent events"
    NDJSON = "newline-delimited JSON"
    JSON_ARRAY = "JSON array"
    EVENT_STREAM = "binary event stream"


def to_json(
    value: Any, *, separators: tuple[str, str] = (",", ":"), indent: int | None = None
) -> str:
    """Return `value` as JSON text, its characters unescaped as the providers send them.

    Raises:
        ValueError: `value` holds NaN or an infinity, which no JSON can say.
    """
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=separators, indent=indent
    )


def sse_event(data: str, *, event: str = "", eol: str = "\n") -> bytes:
    """Return one server-sent event, blank line included.

    Args:
        data: the payload; each of its lines becomes a `data:` line.
        event: the event's type; no `event:` line when empty.
        eol: the line end, LF or CRLF.
    """
    lines = [f"event: {event}"] if event else []
    lines += [f"data: {line}" for line in data.split("\n")]
    return (eol.join(lines) + eol + eol).encode()


def ndjson_line(text: str) -> bytes:
    """Return one line of newline-delimited JSON, LF included."""
    return text.encode() + b"\n"


def array_item(text: str, *, first: bool) -> bytes:
    """Return one element of a JSON array that is sent as it grows, with what stands before it."""
    return (b"[" if first else b",\r\n") + text.encode()


ARRAY_END = b"\n]\n"
"""What closes a body of `array_item`s."""

_STRING = 7  # the header value type: u16 length, UTF-8 text


def event_stream_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return one frame of the AWS binary event stream (`application/vnd.amazon.eventstream`).

    Big-endian: total length, headers' length, CRC-32 of those eight bytes, headers, payload,
    CRC-32 of everything before it.

    Args:
        headers: the frame's headers; each is sent as a string.
        payload: the frame's payload, at most 24 MiB.
    """
    block = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack("!II", len(block) + len(payload) + 16, len(block))
    message = prelude + struct.pack("!I", crc32(prelude)) + block + payload
    return message + struct.pack("!I", crc32(message))


def _header(name: str, value: str) -> bytes:
    label, text = name.encode(), value.encode()
    return struct.pack("!B", len(label)) + label + struct.pack("!BH", _STRING, len(text)) + text
