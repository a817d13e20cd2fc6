"""The pages of the contract, made of the checks: `write_pages`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from docs.on_the_wire import ON_THE_WIRE
from docs.wire_shown import Snippet
from modeltest.checks import ALL, name_of

if TYPE_CHECKING:
    from modeltest.harness import Check

_NAMED = 6
"""Other cases of a check that are named; of more, it is said how many."""


def write_pages(docs: Path) -> None:
    """Write what the page of the contract includes, and a page for each group."""
    groups = by_group(ALL)
    pages = {f"contract/{group}.md": group_page(members) for group, members in groups.items()}
    pages["_generated/checks.md"] = overview(groups)
    for folder in ("contract", "_generated"):
        (docs / folder).mkdir(exist_ok=True)
        for old in (docs / folder).glob("*.md"):
            if f"{folder}/{old.name}" not in pages:
                old.unlink()
    for name, text in pages.items():
        (docs / name).write_text(text, encoding="utf-8")


def by_group(checks: Iterable[Check]) -> dict[str, tuple[Check, ...]]:
    """Return the checks of each group, in the order of the contract."""
    grouped = itertools.groupby(checks, key=lambda check: check.group)
    return {group: tuple(members) for group, members in grouped}


def overview(groups: Mapping[str, tuple[Check, ...]]) -> str:
    """Return Markdown that lists the groups, and every check with a link to its entry."""
    lines = ["```{toctree}", ":maxdepth: 1", ""]
    lines += [f"contract/{group}" for group in groups]
    lines += ["```", "", "| check | level | needs | requirement |", "|---|---|---|---|"]
    lines += [
        f"| [`{check.id}`](#{label(check)}) | {check.level} | {needs(check)} "
        f"| {cell(check.requirement)} |"
        for members in groups.values()
        for check in members
    ]
    return "\n".join([*lines, ""])


def group_page(checks: tuple[Check, ...]) -> str:
    """Return Markdown that describes the checks of one group."""
    lines = [f"# {title(checks[0])}", ""]
    lines += ["[How to read this page](../contract.md#how-to-read-a-check)", ""]
    for check in checks:
        lines += [*entry(check, ON_THE_WIRE[name_of(check)]), ""]
    return "\n".join(lines)


def entry(check: Check, snippet: Snippet) -> list[str]:
    """Return the lines that describe one check."""
    needed = f" · needs {needs(check)}" if check.needs else ""
    return [
        f"({label(check)})=",
        f"## {heading(check)}",
        "",
        f"`{check.method}` · {check.level}{needed}",
        "",
        f"**{check.requirement}**",
        "",
        check.why,
        "",
        f"*Fix:* {check.fix}.",
        "",
        f"*On the wire:* {snippet.shows}",
        "",
        "```text",
        snippet.block,
        "```",
        *also_played(snippet.others),
    ]


def also_played(names: tuple[str, ...]) -> list[str]:
    """Return the lines that name a check's other cases."""
    if not names:
        return []
    named = [f"`{name}`" for name in names[:_NAMED]]
    if len(names) > _NAMED:
        named.append(f"and {len(names) - _NAMED} more")
    return ["", f"Also played: {' · '.join(named)}"]


def title(check: Check) -> str:
    """Return the group's name and motto: the first line of the module that begins it."""
    motto = (sys.modules[check.judge.__module__].__doc__ or "").partition("\n")[0]
    return motto.removesuffix(".")


def heading(check: Check) -> str:
    """Return the check's id, and its test method where another check has the same id."""
    return check.id if name_of(check) == check.id else f"{check.id}, {check.method}"


def label(check: Check) -> str:
    """Return the name by which a link finds the check's entry."""
    return name_of(check).replace("/", "-").replace("_", "-")


def needs(check: Check) -> str:
    """Return the attributes that the test case must set for the check."""
    return ", ".join(f"`{need.value}`" for need in check.needs)


def cell(text: str) -> str:
    """Return text as it stands in the cell of a table."""
    return text.replace("|", r"\|")
