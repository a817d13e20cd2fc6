"""What is particular to each provider: details that a made-up stream would get wrong."""

import json
import unittest
from typing import Any

from modeltest import Finish, FinishReason, ReasoningDelta, TextDelta, Usage
from modeltest.corpus import (
    empty_argument_bodies,
    error_bodies,
    good_endings,
    identity_bodies,
    index_bodies,
    malformed_bodies,
    parallel_call_bodies,
    reason_bodies,
    unknown_bodies,
    whole_bodies,
)
from modeltest.wire import Framing, Role, SameEvent, Unsupported, WireFormat
from modeltest.wire.anthropic import AnthropicMessages
from modeltest.wire.bedrock import BedrockConverse
from modeltest.wire.cohere import CohereChat
from modeltest.wire.gemini import Gemini
from modeltest.wire.mistral import MistralChat
from modeltest.wire.ollama import OllamaChat
from modeltest.wire.openai_chat import OpenAIChat
from modeltest.wire.openai_responses import OpenAIResponses
from tests.wire import unframe
from tests.wire.decoders import Failed
from tests.wire.formats import FORMATS
from tests.wire.turns import turn_of
from tests.wire.unframe import Malformed

STOP = Finish(FinishReason.STOP)
TEXT = TextDelta("hi")


def payloads(wire: WireFormat, *script: Any) -> list[Any]:
    """Return the JSON values of the events that say `script`."""
    body = wire.encode(*script)
    found = [data for _, data in unframe.sse(body.data)]
    return [json.loads(data) for data in found if data != "[DONE]"]


class TestMediaTypes(unittest.TestCase):
    def test_each_framing_has_its_own(self) -> None:
        for wire, _ in FORMATS[:-1]:
            expected = {
                Framing.SSE: "text/event-stream",
                Framing.NDJSON: "application/x-ndjson",
                Framing.JSON_ARRAY: "application/json",
                Framing.EVENT_STREAM: "application/vnd.amazon.eventstream",
            }[wire.framing]
            self.assertEqual(wire.content_type.split(";")[0], expected, wire)

    def test_it_names_itself(self) -> None:
        self.assertEqual(repr(OpenAIChat()), "<OpenAIChat 'OpenAI Chat'>")
        self.assertEqual(repr(Gemini(array=True)), "<Gemini 'Gemini (JSON array)'>")


class TestRefusals(unittest.TestCase):
    def test_an_http_error_has_the_providers_shape_and_words(self) -> None:
        for wire, _ in FORMATS[:-1]:
            for status in (400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529):
                response = wire.error_response(status)
                self.assertEqual(response.status, status)
                self.assertTrue(response.content_type.startswith("application/json"))
                self.assertIsInstance(json.loads(response.body), dict | list)
                self.assertTrue(response.words)
                for word in response.words:
                    self.assertIn(word, response.body.decode())

    def test_statuses_have_their_types(self) -> None:
        def kind(wire: WireFormat, status: int, *path: Any) -> Any:
            value = json.loads(wire.error_response(status).body)
            for step in path:
                value = value[step]
            return value

        self.assertEqual(kind(AnthropicMessages(), 529, "error", "type"), "overloaded_error")
        self.assertEqual(kind(AnthropicMessages(), 400, "error", "type"), "invalid_request_error")
        self.assertEqual(kind(AnthropicMessages(), 500, "error", "type"), "api_error")
        self.assertEqual(kind(OpenAIChat(), 429, "error", "code"), "rate_limit_exceeded")
        self.assertEqual(kind(OpenAIResponses(), 500, "error", "type"), "server_error")
        self.assertEqual(kind(Gemini(), 429, "error", "status"), "RESOURCE_EXHAUSTED")
        self.assertEqual(kind(Gemini(array=True), 418, 0, "error", "status"), "UNKNOWN")
        self.assertEqual(kind(BedrockConverse(), 429, "__type"), "ThrottlingException")
        self.assertEqual(kind(BedrockConverse(), 500, "__type"), "InternalServerException")

    def test_read_as_a_stream_it_is_no_answer(self) -> None:
        for wire, decoder in FORMATS[:-1]:
            self.assert_no_answer(decoder, wire.error_response(500).body)

    def assert_no_answer(self, decoder: Any, data: bytes) -> None:
        try:
            events = decoder().read(data)
        except (Malformed, Failed, KeyError):
            return
        self.assertFalse([event for event in events if isinstance(event, Finish)])


class TestAnswersThatAreNoStream(TestRefusals):
    def test_they_are_json_with_the_text_and_read_as_a_stream_no_answer(self) -> None:
        for wire, decoder in FORMATS[:-1]:
            try:
                answer = wire.json_answer()
            except Unsupported:
                # A whole answer of Ollama's is its last line, and so a stream.
                self.assertIsInstance(wire, OllamaChat)
                continue
            self.assertIn("Hello", json.dumps(json.loads(answer)))
            self.assert_no_answer(decoder, answer)


class TestOpenAIChat(unittest.TestCase):
    def test_every_chunk_repeats_the_envelope(self) -> None:
        chunks = payloads(OpenAIChat(), TEXT, Finish(FinishReason.STOP, usage=Usage(1, 1)))
        for name in ("id", "object", "created", "model", "system_fingerprint"):
            self.assertEqual(len({chunk[name] for chunk in chunks}), 1)
        self.assertEqual([len(chunk["choices"]) for chunk in chunks], [1, 1, 1, 0])
        self.assertEqual([chunk["usage"] is None for chunk in chunks], [True] * 3 + [False])

    def test_content_is_null_before_a_tool_call(self) -> None:
        wire = OpenAIChat()
        (first, *_) = payloads(wire, *wire.tool_call(0, "f", {}), Finish(FinishReason.TOOL_USE))
        self.assertIsNone(first["choices"][0]["delta"]["content"])
        (first, *_) = payloads(wire, TEXT)
        self.assertEqual(first["choices"][0]["delta"]["content"], "")

    def test_later_fragments_of_a_call_carry_neither_id_nor_name(self) -> None:
        wire = OpenAIChat()
        chunks = payloads(wire, *wire.tool_call(0, "f", {"a": 1}))
        entries = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in chunks[1:]]
        self.assertEqual(entries[0]["type"], "function")
        self.assertEqual([set(entry) for entry in entries[1:]], [{"index", "function"}] * 3)
        self.assertEqual(set(entries[1]["function"]), {"arguments"})

    def test_reasoning_stands_in_the_field_that_is_named(self) -> None:
        for field in ("reasoning", "reasoning_content"):
            wire = OpenAIChat(reasoning=field)
            chunk = payloads(wire, ReasoningDelta("hm"))[1]
            self.assertEqual(chunk["choices"][0]["delta"], {"content": None, field: "hm"})
            self.assertIn("reasoning, then text", [body.name for body in whole_bodies(wire)])

    def test_reasoning_and_text_in_one_chunk_lose_neither(self) -> None:
        wire = OpenAIChat(reasoning="reasoning")
        for pair in ((ReasoningDelta("hm"), TEXT), (TEXT, ReasoningDelta("hm"))):
            chunk = payloads(wire, SameEvent(pair))[1]
            self.assertEqual(chunk["choices"][0]["delta"], {"content": "hi", "reasoning": "hm"})

    def test_two_calls_in_one_chunk_are_two_entries(self) -> None:
        wire = OpenAIChat()
        pair = (wire.tool_call(0, "f", {})[0], wire.tool_call(1, "g", {})[0])
        chunk = payloads(wire, SameEvent(pair))[1]
        entries = chunk["choices"][0]["delta"]["tool_calls"]
        self.assertEqual([entry["index"] for entry in entries], [0, 1])

    def test_a_call_is_misnamed_on_its_later_fragments(self) -> None:
        said = {}
        for body in identity_bodies(OpenAIChat()):
            chunks = [json.loads(data) for _, data in unframe.sse(body.data) if data != "[DONE]"]
            entry = chunks[2]["choices"][0]["delta"]["tool_calls"][0]
            del entry["index"], entry["function"]["arguments"]
            said[body.name.removesuffix(" on later fragments")] = entry
        id_ = OpenAIChat().call_id(0)
        self.assertEqual(
            said,
            {
                "the id repeated": {"id": id_, "function": {}},
                "an empty id": {"id": "", "function": {}},
                "a null id": {"id": None, "type": None, "function": {}},
                "the name repeated": {"function": {"name": "get_weather"}},
                "an empty name": {"function": {"name": ""}},
                "a null name": {"function": {"name": None}},
            },
        )

    def test_two_calls_are_numbered_in_misleading_ways(self) -> None:
        said = {}
        for body in index_bodies(OpenAIChat()):
            chunks = [json.loads(data) for _, data in unframe.sse(body.data) if data != "[DONE]"]
            deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
            entries = [entry for delta in deltas for entry in delta.get("tool_calls", ())]
            said[body.name] = {entry.get("index", "none") for entry in entries}
        self.assertEqual(
            said,
            {
                "the same index for two calls": {0},
                "null indexes": {None},
                "no indexes": {"none"},
                "the same index for two calls in fragments": {0},
            },
        )


class TestOpenAIResponses(unittest.TestCase):
    def test_events_are_numbered_without_a_gap(self) -> None:
        wire = OpenAIResponses()
        for body in (*whole_bodies(wire), *unknown_bodies(wire), *error_bodies(wire)):
            numbers = [json.loads(d)["sequence_number"] for _, d in unframe.sse(body.data)]
            self.assertEqual(numbers, list(range(len(body.parts))), body)

    def test_a_broken_event_is_numbered_too(self) -> None:
        body = malformed_bodies(OpenAIResponses())[0]
        place = body.first(Role.MALFORMED)
        assert place is not None
        self.assertIn(b'"sequence_number":%d,' % place, body.parts[place].data)

    def test_an_item_ends_as_its_response_does(self) -> None:
        wire = OpenAIResponses()
        for word, status in (("completed", "completed"), ("max_output_tokens", "incomplete")):
            *_, item, last = payloads(wire, TEXT, wire.finish(word))
            self.assertEqual(item["item"]["status"], status)
            self.assertEqual(last["type"], f"response.{status}")
            self.assertEqual(last["response"]["status"], status)
            self.assertEqual(last["response"]["output"][0]["status"], status)


class TestAnthropic(unittest.TestCase):
    def test_a_ping_follows_the_first_block_and_padding_every_event(self) -> None:
        body = AnthropicMessages().encode(TEXT, STOP)
        self.assertEqual(body.parts[2].data, b'event: ping\ndata: {"type": "ping"}\n\n')
        padded = [part for part in body.parts if b" }\n\n" in part.data]
        self.assertGreater(len(padded), 2)

    def test_the_first_fragment_of_a_call_is_empty(self) -> None:
        wire = AnthropicMessages()
        events = payloads(wire, *wire.tool_call(0, "f", {}))
        fragments = [event["delta"] for event in events if "delta" in event]
        self.assertEqual(fragments[0], {"type": "input_json_delta", "partial_json": ""})

    def test_a_signature_ends_its_block(self) -> None:
        events = payloads(
            AnthropicMessages(), ReasoningDelta("a", "s"), ReasoningDelta("b"), TEXT, STOP
        )
        starts = [e["content_block"]["type"] for e in events if "content_block" in e]
        self.assertEqual(starts, ["thinking", "thinking", "text"])

    def test_redacted_reasoning_is_a_block_of_its_own(self) -> None:
        events = payloads(
            AnthropicMessages(), ReasoningDelta("a"), ReasoningDelta(redacted="r"), STOP
        )
        starts = [e["content_block"]["type"] for e in events if "content_block" in e]
        self.assertEqual(starts, ["thinking", "redacted_thinking"])

    def test_counts_of_the_start_are_replaced_by_those_of_the_end(self) -> None:
        usage = Usage(9, 4, 3, 2)
        first, *_, delta, _ = payloads(
            AnthropicMessages(), TEXT, Finish(FinishReason.STOP, usage=usage)
        )
        self.assertEqual(first["message"]["usage"]["output_tokens"], 1)
        self.assertEqual(delta["usage"]["output_tokens"], 4)
        self.assertEqual(delta["usage"]["cache_creation_input_tokens"], 2)

    def test_a_stop_sequence_is_named(self) -> None:
        wire = AnthropicMessages()
        *_, delta, _ = payloads(wire, TEXT, wire.finish("stop_sequence"))
        self.assertEqual(delta["delta"]["stop_sequence"], "END")


class TestGemini(unittest.TestCase):
    def test_a_finish_beside_content_brings_no_empty_text(self) -> None:
        (response,) = payloads(Gemini(), SameEvent((TEXT, STOP)))
        self.assertEqual(response["candidates"][0]["content"]["parts"], [{"text": "hi"}])
        self.assertEqual(response["candidates"][0]["finishReason"], "STOP")

    def test_server_sent_events_end_in_crlf(self) -> None:
        for part in Gemini().encode(TEXT, STOP).parts:
            self.assertTrue(part.data.endswith(b"\r\n\r\n"))

    def test_the_array_is_json(self) -> None:
        wire = Gemini(array=True)
        for body in (*whole_bodies(wire), *reason_bodies(wire), *error_bodies(wire)):
            self.assertIsInstance(json.loads(body.data), list, body)
            self.assertEqual(body.parts[-1].data, b"\n]\n", body)

    def test_both_forms_say_the_same(self) -> None:
        events, array = whole_bodies(Gemini()), whole_bodies(Gemini(array=True))
        for one, other in zip(events, array, strict=True):
            said = [json.loads(data) for _, data in unframe.sse(one.data)]
            self.assertEqual(said, json.loads(other.data))
            self.assertEqual(one.events, other.events)

    def test_a_blocked_prompt_has_no_candidate_and_is_filtered(self) -> None:
        blocked = [body for body in reason_bodies(Gemini()) if body.name.startswith("blocked")]
        self.assertEqual(len(blocked), 8)
        for body in blocked:
            ((_, data),) = unframe.sse(body.data)
            self.assertNotIn("candidates", json.loads(data))
            assert body.finish is not None
            self.assertEqual(body.finish.reason, FinishReason.FILTERED)

    def test_a_call_may_come_without_an_id(self) -> None:
        body = whole_bodies(Gemini())[-1]
        self.assertEqual([call.id for call in turn_of(body).message.tool_uses], [""])


class TestOllama(unittest.TestCase):
    def test_text_is_escaped_as_go_does(self) -> None:
        data = OllamaChat().encode(TextDelta("<a>&\u2028\u2029\u00e9")).data
        self.assertIn(b'"\\u003ca\\u003e\\u0026\\u2028\\u2029\xc3\xa9"', data)

    def test_nothing_is_generated_when_a_model_is_loaded(self) -> None:
        bodies = {body.name: body for body in reason_bodies(OllamaChat())}
        self.assertEqual(bodies["load"].text, "")
        self.assertEqual(bodies["stop"].text, "Hello, world!")

    def test_a_call_may_come_without_an_id(self) -> None:
        from modeltest import ToolCallDelta

        body = OllamaChat().encode(ToolCallDelta(0, "", "f", "{}"), STOP)
        (line, _) = unframe.ndjson(body.data)
        self.assertNotIn("id", line["message"]["tool_calls"][0])


class TestCohere(unittest.TestCase):
    def test_tool_calls_are_counted_on_their_own(self) -> None:
        wire = CohereChat()
        events = payloads(wire, TEXT, *wire.tool_call(0, "f", {}), Finish(FinishReason.TOOL_USE))
        starts = [(e["type"], e["index"]) for e in events[1:] if e["type"].endswith("-start")]
        self.assertEqual(starts, [("content-start", 0), ("tool-call-start", 0)])


class TestMistral(unittest.TestCase):
    def test_the_finish_has_content_and_usage(self) -> None:
        usage = Finish(FinishReason.STOP, usage=Usage(3, 2))
        *_, last = payloads(MistralChat(), TEXT, usage)
        self.assertEqual(last["choices"][0]["delta"], {"content": ""})
        self.assertEqual(last["usage"]["total_tokens"], 5)

    def test_text_and_arguments_come_in_other_types_too(self) -> None:
        *_, lists, objects = whole_bodies(MistralChat())
        chunks = [json.loads(data) for _, data in unframe.sse(lists.data) if data != "[DONE]"]
        contents = [chunk["choices"][0]["delta"]["content"] for chunk in chunks]
        self.assertEqual(contents[1], [{"type": "text", "text": "Hello"}])
        (_, data) = list(unframe.sse(objects.data))[1]
        (entry,) = json.loads(data)["choices"][0]["delta"]["tool_calls"]
        self.assertEqual(entry["function"]["arguments"]["days"], 30)


class TestParallelCalls(unittest.TestCase):
    """Which formats can send two calls in which ways; a check skips the others."""

    def encoded_by(self, name: str) -> set[str]:
        return {
            type(wire).__name__
            for wire, _ in FORMATS
            if name in [body.name for body in parallel_call_bodies(wire)]
        }

    def check(self, name: str, able: set[str]) -> None:
        # A format that is added later says itself which it can.
        known = {
            *("OpenAIChat", "OpenAIResponses", "AnthropicMessages", "Gemini", "OllamaChat"),
            *("CohereChat", "MistralChat", "BedrockConverse", "AcmeLines"),
        }
        self.assertEqual(self.encoded_by(name) & known, able)

    def test_one_after_the_other(self) -> None:
        everyone = {type(wire).__name__ for wire, _ in FORMATS}
        self.assertEqual(self.encoded_by("two tool calls, one after the other"), everyone)
        self.assertEqual(self.encoded_by("text around two tool calls"), everyone)

    def test_fragment_by_fragment(self) -> None:
        self.check(
            "fragments of two tool calls in turns", {"OpenAIChat", "OpenAIResponses", "AcmeLines"}
        )

    def test_in_one_event(self) -> None:
        self.check(
            "two tool calls in one event", {"OpenAIChat", "Gemini", "OllamaChat", "MistralChat"}
        )


class TestNoArguments(unittest.TestCase):
    def test_an_empty_fragment_is_sent_where_the_script_has_one(self) -> None:
        for wire in (AnthropicMessages(), BedrockConverse(), CohereChat(), OpenAIResponses()):
            bodies = {body.name: body for body in empty_argument_bodies(wire)}
            less, more = bodies["no arguments"], bodies["arguments ''"]
            self.assertEqual(len(more.parts), len(less.parts) + 1, wire)


class TestBedrock(unittest.TestCase):
    def test_only_calls_have_a_start(self) -> None:
        wire = BedrockConverse()
        body = wire.encode(TEXT, *wire.tool_call(0, "f", {}), Finish(FinishReason.TOOL_USE))
        kinds = [headers[":event-type"] for headers, _ in unframe.frames(body.data)]
        self.assertEqual(kinds.count("contentBlockStart"), 1)
        self.assertEqual(kinds.count("contentBlockStop"), 2)
        self.assertEqual((kinds[0], kinds[-1]), ("messageStart", "messageStop"))

    def test_a_wrong_checksum_is_seen(self) -> None:
        spoiled = [b for b in malformed_bodies(BedrockConverse()) if "checksum" in b.name]
        self.assertEqual(len(spoiled), 2)
        for body in spoiled:
            with self.assertRaisesRegex(Malformed, "checksum"):
                list(unframe.frames(body.data))


class TestGoodEndings(unittest.TestCase):
    def test_those_of_each_format(self) -> None:
        names = {wire.name: [body.name for body in good_endings(wire)[1:]] for wire, _ in FORMATS}
        chat = ["finish and usage, no [DONE]", "finish alone", "[DONE], no finish"]
        self.assertEqual(
            {name: endings for name, endings in names.items() if endings},
            {
                "OpenAI Chat": chat,
                "Cohere": ["message-end, no [DONE]"],
                "Bedrock Converse": ["messageStop, no metadata"],
            },
        )

    def test_usage_that_is_cut_off_is_not_claimed(self) -> None:
        endings = {body.name: body for body in good_endings(OpenAIChat())}
        for name, told in (("finish alone", False), ("finish and usage, no [DONE]", True)):
            finish = endings[name].finish
            assert finish is not None
            self.assertEqual(finish.usage != Usage(), told)
