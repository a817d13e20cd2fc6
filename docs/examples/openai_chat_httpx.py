"""OpenAI Chat Completions over httpx, as an async generator.

The request and the meaning of the events are those of openai_chat.py: neither reads nor sends.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import cast
from weakref import WeakKeyDictionary

import httpx

from .events import ChatError, Event, Object
from .openai_chat import Turn, chat_request
from .reading import SSEDecoder, connection_failed, is_stream, status_error
from .sending import check_key


class AsyncOpenAIChat:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        model: str = "gpt-4o-mini",
        client: httpx.AsyncClient | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        """Name the provider; a `client` is for one event loop, and closed by who gives it."""
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key, self._model, self._client = check_key(key), model, client
        self._clients = WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient]()
        self._timeout = httpx.Timeout(idle_timeout, connect=10.0)

    async def stream(self, request: Object) -> AsyncGenerator[Event, None]:
        """Yield the answer; the request is sent when the first event is asked for.

        The connection is released at the end, on an error, on `aclose()`, when the task that
        reads is cancelled, and, a tick later, when the generator is dropped.

        Raises:
            BadRequestError: before anything is sent.
            ChatError: the turn failed.
        """
        decoder, turn = SSEDecoder(), Turn(self._key)
        body = chat_request(self._model, request)
        async with aclosing(
            await self._post(self._client or self._connections(), body)
        ) as response:
            if not is_stream(response.status_code, response.headers, "text/event-stream"):
                start = await rest(response)
                raise status_error(response.status_code, response.headers, start, self._key)
            # aclosing, for `break` and exceptions do not close an inner generator.
            async with aclosing(self._chunks(response)) as chunks:
                async for chunk in chunks:
                    for data in decoder.feed(chunk):
                        for event in turn.take(data):
                            yield event
                    if turn.over:
                        # The end of the body, if it is there: the connection may serve again.
                        with suppress(ChatError, TimeoutError):
                            async with asyncio.timeout(0.1):
                                await anext(chunks, None)
                        break
            for event in turn.finish():
                yield event

    def _connections(self) -> httpx.AsyncClient:
        # A client belongs to one event loop. Its connections serve all streams there.
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            # It serves many users: a cookie would tie their requests together.
            no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
            self._clients[loop] = httpx.AsyncClient(verify=_trusted(), cookies=no_cookies)
        return self._clients[loop]

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        if client := self._clients.pop(asyncio.get_running_loop(), None):
            await client.aclose()

    async def _post(self, client: httpx.AsyncClient, body: bytes) -> httpx.Response:
        headers = {
            "Authorization": f"Bearer {self._key}",
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",  # a compressed stream comes in blocks
        }
        try:
            request = client.build_request(
                "POST", self._url, content=body, headers=headers, timeout=self._timeout
            )
            return await client.send(request, stream=True, follow_redirects=False)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            failure = connection_failed(error, self._key)
        raise failure  # not within `except`: the library's error may quote the key

    async def _chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(_bytes(response)) as chunks:
                async for chunk in chunks:
                    yield chunk
            return  # noqa: TRY300 - what follows is for the error alone
        except httpx.HTTPError as error:
            failure = connection_failed(error, self._key)
        raise failure


def _bytes(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    return cast(
        "AsyncGenerator[bytes, None]", response.aiter_bytes()
    )  # it is one, and can be closed


async def rest(response: httpx.Response) -> bytes:
    """Return what comes of the body within a second, a bounded part of it; never raises."""
    body = b""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(1.0), aclosing(_bytes(response)) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) >= 65536:
                    break
    return body


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Load the certificates once: that takes longer than a request."""
    return httpx.create_ssl_context()
