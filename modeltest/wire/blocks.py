"""Formats whose answer is a row of blocks, each opened, filled and closed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from modeltest.encoding import (
    DELTA_ROLES,
    Role,
    RolePayload,
    SameEvent,
    Unsupported,
    WireError,
    WireFormat,
)
from modeltest.interface import Finish, ReasoningDelta, TextDelta, ToolCallDelta

if TYPE_CHECKING:
    from modeltest.encoding import Item, Payload, UsagePlacement


Delta = TextDelta | ReasoningDelta | ToolCallDelta
"""What a block is filled with."""


@dataclass(slots=True)
class Block:
    """One block of the answer, as far as it has come.

    Attributes:
        index: its place among the blocks, from 0.
        opening: the delta it was opened for: says what it holds, and a call's id and name.
        fragments: its text, reasoning or arguments so far.
        is_open: whether more may come.
    """

    index: int
    opening: Delta
    fragments: list[str] = field(default_factory=list)
    is_open: bool = True

    @property
    def text(self) -> str:
        """The block's text, reasoning or arguments so far, joined."""
        return "".join(self.fragments)

    @property
    def role(self) -> Role:
        """What the block holds: TEXT, REASONING or CALL."""
        return DELTA_ROLES[type(self.opening)]

    def takes(self, delta: Delta) -> bool:
        """Return whether `delta` belongs to this block."""
        if isinstance(self.opening, ToolCallDelta):
            return isinstance(delta, ToolCallDelta) and delta.index == self.opening.index
        if isinstance(delta, ReasoningDelta) and delta.redacted:
            return False  # redacted reasoning is a block of its own
        return type(delta) is type(self.opening)

    def add(self, delta: Delta) -> None:
        """Add to the block's text."""
        more = delta.arguments if isinstance(delta, ToolCallDelta) else delta.text
        self.fragments.append(more)


def only_begins(delta: Delta) -> bool:
    """Return whether `delta` says no more than the event that opens its call."""
    return isinstance(delta, ToolCallDelta) and bool(delta.name) and not delta.arguments


_ELSEWHERE = ("text_event", "finish_event")
"""What a format of blocks need not define: nothing stands outside of a block."""


class BlockFormat(WireFormat):
    """A wire format whose events open, fill and close blocks."""

    required: ClassVar[Mapping[str, str]] = {
        **{name: what for name, what in WireFormat.required.items() if name not in _ELSEWHERE},
        "open_block": "open_block(block) -> payloads: the start of a block",
        "fill_block": "fill_block(block, delta) -> payloads: a delta of its content",
        "close_block": "close_block(block, finish) -> payloads: its end",
        "closing_events": "closing_events(finish, blocks) -> the finish and its usage",
    }

    interleaves_calls: bool = False
    """Whether a call's block may stay open while another's is filled."""

    @abstractmethod
    def open_block(self, block: Block) -> Iterable[Payload]:
        """Return the events that start `block`."""
        ...

    @abstractmethod
    def fill_block(self, block: Block, delta: Delta) -> Iterable[Payload]:
        """Return the events that add `delta` to `block`."""
        ...

    @abstractmethod
    def close_block(self, block: Block, finish: Finish | None) -> Iterable[Payload]:
        """Return the events that end `block`; `finish` if it is the turn's end that ends it."""
        ...

    @abstractmethod
    def closing_events(self, finish: Finish, blocks: Sequence[Block]) -> Iterable[RolePayload]:
        """Return the events that give the finish reason and the token counts."""
        ...

    def text_event(self, text: str) -> Payload:
        """Raise Unsupported: text stands in a block."""
        raise Unsupported(f"{self.name}: {text!r:.40} cannot stand outside of a block")

    def finish_event(self, word: str) -> Payload:
        """Raise Unsupported: the finish shares no event."""
        raise Unsupported(f"{self.name}: the finish {word!r} cannot share an event")

    def content(self, script: Sequence[Item], placement: UsagePlacement) -> Iterator[RolePayload]:
        """Yield the events between the start and the end marker, blocks closed by the finish."""
        del placement  # the events that close the answer have their usage where they have it
        blocks: list[Block] = []
        for item in script:
            match item:
                case RolePayload():
                    yield item
                case WireError():
                    yield from item.in_roles()
                case SameEvent():
                    raise Unsupported(f"{self.name}: one event holds one thing")
                case Finish():
                    yield from self._close_blocks(blocks, item)
                    yield from self.closing_events(item, blocks)
                case _:
                    yield from self._add(blocks, item)

    def _add(self, blocks: list[Block], delta: Delta) -> Iterator[RolePayload]:
        block = next((block for block in blocks if block.is_open and block.takes(delta)), None)
        if block is None:
            yield from self._close_for(blocks, delta)
            block = Block(len(blocks), delta)
            blocks.append(block)
            # What opens a call is part of it; what opens a text holds none of it.
            role = Role.CALL if block.role is Role.CALL else Role.OTHER
            yield from _in_role(role, self.open_block(block))
        block.add(delta)
        yield from _in_role(block.role, self.fill_block(block, delta))
        if isinstance(delta, ReasoningDelta) and (delta.signature or delta.redacted):
            # A signature proves the block that it ends.
            yield from self._close_blocks([block])

    def _close_for(self, blocks: Sequence[Block], delta: Delta) -> Iterator[RolePayload]:
        """Yield the ends of the blocks that a new one for `delta` does not leave open."""
        is_call = isinstance(delta, ToolCallDelta)
        if is_call and any(block.takes(delta) for block in blocks):
            raise Unsupported(f"{self.name}: a call is whole before the next thing begins")
        stay = self.interleaves_calls and is_call
        yield from self._close_blocks(
            [block for block in blocks if not (stay and block.role is Role.CALL)]
        )

    def _close_blocks(
        self, blocks: Sequence[Block], finish: Finish | None = None
    ) -> Iterator[RolePayload]:
        for block in blocks:
            if block.is_open:
                block.is_open = False
                yield from _in_role(Role.OTHER, self.close_block(block, finish))


def _in_role(role: Role, payloads: Iterable[Payload]) -> Iterator[RolePayload]:
    return (RolePayload(role, payload) for payload in payloads)
