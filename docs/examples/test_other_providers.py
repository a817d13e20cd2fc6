"""One test case a provider: its wire format, its transport, and the two hooks as before."""

from typing import Any

import requests
import urllib3

from modeltest import Event, ModelContractTestCase, Request, Urllib3Transport, wire

from . import events
from .anthropic_messages import AnthropicMessages
from .gemini import Gemini
from .ollama_chat import OllamaChat
from .openai_responses import OpenAIResponses
from .test_openai_chat import begin, to_kit


class ExampleHooks:
    """What these test cases share: how the adapters' world becomes the kit's."""

    model_error = events.ChatError
    config_error = events.BadRequestError

    def open_stream(self, model: Any, request: Request) -> Any:
        """Begin a stream of the adapter's own."""
        return begin(model, request)

    def translate(self, event: events.Event) -> Event:
        """Return the kit's event for the adapter's."""
        return to_kit(event)


class TestAnthropicMessages(ExampleHooks, ModelContractTestCase):
    """An adapter over urllib3: the transport says which client it is given."""

    transport = Urllib3Transport()
    wire = wire.AnthropicMessages()
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: urllib3.PoolManager) -> AnthropicMessages:
        """Return the adapter, pointed at the kit's server."""
        return AnthropicMessages(
            base_url, self.api_key, pool=client, idle_timeout=self.idle_timeout
        )


class TestGemini(ExampleHooks, ModelContractTestCase):
    """A format without an end marker: the wire knows that it has none."""

    wire = wire.Gemini()
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: requests.Session) -> Gemini:
        """Return the adapter, pointed at the kit's server."""
        return Gemini(base_url, self.api_key, session=client, idle_timeout=self.idle_timeout)


class TestOllamaChat(ExampleHooks, ModelContractTestCase):
    """Lines of JSON in place of server-sent events: the checks follow the wire's framing."""

    wire = wire.OllamaChat()

    def new_model(self, base_url: str, client: requests.Session) -> OllamaChat:
        """Return the adapter, pointed at the kit's server."""
        return OllamaChat(base_url, self.api_key, session=client)


class TestOpenAIResponses(ExampleHooks, ModelContractTestCase):
    """Named events about the items of a response."""

    wire = wire.OpenAIResponses()
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: requests.Session) -> OpenAIResponses:
        """Return the adapter, pointed at the kit's server."""
        return OpenAIResponses(
            base_url, self.api_key, session=client, idle_timeout=self.idle_timeout
        )
