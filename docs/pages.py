"""Keeps the generated parts of the pages current: `python -m docs.pages` writes them anew.

A generated part stands between two comments, which neither a code host nor Sphinx shows:

    <!-- generated: code docs/snippets/test_first.py -->
    …
    <!-- /generated -->

After the colon comes one of the commands in `COMMANDS`, and its arguments. With `--all`, times and
states of connections are written anew too, which are not the same in each run.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
import subprocess
import sys
import textwrap
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, UnionType
from typing import TYPE_CHECKING, get_args

from docs.contract_pages import anchor, heading
from modeltest.checks import ALL, IN_MEMORY
from modeltest.harness import Level

if TYPE_CHECKING:
    from modeltest.harness import Check

ROOT = Path(__file__).parents[1]
_PART = re.compile(
    r"^(<!-- generated: (?P<command>.+?) -->\n)(?P<text>.*?)^(<!-- /generated -->)$",
    re.MULTILINE | re.DOTALL,
)
_VARIES = re.compile(r"^  (?:server|client) .*\n|(?<= in )[\d.]+s$", re.MULTILINE)
"""How far a connection has got when it is looked at is not the same each time; nor is a time."""


def pages() -> Iterator[Path]:
    """Yield every page that may have generated parts."""
    yield from (path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md")
    yield from sorted((ROOT / "docs").glob("*.md"))


def parts(page: str) -> dict[str, str]:
    """Return the generated parts of a page: command → what stands there."""
    return {found["command"]: found["text"] for found in _PART.finditer(page)}


def made(command: str) -> str:
    """Return what a command generates."""
    name, *arguments = shlex.split(command)
    return COMMANDS[name](*arguments)


def renewed(page: str, *, everything: bool = False) -> str:
    """Return a page with its generated parts made anew.

    Args:
        page: the page.
        everything: also those that differ in nothing but what varies by chance.
    """

    def part(found: re.Match[str]) -> str:
        new = made(found["command"])
        alike = steady(new) == steady(found["text"]) and not everything
        return f"{found[1]}{found['text'] if alike else new}{found[4]}"

    return _PART.sub(part, page)


def steady(text: str) -> str:
    """Return a generated part without what is not the same in each run."""
    return _VARIES.sub("", text)


def _code(path: str, *names: str) -> str:
    """Return a file as a block of code, or the objects in it that are named."""
    source = (ROOT / path).read_text(encoding="utf-8")
    shown = [_source_of(source, name) for name in names] or [source.rstrip()]
    return _fenced("python", "\n\n\n".join(shown))


def _source_of(source: str, name: str) -> str:
    """Return the source of `function`, `Class.method` or `Class.attribute`."""
    body: list[ast.stmt] = ast.parse(source).body
    for step in name.split("."):
        node = next(node for node in body if step in _names_of(node))
        body = getattr(node, "body", [])
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    return textwrap.dedent("\n".join(source.split("\n")[first - 1 : node.end_lineno]))


def _names_of(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            return (name,)
        case ast.Assign(targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
    return ()


def _failure(module: str, case: str, method: str) -> str:
    """Return how the failure of one test reads."""
    test = getattr(importlib.import_module(module), case)(method)
    result = _Result()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test.run(result)
    (text,) = result.texts
    return _fenced("text", f"FAIL: {method} — {test.shortDescription()}\n{text}")


def _run(module: str) -> str:
    """Return what `python -m unittest` prints of a module in docs/snippets."""
    done = subprocess.run(
        [sys.executable, "-m", "unittest", f"docs.snippets.{module}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return _fenced("console", f"$ python -m unittest {module}\n{done.stdout.strip()}")


class _Result(unittest.TestResult):
    """Keeps of each failure its text."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def addFailure(self, test: unittest.TestCase, err: object) -> None:  # noqa: N802 - unittest's
        """Keep the text."""
        del test
        assert isinstance(err, tuple)
        self.texts.append(str(err[1]))


def _fixes(*groups: str) -> str:
    """Return a table of checks and their fixes; checks with the same fix share a row."""
    rows: dict[str, list[Check]] = {}
    for check in ALL:
        if check.group in groups:
            rows.setdefault(check.fix, []).append(check)
    return _table(
        ("check and its rule", "fix"),
        (("<br>".join(map(_rule, checks)), fix) for fix, checks in rows.items()),
    )


def _rule(check: Check) -> str:
    should = " *(SHOULD)*" if check.level is Level.SHOULD else ""
    page = f"contract/{check.group}.md#{anchor(heading(check))}"
    return f"[`{check.id}`]({page}) {check.requirement}{should}"


def _parser_checks() -> str:
    """Return a table of the checks that a stream parser is tested with, by group."""
    groups: dict[str, list[str]] = {}
    for check in IN_MEMORY:
        groups.setdefault(check.group, []).append(f"`{check.id}`")
    return _table(
        ("group", "checks"), ((f"`{name}`", ", ".join(ids)) for name, ids in groups.items())
    )


def _names(module: str) -> str:
    """Return a table of a module's public names, each with the first line of its docstring."""
    found = importlib.import_module(module)
    named = ((name, getattr(found, name)) for name in found.__all__ if not name.startswith("_"))
    return _table(("name", "what it is"), ((f"`{name}`", _summary(name, it)) for name, it in named))


def _summary(name: str, value: object) -> str:
    if isinstance(value, type | FunctionType) and value.__name__ != name:
        return f"The earlier name of `{value.__name__}`."
    if isinstance(value, UnionType):
        return "One of " + ", ".join(f"`{kind.__name__}`" for kind in get_args(value)) + "."
    if isinstance(value, str):
        return f"`{value}`"
    if not callable(value):
        return f"A constant: a {type(value).__name__}."
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _table(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    text = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
    return f"\n{text}\n\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _fenced(language: str, text: str) -> str:
    return f"\n```{language}\n{text}\n```\n\n"


COMMANDS: Mapping[str, Callable[..., str]] = {
    "code": _code,
    "failure": _failure,
    "fixes": _fixes,
    "names": _names,
    "parser_checks": _parser_checks,
    "run": _run,
}
"""What can be generated, and how."""


def main() -> None:
    """Write the generated parts of all pages anew."""
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = renewed(old, everything="--all" in sys.argv)
        if new != old:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
