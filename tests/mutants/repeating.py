"""Models that give another answer to the same bytes each time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, TextDelta, Usage

from .parrot import Parrot, Raw


class NumbersItsAnswers(Parrot):
    """Each word has the number of the answer behind it."""

    numbers: ClassVar[Iterator[int]] = itertools.count()

    def read(self, raw: Raw) -> Iterator[Event]:
        number = next(self.numbers)
        for event in super().read(raw):
            yield TextDelta(f"{event.text}[{number}] ") if isinstance(event, TextDelta) else event


class CountsAsItLikes(Parrot):
    """The provider tells no usage, and this one is never the same: nothing is wrong with it."""

    numbers: ClassVar[Iterator[int]] = itertools.count(7)

    def read(self, raw: Raw) -> Iterator[Event]:
        for event in super().read(raw):
            if isinstance(event, Finish):
                usage = Usage(next(self.numbers), next(self.numbers))
                yield Finish(event.reason, event.raw, usage)
            else:
                yield event
