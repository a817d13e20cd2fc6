"""A reference decoder of the format made in tests/adapters/home_made_wire.py."""

from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import FinishReason, TextDelta, ToolCallDelta, Usage
from tests.wire import unframe
from tests.wire.decoders import Decoder, Failed


class AcmeDecoder(Decoder):
    """Acme Lines."""

    reasons: ClassVar[dict[str, str]] = {
        "done": FinishReason.STOP,
        "full": FinishReason.LENGTH,
        "tool": FinishReason.TOOL_USE,
    }

    def unframe(self, body: bytes) -> Iterator[Any]:
        return unframe.ndjson(body)

    def take(self, line: Any) -> None:
        match line:
            case {"broken": kind, "why": words}:
                raise Failed(f"{kind}: {words}")
            case {"say": text}:
                self.say(TextDelta(text))
            case {"call": index, "json": arguments}:
                called = line.get("id", ""), line.get("tool", "")
                self.say(ToolCallDelta(index, *called, arguments))
        if "over" in line:
            self.over, self.reason = True, line["over"]
            self.usage = Usage(*line.get("tokens", ()))
