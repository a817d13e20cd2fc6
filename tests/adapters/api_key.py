"""The secret: what it may look like, and how requests is made to send it."""

from __future__ import annotations

import requests
from requests.auth import AuthBase

from modeltest import ConfigError


def check_api_key(api_key: str) -> str:
    """Return the key, if a header can hold it.

    Raises:
        ConfigError: it cannot; the message does not say the key.
    """
    if not (api_key.isascii() and api_key.isprintable()):
        raise ConfigError("expected an API key of printable ASCII characters")
    return api_key


class KeyHeader(AuthBase):
    """A header with the key. As an ordinary one, a .netrc's password for the host would win."""

    def __init__(self, name: str, value: str) -> None:
        """Name the header; an empty value sends none, and none from a .netrc either."""
        self._name = name
        self._value = value

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Put the header on a request."""
        if self._value:
            request.headers[self._name] = self._value
        return request
