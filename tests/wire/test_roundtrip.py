"""Any text, name and arguments come through every format unchanged."""

import itertools
import json
import unittest
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modeltest import Event, Finish, FinishReason, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire import Unsupported
from tests.wire.formats import FORMATS, meaning
from tests.wire.turns import turn_of

texts = st.text(max_size=40)
names = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", fullmatch=True)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(texts, json_values, max_size=3)
counts = st.integers(min_value=0, max_value=10_000_000)
usages = st.builds(Usage, counts, counts, counts, counts)

quickly = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class TestRoundTrip(unittest.TestCase):
    def check(self, wire: Any, decoder: Any, *script: Event, **options: Any) -> None:
        body = wire.encode(*script, **options)
        self.assertEqual(meaning(decoder().read(body.data)), meaning(body.events), wire)

    @quickly
    @given(st.lists(texts, max_size=5))
    def test_text(self, pieces: list[str]) -> None:
        for wire, decoder in FORMATS:
            self.check(wire, decoder, *map(TextDelta, pieces), Finish(FinishReason.STOP))

    @quickly
    @given(st.lists(texts, max_size=3), texts)
    def test_reasoning(self, pieces: list[str], text: str) -> None:
        for wire, decoder in FORMATS:
            script = (*map(ReasoningDelta, pieces), TextDelta(text), Finish(FinishReason.STOP))
            try:
                self.check(wire, decoder, *script)
            except Unsupported:
                self.assertTrue(pieces)

    @quickly
    @given(st.lists(st.tuples(names, arguments), min_size=1, max_size=3), texts)
    def test_calls(self, calls: list[tuple[str, dict[str, Any]]], text: str) -> None:
        for wire, decoder in FORMATS:
            deltas = [
                delta
                for index, (name, given_) in enumerate(calls)
                for delta in wire.tool_call(index, name, given_)
            ]
            finish = Finish(FinishReason.TOOL_USE)
            self.check(wire, decoder, TextDelta(text), *deltas, finish)
            body = wire.encode(*deltas, finish)
            uses = turn_of(body).message.tool_uses
            self.assertEqual([(use.name, use.arguments) for use in uses], calls)

    @quickly
    @given(names, arguments, st.data())
    def test_arguments_in_any_fragments(
        self, name: str, given_: dict[str, Any], data: st.DataObject
    ) -> None:
        text = json.dumps(given_, ensure_ascii=False)
        cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)))
        bounds = [0, *cuts, len(text)]
        pieces = [text[a:b] for a, b in itertools.pairwise(bounds)]
        for wire, decoder in FORMATS:
            if wire.streams_arguments:
                start = ToolCallDelta(0, wire.call_id(0), name)
                rest = [ToolCallDelta(0, arguments=piece) for piece in pieces]
                self.check(wire, decoder, start, *rest, Finish(FinishReason.TOOL_USE))

    @quickly
    @given(usages)
    def test_usage(self, told: Usage) -> None:
        for wire, decoder in FORMATS:
            usage = Usage(**{name: told.counts()[name] for name in wire.usage_counts})
            for placement in wire.usage_placements:
                finish = Finish(FinishReason.STOP, usage=usage)
                self.check(wire, decoder, TextDelta("hi"), finish, usage=placement)
