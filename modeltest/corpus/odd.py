"""Events that no provider would send."""

from __future__ import annotations

from modeltest.encoding import Framing, ndjson_line, sse_event

_PAYLOADS = (
    "{}",
    "null",
    "[]",
    "7",
    '""',
    '{"type": 1}',
    '{"choices": null, "error": []}',
    "[" * 100_000,  # Python's json raises RecursionError
)


def odd_events(framing: Framing) -> list[bytes]:
    """Return events whose frame is whole, but none that the provider would send."""
    match framing:
        case Framing.SSE:
            return [sse_event(payload) for payload in _PAYLOADS]
        case Framing.NDJSON:
            return [ndjson_line(payload) for payload in _PAYLOADS]
    return []
