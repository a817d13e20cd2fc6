"""A correct parser of OpenAI Chat Completions, and the adapter that reads a response with it."""

import json

from urllib3.exceptions import HTTPError

from modeltest import (
    Finish,
    FinishReason,
    IncompleteResponseError,
    ModelError,
    StreamProtocolError,
    TextDelta,
    Usage,
)
from tests.adapters.openai_chat_request import chat_request
from tests.adapters.tool_call import PartialCall

REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "content_filter": FinishReason.FILTERED,
}


class ChatTurn:
    """What is known of one turn."""

    done = False

    def __init__(self):
        self.reason, self.usage, self.answered = "", Usage(), False
        self.calls, self.by_id, self.by_index = [], {}, {}

    @property
    def complete(self):
        return bool(self.reason) or (self.done and self.answered)

    def take(self, data):
        if not data.strip():
            return
        if data == "[DONE]":
            self.done = True
            return
        chunk = self.parse(data)
        if chunk.get("error"):
            raise ModelError(str(chunk["error"]))
        if isinstance(chunk.get("usage"), dict):
            self.count(chunk["usage"])
        for choice in self.choices(chunk):
            self.answered = True
            yield from self.choice(choice)

    def parse(self, data):
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise StreamProtocolError(f"no JSON: {error}") from error
        if not isinstance(chunk, dict):
            raise StreamProtocolError("no object")
        return chunk

    def choices(self, chunk):
        choices = chunk.get("choices")
        return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []

    def choice(self, choice):
        for event in self.content(choice.get("delta")):
            if self.reason:
                raise StreamProtocolError("content after the finish")
            yield event
        word = choice.get("finish_reason")
        if isinstance(word, str) and word:
            self.reason = word

    def content(self, delta):
        if not isinstance(delta, dict):
            return
        if isinstance(delta.get("content"), str) and delta["content"]:
            yield TextDelta(delta["content"])
        entries = delta.get("tool_calls")
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict):
                yield from self.fragment(entry)

    def fragment(self, entry):
        function = entry.get("function")
        function = function if isinstance(function, dict) else {}
        id_, name, arguments = (
            value if isinstance(value, str) else ""
            for value in (entry.get("id"), function.get("name"), function.get("arguments"))
        )
        index = entry.get("index")
        call = self.call(index if isinstance(index, int) else None, id_, name)
        yield self.add(call, id_, name, arguments)

    def add(self, call, id_, name, arguments):
        return call.add(id=id_, name=name, arguments=arguments)

    def call(self, index, id_, name):
        call = self.by_id.get(id_)
        if call is None and not (name and id_):
            call = self.by_index.get(index)
            if call is None and index is None and self.calls and not name:
                call = self.calls[-1]
        if call is None:
            call = PartialCall(len(self.calls))
            self.calls.append(call)
        if id_:
            self.by_id[id_] = call
        if index is not None:
            self.by_index[index] = call
        return call

    def count(self, usage):
        details = usage.get("prompt_tokens_details")
        cached = self.number(details if isinstance(details, dict) else {}, "cached_tokens")
        self.usage = Usage(
            max(0, self.number(usage, "prompt_tokens") - cached),
            self.number(usage, "completion_tokens"),
            cached,
        )

    def number(self, counts, name):
        return max(0, counts[name]) if type(counts.get(name)) is int else 0

    def end(self):
        if not self.complete:
            raise IncompleteResponseError("the end of the turn is missing")
        reason = self.neutral(self.reason)
        for call in self.calls:
            yield from self.finish_call(call, reason)
        if reason == FinishReason.TOOL_USE and not self.calls:
            raise StreamProtocolError("a tool finish without a call")
        yield Finish(reason, self.reason, self.usage)

    def neutral(self, word):
        return REASONS.get(word, word) if word else FinishReason.STOP

    def finish_call(self, call, reason):
        delta = call.end(reason)
        return [delta] if delta else []


class ChatParser:
    """body → chunks → lines → values → payloads → the turn."""

    Turn = ChatTurn

    def __call__(self, body):
        return self.read(body)

    def read(self, body):
        turn = self.Turn()
        try:
            for data in self.payloads(body):
                yield from turn.take(data)
                if turn.done:
                    break
        except OSError as error:
            if not turn.complete:
                raise ModelError(str(error)) from error
        yield from turn.end()

    def payloads(self, body):
        data = []
        for line in self.lines(body):
            if not line:
                yield from self.dispatch(data)
                data = []
            elif (value := self.value(line)) is not None:
                data.append(value)
        yield from self.rest(data)

    def dispatch(self, data):
        return [self.joined(data)] if data else []

    def joined(self, data):
        return "\n".join(data)

    def rest(self, data):
        """Return what an event without its blank line gives: nothing."""
        return []

    def value(self, line):
        name, _, value = line.partition(":")
        return value.removeprefix(" ") if name == "data" else None

    def lines(self, body):
        for number, line in enumerate(self.byte_lines(body)):
            yield self.text(line if number else self.without_mark(line))

    def without_mark(self, line):
        return line.removeprefix(b"\xef\xbb\xbf")

    def text(self, line):
        return line.decode("utf-8", "replace")

    def byte_lines(self, body):
        line, after_cr = b"", False
        for chunk in self.chunks(body):
            piece = chunk.removeprefix(b"\n") if after_cr else chunk
            after_cr = chunk.endswith(b"\r")
            *ends, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            for end in ends:
                yield line + end
                line = b""
            line += rest
        if line:
            yield line

    def chunks(self, body):
        while chunk := body.read1(65536):
            yield chunk


class ChatModel:
    """A correct adapter over requests, which leaves the body to its parser."""

    parser = ChatParser

    def __init__(self, base_url, session):
        self.url, self.session = base_url + "/chat/completions", session
        self.parse = self.parser()

    def stream(self, request):
        with self.ask(request) as response:
            yield from self.parse(ResponseFile(response))

    def ask(self, request):
        try:
            response = self.session.post(
                self.url,
                data=self.body(request),
                headers={"Accept-Encoding": "identity"},
                stream=True,
            )
        except OSError as error:
            raise ModelError(str(error)) from error
        if response.status_code != 200:
            response.close()
            raise ModelError(f"HTTP {response.status_code}")
        return response

    def body(self, request):
        return chat_request("parrot-1", request)


class ResponseFile:
    """A response of requests, as much of a binary file as the parsers need."""

    def __init__(self, response):
        self.response = response

    def read1(self, size):
        try:
            return self.response.raw.read1(size, decode_content=True)
        except HTTPError as error:
            raise OSError(str(error)) from error

    def readline(self):
        line = b""
        while not line.endswith(b"\n") and (byte := self.response.raw.read(1)):
            line += byte
        return line


def adapter_of(parser):
    """Return the adapter that reads with `parser`; one of its own is returned as it is."""
    if issubclass(parser, ChatModel) or not issubclass(parser, ChatParser):
        return parser
    return type(parser.__name__, (ChatModel,), {"parser": parser, "__doc__": parser.__doc__})
