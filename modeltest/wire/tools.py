"""What a provider demands of tool names, and where a request carries them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Names that every provider takes, whatever its grammar.
_COMMON = ("get_weather", "a-1", "_x", "a" * 64)

# Names that some provider refuses.
_UNUSUAL = (
    "",
    "get weather",
    "fs/read",
    "r\u00e9sum\u00e9",
    "a.b",
    "1a",
    "get_weather\n",
    "get\nweather",
    "a\u0663",  # an Arabic digit: \d and str.isdigit let it through
    "\u00e9",  # \w and str.isalnum let it through
    "$x",
)


@dataclass(frozen=True, slots=True)
class ToolNameRule:
    """Which tool names a provider takes.

    Attributes:
        pattern: a regular expression for the whole name (matched with `fullmatch`, ASCII only);
            None where the provider documents none.
        limit: the most characters; None where the provider documents none.
        unique: whether the provider refuses two tools of one name.
        source: where this is documented.
    """

    pattern: str | None
    limit: int | None
    unique: bool = False
    source: str = ""

    def accepts(self, name: str) -> bool:
        """Return whether the provider takes `name`; anything but "" where nothing is documented."""
        if self.limit is not None and len(name) > self.limit:
            return False
        # fullmatch: with match() a `$` lets a trailing newline pass.
        return bool(name) and (
            self.pattern is None or re.fullmatch(self.pattern, name, re.ASCII) is not None
        )

    @property
    def accepted(self) -> tuple[str, ...]:
        """Names that an adapter must send as they are."""
        return tuple(name for name in _COMMON if self.accepts(name))

    @property
    def refused(self) -> tuple[str, ...]:
        """Names that the provider refuses, and an adapter must refuse before it sends them."""
        refused = [name for name in _UNUSUAL if not self.accepts(name)]
        if self.limit is not None:
            refused.append("a" * (self.limit + 1))
        return tuple(refused)


Path = tuple[str, ...]
"""Where something stands in a request: keys, and "*" for each item of a list."""


def pluck(value: Any, path: Path) -> Iterator[Any]:
    """Yield everything at `path` in `value`; nothing where a step is missing or of another type."""
    if not path:
        yield value
    elif path[0] == "*":
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            for item in value:
                yield from pluck(item, path[1:])
    elif isinstance(value, Mapping) and path[0] in value:
        yield from pluck(value[path[0]], path[1:])
