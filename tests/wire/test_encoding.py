"""The engine: what a script may say, where the counts stand, what a bad script or hook is told."""

import json
import unittest
from typing import Any

from modeltest import (
    Finish,
    FinishReason,
    IncompleteResponseError,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from modeltest.corpus import (
    absent_reason_bodies,
    cut_argument_bodies,
    error_bodies,
    identity_bodies,
    incomplete_endings,
    index_bodies,
    large_call_body,
    parallel_call_bodies,
    unknown_reason_bodies,
    usage_bodies,
)
from modeltest.wire import (
    Framing,
    Role,
    RolePayload,
    SameEvent,
    Unsupported,
    UsagePlacement,
    WireError,
    WireFormat,
)
from modeltest.wire.anthropic import AnthropicMessages
from modeltest.wire.bedrock import BedrockConverse
from modeltest.wire.cohere import CohereChat
from modeltest.wire.gemini import Gemini
from modeltest.wire.mistral import MistralChat
from modeltest.wire.ollama import OllamaChat
from modeltest.wire.openai_chat import OpenAIChat
from modeltest.wire.openai_responses import OpenAIResponses
from tests.wire.formats import FORMATS, meaning
from tests.wire.turns import turn_of

STOP = Finish(FinishReason.STOP)
TEXT = TextDelta("hi")


class Plain(WireFormat):
    """The least a format can be."""

    name = "Plain"
    content_type = "text/event-stream"
    framing = Framing.SSE
    reasons = {"end": FinishReason.STOP}

    def text_event(self, text: str) -> Any:
        return {"text": text}

    def finish_event(self, word: str) -> Any:
        return {"finish": word}


def roles(body: Any) -> list[str]:
    return [str(part.role) for part in body.parts]


class TestScript(unittest.TestCase):
    def test_a_script_without_a_finish_does_not_end_the_turn(self) -> None:
        for wire, _ in FORMATS:
            body = wire.encode(TEXT)
            self.assertIsNone(body.complete, wire)
            self.assertIsNone(body.finish, wire)
            self.assertIsNone(body.first(Role.FINISH), wire)
            self.assertIsNone(body.first(Role.END), wire)
            with self.assertRaises(IncompleteResponseError):
                turn_of(body)

    def test_the_first_word_for_a_reason_is_the_providers(self) -> None:
        body = AnthropicMessages().encode(TEXT, STOP)
        self.assertEqual(body.finish, Finish(FinishReason.STOP, "end_turn"))

    def test_a_word_of_the_provider_may_be_given(self) -> None:
        wire = AnthropicMessages()
        finish = wire.finish("stop_sequence", Usage(1, 2))
        self.assertEqual(finish, Finish(FinishReason.STOP, "stop_sequence", Usage(1, 2)))
        self.assertEqual(wire.encode(TEXT, finish).finish, finish)

    def test_a_word_that_is_unknown_is_its_own_reason(self) -> None:
        for wire, _ in FORMATS:
            (body,) = unknown_reason_bodies(wire)
            assert body.finish is not None
            self.assertEqual(body.finish.reason, wire.unknown_reason)
            self.assertEqual(body.finish.raw, wire.unknown_reason)
            self.assertNotIn(wire.unknown_reason, wire.reasons)

    def test_an_unknown_reason_without_a_word_is_the_word(self) -> None:
        body = Plain().encode(TEXT, Finish("odd"))
        self.assertEqual(body.finish, Finish("odd", "odd"))

    def test_reason_and_word_must_agree(self) -> None:
        with self.assertRaisesRegex(ValueError, "OpenAI Chat means 'length' by 'length', .*'stop'"):
            OpenAIChat().encode(TEXT, Finish(FinishReason.STOP, "length"))

    def test_a_reason_without_a_word_cannot_be_encoded(self) -> None:
        with self.assertRaises(Unsupported) as refusal:
            Plain().encode(TEXT, Finish(FinishReason.FILTERED))
        self.assertEqual(
            refusal.exception.reason, "Plain has no finish reason that means 'filtered'"
        )

    def test_a_call_alone_means_tool_use_where_the_format_says_so(self) -> None:
        for wire in (Gemini(), OllamaChat(), OpenAIResponses()):
            call = wire.tool_call(0, "f", {})
            for reason in (FinishReason.STOP, FinishReason.TOOL_USE):
                finish = wire.encode(*call, Finish(reason)).finish
                self.assertEqual(finish, Finish(FinishReason.TOOL_USE, wire.word("stop")))
            length = wire.encode(*call, Finish(FinishReason.LENGTH)).finish
            assert length is not None
            self.assertEqual(length.reason, FinishReason.LENGTH)
            with self.assertRaisesRegex(Unsupported, "no finish reason that means 'tool_use'"):
                wire.encode(TEXT, Finish(FinishReason.TOOL_USE))

    def test_a_finish_in_company_is_settled_too(self) -> None:
        body = OpenAIChat().encode(SameEvent((TEXT, STOP)))
        self.assertEqual(body.finish, Finish(FinishReason.STOP, "stop"))

    def test_pieces_and_errors_stand_where_the_script_has_them(self) -> None:
        extra = RolePayload(Role.OTHER, {"type": "extra"})
        error = WireError("e", "kind", "words", ({"type": "error"}, {"type": "after"}))
        body = AnthropicMessages().encode(TEXT, extra, TEXT, error)
        self.assertEqual(roles(body)[-5:], ["text", "other", "text", "error", "other"])
        framed = RolePayload(Role.OTHER, b": framed\n\n")
        for wire in (OpenAIResponses(), BedrockConverse()):
            self.assertEqual(wire.encode(framed).parts[-1].data, b": framed\n\n")
        body = OpenAIChat().encode(extra, error)
        self.assertEqual(roles(body), ["start", "other", "error", "other"])
        self.assertIs(body.error, error)
        self.assertIsNone(body.complete)

    def test_what_is_no_step_is_refused(self) -> None:
        for step in ("text", None, 3, SameEvent(()), SameEvent((TEXT,))):
            with self.assertRaisesRegex(TypeError, "a body is made from TextDelta, Reasoning"):
                Plain().encode(step)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "got 'text'"):
            Plain().encode(SameEvent((TEXT, "text")))  # type: ignore[arg-type]


class TestWhatCannotBeEncoded(unittest.TestCase):
    def refused(self, wire: WireFormat, *script: Any, **options: Any) -> str:
        with self.assertRaises(Unsupported) as refusal:
            wire.encode(*script, **options)
        self.assertIn(wire.name, refusal.exception.reason)
        return refusal.exception.reason

    def test_content_after_a_finish_that_ends_the_reading(self) -> None:
        for wire in (OpenAIResponses(), OllamaChat(), CohereChat()):
            self.assertIn("a reader stops at", self.refused(wire, TEXT, STOP, TEXT))

    def test_two_things_in_one_event(self) -> None:
        for wire in (Plain(), AnthropicMessages(), BedrockConverse(), CohereChat()):
            self.assertIn("one event", self.refused(wire, SameEvent((TEXT, STOP))))

    def test_a_finish_before_other_things_in_its_event(self) -> None:
        self.assertIn("last thing", self.refused(OpenAIChat(), SameEvent((STOP, TEXT))))

    def test_reasoning_calls_and_usage_where_a_format_has_none(self) -> None:
        plain = Plain()
        self.refused(plain, ReasoningDelta("hm"))
        self.refused(plain, ToolCallDelta(0, "id", "f"))
        with self.assertRaises(Unsupported):
            plain.usage_event(Usage(1, 1))
        self.assertIn("never tells", self.refused(plain, TEXT, Finish("stop", usage=Usage(1, 1))))
        self.assertIn("OpenAIChat(reasoning=", self.refused(OpenAIChat(), ReasoningDelta("hm")))

    def test_signed_or_encrypted_reasoning_where_it_is_text_only(self) -> None:
        for wire in (
            OpenAIChat(reasoning="reasoning"),
            OpenAIResponses(),
            Gemini(),
            OllamaChat(),
            CohereChat(),
            MistralChat(),
        ):
            self.refused(wire, ReasoningDelta(signature="s"))
            self.refused(wire, ReasoningDelta(redacted="r"))

    def test_a_count_that_the_format_does_not_tell(self) -> None:
        written = Finish(FinishReason.STOP, usage=Usage(1, 1, cache_write_tokens=1))
        reason = self.refused(OpenAIChat(), TEXT, written)
        self.assertIn("cache_write_tokens", reason)

    def test_counts_in_a_place_where_they_never_stand(self) -> None:
        finish = Finish(FinishReason.STOP, usage=Usage(1, 1))
        reason = self.refused(MistralChat(), TEXT, finish, usage=UsagePlacement.EVERY)
        self.assertIn("on every event", reason)

    def test_fragments_of_a_call_that_comes_whole(self) -> None:
        for wire in (Gemini(), OllamaChat(), MistralChat()):
            self.refused(wire, ToolCallDelta(0, "id", "f", "{}"), ToolCallDelta(0, arguments="{}"))

    def test_arguments_that_are_no_object_where_one_is_sent(self) -> None:
        for wire in (Gemini(), OllamaChat()):
            for arguments in ('{"a": 1', "[1]", '{"a": NaN}', "3"):
                self.refused(wire, ToolCallDelta(0, "id", "f", arguments))

    def test_a_call_that_goes_on_after_another_began(self) -> None:
        for wire in (AnthropicMessages(), BedrockConverse(), CohereChat()):
            one, two = wire.tool_call(0, "f", "{}")[:2], wire.tool_call(1, "f", "{}")[:2]
            self.refused(wire, one[0], two[0], one[1])

    def test_a_call_that_goes_on_after_a_text(self) -> None:
        wire = OpenAIResponses()
        start, *rest = wire.tool_call(0, "f", {"a": 1})
        self.refused(wire, start, TEXT, *rest)

    def test_events_that_stand_alone_in_a_format_of_blocks(self) -> None:
        wire = AnthropicMessages()
        with self.assertRaisesRegex(Unsupported, "outside of a block"):
            wire.text_event("hi")
        with self.assertRaisesRegex(Unsupported, "cannot share"):
            wire.finish_event("end_turn")

    def test_what_a_plain_format_does_not_define(self) -> None:
        plain = Plain()
        for ask in (plain.errors, plain.json_answer):
            with self.assertRaisesRegex(Unsupported, "Plain"):
                ask()
        for case in (
            error_bodies,
            usage_bodies,
            index_bodies,
            identity_bodies,
            incomplete_endings,
            absent_reason_bodies,
            parallel_call_bodies,
            cut_argument_bodies,
        ):
            with self.assertRaisesRegex(Unsupported, "Plain"):
                case(plain)
        with self.assertRaisesRegex(Unsupported, "HTTP 500"):
            plain.error_response(500)

    def test_a_field_that_is_said_twice(self) -> None:
        with self.assertRaisesRegex(Unsupported, r"\['a'\] twice"):
            Plain().join([{"a": 1}, {"a": 2}])
        self.assertEqual(Plain().join([{"a": 1}, {"b": 2}]), {"a": 1, "b": 2})


class TestUsage(unittest.TestCase):
    def encode(self, placement: UsagePlacement) -> Any:
        finish = Finish(FinishReason.STOP, usage=Usage(9, 4))
        return OpenAIChat().encode(TEXT, TEXT, finish, usage=placement)

    def counts(self, body: Any) -> list[int | None]:
        """Return the completion_tokens of each chunk, None where it tells none."""
        found = []
        for part in body.parts[:-1]:
            usage = json.loads(part.data.split(b": ", 1)[1])["usage"]
            found.append(usage["completion_tokens"] if usage else None)
        return found

    def test_it_stands_where_it_is_asked_to(self) -> None:
        self.assertEqual(self.counts(self.encode(UsagePlacement.AFTER)), [None] * 4 + [4])
        self.assertEqual(self.counts(self.encode(UsagePlacement.BEFORE)), [None] * 3 + [4, None])
        self.assertEqual(self.counts(self.encode(UsagePlacement.ON)), [None] * 3 + [4])
        self.assertEqual(self.counts(self.encode(UsagePlacement.EVERY)), [None, 1, 2, 4])

    def test_its_parts_say_so(self) -> None:
        after, before = self.encode(UsagePlacement.AFTER), self.encode(UsagePlacement.BEFORE)
        self.assertEqual(roles(after)[-3:], ["finish", "usage", "end"])
        self.assertEqual(roles(before)[-3:], ["usage", "finish", "end"])
        self.assertEqual(roles(self.encode(UsagePlacement.ON))[-2:], ["finish", "end"])

    def test_usage_of_zeros_is_not_sent(self) -> None:
        for placement in UsagePlacement:
            body = OpenAIChat().encode(TEXT, TEXT, STOP, usage=placement)
            self.assertEqual(self.counts(body), [None] * 4, placement)

    def test_on_every_event_leaves_what_is_no_content_alone(self) -> None:
        extra = RolePayload(Role.OTHER, "no json")
        finish = Finish(FinishReason.STOP, usage=Usage(9, 4))
        body = OpenAIChat().encode(TEXT, extra, finish, usage=UsagePlacement.EVERY)
        self.assertEqual(body.parts[2].data, b"data: no json\n\n")

    def test_the_sample_tells_all_that_the_format_tells(self) -> None:
        for wire, _ in FORMATS:
            counts = wire.sample_usage.counts()
            self.assertEqual({name for name in counts if counts[name]}, set(wire.usage_counts))
        self.assertEqual(Plain().sample_usage, Usage())


class TestReasonsThatAreRight(unittest.TestCase):
    def test_a_kept_call_may_be_reported_as_stop_or_tool_use(self) -> None:
        wire = OpenAIChat()
        body = wire.encode(*wire.tool_call(0, "f", {}), STOP)
        self.assertEqual(body.accepted_reasons, {"stop", "tool_use"})
        self.assertEqual(wire.encode(TEXT, STOP).accepted_reasons, {"stop"})
        length = wire.encode(*wire.tool_call(0, "f", {}), wire.finish("length"))
        self.assertEqual(length.accepted_reasons, {"length"})

    def test_a_reason_may_have_another_reading(self) -> None:
        body = Gemini().encode(TEXT, Gemini().finish("CONTINUATION"))
        self.assertEqual(body.accepted_reasons, {"CONTINUATION", "length"})

    def test_the_raw_word_of_an_incomplete_response_may_be_its_status(self) -> None:
        wire = OpenAIResponses()
        body = wire.encode(TEXT, wire.finish("max_output_tokens"))
        self.assertEqual(body.accepted_raws, {"max_output_tokens", "incomplete"})
        self.assertEqual(wire.encode(TEXT, STOP).accepted_raws, {"completed"})

    def test_a_turn_without_a_reason_may_have_none_as_raw(self) -> None:
        body = absent_reason_bodies(OpenAIChat())[-1]
        self.assertEqual(body.finish, STOP)
        self.assertEqual(body.accepted_raws, {"", "stop"})
        self.assertEqual(roles(body).count("finish"), 0)

    def test_without_a_finish_there_are_none(self) -> None:
        body = OpenAIChat().encode(TEXT)
        self.assertEqual((body.accepted_reasons, body.accepted_raws), (frozenset(), frozenset()))


class TestHooks(unittest.TestCase):
    def test_a_payload_is_a_mapping_a_str_or_bytes(self) -> None:
        class Odd(Plain):
            payload: Any = None

            def text_event(self, text: str) -> Any:
                return self.payload

        wire = Odd()
        for payload, sent in (
            ({"a": "\u00e9\u2028"}, 'data: {"a":"\u00e9\u2028"}\n\n'),
            ("a\nb", "data: a\ndata: b\n\n"),
            (b"raw", "raw"),
        ):
            wire.payload = payload
            self.assertEqual(wire.encode(TEXT).data.decode(), sent)
        for payload in (None, 3, ["a"]):
            wire.payload = payload
            with self.assertRaisesRegex(TypeError, "Plain: a hook returned .*expected a mapping"):
                wire.encode(TEXT)

    def test_an_unknown_framing_must_be_framed_by_the_format(self) -> None:
        class Binary(Plain):
            framing = Framing.EVENT_STREAM

        with self.assertRaisesRegex(TypeError, r"Binary must override frame\(\)"):
            Binary().encode(TEXT)
        with self.assertRaisesRegex(Unsupported, "every byte belongs to an event"):
            _ = Binary().keep_alive

    def test_a_frame_that_is_no_bytes_is_refused(self) -> None:
        class Stringy(Plain):
            def frame(self, payload: Any, n: int) -> Any:
                return "data: x\n\n"

        with self.assertRaisesRegex(TypeError, "expected bytes for the text event, got str"):
            Stringy().encode(TEXT)

    def test_nan_is_no_json(self) -> None:
        with self.assertRaises(ValueError):
            Plain().serialize({"a": float("nan")})


class TestIncompleteFormats(unittest.TestCase):
    def test_everything_that_is_missing_is_named(self) -> None:
        class Half(WireFormat):
            name = "Half"
            framing = Framing.SSE

        with self.assertRaises(TypeError) as refused:
            Half()  # type: ignore[abstract]
        lines = str(refused.exception).split("\n")
        self.assertEqual(lines[0], "Half is no wire format yet; it lacks")
        self.assertEqual(
            [line.split(":")[0].strip() for line in lines[1:]],
            ["content_type", "reasons", "text_event", "finish_event"],
        )

    def test_a_format_of_blocks_has_other_hooks(self) -> None:
        from modeltest.wire import BlockFormat

        class Blocks(BlockFormat):
            name = "Blocks"

        with self.assertRaises(TypeError) as refused:
            Blocks()  # type: ignore[abstract]
        text = str(refused.exception)
        for hook in ("open_block", "fill_block", "close_block", "closing_events"):
            self.assertIn(f"{hook}(", text)
        self.assertNotIn("text_event", text)

    def test_a_reason_that_is_none_is_refused(self) -> None:
        class Wrong(Plain):
            reasons = {"end": "finished"}

        with self.assertRaisesRegex(TypeError, r"Wrong\.reasons\['end'\].*got 'finished'"):
            Wrong()


class TestEndlessAnswer(unittest.TestCase):
    def test_its_events_are_texts_of_a_turn_that_does_not_end(self) -> None:
        for wire, decoder in FORMATS:
            data = b"".join(wire.event(i) for i in range(4))
            texts = [TextDelta(wire.event_text(i)) for i in range(4)]
            self.assertEqual(decoder().read(data), texts, wire)

    def test_they_are_what_a_script_of_as_many_texts_says(self) -> None:
        for wire, _ in FORMATS:
            body = wire.encode(*(TextDelta(wire.event_text(i)) for i in range(4)))
            self.assertEqual(b"".join(wire.event(i) for i in range(4)), body.data, wire)

    def test_a_keep_alive_between_them_means_nothing(self) -> None:
        for wire, decoder in FORMATS:
            try:
                data = wire.keep_alive.join(wire.event(i) for i in range(2))
            except Unsupported:
                self.assertIs(wire.framing, Framing.EVENT_STREAM)
                continue
            self.assertEqual(len(decoder().read(wire.keep_alive + data)), 2, wire)


class TestToolCall(unittest.TestCase):
    def test_it_comes_in_fragments_or_whole(self) -> None:
        for wire, _ in FORMATS:
            call = wire.tool_call(1, "f", {"a": "\u00e9"}, id="x")
            self.assertEqual(len(call), 4 if wire.streams_arguments else 1)
            self.assertEqual("".join(delta.arguments for delta in call), '{"a":"\u00e9"}')
            self.assertEqual({delta.index for delta in call}, {1})
            self.assertEqual((call[0].id, call[0].name), ("x", "f"))

    def test_ids_tell_calls_apart_and_pass_as_the_providers(self) -> None:
        for wire, _ in FORMATS:
            self.assertNotEqual(wire.call_id(0), wire.call_id(1))
            self.assertRegex(wire.call_id(0), r"\A[a-zA-Z0-9_.:-]{1,64}\Z")

    def test_large_arguments_are_as_large_as_asked(self) -> None:
        for wire, decoder in FORMATS:
            body = large_call_body(wire, 100_000)
            (call,) = turn_of(body).message.tool_uses
            self.assertGreater(len(call.arguments["text"].encode()), 100_000)
            self.assertEqual(meaning(decoder().read(body.data)), meaning(body.events))
