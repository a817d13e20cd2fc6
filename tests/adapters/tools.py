"""Tool names and tool choice, checked before anything is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from modeltest import ConfigError, Request

_CHOICES = ("auto", "none", "required", "tool")


@dataclass(frozen=True, slots=True)
class ToolNameRule:
    r"""What a provider accepts as the name of a tool.

    Attributes:
        characters: a regular expression's character class, spelled out in ASCII: `\w` and
            `\d` would let the letters and digits of other scripts through.
        limit: the largest number of characters.
        first: the class of the first character, where that is another one.
    """

    characters: str
    limit: int
    first: str = ""

    def check(self, name: str, where: str) -> None:
        """Refuse a name that the provider would refuse.

        Raises:
            ConfigError: it breaks the rule; the message quotes it.
        """
        # fullmatch: with match and "$" a trailing line feed would pass.
        if not re.fullmatch(f"(?={self.first}){self.characters}{{1,{self.limit}}}", name):
            begin = f" that begin with {self.first}" if self.first else ""
            raise ConfigError(
                f"{where}: expected 1 to {self.limit} characters of {self.characters}{begin}, "
                f"got {name!r}"
            )


OPENAI_CHAT_NAMES = ToolNameRule("[a-zA-Z0-9_-]", limit=64)
OPENAI_RESPONSES_NAMES = ToolNameRule("[a-zA-Z0-9_-]", limit=128)
ANTHROPIC_NAMES = ToolNameRule("[a-zA-Z0-9_-]", limit=128)
GEMINI_NAMES = ToolNameRule("[a-zA-Z0-9_.:-]", limit=128, first="[a-zA-Z_]")
# Ollama has no rule: it writes the name into the prompt as it is, and the model has to repeat
# it. What the other providers take is safe, and a history may move among them.
OLLAMA_NAMES = OPENAI_CHAT_NAMES


def check_tools(request: Request, rule: ToolNameRule) -> None:
    """Refuse tools, a tool choice or replayed calls that the provider would refuse.

    Raises:
        ConfigError: with the offending name.
    """
    declared: set[str] = set()
    for tool in request.tools:
        rule.check(tool.name, "tool name")
        if tool.name in declared:
            raise ConfigError(f"tool name: {tool.name!r} is declared twice")
        declared.add(tool.name)
    _check_choice(request, declared)
    # A model may have made a name up. Sent back, it makes every later request fail.
    for message in request.messages:
        for call in message.tool_uses:
            rule.check(call.name, "name of a tool call in an earlier message")


def _check_choice(request: Request, declared: set[str]) -> None:
    choice = request.tool_choice
    if choice is None:
        return
    if choice.mode not in _CHOICES:
        raise ConfigError(f"tool choice: expected one of {_CHOICES}, got {choice.mode!r}")
    if choice.mode in ("required", "tool") and not declared:
        raise ConfigError(
            f"tool choice: {choice.mode!r} ({choice.name!r}) asks for a call without any tools"
        )
    if choice.mode == "tool" and choice.name not in declared:
        raise ConfigError(
            f"tool choice: expected one of the tools {sorted(declared)}, got {choice.name!r}"
        )
