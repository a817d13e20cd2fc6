"""Writes the pages about published clients: `python -m tests.real.page`.

They are `docs/clients.md` and one page for each package in `docs/clients/`. They come from the
recorded outcomes and from the causes in `causes.py`; no client is run. `--check` writes nothing,
and exits with 1 when a page is not what the record gives, or a failure has no cause.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from tests.real.causes import CAUSES, EVERY_LOOP, NOT_RUN
from tests.real.record import BROKEN, FAILS, PASSES, RECORD, SKIPPED, WARNS, Client, read

DOCS = Path(__file__).parents[2] / "docs"

_WRITTEN = "<!-- Written by `python -m tests.real.page`. Change that, not this page. -->"
_SIGNS = {PASSES: "✓", FAILS: "✗", WARNS: "w", SKIPPED: "\N{EN DASH}"}
_WORST_FIRST = (FAILS, WARNS, PASSES, SKIPPED)
_LEFT_AS_IS = ("tutorial loop", "retrying")

KINDS = {
    "tutorial loop": "The loop of every tutorial: it reads the text of each chunk, then ends.",
    "retrying": "The same loop with the package's own number of retries, for the checks of "
    "retrying alone.",
    "careful": "The package sends the request; the adapter reads the response itself, and always "
    "closes it.",
}

INTRODUCTION = f"""\
# What published clients do

{_WRITTEN}

Most adapters wrap a provider's own package. This is how {{count}} packages meet [the contract](contract.md)
when they are used as every tutorial shows: send the request, loop over the chunks, print the text. No
provider and no key are involved: a server on loopback answers as the provider would. A ✗ need not be a
bug of the package: it says what is left to whoever uses it. Each package's page gives the causes.

✓ passes · ✗ breaks a MUST · w breaks a SHOULD (a warning) · {_SIGNS[SKIPPED]} not judged
"""

PRINTING = """\
To see the failure texts, with what the server observed, run the client again (a minute or two):

```sh
pip install -e ".[real]"
python -m tests.real.report --print {package}
```
"""

CARE = """\
- Close the response on every way out: at the end, on an error, on `close()`, and when the stream
  is dropped without being read.
- Yield a Finish only for the provider's own end of turn. Of the packages only litellm tells a cut
  answer from a whole one, and it misses the answer that is cut before its first chunk.
- Read the bytes with a tested parser. Each package has its own, and each fails at something that
  server-sent events allow: a byte order mark, empty data, mixed line ends, a name on the event.
- To cancel a read that waits for the provider, shut its socket down. The packages' own `close()`,
  called from another thread, does not end that read. Before the headers there is no stream to
  close: only the package's `timeout` ends that wait.
- Raise one family of errors. The packages let others through: their HTTP library's where the
  connection breaks or falls silent, ValueError for an event that is not JSON.
- Keep only a limited part of an error's body, and never the key if the body repeats it.
- Check the Content-Type before the first byte. Without that, a login page is an empty answer.
- Refuse redirects. An HTTP library removes the Authorization header at most when it follows one.
- Set a read timeout. It counts from byte to byte, and nothing else ends a silence.
- Check the tools' names and the tool choice before anything is sent. The packages do not.
- Know what else a package sends. litellm fetches a list of prices when it is imported, unless
  `LITELLM_LOCAL_MODEL_COST_MAP` is set; huggingface_hub fetches, once a day, a list of agents that
  may be running it, unless `HF_HUB_DISABLE_TELEMETRY` is set.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or check them; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.real.page", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare the pages with the record")
    options = parser.parse_args(arguments)
    clients = read(RECORD.read_text(encoding="utf-8"))
    made = pages(clients)
    problems = [*unexplained(clients, CAUSES), *(stale(made, DOCS) if options.check else ())]
    if not options.check:
        write(made, DOCS)
    if problems:
        problems.append("causes are in tests/real/causes.py; this tool writes the pages from them")
    sys.stdout.write("".join(f"{line}\n" for line in problems or ["the pages are up to date"]))
    return 1 if problems else 0


def pages(
    clients: Sequence[Client], causes: Mapping[str, Mapping[str, str]] = CAUSES
) -> dict[str, str]:
    """Return path below `docs` → text."""
    packages = {name: list(own) for name, own in groupby(clients, lambda client: client.package)}
    found = {"clients.md": overview(packages), "clients/careful.md": careful_page()}
    for name, own in packages.items():
        found[f"clients/{name}.md"] = package_page(name, own, causes)
    return found


def write(made: Mapping[str, str], docs: Path) -> None:
    """Write the pages, and remove those of packages that are gone."""
    (docs / "clients").mkdir(exist_ok=True)
    for path, text in made.items():
        (docs / path).write_text(text, encoding="utf-8")
    for old in _left_over(made, docs):
        old.unlink()


def stale(made: Mapping[str, str], docs: Path) -> list[str]:
    """Return a line for each page that is missing, different or left over."""
    changed = [
        path
        for path, text in made.items()
        if not (docs / path).is_file() or (docs / path).read_text(encoding="utf-8") != text
    ]
    left_over = [str(path.relative_to(docs)) for path in _left_over(made, docs)]
    return [f"docs/{path} is not up to date" for path in [*changed, *left_over]]


def unexplained(clients: Sequence[Client], causes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a line for each failure without a cause, and for each cause of no failure."""
    lines = []
    for client in clients:
        known, broken = set(causes.get(client.title, {})), set(client.broken())
        lines += [f"{client.title}: {check} has no cause" for check in sorted(broken - known)]
        lines += [f"{client.title}: {check} does not fail" for check in sorted(known - broken)]
    return lines


def _left_over(made: Mapping[str, str], docs: Path) -> list[Path]:
    return sorted(path for path in docs.glob("clients/*.md") if f"clients/{path.name}" not in made)


# The overview


def overview(packages: Mapping[str, Sequence[Client]]) -> str:
    """Return the page with the matrix."""
    return "\n".join(
        [
            INTRODUCTION.format(count=len(packages)),
            matrix(packages),
            f"{_failed_by_all(packages)}\n{_careful(packages)}",
            PRINTING.format(package="groq"),
        ]
    )


def matrix(packages: Mapping[str, Sequence[Client]]) -> str:
    """Return a row for each check, or checks of one result, that some packages fail."""
    heads = ["Checks", *(f"[{name}](clients/{name}.md)" for name in packages)]
    rows = [heads, ["---", *([":-:"] * len(packages))]]
    for (group, signs), checks in _alike(packages).items():
        if set(signs) != {_SIGNS[FAILS]}:
            rows.append([_linked(group, checks), *signs])
    return "".join(map(_row, rows))


def _failed_by_all(packages: Mapping[str, Sequence[Client]]) -> str:
    rows = [
        _linked(group, checks)
        for (group, signs), checks in _alike(packages).items()
        if set(signs) == {_SIGNS[FAILS]}
    ]
    return f"All fail: {'; '.join(rows) or 'nothing'}. Checks that none fails are left out."


def _alike(
    packages: Mapping[str, Sequence[Client]],
) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Return (group, signs) → the checks with this result."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for check in next(iter(packages.values()))[0].outcomes:
        worst = [_worst(own, check) for own in packages.values()]
        if any(outcome in BROKEN for outcome in worst):
            signs = tuple(_SIGNS[outcome] for outcome in worst)
            found.setdefault((check.partition("/")[0], signs), []).append(check)
    return found


def _worst(clients: Sequence[Client], check: str) -> str:
    """Return the worst outcome of the adapters that leave the package as it is."""
    outcomes = [client.outcomes[check] for client in clients if client.kind in _LEFT_AS_IS]
    return min(outcomes, key=_WORST_FIRST.index)


def _linked(group: str, checks: Sequence[str]) -> str:
    names = ", ".join(check.partition("/")[2] for check in checks)
    return f"[{group}](contract/{group}.md)/ {names}"


def _careful(packages: Mapping[str, Sequence[Client]]) -> str:
    careful = [client for own in packages.values() for client in own if client.kind == "careful"]
    names = " and ".join(client.package for client in careful if not client.broken())
    return (
        f"It can all be done right: for {names}, [an adapter written with care](clients/careful.md)\n"
        "passes every check that can judge it.\n"
    )


# One package


def package_page(
    name: str, clients: Sequence[Client], causes: Mapping[str, Mapping[str, str]]
) -> str:
    """Return the page of one package."""
    parts = [
        f"# {name}\n\n{_WRITTEN}\n\nRun with {clients[0].ran}. [All packages](../clients.md)\n"
    ]
    parts += [_section(client, causes.get(client.title, {})) for client in clients]
    return "\n".join([*parts, PRINTING.format(package=name)])


def _section(client: Client, causes: Mapping[str, str]) -> str:
    title = f"## {client.kind.capitalize()}\n\n{KINDS[client.kind]}\n"
    if not client.broken():
        return f"{title}It passes every check that can judge it. [What care takes](careful.md)\n"
    rows = [["Checks", "Why it fails"], ["---", "---"]]
    for cause, checks in _by_cause(client, causes):
        rows.append([", ".join(_named(client, check) for check in checks), _sentence(cause)])
    table = "".join(map(_row, rows))
    return f"{title}{_counts(client)}\n\n{table}{_not_run(client)}"


def _counts(client: Client) -> str:
    counts = Counter(client.outcomes.values())
    return (
        f"Passed: {counts[PASSES]}. Failed: {counts[FAILS]}. Warned (w): {counts[WARNS]}. "
        f"Not judged: {counts[SKIPPED]}."
    )


def _not_run(client: Client) -> str:
    """Return a sentence for each check that is set aside for this package alone."""
    reasons = NOT_RUN.get(client.title, {})
    return "".join(f"\n`{check}` is not run: {reason}.\n" for check, reason in reasons.items())


def _by_cause(client: Client, causes: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Return (cause, its checks): what is the package's own first."""
    found: dict[str, list[str]] = {}
    for check in client.broken():
        found.setdefault(causes.get(check, "not explained yet"), []).append(check)
    loops = set(EVERY_LOOP.values())
    return sorted(found.items(), key=lambda item: item[0] in loops)


def _named(client: Client, check: str) -> str:
    return f"`{check}`" + (" (w)" if client.outcomes[check] == WARNS else "")


def _sentence(cause: str) -> str:
    return f"{cause[0].upper()}{cause[1:]}."


def careful_page() -> str:
    """Return the page about the careful adapters."""
    return (
        f"# What care takes\n\n{_WRITTEN}\n\nThe adapters `CarefulOpenAIModel` and "
        "`CarefulAnthropicModel` in `tests/real/` keep the contract\nwith the package as it is. "
        f"What they do depends little on the package:\n\n{CARE}\n[All packages](../clients.md)\n"
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    sys.exit(main())
