"""OpenAI Chat Completions over httpx, as an async generator."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext, suppress

import httpx

from modeltest import Event, IncompleteResponseError, Request

from .api_key import check_api_key
from .http_errors import (
    ERROR_BYTES,
    ERROR_SECONDS,
    EVENT_STREAM,
    http_error,
    is_stream,
    unreachable,
)
from .openai_chat_request import chat_request
from .openai_chat_turn import ChatTurn
from .secret import Caught
from .sse import SSEDecoder

_SETTLE_SECONDS = 0.1


class AsyncOpenAIChatModel:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str = "gpt-4o-mini",
        client: httpx.AsyncClient | None = None,
        connect_timeout: float = 10.0,
        idle_timeout: float | None = None,
    ) -> None:
        """Name the provider; nothing is sent yet.

        Args:
            base_url: what precedes `/chat/completions`.
            api_key: the secret; no error and no repr holds it.
            model: the provider's name of the model.
            client: connections, proxies, certificates, for one event loop; whoever gives it
                closes it. By default each stream has its own, and closes it.
            connect_timeout: seconds until the connection has to stand.
            idle_timeout: seconds without a byte after which the turn fails; None waits, as
                a model may think for minutes.

        Raises:
            ConfigError: the key holds characters that no header may hold.
        """
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._api_key = check_api_key(api_key)
        self._model = model
        self._client = client
        self._timeout = httpx.Timeout(idle_timeout, connect=connect_timeout)

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Yield the events of the answer; the request is sent when the first is asked for.

        The connection is released at the end, on an error, on `aclose()`, when the task that
        reads is cancelled, and, a tick later, when the generator is dropped.

        Raises:
            ConfigError: before anything is sent.
            ModelError, TruncatedToolArgumentsError: the turn failed.
        """
        turn, decoder = ChatTurn(secret=self._api_key), SSEDecoder()
        body = chat_request(self._model, request)
        async with (
            self._connections() as client,
            aclosing(await self._post(client, body)) as answer,
        ):
            if not is_stream(answer.status_code, answer.headers):
                start = await _start(answer)
                raise http_error(answer.status_code, answer.headers, start, secret=self._api_key)
            try:
                # Closed here, for `break` and exceptions do not close an inner generator.
                async with aclosing(_chunks(answer, secret=self._api_key)) as chunks:
                    async for chunk in chunks:
                        for sse in decoder.feed(chunk):
                            for event in turn.take(sse):
                                yield event
                        if turn.over:
                            await _settle(chunks)
                            break
            except IncompleteResponseError:
                # A connection that breaks after the answer has ended takes nothing from it.
                if not turn.complete:
                    raise
            for event in turn.finish():
                yield event

    def _connections(self) -> AbstractAsyncContextManager[httpx.AsyncClient]:
        if self._client is not None:
            return nullcontext(self._client)
        return httpx.AsyncClient(verify=_certificates())

    async def _post(self, client: httpx.AsyncClient, body: bytes) -> httpx.Response:
        """Send the request; return once the headers of the answer are there."""
        headers = {
            "Authorization": f"Bearer {self._api_key}",
            "Content-Type": "application/json",
            "Accept": EVENT_STREAM,
            # A compressed stream comes in blocks, not as it is written.
            "Accept-Encoding": "identity",
        }
        errors = (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError)
        with Caught(*errors) as caught:
            post = client.build_request(
                "POST", self._url, content=body, headers=headers, timeout=self._timeout
            )
            return await client.send(post, stream=True, follow_redirects=False)
        raise unreachable(caught, secret=self._api_key)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Load them once: it takes longer than a request on loopback."""
    return httpx.create_ssl_context()


async def _chunks(answer: httpx.Response, *, secret: str) -> AsyncGenerator[bytes, None]:
    """Yield the bytes as they arrive.

    Raises:
        IncompleteResponseError: the connection broke, or was silent for too long.
    """
    with Caught(httpx.HTTPError) as caught:
        async with aclosing(answer.aiter_bytes()) as chunks:
            async for chunk in chunks:
                yield chunk
        return
    silent = isinstance(caught.error, httpx.ReadTimeout)
    what = "the provider fell silent" if silent else "the connection broke"
    raise caught.failure(IncompleteResponseError, what, secret)


async def _start(answer: httpx.Response) -> bytes:
    """Return at most the first bytes of the body, or what of them comes in time."""
    start = b""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(ERROR_SECONDS), aclosing(answer.aiter_bytes()) as chunks:
            async for chunk in chunks:
                start += chunk
                if len(start) >= ERROR_BYTES:
                    break
    return start[:ERROR_BYTES]


async def _settle(chunks: AsyncGenerator[bytes, None]) -> None:
    """Take the end of the body if it is there, so that the connection serves again.

    The answer is already whole: a server that does not end its body is not waited for.
    """
    with suppress(IncompleteResponseError, TimeoutError):
        async with asyncio.timeout(_SETTLE_SECONDS):
            async for _ in chunks:
                pass
