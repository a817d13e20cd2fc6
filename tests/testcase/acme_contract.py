"""Small contract tests, run in processes of their own; not named `test_…`: none are tests here."""

import gc
import os
import socket
import sys
import threading
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

from modeltest import Event, ModelContractTestCase, OwnTransport, Request
from modeltest.demo.acme import AcmeModel


class Trusting(AcmeModel):
    """Brings a session that trusts the environment, as most adapters do; it must be neutral."""

    def __init__(self, base_url: str, client: None, api_key: str) -> None:
        super().__init__(base_url, requests.Session(), api_key)

    def stream(self, request: Request) -> Iterator[Event]:
        assert self._session.trust_env
        found = self._session.merge_environment_settings(self._url, {}, True, True, None)
        assert not found["proxies"], found
        assert found["verify"] is True, found
        assert requests.utils.get_netrc_auth(self._url) is None
        assert socket.getdefaulttimeout() is None
        return super().stream(request)


class TestAcme(ModelContractTestCase):
    """The kit's client."""

    def new_model(self, base_url: str, client: Any) -> AcmeModel:
        return AcmeModel(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        return f'data: {{"text": "word {i} "}}\n\n'


class TestTrusting(TestAcme):
    """The adapter's own client."""

    transport = OwnTransport()

    def new_model(self, base_url: str, client: None) -> AcmeModel:  # type: ignore[override]
        return Trusting(base_url, client, self.api_key)


def state() -> dict[str, Any]:
    """Return what belongs to the author and the kit gives back as it was."""
    return {
        "variables": dict(os.environ),
        "directory": Path.cwd(),
        "socket timeout": socket.getdefaulttimeout(),
        "collecting": gc.isenabled(),
        "thresholds": gc.get_threshold(),
        "trace": sys.gettrace(),
        "thread start": threading.Thread.start,
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook),
    }


def main() -> None:
    before = state()
    program = unittest.main(__name__, exit=False)
    assert state() == before, (state(), before)
    sys.exit(not program.result.wasSuccessful())


if __name__ == "__main__":
    main()
