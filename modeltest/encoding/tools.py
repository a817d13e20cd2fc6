"""What a provider demands of tool names, and where a request carries them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from modeltest.encoding.payloads import Unsupported

if TYPE_CHECKING:
    from modeltest.interface import ToolCallDelta


# Names that every provider takes, whatever its grammar.
_COMMON = ("get_weather", "getWeather2", "a-1", "_x", "a" * 64)

# Names that some provider refuses, and whoever looks at them sees why.
_UNUSUAL = ("", "get weather", "fs/read", "r\u00e9sum\u00e9", "a.b", "1a", "$x")

# Names that look like good ones to the tools that Python offers for looking.
_TRAPS = (
    "get_weather\n",  # "$" also matches before a line feed at the end, and strip() removes it
    "get\nweather",  # with re.MULTILINE "^" and "$" match in the middle
    "get_weather\r",  # strip()
    "get_weather ",  # strip()
    "get_weather\0",  # where a C string ends
    "\u00e9",  # a letter: \w, str.isalnum, str.isalpha, str.isidentifier
    "caf\u00e9",
    "a\u0663",  # an Arabic digit: \d, str.isdigit, str.isdecimal, int()
    "a\u00b2",  # a superscript two: str.isdigit and str.isalnum, but not \d
    "\uff47et_weather",  # a fullwidth g: the same name as get_weather, to NFKC and to Python
    "\u017fend",  # a long s: [a-z] with re.IGNORECASE
    "\u212aelvin",  # the Kelvin sign: [a-z] with re.IGNORECASE, and lower() makes it a k
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
    def traps(self) -> tuple[str, ...]:
        """Names that the provider refuses, and that careless ways to look at them let through."""
        return tuple(name for name in _TRAPS if self.pattern and not self.accepts(name))

    @property
    def refused(self) -> tuple[str, ...]:
        """Other names that the provider refuses, and an adapter before it sends anything."""
        refused = [name for name in _UNUSUAL if not self.accepts(name)]
        if self.limit is not None:
            refused.append("a" * (self.limit + 1))
        return tuple(refused)


COMMON_TOOL_NAMES = ToolNameRule("[a-zA-Z0-9_-]+", 64, source="what every provider takes")
"""What to hold an adapter to whose provider's rule is not known."""

Path = tuple[str, ...]
"""Where something stands in a request: keys, and "*" for each item of a list."""


def pluck_all(value: Any, paths: Sequence[Path]) -> tuple[Any, ...]:
    """Return everything at any of `paths` in `value`, in order."""
    return tuple(found for path in paths for found in pluck(value, path))


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


def whole_arguments(format_name: str, delta: ToolCallDelta) -> dict[str, Any]:
    """Return the arguments of a call for a format that sends them as an object.

    Raises:
        Unsupported: `delta` is no whole call, or its arguments are no JSON object.
    """
    try:
        arguments = json.loads(delta.arguments or "{}", parse_constant=_refuse_constant)
    except ValueError:
        arguments = None
    if not delta.name or not isinstance(arguments, dict):
        raise Unsupported(
            f"{format_name} sends a call whole, its arguments as an object: "
            f"{delta.arguments!r:.40} is none"
        )
    return arguments


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
