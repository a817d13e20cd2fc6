"""The pages of the contract, made of the checks: `python -m docs.contract_pages`.

It writes the table in `docs/contract.md` and a page for each group in `docs/contract/`. With
`--check` it writes nothing, and exits with 1 when a page is not what it would write.
"""

from __future__ import annotations

import itertools
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.wire_shown import ShortChat, described, played, visible
from modeltest.backend import Response
from modeltest.checks import ALL, name_of
from modeltest.wire import Body

if TYPE_CHECKING:
    from modeltest.harness import Check, Example


DOCS = Path(__file__).parent

WIRE = ShortChat()
"""The wire format of every example."""

_NAMED = 6
"""Other cases of a check that are named; of more, it is said how many."""

_TABLE = re.compile(r"(?<=<!-- checks -->\n).*(?=<!-- end of checks -->)", re.DOTALL)
"""What stands between these two comments in contract.md is written here."""


def pages(docs: Path = DOCS) -> dict[str, str]:
    """Return the text of each page, by its place below `docs`."""
    groups = by_group(ALL)
    written = {f"contract/{group}.md": group_page(members) for group, members in groups.items()}
    contract = (docs / "contract.md").read_text(encoding="utf-8")
    written["contract.md"] = _TABLE.sub(lambda _: f"\n{overview(groups)}\n", contract)
    return written


def write_pages(docs: Path = DOCS) -> None:
    """Write the pages, and remove those of groups that are no more."""
    (docs / "contract").mkdir(exist_ok=True)
    for name in stale(docs):
        (docs / name).unlink(missing_ok=True)
    for name, text in pages(docs).items():
        (docs / name).write_text(text, encoding="utf-8")


def stale(docs: Path = DOCS) -> list[str]:
    """Return the pages of groups that are no more."""
    groups = {check.group for check in ALL}
    found = sorted((docs / "contract").glob("*.md"))
    return [f"contract/{page.name}" for page in found if page.stem not in groups]


def differing(docs: Path = DOCS) -> list[str]:
    """Return the pages that are missing, stale, or not as they would be written."""

    def now(name: str) -> str:
        return (docs / name).read_text(encoding="utf-8") if (docs / name).is_file() else ""

    return [name for name, text in pages(docs).items() if now(name) != text] + stale(docs)


def by_group(checks: Iterable[Check]) -> dict[str, tuple[Check, ...]]:
    """Return the checks of each group, in the order of the contract."""
    grouped = itertools.groupby(checks, key=lambda check: check.group)
    return {group: tuple(members) for group, members in grouped}


def overview(groups: Mapping[str, tuple[Check, ...]]) -> str:
    """Return a table of every check, each with a link to its entry."""
    lines = ["| check | level | needs | requirement |", "|---|---|---|---|"]
    lines += [
        f"| [`{check.id}`](contract/{group}.md#{anchor(heading(check))}) | {check.level} "
        f"| {needs(check)} | {cell(check.requirement)} |"
        for group, members in groups.items()
        for check in members
    ]
    return "\n".join([*lines, ""])


def group_page(checks: tuple[Check, ...]) -> str:
    """Return the page that describes the checks of one group."""
    lines = [f"# {title(checks[0])}", ""]
    lines += ["[How to read this page](../contract.md#how-to-read-a-check)", ""]
    for check in checks:
        lines += [*entry(check), ""]
    return "\n".join(lines)


def entry(check: Check) -> list[str]:
    """Return the lines that describe one check."""
    needed = f" · needs {needs(check)}" if check.needs else ""
    lines = [
        f"## {heading(check)}",
        "",
        f"`{check.method}` · {check.level}{needed}",
        "",
        f"**{check.requirement}**",
        "",
        check.why,
        "",
        f"*Fix:* {check.fix}.",
    ]
    return lines if check.example is None else [*lines, *example_lines(check, check.example)]


def example_lines(check: Check, example: Example) -> list[str]:
    """Return the lines that show what reproduces the check's fault."""
    sort, shown, others = block(check, example)
    return ["", f"*{sort}:* {example.text}", "", "```text", shown, "```", *also_tried(others)]


def block(check: Check, example: Example) -> tuple[str, str, tuple[str, ...]]:
    """Return what an example is, the text that shows it, and the names of the other cases."""
    if example.consumer:
        return "Sequence", sequence(example), example.others
    if example.case:
        # Those of `sends`, or else the check's own.
        bodies: Any = example.sends or check.bodies
        assert bodies is not None, f"{check.id}: no bodies among which {example.case!r} is"
        found = {body.name: body for body in bodies(WIRE)}
        return "Bytes", visible(found.pop(example.case).data), example.others or tuple(found)
    assert example.sends is not None, f"{check.id}: an example shows a sequence, a case or bytes"
    match example.sends(WIRE):
        case str() as cases:
            return "Cases", cases, example.others
        case bytes() as data:
            return "Bytes", visible(data), example.others
        case Response() as response:
            return "Bytes", played(response), example.others
        case Body() as body:
            return "Bytes", visible(body.data), example.others
        case other:
            raise TypeError(f"{check.id}: {other!r:.80} cannot be shown")


def sequence(example: Example) -> str:
    """Return who does what, in order, and what is seen of an adapter that is wrong."""
    made = [answer(WIRE) for answer in (example.sends, example.then) if answer is not None]
    answers = [described(response) for response in made if isinstance(response, Response)]
    lines = {
        "server": example.server or "; to the second request ".join(answers),
        "consumer": example.consumer,
        "fault": example.fault,
    }
    return "\n".join(
        textwrap.fill(what, 88, initial_indent=f"{who:<10}", subsequent_indent=" " * 10)
        for who, what in lines.items()
    )


def also_tried(names: tuple[str, ...]) -> list[str]:
    """Return the lines that name a check's other cases."""
    if not names:
        return []
    named = [f"`{name}`" for name in names[:_NAMED]]
    if len(names) > _NAMED:
        named.append(f"and {len(names) - _NAMED} more")
    return ["", f"Also tried: {' · '.join(named)}"]


def title(check: Check) -> str:
    """Return the group's name and motto: the first line of the module that begins it."""
    motto = (sys.modules[check.judge.__module__].__doc__ or "").partition("\n")[0]
    return motto.removesuffix(".")


def heading(check: Check) -> str:
    """Return the check's id, and its test method where another check has the same id."""
    return check.id if name_of(check) == check.id else f"{check.id}, {check.method}"


def anchor(text: str) -> str:
    """Return the name by which a link finds a heading, here and on code hosts."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def needs(check: Check) -> str:
    """Return the attributes that the test case must set for the check."""
    return ", ".join(f"`{need.value}`" for need in check.needs)


def cell(text: str) -> str:
    """Return text as it stands in the cell of a table."""
    return text.replace("|", r"\|")


def main(arguments: list[str]) -> int:
    """Write the pages, or tell which ones are stale; return the exit status."""
    if arguments != ["--check"]:
        write_pages()
        return 0
    found = differing()
    for name in found:
        sys.stderr.write(f"docs/{name} is stale: run `python -m docs.contract_pages`\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
