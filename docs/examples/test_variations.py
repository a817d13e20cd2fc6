"""The variations under the same checks, and a known fault: the run stays green, and honest."""

from typing import Any

import requests

from modeltest import ModelContractTestCase, wire

from .openai_chat_cancel import CancellableOpenAIChat
from .openai_chat_pump import PumpedOpenAIChat
from .openai_chat_retry import RetryingOpenAIChat
from .openai_chat_stream import ClosableOpenAIChat
from .test_openai_chat import begin
from .test_other_providers import ExampleHooks

BEFORE_HEADERS = {
    "release/blocked [SHOULD]": "before the headers, requests gives no hold on the connection",
}


class TestClosable(ExampleHooks, ModelContractTestCase):
    """A stream object is closed from another thread while it waits; the kit sees that it can be."""

    wire = wire.OpenAIChat(reasoning="reasoning")

    def new_model(self, base_url: str, client: requests.Session) -> ClosableOpenAIChat:
        """Return the adapter, pointed at the kit's server."""
        return ClosableOpenAIChat(base_url, self.api_key, session=client)


class TestPumped(ExampleHooks, ModelContractTestCase):
    """A stream with a thread of its own must end it on every way out."""

    wire = wire.OpenAIChat(reasoning="reasoning")

    def new_model(self, base_url: str, client: requests.Session) -> PumpedOpenAIChat:
        """Return the adapter, pointed at the kit's server."""
        return PumpedOpenAIChat(base_url, self.api_key, session=client)


class TestCancellable(ExampleHooks, ModelContractTestCase):
    """An `open_stream` that takes `cancel` is stopped by the kit's token."""

    wire = wire.OpenAIChat(reasoning="reasoning")
    expected_failures = BEFORE_HEADERS

    def new_model(self, base_url: str, client: requests.Session) -> CancellableOpenAIChat:
        """Return the adapter, pointed at the kit's server."""
        return CancellableOpenAIChat(base_url, self.api_key, session=client)

    def open_stream(self, model: Any, request: Any, cancel: Any = None) -> Any:
        """Begin a stream of the adapter's own."""
        return begin(model, request, cancel=cancel)


class TestRetrying(ExampleHooks, ModelContractTestCase):
    """With `retries` the kit lets an adapter send as many more requests, and sees when it does."""

    wire = wire.OpenAIChat(reasoning="reasoning")
    retries = 2

    def new_model(self, base_url: str, client: requests.Session) -> RetryingOpenAIChat:
        """Return the adapter, pointed at the kit's server."""
        return RetryingOpenAIChat(
            base_url, self.api_key, session=client, retries=self.retries, backoff=0.01
        )
