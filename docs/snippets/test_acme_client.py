"""A client with events and requests of its own, under the same checks."""

from collections.abc import Iterator

import requests

from docs.snippets.acme_client import AcmeClient, AcmeError, Done, Piece
from modeltest import Event, Finish, ModelContractTestCase, Request, TextDelta


class TestAcmeClient(ModelContractTestCase):
    """Runs the checks on the client."""

    model_error = AcmeError
    skips = {"tools/*": "the client offers no tools"}

    def new_model(self, base_url: str, client: requests.Session) -> AcmeClient:
        """Return the client, pointed at the test server."""
        return AcmeClient(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        """Return event number i of a text response, as the provider sends it."""
        return f'data: {{"text": "word {i} "}}\n\n'

    def open_stream(self, model: AcmeClient, request: Request) -> Iterator[Piece | Done]:
        """Start one answer: modeltest's request becomes the client's own."""
        messages = [{"role": each.role, "content": each.text} for each in request.messages]
        return model.chat(messages)

    def translate(self, event: Piece | Done) -> Event:
        """Return modeltest's event for one of the client's."""
        match event:
            case Piece(text):
                return TextDelta(text)
            case Done(reason):
                return Finish(reason=reason, raw=reason)
