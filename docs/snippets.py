"""Code on the pages is that of the tested examples: `python -m docs.snippets` writes it there.

A block follows a comment such as `<!-- examples/openai_chat.py: OpenAIChat.stream -->`, which names
a file beside the page and what of it is shown; without a name, the whole file.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

PAGES = Path(__file__).parent
BLOCK = re.compile(r"(<!-- (\S+\.py)(?:: (\S+))? -->\n```python\n)(.*?)(```\n)", re.DOTALL)


def updated(page: Path) -> str:
    """Return the text of a page, each of its blocks as the examples have it now."""

    def block(found: re.Match[str]) -> str:
        return found[1] + snippet(page.parent / found[2], found[3]) + found[5]

    return BLOCK.sub(block, page.read_text(encoding="utf-8"))


def snippet(path: Path, name: str | None) -> str:
    """Return the source of what is called `name` in a file, such as `Class.method`."""
    source = path.read_text(encoding="utf-8")
    if name is None:
        return source
    node: ast.AST = ast.parse(source)
    for part in name.split("."):
        node = next(child for child in ast.iter_child_nodes(node) if _name(child) == part)
    if not isinstance(node, ast.stmt):
        raise TypeError(f"{name} in {path.name} cannot be shown: {type(node).__name__}")
    decorators = getattr(node, "decorator_list", [])
    first = min(part.lineno for part in (node, *decorators))
    lines = source.splitlines(keepends=True)[first - 1 : node.end_lineno]
    return textwrap.dedent("".join(lines))


def _name(node: ast.AST) -> str | None:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name
        case ast.Assign(targets=[ast.Name(id)]):
            return id
    return None


if __name__ == "__main__":
    for page in PAGES.glob("*.md"):
        if (text := updated(page)) != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
