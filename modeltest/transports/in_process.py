"""Answers to the requests library without a socket: a body is read thousands of times a second."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import responses

from modeltest.transports.elsewhere import in_place

_AS_THE_SERVER = {"Transfer-Encoding": "chunked"}
"""The framing header that the server sends: an adapter may read a body without one another way."""


@contextmanager
def answered_in_process(base_url: str, content_type: str) -> Iterator[Callable[[bytes], None]]:
    """Yield a function that takes the body of the answers to all requests below `base_url`.

    It answers `requests`, whoever has made the session, with HTTP 200.
    """
    body = b""

    def answer(request: object) -> tuple[int, dict[str, str], bytes]:  # noqa: ARG001
        return 200, _AS_THE_SERVER, body

    with in_place(responses.RequestsMock(assert_all_requests_are_fired=False)) as mock:
        mock.add_passthru(re.compile(""))  # another thread's requests are none of ours
        below = re.compile(re.escape(base_url))
        for method in (responses.POST, responses.GET):
            mock.add_callback(method, below, answer, content_type=content_type)

        def give(data: bytes) -> None:
            nonlocal body
            body = data
            mock.calls.reset()  # it keeps each call, and its body

        yield give
