"""Why a check fails, in one sentence for each cause: the reasons of the tests and of the pages.

Nothing here needs a client's package, so that the pages can be written where none is installed.
"""

from __future__ import annotations

from collections.abc import Mapping

# The tutorial loop's own

TEXT_ALONE = (
    "the loop reads text and nothing else: a tool call is lost without an error, and the turn "
    "that asks for it ends as an ordinary answer"
)
NO_REASON = (
    "the loop reads no finish reason: it reports stop whatever ended the answer, and takes what "
    "comes after the end for more text"
)
NO_COUNTS = "the loop reads no token counts"
UNCHECKED_TOOLS = (
    "neither the loop nor the package checks a tool's name or the tool choice: both are sent as "
    "they are, and only the provider can refuse them"
)
CHOICE_ALONE = "the loop and the package send the tool choice where there are no tools, too"

# What several packages do

OPEN_WHILE_HANDLED = (
    "an error that the package raises in mid-stream closes nothing: the response stays open for "
    "as long as the error's traceback is kept"
)
READS_ON = (
    "the package reads on after the end of the turn, to the end of the body, for as long as the "
    "server keeps the connection open"
)
CLOSED_AT_DONE = (
    "the package stops at `[DONE]` and closes the response with the last chunk unread: its HTTP "
    "library then closes the connection, and each turn opens a new one"
)
BOM_IS_READ = (
    "the package takes a byte order mark for part of the first line, which then is no `data:` "
    "line: the event is lost"
)
NOT_UTF8 = "an invalid UTF-8 byte raises UnicodeDecodeError, which is none of the package's errors"
KEPT_BY_A_CYCLE = (
    "a loop that is left early drops the package's stream without closing it; the stream and its "
    "generator refer to each other, so the connection stays open until the cyclic garbage "
    "collector runs"
)
MAY_HANG = (
    "it may hang for good: the collector closes a dropped response on a thread that is inside "
    "httpcore 1.0.9's connection pool, and waits for the lock that this thread holds"
)
NO_LOOK_AT_THE_TYPE = (
    "the package ignores the Content-Type: a page or a JSON object has no `data:` line and is "
    "read as a stream without events, after which the loop yields its Finish"
)
ONE_KIND_OF_LINE_END = (
    "the package ends an event only at two line ends of the same kind: where they are mixed, it "
    "waits for more"
)
CR_IS_HELD = (
    "the package keeps a CR back until it sees whether an LF follows: an event whose lines end in "
    "CR arrives only with the next one"
)
SPLIT_AS_TEXT = (
    "the package reads lines with its HTTP library's `iter_lines()`, which decodes by the "
    "header's charset and splits at U+0085, U+2028 and U+2029, all allowed in JSON strings"
)
DONE_IS_AN_END_LIKE_ANY = (
    "the package's loop ends the same way at `[DONE]` and wherever the body ends, and the loop "
    "around it then yields its Finish"
)


def untranslated(library: str, error: str) -> str:
    """Return why a connection that fails is no error of the package's."""
    return (
        f"the package lets {library}'s errors through: ConnectError, RemoteProtocolError, "
        f"ReadError and ReadTimeout are no {error}, which a caller would catch"
    )


def untranslated_in_stream(library: str, error: str) -> str:
    """Return the same, where the package translates what fails before the response."""
    return (
        f"once the response has begun, the package lets {library}'s errors through: "
        f"RemoteProtocolError, ReadError and ReadTimeout are no {error}, which a caller would "
        "catch"
    )


def keeps_the_body(where: str) -> str:
    """Return why a page of ten megabytes is in an error."""
    return (
        "the package reads the body of a refusal to its end, however large it is, and keeps all "
        f"of it in its error: {where}"
    )


def gzip_ends_alike(library: str) -> str:
    """Return why a cut gzip body is taken for a whole one."""
    return (
        f"the package asks for gzip, and {library} returns what a cut gzip body holds without an "
        "error; the loop then yields its Finish"
    )


def not_json(raised: str, error: str) -> str:
    """Return why an event that cannot be parsed is no error of the package's."""
    return f"an event that is not JSON {raised}, which is no {error}"


# Checks that fail together

LEFT = (
    "release/break",
    "release/close",
    "release/with",
    "release/consumer-error",
    "release/nothing-left",
)
"""Checks that leave a loop early."""

CUT_CLEANLY = (
    "truncation/clean",
    "truncation/close-delimited",
    "truncation/empty",
    "truncation/mid-event",
    "truncation/boundaries",
    "truncation/prefix",
)
"""Checks whose bodies end early without an error below."""

BROKEN_OFF = ("truncation/closed", "truncation/reset", "truncation/short")
"""Checks whose connections break in mid-answer."""

FAILING = (*BROKEN_OFF, "faults/unreachable", "faults/idle")
"""Checks whose connections break, fall silent, or are never made."""

EVERY_LOOP: Mapping[str, str] = {
    "truncation/arguments": TEXT_ALONE,
    "finish/reasons": NO_REASON,
    "finish/unknown": NO_REASON,
    "finish/usage": NO_COUNTS,
    "calls/parallel": TEXT_ALONE,
    "calls/empty": TEXT_ALONE,
    "calls/reason": TEXT_ALONE,
    "calls/large": TEXT_ALONE,
    "tools/config": UNCHECKED_TOOLS,
}
"""What every tutorial loop fails, whatever the package."""

OPENAI_SHAPED: Mapping[str, str] = {
    **EVERY_LOOP,
    "finish/after": NO_REASON,
    "finish/with-content": TEXT_ALONE,
    "calls/index": TEXT_ALONE,
    "calls/identity": TEXT_ALONE,
    "calls/invalid": TEXT_ALONE,
    "tools/traps": UNCHECKED_TOOLS,
}
"""The same, where calls come in fragments beside the text."""

# openai

_OPENAI_BODY = keeps_the_body("in the attributes `body` and `response`")
_NOT_AN_OPENAI_ERROR = (
    "an event that is not JSON raises JSONDecodeError, and `data: null` gives a chunk that is "
    "None: neither is an OpenAIError"
)
OPENAI: Mapping[str, str] = {
    **dict.fromkeys(LEFT, f"{KEPT_BY_A_CYCLE}; `with response:` around the loop closes it"),
    "release/finished": CLOSED_AT_DONE,
    **OPENAI_SHAPED,
    "tools/accepted": CHOICE_ALONE,
    **dict.fromkeys(
        CUT_CLEANLY, f"{DONE_IS_AN_END_LIKE_ANY}; an event without its blank line is dropped"
    ),
    "truncation/gzip": gzip_ends_alike("httpx2"),
    "framing/malformed": _NOT_AN_OPENAI_ERROR,
    "framing/any-bytes": _NOT_AN_OPENAI_ERROR,
    "framing/empty-data": _NOT_AN_OPENAI_ERROR,
    "framing/invalid-utf8": NOT_UTF8,
    "framing/bom": BOM_IS_READ,
    "faults/status": _OPENAI_BODY,
    "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
}
OPENAI_RETRYING: Mapping[str, str] = {"faults/status": _OPENAI_BODY}

# anthropic

_ANTHROPIC_BODY = keeps_the_body("what is not JSON is its text")
_NOT_AN_ANTHROPIC_ERROR = (
    "what is not JSON, or no event, raises JSONDecodeError, UnicodeDecodeError or AttributeError: "
    "none is an AnthropicError"
)
_UNNAMED_ERROR = (
    "the package knows an error by its event line alone: without one it skips the error and reads "
    "on, and the loop ends the half answer as a whole one"
)
ANTHROPIC: Mapping[str, str] = {
    **EVERY_LOOP,
    "tools/traps": UNCHECKED_TOOLS,
    "tools/accepted": CHOICE_ALONE,
    "finish/after": NO_REASON,
    "calls/invalid": (
        f"{TEXT_ALONE}; where its arguments are not JSON from the start, the package's helper "
        "raises ValueError, without the tool's name"
    ),
    **dict.fromkeys(
        CUT_CLEANLY,
        "the package's `text_stream` ends the same way after message_stop and wherever the body "
        "ends, and the loop then yields its Finish; an event without its blank line is dropped",
    ),
    "truncation/gzip": gzip_ends_alike("httpx2"),
    **dict.fromkeys(
        (*BROKEN_OFF, "faults/idle"),
        f"{untranslated_in_stream('httpx2', 'AnthropicError')} (anthropic-sdk-python issue 1919)",
    ),
    "framing/line-ends": ONE_KIND_OF_LINE_END,
    "framing/malformed": _NOT_AN_ANTHROPIC_ERROR,
    "framing/any-bytes": _NOT_AN_ANTHROPIC_ERROR,
    "framing/invalid-utf8": NOT_UTF8,
    "framing/bom": BOM_IS_READ,
    "delivery/end": READS_ON,
    "faults/status": _ANTHROPIC_BODY,
    "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
    "faults/error-event": _UNNAMED_ERROR,
    "release/failed": _UNNAMED_ERROR,
}
ANTHROPIC_RETRYING: Mapping[str, str] = {
    "faults/status": _ANTHROPIC_BODY,
    "faults/retry-after": (
        "the package waits for as long as Retry-After says, up to seven weeks, and its caller "
        "with it"
    ),
}

# google-genai

_NOT_AN_API_ERROR = not_json(
    "raises google.genai.errors.UnknownApiResponseError, a ValueError", "APIError"
)
GOOGLE_GENAI: Mapping[str, str] = {
    **EVERY_LOOP,
    "tools/traps": UNCHECKED_TOOLS,
    "tools/accepted": CHOICE_ALONE,
    "finish/after": NO_REASON,
    "finish/with-content": TEXT_ALONE,
    **dict.fromkeys(
        CUT_CLEANLY,
        "the package's loop ends wherever the body does: only a candidate's finish_reason would "
        "tell, and the loop yields its Finish without one; half an event raises "
        "UnknownApiResponseError, which is no APIError",
    ),
    "truncation/gzip": gzip_ends_alike("httpx2"),
    **dict.fromkeys(FAILING, untranslated("httpx2", "google.genai.errors.APIError")),
    "framing/line-ends": CR_IS_HELD,
    **dict.fromkeys(
        (
            "framing/comments",
            "framing/space",
            "framing/fields",
            "framing/bom",
            "framing/empty-data",
        ),
        "a line that does not begin with `data: `, space included, is taken for part of an error "
        "message in JSON, and fails to parse",
    ),
    "framing/malformed": _NOT_AN_API_ERROR,
    "framing/any-bytes": _NOT_AN_API_ERROR,
    "faults/status": keeps_the_body("what is not JSON is in its text"),
    "faults/not-a-stream": (
        "the package ignores the Content-Type: a JSON answer is a chunk to it, after which the "
        "loop yields its Finish, and a page raises UnknownApiResponseError, which is no APIError"
    ),
    "faults/redirect": (
        "the package's HTTP client follows redirects, and httpx2 then removes no header but "
        "Authorization: the key is sent on in x-goog-api-key"
    ),
}

# mistralai

MISTRALAI: Mapping[str, str] = {
    **EVERY_LOOP,
    "release/finished": CLOSED_AT_DONE,
    "tools/traps": UNCHECKED_TOOLS,
    "tools/accepted": CHOICE_ALONE,
    "finish/after": NO_REASON,
    "finish/with-content": TEXT_ALONE,
    "calls/index": TEXT_ALONE,
    "calls/invalid": TEXT_ALONE,
    **dict.fromkeys(CUT_CLEANLY, DONE_IS_AN_END_LIKE_ANY),
    "truncation/gzip": gzip_ends_alike("httpx2"),
    **dict.fromkeys(FAILING, untranslated("httpx2", "MistralError")),
    "framing/any-bytes": NOT_UTF8,
    "framing/invalid-utf8": NOT_UTF8,
    "faults/error-event": NO_REASON,
    "faults/status": keeps_the_body("in the attributes `body` and `raw_response`"),
    "framing/bom": "the package knows a byte order mark only where it comes in one piece",
    "framing/empty-data": (
        "the package validates the empty data as a chunk, and raises ResponseValidationError"
    ),
}

# cohere

COHERE: Mapping[str, str] = {
    **EVERY_LOOP,
    "release/finished": CLOSED_AT_DONE,
    "tools/accepted": CHOICE_ALONE,
    "calls/invalid": TEXT_ALONE,
    **dict.fromkeys(
        CUT_CLEANLY,
        "the package's loop ends wherever the body does, whether or not message-end came, and the "
        "loop around it then yields its Finish",
    ),
    "truncation/gzip": gzip_ends_alike("httpx"),
    **dict.fromkeys(FAILING, untranslated("httpx", "cohere.core.ApiError")),
    "framing/line-ends": CR_IS_HELD,
    "framing/charset": "the package decodes by the header's charset, if it names one",
    "framing/large": "the package refuses a line of more than 1 MiB, with its SSEError",
    "framing/malformed": "the package skips an event that is not JSON, and logs a line",
    "faults/error-event": NO_REASON,
    "faults/status": keeps_the_body("in its text, and in the attribute `body`"),
    "faults/not-a-stream": (
        "another Content-Type raises the package's SSEError, which is one of httpx's "
        "TransportErrors and no ApiError"
    ),
}

# ollama

_EVERY_LINE_IS_JSON = (
    "the package parses every line, an empty one too, and lets JSONDecodeError through, which is "
    "no ollama.ResponseError"
)
OLLAMA: Mapping[str, str] = {
    **EVERY_LOOP,
    "tools/accepted": (
        "the package has no tool choice, and the loop drops it: after `none` the model may call "
        "all the same"
    ),
    "finish/with-content": TEXT_ALONE,
    **dict.fromkeys(
        CUT_CLEANLY,
        "the package's loop ends wherever the body does, whether or not a line with `done: true` "
        "came, and the loop around it then yields its Finish; half a line raises JSONDecodeError",
    ),
    "truncation/gzip": gzip_ends_alike("httpx"),
    **dict.fromkeys(FAILING, untranslated("httpx", "ollama.ResponseError")),
    "framing/blank-lines": _EVERY_LINE_IS_JSON,
    "framing/malformed": _EVERY_LINE_IS_JSON,
    "framing/any-bytes": _EVERY_LINE_IS_JSON,
    "framing/unicode": SPLIT_AS_TEXT,
    "framing/charset": SPLIT_AS_TEXT,
    "delivery/end": READS_ON,
    "faults/status": keeps_the_body("what is not JSON is in its text"),
    "faults/not-a-stream": (
        "the package ignores the Content-Type and parses every line: one that is not JSON raises "
        "JSONDecodeError, one without a message ValidationError; neither is an "
        "ollama.ResponseError"
    ),
}

# groq

_NOT_A_GROQ_ERROR = (
    "an event that is not JSON raises JSONDecodeError, and `data: null` gives a chunk that is "
    "None: neither is a GroqError"
)
GROQ: Mapping[str, str] = {
    **dict.fromkeys(LEFT, KEPT_BY_A_CYCLE),
    **OPENAI_SHAPED,
    "tools/accepted": CHOICE_ALONE,
    **dict.fromkeys(CUT_CLEANLY, DONE_IS_AN_END_LIKE_ANY),
    "truncation/gzip": gzip_ends_alike("httpx"),
    **dict.fromkeys((*BROKEN_OFF, "faults/idle"), untranslated_in_stream("httpx", "GroqError")),
    "framing/line-ends": ONE_KIND_OF_LINE_END,
    "framing/fields": (
        "an event with a name, such as `event: message`, comes wrapped in another object, whose "
        "`choices` are None: its text is lost"
    ),
    "framing/malformed": _NOT_A_GROQ_ERROR,
    "framing/any-bytes": _NOT_A_GROQ_ERROR,
    "framing/empty-data": _NOT_A_GROQ_ERROR,
    "framing/invalid-utf8": NOT_UTF8,
    "framing/bom": BOM_IS_READ,
    "delivery/end": READS_ON,
    "faults/status": keeps_the_body("what is not JSON is its text"),
    "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
    "release/failed": OPEN_WHILE_HANDLED,
}

# huggingface_hub

_A_LINE_IS_AN_EVENT = (
    "the package parses each `data:` line by itself, and lets JSONDecodeError through and, where "
    "the JSON is no object, AttributeError"
)
HUGGINGFACE_HUB: Mapping[str, str] = {
    **OPENAI_SHAPED,
    "release/finished": (
        "the package stops at the `[DONE]` line and drops its line iterator with the last chunk "
        "unread: httpx2 then closes the connection, and each turn opens a new one"
    ),
    "tools/accepted": CHOICE_ALONE,
    **dict.fromkeys(CUT_CLEANLY, f"{DONE_IS_AN_END_LIKE_ANY}; half a line raises JSONDecodeError"),
    "truncation/gzip": gzip_ends_alike("httpx2"),
    **dict.fromkeys(FAILING, untranslated("httpx2", "HfHubHTTPError")),
    "faults/idle": (
        "a silence before the headers raises the package's InferenceTimeoutError, one after them "
        "httpx2's ReadTimeout: neither is an HfHubHTTPError"
    ),
    "faults/status": "the error's text and its response hold the whole body, however long",
    "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
    "framing/space": "the package knows `[DONE]` only after one space, and parses it otherwise",
    "framing/split-data": _A_LINE_IS_AN_EVENT,
    "framing/malformed": _A_LINE_IS_AN_EVENT,
    "framing/any-bytes": _A_LINE_IS_AN_EVENT,
    "framing/empty-data": _A_LINE_IS_AN_EVENT,
    "framing/unicode": SPLIT_AS_TEXT,
    "framing/charset": SPLIT_AS_TEXT,
    "framing/bom": BOM_IS_READ,
    "faults/error-event": "the package raises an UnknownError, which is no HfHubHTTPError",
    "release/failed": OPEN_WHILE_HANDLED,
}

# litellm

_EMPTY_IS_WHOLE = (
    "the package raises where the body ends without a finish_reason, but not where it holds no "
    "chunk at all; the loop then yields its Finish"
)
_DONE_IS_NO_END = (
    "the package takes `[DONE]` without a finish_reason for an answer that was cut, though some "
    "compatible servers end theirs so"
)
LITELLM: Mapping[str, str] = {
    "faults/error-event": "the package keeps the provider's message, and drops its type",
    **dict.fromkeys(LEFT, KEPT_BY_A_CYCLE),
    "release/finished": (
        "the openai package beneath stops at `[DONE]` and closes the response with the last chunk "
        "unread: httpx2 then closes the connection, and each turn opens a new one"
    ),
    **OPENAI_SHAPED,
    "truncation/empty": _EMPTY_IS_WHOLE,
    "faults/not-a-stream": _EMPTY_IS_WHOLE,
    "faults/status": keeps_the_body("in the attribute `body`"),
    "truncation/boundaries": _EMPTY_IS_WHOLE,
    "truncation/prefix": _EMPTY_IS_WHOLE,
    "truncation/good-endings": _DONE_IS_NO_END,
    "finish/absent": _DONE_IS_NO_END,
    "framing/bom": BOM_IS_READ,
    "framing/any-bytes": "the package passes on content that is no text as it is",
    "framing/empty-data": "the package takes empty data for a chunk, which is not JSON",
}

CAUSES: Mapping[str, Mapping[str, str]] = {
    "openai, tutorial loop": OPENAI,
    "openai, retrying": OPENAI_RETRYING,
    "openai, careful": {},
    "anthropic, tutorial loop": ANTHROPIC,
    "anthropic, retrying": ANTHROPIC_RETRYING,
    "anthropic, careful": {},
    "google-genai, tutorial loop": GOOGLE_GENAI,
    "mistralai, tutorial loop": MISTRALAI,
    "cohere, tutorial loop": COHERE,
    "ollama, tutorial loop": OLLAMA,
    "groq, tutorial loop": GROQ,
    "huggingface_hub, tutorial loop": HUGGINGFACE_HUB,
    "litellm, tutorial loop": LITELLM,
}
"""Adapter → check id → why it fails; in the order of the pages."""

NOT_RUN: Mapping[str, Mapping[str, str]] = {
    "groq, tutorial loop": {"release/many": MAY_HANG},
    "litellm, tutorial loop": {"release/many": MAY_HANG},
}
"""Adapter → check id → why it is not run."""
