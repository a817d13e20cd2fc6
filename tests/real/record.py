"""The recorded outcomes: a table of checks and adapters, kept in `outcomes.csv`.

`python -m tests.real.report` writes it from a run; `python -m tests.real.page` makes the pages of
it. Nothing here runs a client, or needs its package.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

RECORD = Path(__file__).with_name("outcomes.csv")

PASSES, FAILS, WARNS, SKIPPED = "passes", "fails", "warns", "skipped"
BROKEN = (FAILS, WARNS)


@dataclass(frozen=True)
class Client:
    """One adapter, and the outcome of each check.

    Attributes:
        title: the package and the kind of the adapter, as in "groq, tutorial loop".
        ran: what was run: the package with its version, its HTTP library, the Python.
        outcomes: check id → "passes", "fails", "warns" or "skipped", in the contract's order.
    """

    title: str
    ran: str
    outcomes: Mapping[str, str] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """The name of the package."""
        return self.title.partition(", ")[0]

    @property
    def kind(self) -> str:
        """The kind of the adapter: "tutorial loop", "retrying" or "careful"."""
        return self.title.partition(", ")[2]

    def broken(self) -> list[str]:
        """Return the checks that fail or warn."""
        return [check for check, outcome in self.outcomes.items() if outcome in BROKEN]


def written(clients: Sequence[Client]) -> str:
    """Return the record as text."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["check", *(client.title for client in clients)])
    rows.writerow(["ran", *(client.ran for client in clients)])
    for check in _checks(clients):
        rows.writerow([check, *(client.outcomes.get(check, SKIPPED) for client in clients)])
    return text.getvalue()


def read(text: str) -> list[Client]:
    """Return what `written` was given."""
    (_, *titles), (_, *ran), *rows = csv.reader(StringIO(text))
    columns: list[dict[str, str]] = [{row[0]: row[n] for row in rows} for n in _numbers(titles)]
    return [Client(*parts) for parts in zip(titles, ran, columns, strict=True)]


def _numbers(titles: Sequence[str]) -> range:
    return range(1, len(titles) + 1)


def _checks(clients: Iterable[Client]) -> list[str]:
    """Return every check of the clients, in the order of the first that has them."""
    return list(dict.fromkeys(check for client in clients for check in client.outcomes))
