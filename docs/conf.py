"""How Sphinx builds the documentation: `sphinx-build -W -n -b html docs docs/_build/html`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))  # the checkout, whether or not it is installed

import modeltest  # noqa: E402 - found by the line above

project = "modeltest"
author = "the modeltest contributors"
copyright = author  # noqa: A001 - Sphinx's name for it
version = release = modeltest.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "examples", "snippets"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
smartquotes = False  # an empty string, '', is not a pair of quotation marks

html_theme = "furo"
html_title = f"modeltest {version}"

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_use_rtype = False
# A list in the class's description: entries of their own would clash with documented attributes.
napoleon_use_ivar = True
# Docstrings are read in a terminal too: single backticks, and they mean code.
default_role = "code"
nitpick_ignore_regex = [
    # Names of other packages: nothing of theirs can be linked offline.
    ("py:.*", r"(?!modeltest\b).*"),
    # Types in signatures that are no public names.
    ("py:.*", r".*\._\w+"),
    ("py:class", r"modeltest\.transports\.ledger\.(Socket|Bell)"),
]


def mark_code(
    _app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Make code of the indented blocks in a docstring, which carry no mark-up for Sphinx.

    Such a block follows a paragraph and a blank line; the contents of a section such as
    "Raises:" follow its heading at once.
    """
    marked: list[str] = []
    text = ""
    for line in lines:
        if line.startswith(" ") and marked and not marked[-1] and text[:1] not in ("", " ", "-"):
            marked += ["::", ""]
        marked.append(line)
        text = line or text
    lines[:] = marked


_plain: list[str] = []


def keep_plain(
    _app: Any, what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Undo what napoleon does to the docstring of an attribute: it takes "a: b" for a type."""
    if what in ("attribute", "data", "property") and "Raises:" not in _plain:
        lines[:] = _plain


def remember_plain(
    _app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Remember a docstring for `keep_plain`."""
    _plain[:] = lines


def read_page(_app: Any, name: str, source: list[str]) -> None:
    """Take in what only Sphinx can show; a code host shows no comments.

    A comment `<!-- sphinx … -->` is part of the page here, and the changelog has a file of its own.
    """
    if name == "changelog":
        source[0] = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    source[0] = re.sub(r"<!-- sphinx\n(.*?)^-->$", r"\1", source[0], flags=re.DOTALL | re.MULTILINE)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", read_page)
    # Before napoleon (at 500), which indents what it writes.
    app.connect("autodoc-process-docstring", mark_code, priority=400)
    app.connect("autodoc-process-docstring", remember_plain, priority=450)
    app.connect("autodoc-process-docstring", keep_plain, priority=550)
