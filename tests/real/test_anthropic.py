"""The contract on the anthropic package: Messages, streamed."""

from typing import ClassVar

from modeltest import ModelContractTestCase, OwnTransport
from modeltest.wire import AnthropicMessages
from tests.real.anthropic_clients import (
    CarefulAnthropicModel,
    NaiveAnthropicModel,
    anthropic,
)

ENDS_ALIKE = (
    "the package's `text_stream` ends alike after message_stop and where the body ends, however "
    "early (an event without its blank line is dropped), and the wrapper then yields its Finish"
)
GZIP_ENDS_ALIKE = (
    "the package asks for gzip, and httpx2 hands out what a cut gzip body holds without an error; "
    "the wrapper then yields its Finish"
)
UNTRANSLATED = (
    "once the response has begun, the package lets the errors of its HTTP library through as they "
    "are: httpx2.RemoteProtocolError and httpx2.ReadError are no AnthropicError, which a caller "
    "would catch (anthropic-sdk-python issue 1919)"
)


class AnthropicTestCase(ModelContractTestCase, abstract=True):
    transport = OwnTransport()
    wire = AnthropicMessages()
    adapter: type[NaiveAnthropicModel | CarefulAnthropicModel]

    def new_model(self, base_url: str, client: None) -> NaiveAnthropicModel | CarefulAnthropicModel:
        return self.adapter(base_url, self.api_key)


class TestNaiveAnthropic(AnthropicTestCase):
    title = "anthropic, naive"
    adapter = NaiveAnthropicModel
    code = (NaiveAnthropicModel,)
    model_error = anthropic.AnthropicError
    expected_failures: ClassVar = {
        "truncation/clean": ENDS_ALIKE,
        "truncation/close-delimited": ENDS_ALIKE,
        "truncation/empty": ENDS_ALIKE,
        "truncation/mid-event": ENDS_ALIKE,
        "truncation/gzip": GZIP_ENDS_ALIKE,
        "truncation/closed": UNTRANSLATED,
        "truncation/reset": UNTRANSLATED,
        "truncation/short": UNTRANSLATED,
    }


class TestCarefulAnthropic(AnthropicTestCase):
    title = "anthropic, careful"
    adapter = CarefulAnthropicModel
    code = (CarefulAnthropicModel,)
    strict = True
