"""How a turn becomes bytes, whoever the provider is: the abstract format, and its vocabulary."""

from modeltest.encoding.body import Body, encode_each
from modeltest.encoding.format import WireFormat
from modeltest.encoding.framing import (
    ARRAY_END,
    Framing,
    array_item,
    event_stream_frame,
    ndjson_line,
    sse_event,
    to_json,
)
from modeltest.encoding.payloads import (
    ErrorResponse,
    Malformed,
    Payload,
    Role,
    RolePayload,
    Unsupported,
    UsagePlacement,
    WireError,
    WirePart,
    change_payloads,
)
from modeltest.encoding.samples import (
    ALPHABETS,
    ARGUMENTS,
    CUT_ARGUMENTS,
    INVALID_ARGUMENTS,
    TEXT,
)
from modeltest.encoding.script import DELTA_ROLES, Item, SameEvent, events_of
from modeltest.encoding.tools import (
    COMMON_TOOL_NAMES,
    Path,
    ToolNameRule,
    pluck,
    whole_arguments,
)

__all__ = [
    "ALPHABETS",
    "ARGUMENTS",
    "ARRAY_END",
    "COMMON_TOOL_NAMES",
    "CUT_ARGUMENTS",
    "DELTA_ROLES",
    "INVALID_ARGUMENTS",
    "TEXT",
    "Body",
    "ErrorResponse",
    "Framing",
    "Item",
    "Malformed",
    "Path",
    "Payload",
    "Role",
    "RolePayload",
    "SameEvent",
    "ToolNameRule",
    "Unsupported",
    "UsagePlacement",
    "WireError",
    "WireFormat",
    "WirePart",
    "array_item",
    "change_payloads",
    "encode_each",
    "event_stream_frame",
    "events_of",
    "ndjson_line",
    "pluck",
    "sse_event",
    "to_json",
    "whole_arguments",
]
