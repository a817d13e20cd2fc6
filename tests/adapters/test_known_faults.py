"""An adapter with a known fault: the run stays green."""

import json
from collections.abc import Iterator

import requests

from modeltest import APIError, Event, ModelContractTestCase, ModelError, Request

from .openai_chat_turn import ChatTurn
from .sse import SSEDecoder


class BufferedModel:
    """Reads 4 kB at a time; where the response is not chunked, events wait for the rest."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        """Talk to `base_url` through `session`."""
        self._url = f"{base_url}/chat/completions"
        self._session = session

    def stream(self, request: Request) -> Iterator[Event]:
        """Yield the events of the answer."""
        prompt = request.messages[-1].text
        decoder, turn = SSEDecoder(), ChatTurn()
        try:
            with self._session.post(self._url, json={"prompt": prompt}, stream=True) as response:
                if response.status_code != 200:
                    raise APIError(response.status_code, response.text[:500])
                for chunk in response.iter_content(4096):
                    for event in decoder.feed(chunk):
                        yield from turn.take(event)
        except requests.RequestException as error:
            raise ModelError(f"the provider failed: {error}") from error
        yield from turn.finish()


class TestBufferedModel(ModelContractTestCase):
    """Lists each known failure with its reason."""

    expected_failures = {
        "delivery/prompt": "iter_content(4096) waits for a full buffer over HTTP/1.0; use read1()",
    }
    skips = {
        "test_many_abandoned_streams_do_not_deadlock": "the adapter starts no threads",
        "tools/*": "the adapter has no tools",
    }

    def new_model(self, base_url: str, session: requests.Session) -> BufferedModel:
        """Return the adapter, pointed at the kit's server."""
        return BufferedModel(base_url, session)

    def event(self, i: int) -> str:
        """Return the i-th event of a text response."""
        chunk = {"choices": [{"index": 0, "delta": {"content": f"word{i} "}}]}
        return f"data: {json.dumps(chunk)}\n\n"
