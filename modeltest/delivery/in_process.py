"""Letting an adapter read thousands of bodies, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import responses

from modeltest.backend import Response, Send
from modeltest.consumer import Log
from modeltest.delivery.elsewhere import in_place

if TYPE_CHECKING:
    from modeltest.delivery.scenario import Scenario


ReadBody = Callable[[bytes], Log]
"""Lets the adapter read these bytes as the whole body of an answer that ends cleanly."""


@contextmanager
def body_reader(scenario: Scenario, content_type: str) -> Iterator[ReadBody]:
    """Yield a function that lets the adapter read a body.

    A requests adapter reads it in process, through `responses`, without a socket; any other,
    and one that does not use the session it was given, from the backend.
    """
    if scenario.target.transport.plays_in_process:
        with _in_process(scenario, content_type) as read:
            before = len(scenario.backend.exchanges)
            read(b"")
            if len(scenario.backend.exchanges) == before:
                yield read
                return
    yield _over_the_backend(scenario, content_type)


_AS_THE_SERVER = {"Transfer-Encoding": "chunked"}
"""The framing header that the server sends: an adapter may read a body without one another way."""


@contextmanager
def _in_process(scenario: Scenario, content_type: str) -> Iterator[ReadBody]:
    url = re.compile(re.escape(scenario.backend.url))
    body = b""

    def answer(request: object) -> tuple[int, dict[str, str], bytes]:  # noqa: ARG001
        return 200, _AS_THE_SERVER, body

    with in_place(responses.RequestsMock(assert_all_requests_are_fired=False)) as mock:
        mock.add_passthru(re.compile(""))  # another thread's requests are none of ours
        for method in (responses.POST, responses.GET):
            mock.add_callback(method, url, answer, content_type=content_type)

        def read(data: bytes) -> Log:
            nonlocal body
            body = data
            mock.calls.reset()  # it keeps each call, and its body
            return scenario.read()

        yield read


def _over_the_backend(scenario: Scenario, content_type: str) -> ReadBody:
    def read(body: bytes) -> Log:
        scenario.backend.play(Response((Send(body),), content_type=content_type))
        return scenario.read()

    return read
