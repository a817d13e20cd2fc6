"""Reference decoders: the bytes of a body → the events of a turn, one class a format.

They are written from the providers' documents, share nothing with the encoder, and are as plain
as can be: what they yield is judged by the contract's own `assemble`.
"""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import Event, Finish, FinishReason, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from tests.wire import unframe
from tests.wire.unframe import Malformed, loads


class Failed(Exception):
    """The provider says that it failed."""


STOP, TOOL_USE = FinishReason.STOP, FinishReason.TOOL_USE
LENGTH, FILTERED = FinishReason.LENGTH, FinishReason.FILTERED


class Decoder:
    """Reads one body: `take` is given each event, `finish` what the turn ended with."""

    reads: ClassVar[tuple[str, ...]] = ()
    """The names in `wire.FORMATS` of what it reads."""

    reasons: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        self.out: list[Event] = []
        self.reason: str | None = None
        self.over = False
        self.usage = Usage()

    def read(self, body: bytes) -> list[Event]:
        for event in self.unframe(body):
            if self.over:
                break
            self.take(event)
        if self.complete():
            word = self.reason or ""
            self.out.append(Finish(self.meaning(word), word, self.usage))
        return self.out

    def complete(self) -> bool:
        return self.reason is not None

    def meaning(self, word: str) -> str:
        return self.reasons.get(word, word or STOP)

    def unframe(self, body: bytes) -> Iterator[Any]:
        raise NotImplementedError

    def take(self, event: Any) -> None:
        raise NotImplementedError

    def say(self, event: Event) -> None:
        if self.reason is not None:
            raise Malformed("content after the finish")
        self.out.append(event)


class ChatDecoder(Decoder):
    """OpenAI Chat and Mistral."""

    reads = ("OpenAIChat", "MistralChat")
    reasons: ClassVar[dict[str, str]] = {
        "stop": STOP,
        "length": LENGTH,
        "model_length": LENGTH,
        "tool_calls": TOOL_USE,
        "function_call": TOOL_USE,
        "content_filter": FILTERED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[str, int] = {}
        self.by_index: dict[Any, int] = {}
        self.count = 0

    def complete(self) -> bool:
        return self.over or self.reason is not None

    def unframe(self, body: bytes) -> Iterator[Any]:
        for _, data in unframe.sse(body):
            yield data

    def take(self, data: str) -> None:
        if data == "[DONE]":
            self.over = True
            return
        chunk = loads(data)
        if error := chunk.get("error"):
            raise Failed(json.dumps(error))
        if usage := chunk.get("usage"):
            cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
            self.usage = Usage(usage["prompt_tokens"] - cached, usage["completion_tokens"], cached)
        for choice in chunk["choices"]:
            self.take_delta(choice["delta"])
            if choice["finish_reason"] == "error":
                raise Failed("error")
            self.reason = choice["finish_reason"] or self.reason

    def take_delta(self, delta: Any) -> None:
        if text := delta.get("reasoning_content"):
            self.say(ReasoningDelta(text))
        content = delta.get("content")
        for piece in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if piece["type"] == "thinking":
                self.say(ReasoningDelta("".join(part["text"] for part in piece["thinking"])))
            elif piece["type"] == "text" and piece["text"]:
                self.say(TextDelta(piece["text"]))
        for entry in delta.get("tool_calls", ()):
            self.take_call(entry)

    def take_call(self, entry: Any) -> None:
        function, id_ = entry["function"], entry.get("id") or ""
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        if id_ and id_ not in self.ids:
            self.ids[id_] = self.by_index[entry.get("index")] = self.count
            self.count += 1
        index = self.ids[id_] if id_ else self.by_index[entry.get("index")]
        self.say(ToolCallDelta(index, id_, function.get("name") or "", arguments))


class ResponsesDecoder(Decoder):
    """OpenAI Responses."""

    reads = ("OpenAIResponses",)
    reasons: ClassVar[dict[str, str]] = {
        "completed": STOP,
        "max_output_tokens": LENGTH,
        "content_filter": FILTERED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[int, int] = {}
        self.numbers: list[int] = []

    def unframe(self, body: bytes) -> Iterator[Any]:
        for kind, data in unframe.sse(body):
            event = loads(data)
            assert event["type"] == kind
            self.numbers.append(event["sequence_number"])
            yield event

    def meaning(self, word: str) -> str:
        return TOOL_USE if word == "completed" and self.calls else super().meaning(word)

    def take(self, event: Any) -> None:
        match event["type"].removeprefix("response."):
            case "output_text.delta":
                self.say(TextDelta(event["delta"]))
            case "reasoning_summary_text.delta":
                self.say(ReasoningDelta(event["delta"]))
            case "output_item.added" if event["item"]["type"] == "function_call":
                index = self.calls[event["output_index"]] = len(self.calls)
                self.say(ToolCallDelta(index, event["item"]["call_id"], event["item"]["name"]))
            case "function_call_arguments.delta":
                index = self.calls[event["output_index"]]
                self.say(ToolCallDelta(index, arguments=event["delta"]))
            case "completed" | "incomplete":
                self.close(event["response"])
            case "failed":
                raise Failed(json.dumps(event["response"]["error"]))
            case "error":
                raise Failed(json.dumps(event))

    def close(self, response: Any) -> None:
        self.over = True
        self.check_output(response["output"])
        details = response["incomplete_details"]
        self.reason = details["reason"] if details else response["status"]
        if usage := response["usage"]:
            cached = usage["input_tokens_details"]["cached_tokens"]
            self.usage = Usage(usage["input_tokens"] - cached, usage["output_tokens"], cached)

    def check_output(self, output: Any) -> None:
        """The whole answer at the end says what its pieces have said."""
        texts = "".join(e.text for e in self.out if isinstance(e, TextDelta))
        said = "".join(p["text"] for o in output if o["type"] == "message" for p in o["content"])
        arguments = "".join(e.arguments for e in self.out if isinstance(e, ToolCallDelta))
        called = [o["arguments"] for o in output if o["type"] == "function_call"]
        assert said == texts
        assert sorted("".join(called)) == sorted(arguments)  # fragments may have come in turns


class AnthropicDecoder(Decoder):
    """Anthropic Messages."""

    reads = ("AnthropicMessages",)
    reasons: ClassVar[dict[str, str]] = {
        "end_turn": STOP,
        "stop_sequence": STOP,
        "max_tokens": LENGTH,
        "model_context_window_exceeded": LENGTH,
        "tool_use": TOOL_USE,
        "refusal": FILTERED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[int, int] = {}
        self.counts: dict[str, int] = {}

    def unframe(self, body: bytes) -> Iterator[Any]:
        for kind, data in unframe.sse(body):
            event = loads(data)
            assert kind in ("message", event["type"])  # "message": an event line was lost
            yield event

    def complete(self) -> bool:
        return self.over and self.reason is not None

    def take(self, event: Any) -> None:
        match event["type"]:
            case "message_start":
                self.counts |= event["message"]["usage"]
            case "content_block_start":
                self.begin(event["index"], event["content_block"])
            case "content_block_delta":
                self.add(event["index"], event["delta"])
            case "message_delta":
                self.reason = event["delta"]["stop_reason"]
                self.counts |= event["usage"]
            case "message_stop":
                self.over = True
                names = "input_tokens", "output_tokens"
                cache = "cache_read_input_tokens", "cache_creation_input_tokens"
                self.usage = Usage(*(self.counts[name] for name in names + cache))
            case "error":
                raise Failed(json.dumps(event["error"]))

    def begin(self, index: int, block: Any) -> None:
        if block["type"] == "tool_use":
            self.calls[index] = len(self.calls)
            self.say(ToolCallDelta(self.calls[index], block["id"], block["name"]))
        elif block["type"] == "redacted_thinking":
            self.say(ReasoningDelta(redacted=block["data"]))

    def add(self, index: int, delta: Any) -> None:
        match delta["type"]:
            case "text_delta":
                self.say(TextDelta(delta["text"]))
            case "thinking_delta":
                self.say(ReasoningDelta(delta["thinking"]))
            case "signature_delta":
                self.say(ReasoningDelta(signature=delta["signature"]))
            case "input_json_delta" if index in self.calls:
                self.say(ToolCallDelta(self.calls[index], arguments=delta["partial_json"]))


class GeminiDecoder(Decoder):
    """Gemini, in server-sent events or in an array."""

    reads = ("Gemini",)
    filtered = "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY MODEL_ARMOR"
    filtered += " IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION ESCALATION"
    reasons: ClassVar[dict[str, str]] = {
        "STOP": STOP,
        "MAX_TOKENS": LENGTH,
        **dict.fromkeys(filtered.split(), FILTERED),
    }

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.blocked = False

    def unframe(self, body: bytes) -> Iterator[Any]:
        if body.lstrip().startswith(b"["):
            yield from unframe.array(body)
            return
        for _, data in unframe.sse(body):
            yield loads(data)

    def meaning(self, word: str) -> str:
        if self.blocked:
            return FILTERED
        return TOOL_USE if word == "STOP" and self.calls else super().meaning(word)

    def take(self, response: Any) -> None:
        if error := response.get("error"):
            raise Failed(json.dumps(error))
        if feedback := response.get("promptFeedback"):
            self.blocked, self.reason = True, feedback["blockReason"]
        for candidate in response.get("candidates", ()):
            for part in candidate["content"]["parts"]:
                self.take_part(part)
            self.reason = candidate.get("finishReason") or self.reason
        if counts := response.get("usageMetadata"):
            cached = counts["cachedContentTokenCount"]
            output = counts["candidatesTokenCount"] + counts["thoughtsTokenCount"]
            self.usage = Usage(counts["promptTokenCount"] - cached, output, cached)

    def take_part(self, part: Any) -> None:
        if call := part.get("functionCall"):
            arguments = json.dumps(call["args"])
            self.say(ToolCallDelta(self.calls, call.get("id", ""), call["name"], arguments))
            self.calls += 1
        elif part.get("text"):
            said = ReasoningDelta if part.get("thought") else TextDelta
            self.say(said(part["text"]))


class OllamaDecoder(Decoder):
    """Ollama."""

    reads = ("OllamaChat",)
    reasons: ClassVar[dict[str, str]] = {"stop": STOP, "length": LENGTH}

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def unframe(self, body: bytes) -> Iterator[Any]:
        return unframe.ndjson(body)

    def meaning(self, word: str) -> str:
        return TOOL_USE if word == "stop" and self.calls else super().meaning(word)

    def take(self, line: Any) -> None:
        if error := line.get("error"):
            raise Failed(error)
        message = line["message"]
        if message.get("thinking"):
            self.say(ReasoningDelta(message["thinking"]))
        if message["content"]:
            self.say(TextDelta(message["content"]))
        for call in message.get("tool_calls", ()):
            function = call["function"]
            arguments = json.dumps(function["arguments"])
            self.say(ToolCallDelta(self.calls, call.get("id", ""), function["name"], arguments))
            self.calls += 1
        if line["done"]:
            self.over, self.reason = True, line["done_reason"]
            self.usage = Usage(line.get("prompt_eval_count", 0), line.get("eval_count", 0))


class CohereDecoder(Decoder):
    """Cohere v2."""

    reads = ("CohereChat",)
    reasons: ClassVar[dict[str, str]] = {
        "COMPLETE": STOP,
        "STOP_SEQUENCE": STOP,
        "MAX_TOKENS": LENGTH,
        "TOOL_CALL": TOOL_USE,
    }

    def unframe(self, body: bytes) -> Iterator[Any]:
        for kind, data in unframe.sse(body):
            event = {"type": "[DONE]"} if data == "[DONE]" else loads(data)
            assert kind in ("message", event["type"])
            yield event

    def take(self, event: Any) -> None:
        delta = event.get("delta", {})
        match event["type"]:
            case "content-delta":
                content = delta["message"]["content"]
                if "thinking" in content:
                    self.say(ReasoningDelta(content["thinking"]))
                elif "text" in content:
                    self.say(TextDelta(content["text"]))
            case "tool-call-start":
                call = delta["message"]["tool_calls"]
                function = call["function"]
                said = (call["id"], function["name"], function["arguments"])
                self.say(ToolCallDelta(event["index"], *said))
            case "tool-call-delta":
                function = delta["message"]["tool_calls"]["function"]
                self.say(ToolCallDelta(event["index"], arguments=function["arguments"]))
            case "message-end":
                self.close(delta)

    def close(self, delta: Any) -> None:
        if delta["finish_reason"] in ("ERROR", "TIMEOUT"):
            raise Failed(json.dumps(delta))
        self.over, self.reason = True, delta["finish_reason"]
        if usage := delta.get("usage"):
            counts = usage["tokens"]
            self.usage = Usage(counts["input_tokens"], counts["output_tokens"])


class BedrockDecoder(Decoder):
    """Bedrock ConverseStream."""

    reads = ("BedrockConverse",)
    reasons: ClassVar[dict[str, str]] = {
        "end_turn": STOP,
        "stop_sequence": STOP,
        "tool_use": TOOL_USE,
        "max_tokens": LENGTH,
        "model_context_window_exceeded": LENGTH,
        "guardrail_intervened": FILTERED,
        "content_filtered": FILTERED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[int, int] = {}

    def unframe(self, body: bytes) -> Iterator[Any]:
        for headers, payload in unframe.frames(body):
            match headers[":message-type"]:
                case "event":
                    yield headers[":event-type"], loads(payload)
                case "exception":
                    raise Failed(headers[":exception-type"] + payload.decode())
                case _:
                    raise Failed(headers[":error-code"] + headers[":error-message"])

    def take(self, event: Any) -> None:
        kind, content = event
        match kind:
            case "contentBlockStart" if "toolUse" in content["start"]:
                call = content["start"]["toolUse"]
                index = self.calls[content["contentBlockIndex"]] = len(self.calls)
                self.say(ToolCallDelta(index, call["toolUseId"], call["name"]))
            case "contentBlockDelta":
                self.add(content["contentBlockIndex"], content["delta"])
            case "messageStop":
                self.reason = content["stopReason"]
            case "metadata":
                names = ("input", "output", "cacheReadInput", "cacheWriteInput")
                self.usage = Usage(*(content["usage"][f"{name}Tokens"] for name in names))

    def add(self, index: int, delta: Any) -> None:
        match delta:
            case {"text": text}:
                self.say(TextDelta(text))
            case {"toolUse": {"input": arguments}}:
                self.say(ToolCallDelta(self.calls[index], arguments=arguments))
            case {"reasoningContent": {"text": text}}:
                self.say(ReasoningDelta(text))
            case {"reasoningContent": {"signature": signature}}:
                self.say(ReasoningDelta(signature=signature))
            case {"reasoningContent": {"redactedContent": redacted}}:
                self.say(ReasoningDelta(redacted=redacted))


BY_FORMAT = {name: kind for kind in Decoder.__subclasses__() for name in kind.reads}
"""The decoder of each format, by the format's name."""
