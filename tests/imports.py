"""Who imports what in the package at run time, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Import(NamedTuple):
    """`from MODULE import NAME` in a file; `typing_only` if it stands under TYPE_CHECKING."""

    file: Path
    line: int
    module: str
    name: str
    typing_only: bool


def imports_of(file: Path) -> Iterator[Import]:
    """Yield what `file` imports of modeltest, docs and tests."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield Import(file, node.lineno, node.module, alias.name, id(node) in for_types)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, "", id(node) in for_types)


@cache
def modules() -> dict[str, Path]:
    """Return the package's modules by name."""
    found = {}
    for file in (ROOT / "modeltest").rglob("*.py"):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def graph() -> dict[str, set[str]]:
    """Return, for each module, those that it imports when it is run."""
    known = modules()
    return {
        name: {
            target
            for one in imports_of(file)
            if not one.typing_only
            for target in [f"{one.module}.{one.name}"]
            for target in [target if target in known else one.module]
            if target in known and target != name
        }
        for name, file in known.items()
    }


def longest_chain() -> list[str]:
    """Return the longest chain of imports, the importing module first."""

    longest: dict[str, tuple[str, ...]] = {}

    def below(module: str, above: tuple[str, ...]) -> tuple[str, ...]:
        assert module not in above, f"{module} imports itself by way of {above}"
        if module not in longest:
            chains = [below(imported, (*above, module)) for imported in graph()[module]]
            longest[module] = (module, *max(chains, key=len, default=()))
        return longest[module]

    return list(max((below(module, ()) for module in graph()), key=len))
