"""Two adapters over the openai package: as people write it, and with care."""

from __future__ import annotations

import json
import unittest
from collections.abc import Iterator

try:
    import openai
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDelta
except ImportError as error:
    raise unittest.SkipTest("needs the openai package: install modeltest-kit[real]") from error

from docs.examples.openai_chat_request import chat_request
from docs.examples.openai_chat_stream import ChatStream
from modeltest import (
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    Request,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from tests.real.careful import SDKBody, model_errors

_MODEL = "gpt-5"

_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_USE,
    "content_filter": FinishReason.FILTERED,
}


class NaiveOpenAIModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)

    def stream(self, request: Request) -> Iterator[Event]:
        response = self.client.chat.completions.create(
            model=_MODEL,
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            stream=True,
        )
        for chunk in response:
            if chunk.choices and chunk.choices[0].delta.content:
                yield TextDelta(chunk.choices[0].delta.content)
        yield Finish(FinishReason.STOP)


class CarefulOpenAIModel:
    """Releases the response on every way out, and takes no answer without its end for one."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._api_key = api_key
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)

    def stream(self, request: Request) -> ChatStream:
        payload = json.loads(chat_request(_MODEL, request))
        with model_errors(self._api_key):
            chunks = self._client.chat.completions.create(**payload)
        return ChatStream(SDKBody(chunks.response), self._read(chunks))

    def _read(self, chunks: openai.Stream[ChatCompletionChunk]) -> Iterator[Event]:
        with model_errors(self._api_key):
            yield from chat_events(chunks)


def chat_events(chunks: openai.Stream[ChatCompletionChunk]) -> Iterator[Event]:
    reason, usage = "", Usage()
    for chunk in chunks:
        if chunk.usage:
            usage = _usage(chunk.usage)
        for choice in chunk.choices:
            yield from _content(choice.delta)
            reason = choice.finish_reason or reason
    if not reason:
        # The package ends its loop the same way at [DONE] and at the end of a cut body.
        raise IncompleteResponseError("the response ended before a finish_reason")
    yield Finish(_REASONS.get(reason, reason), raw=reason, usage=usage)


def _content(delta: ChoiceDelta) -> Iterator[Event]:
    if text := delta.content or delta.refusal:
        yield TextDelta(text)
    for call in delta.tool_calls or ():
        function = call.function
        yield ToolCallDelta(
            call.index,
            id=call.id or "",
            name=(function and function.name) or "",
            arguments=(function and function.arguments) or "",
        )


def _usage(usage: CompletionUsage) -> Usage:
    details = usage.prompt_tokens_details
    cached = (details and details.cached_tokens) or 0
    return Usage(
        # prompt_tokens includes what the cache gave; the neutral counts are disjoint.
        input_tokens=usage.prompt_tokens - cached,
        output_tokens=usage.completion_tokens,
        cache_read_tokens=cached,
    )
