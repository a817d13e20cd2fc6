"""The contract on the openai package: Chat Completions, streamed."""

from functools import partial
from typing import ClassVar

from modeltest.wire import OpenAIChat
from tests.real.naive import (
    BOM_IS_READ,
    CHOICE_ALONE,
    CUT_CLEANLY,
    JUDGED_WITHOUT_RETRIES,
    LEFT,
    NO_LOOK_AT_THE_TYPE,
    NOT_UTF8,
    OPENAI_SHAPED,
    PackageTestCase,
    gzip_ends_alike,
    keeps_the_body,
)
from tests.real.openai_clients import (
    CarefulOpenAIModel,
    NaiveOpenAIModel,
    openai,
)

KEPT_BY_A_CYCLE = (
    "whoever leaves the loop drops the package's Stream without closing it, and the Stream and "
    "its generator (`self._iterator`) refer to each other: the connection stays open until "
    "Python's cyclic garbage collector comes by. `with response:` around the loop closes it"
)
ENDS_ALIKE = (
    "the package's loop ends alike at [DONE] and where the body ends, however early (an event "
    "without its blank line is dropped), and the wrapper then yields its Finish"
)
NOT_AN_OPENAI_ERROR = (
    "an event that is no JSON raises JSONDecodeError, and `data: null` gives a chunk that is "
    "None: neither is an OpenAIError"
)


BODY_IS_KEPT = keeps_the_body("in the attributes `body` and `response`")


class OpenAITestCase(PackageTestCase, abstract=True):
    wire = OpenAIChat()


class TestNaiveOpenAI(OpenAITestCase):
    title = "openai, naive"
    adapter = NaiveOpenAIModel
    code = (NaiveOpenAIModel,)
    model_error = openai.OpenAIError
    expected_failures: ClassVar = {
        **dict.fromkeys(LEFT, KEPT_BY_A_CYCLE),
        **OPENAI_SHAPED,
        "tools/accepted": CHOICE_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx2"),
        "framing/malformed": NOT_AN_OPENAI_ERROR,
        "framing/any-bytes": NOT_AN_OPENAI_ERROR,
        "framing/empty-data": NOT_AN_OPENAI_ERROR,
        "framing/invalid-utf8": NOT_UTF8,
        "framing/bom": BOM_IS_READ,
        "faults/status": BODY_IS_KEPT,
        "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
    }


class TestRetryingOpenAI(OpenAITestCase):
    title = "openai, retrying"
    code = ()
    adapter = partial(NaiveOpenAIModel, max_retries=openai.DEFAULT_MAX_RETRIES)
    retries = openai.DEFAULT_MAX_RETRIES
    model_error = openai.OpenAIError
    expected_failures: ClassVar = {"faults/status": BODY_IS_KEPT}
    skips = JUDGED_WITHOUT_RETRIES


class TestCarefulOpenAI(OpenAITestCase):
    title = "openai, careful"
    adapter = CarefulOpenAIModel
    code = (CarefulOpenAIModel,)
    strict = True
    refused_tool_names = ("fs.read", "a" * 65)
    accepted_tool_names = ("a" * 64,)
