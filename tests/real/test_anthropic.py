"""The contract on the anthropic package: Messages, streamed."""

from functools import partial
from typing import ClassVar

from modeltest.wire import AnthropicMessages
from tests.real.anthropic_clients import (
    CarefulAnthropicModel,
    NaiveAnthropicModel,
    anthropic,
)
from tests.real.naive import (
    BOM_IS_READ,
    BROKEN_OFF,
    CHOICE_ALONE,
    CUT_CLEANLY,
    JUDGED_WITHOUT_RETRIES,
    NO_LOOK_AT_THE_TYPE,
    NO_REASON,
    NOT_UTF8,
    READS_ON,
    TEXT_ALONE,
    TUTORIAL,
    UNCHECKED_TOOLS,
    PackageTestCase,
    gzip_ends_alike,
    keeps_the_body,
    untranslated_in_stream,
)

ENDS_ALIKE = (
    "the package's `text_stream` ends alike after message_stop and where the body ends, however "
    "early (an event without its blank line is dropped), and the wrapper then yields its Finish"
)
NOT_AN_ANTHROPIC_ERROR = (
    "what is no JSON, or no event, raises JSONDecodeError, UnicodeDecodeError or AttributeError: "
    "none is an AnthropicError"
)
ONE_KIND_OF_LINE_END = (
    "the package ends an event only at two line ends of the same kind: where they are mixed, "
    "it waits for more"
)
NAMELESS = (
    f"{TEXT_ALONE}; where its arguments are no JSON from the start, the package's helper raises "
    "ValueError, without the tool's name"
)


UNNAMED_ERROR = (
    "the package tells an error by its event line: without one it skips the error, reads on, and "
    "the wrapper ends the half answer as a whole one"
)
BODY_IS_KEPT = keeps_the_body("what is no JSON is its text")
SLEEPS_FOR_HOURS = (
    "the package waits for as long as Retry-After says, up to seven weeks, and its caller with it"
)


class AnthropicTestCase(PackageTestCase, abstract=True):
    wire = AnthropicMessages()


class TestNaiveAnthropic(AnthropicTestCase):
    title = "anthropic, naive"
    adapter = NaiveAnthropicModel
    code = (NaiveAnthropicModel,)
    model_error = anthropic.AnthropicError
    expected_failures: ClassVar = {
        **TUTORIAL,
        "tools/traps": UNCHECKED_TOOLS,
        "tools/accepted": CHOICE_ALONE,
        "finish/after": NO_REASON,
        "calls/invalid": NAMELESS,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx2"),
        **dict.fromkeys(
            (*BROKEN_OFF, "faults/idle"),
            f"{untranslated_in_stream('httpx2', 'AnthropicError')} (anthropic-sdk-python issue "
            "1919)",
        ),
        "framing/line-ends": ONE_KIND_OF_LINE_END,
        "framing/malformed": NOT_AN_ANTHROPIC_ERROR,
        "framing/any-bytes": NOT_AN_ANTHROPIC_ERROR,
        "framing/invalid-utf8": NOT_UTF8,
        "framing/bom": BOM_IS_READ,
        "delivery/end": READS_ON,
        "faults/status": BODY_IS_KEPT,
        "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
        "faults/error-event": UNNAMED_ERROR,
        "release/failed": UNNAMED_ERROR,
    }


class TestRetryingAnthropic(AnthropicTestCase):
    title = "anthropic, retrying"
    code = ()
    adapter = partial(NaiveAnthropicModel, max_retries=anthropic.DEFAULT_MAX_RETRIES)
    retries = anthropic.DEFAULT_MAX_RETRIES
    model_error = anthropic.AnthropicError
    expected_failures: ClassVar = {
        "faults/status": BODY_IS_KEPT,
        "faults/retry-after": SLEEPS_FOR_HOURS,
    }
    skips = JUDGED_WITHOUT_RETRIES


class TestCarefulAnthropic(AnthropicTestCase):
    title = "anthropic, careful"
    adapter = CarefulAnthropicModel
    code = (CarefulAnthropicModel,)
    strict = True
    refused_tool_names = ("fs.read", "a" * 129)
    accepted_tool_names = ("a" * 128,)
