"""The adapter that is usually written first, for the same invented provider.

It passes every test that mocks its HTTP client. Compare it with acme.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import requests

from modeltest.interface import Finish, TextDelta

if TYPE_CHECKING:
    from modeltest.interface import Event, Request


class NaiveModel:
    """Streams answers, as long as nothing goes wrong."""

    def __init__(self, base_url: str, session: requests.Session, api_key: str) -> None:
        self._url = f"{base_url}/v1/answer"
        self._session = session
        self._headers = {"Authorization": f"Bearer {api_key}"}

    def stream(self, request: Request) -> Iterator[Event]:
        """Yield the events of one answer."""
        payload = {
            "messages": [[message.role, message.text] for message in request.messages],
            "tools": [[tool.name, tool.description, tool.parameters] for tool in request.tools],
        }
        response = self._session.post(self._url, json=payload, headers=self._headers, stream=True)
        lines: Any = response.iter_lines(decode_unicode=True)
        for line in lines:
            if line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                if "text" in data:
                    yield TextDelta(data["text"])
        yield Finish(reason="stop")
