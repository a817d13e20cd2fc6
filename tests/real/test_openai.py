"""The contract on the openai package: Chat Completions, streamed."""

from typing import ClassVar

from modeltest import ModelContractTestCase, OwnTransport
from modeltest.wire import OpenAIChat
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
GZIP_ENDS_ALIKE = (
    "the package asks for gzip, and httpx2 hands out what a cut gzip body holds without an error; "
    "the wrapper then yields its Finish"
)


class OpenAITestCase(ModelContractTestCase, abstract=True):
    transport = OwnTransport()
    wire = OpenAIChat()
    adapter: type[NaiveOpenAIModel | CarefulOpenAIModel]

    def new_model(self, base_url: str, client: None) -> NaiveOpenAIModel | CarefulOpenAIModel:
        return self.adapter(base_url, self.api_key)


class TestNaiveOpenAI(OpenAITestCase):
    title = "openai, naive"
    adapter = NaiveOpenAIModel
    code = (NaiveOpenAIModel,)
    model_error = openai.OpenAIError
    expected_failures: ClassVar = {
        "release/break": KEPT_BY_A_CYCLE,
        "release/close": KEPT_BY_A_CYCLE,
        "release/with": KEPT_BY_A_CYCLE,
        "release/consumer-error": KEPT_BY_A_CYCLE,
        "release/nothing-left": KEPT_BY_A_CYCLE,
        "truncation/clean": ENDS_ALIKE,
        "truncation/close-delimited": ENDS_ALIKE,
        "truncation/empty": ENDS_ALIKE,
        "truncation/mid-event": ENDS_ALIKE,
        "truncation/gzip": GZIP_ENDS_ALIKE,
    }


class TestCarefulOpenAI(OpenAITestCase):
    title = "openai, careful"
    adapter = CarefulOpenAIModel
    code = (CarefulOpenAIModel,)
    strict = True
