"""Letting an adapter read thousands of bodies, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import responses

from modeltest.backend import Response, Send
from modeltest.consumer import Log
from modeltest.delivery.elsewhere import in_place
from modeltest.delivery.scenario import Case
from modeltest.transports import RequestsTransport

ReadBody = Callable[[bytes], Log]
"""Lets the adapter read these bytes as the whole body of an answer that ends cleanly."""


@contextmanager
def body_reader(case: Case, content_type: str) -> Iterator[ReadBody]:
    """Yield a function that lets the adapter read a body.

    A requests adapter reads it in process, through `responses`, without a socket; any other,
    and one that does not use the session it was given, from the backend.
    """
    if isinstance(case.subject.transport, RequestsTransport):
        with _in_process(case, content_type) as read:
            before = len(case.backend.exchanges)
            read(b"")
            if len(case.backend.exchanges) == before:
                yield read
                return
    yield _over_the_backend(case, content_type)


@contextmanager
def _in_process(case: Case, content_type: str) -> Iterator[ReadBody]:
    url = re.compile(re.escape(case.backend.url))
    body = b""

    def answer(request: object) -> tuple[int, dict[str, str], bytes]:  # noqa: ARG001
        return 200, {}, body

    with in_place(responses.RequestsMock(assert_all_requests_are_fired=False)) as mock:
        mock.add_passthru(re.compile(""))  # another thread's requests are none of ours
        for method in (responses.POST, responses.GET):
            mock.add_callback(method, url, answer, content_type=content_type)

        def read(data: bytes) -> Log:
            nonlocal body
            body = data
            mock.calls.reset()  # it keeps each call, and its body
            return case.read()

        yield read


def _over_the_backend(case: Case, content_type: str) -> ReadBody:
    def read(body: bytes) -> Log:
        case.backend.play(Response((Send(body),), content_type=content_type))
        return case.read()

    return read
