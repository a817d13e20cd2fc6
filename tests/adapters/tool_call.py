"""One tool call of an answer, while its fragments come."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from modeltest import FinishReason, StreamProtocolError, ToolCallDelta, TruncatedToolArgumentsError

from .payload import decode


@dataclass(slots=True)
class PartialCall:
    """A call as far as it is known; `index` counts the calls of the turn from 0."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def add(self, *, id: str = "", name: str = "", arguments: str = "") -> ToolCallDelta:  # noqa: A002
        """Take a fragment, and return it without what earlier ones have said.

        Providers repeat the id and the name, leave them out, or send them empty; the first
        id stays.

        Raises:
            StreamProtocolError: the name changes.
        """
        if self.name and name and name != self.name:
            raise StreamProtocolError(f"the tool call {self.name!r} changed its name to {name!r}")
        news = ToolCallDelta(
            self.index,
            id="" if self.id else id,
            name="" if self.name else name,
            arguments=arguments,
        )
        self.id = self.id or id
        self.name = self.name or name
        self.arguments.append(arguments)
        return news

    def end(self, reason: str) -> ToolCallDelta | None:
        """Check that the call is whole, now that the turn has ended for `reason`.

        Returns the arguments `{}` if there were none and a reason vouches for that: after
        any other, the call may have been cut before its first byte.

        Raises:
            TruncatedToolArgumentsError: the arguments are no whole JSON object.
            StreamProtocolError: the call never had a name.
        """
        if not self.name:
            raise StreamProtocolError(f"tool call {self.index} ({self.id!r}) never had a name")
        text = "".join(self.arguments)
        if not text and reason in (FinishReason.STOP, FinishReason.TOOL_USE):
            return ToolCallDelta(self.index, arguments="{}")
        try:
            arguments = decode(text)
        except ValueError as error:
            raise self._not_whole(text, str(error)) from error
        if not isinstance(arguments, dict):
            raise self._not_whole(text, f"a {type(arguments).__name__}")
        return None

    def _not_whole(self, text: str, why: str) -> TruncatedToolArgumentsError:
        return TruncatedToolArgumentsError(
            f"the arguments of tool call {self.name!r} are no whole JSON object: "
            f"{why}, in {len(text)} characters that end with {text[-40:]!r}"
        )


def whole_call(index: int, *, id: str, name: str, arguments: Any) -> ToolCallDelta:  # noqa: A002
    """Return a call that came in one piece, its arguments as a JSON value; null means `{}`.

    Raises:
        StreamProtocolError: it has no name.
        TruncatedToolArgumentsError: the arguments are no JSON object.
    """
    if not name:
        raise StreamProtocolError(f"tool call {index} ({id!r}) has no name")
    arguments = {} if arguments is None else arguments
    if not isinstance(arguments, dict):
        raise TruncatedToolArgumentsError(
            f"the arguments of tool call {name!r} are no JSON object: a {type(arguments).__name__}"
        )
    try:
        text = json.dumps(arguments, allow_nan=False)
    except ValueError as error:
        # Python reads 1e999, and makes an infinity of it.
        raise TruncatedToolArgumentsError(
            f"the arguments of tool call {name!r} are no JSON object: {error}"
        ) from error
    return ToolCallDelta(index, id=id, name=name, arguments=text)
