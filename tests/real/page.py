"""What published clients do, as a page of the documentation, and the verdicts read back from it."""

from __future__ import annotations

import platform
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import modeltest
from modeltest.checks import ALL, name_of
from modeltest.harness import Outcome, Status

PACKAGES = (
    "openai",
    "anthropic",
    "google-genai",
    "mistralai",
    "cohere",
    "ollama",
    "groq",
    "huggingface_hub",
    "litellm",
    "httpx2",
    "httpx",
    "httpcore",
)

_WORDS = {
    Status.PASSED: "passes",
    Status.FAILED: "**fails**",
    Status.WARNED: "*warns*",
    Status.SKIPPED: "skipped",
}
_WIDTH = 96
_LONGEST = 400

INTRODUCTION = """\
# What published clients do

<!-- Written by `python -m tests.real.report`; change that, not this page. -->

Most adapters do not speak HTTP themselves: they wrap a provider's own package. An adapter here has
one method, `stream(request)`, which yields a `TextDelta` for each piece of the answer and at last a
`Finish`: the promise that the answer is whole. There are three kinds of such adapters:

- a *naive* one for each package, the loop that every tutorial shows. What it fails is what the
  package leaves to whoever uses it: some of it every loop of this kind fails, since it reads text
  and nothing else, and hands tools on as they are; the rest is the package's own;
- a *retrying* one for two of them: the same with as many retries as the package makes by itself,
  for the checks of what is sent again, and when;
- a *careful* one for two of them, which does what it takes. It shows that the contract can be kept
  with the package as it is.

No provider and no key are involved: each check plays one situation from a server on loopback that
answers as the provider would, and [the contract](contract.md) says what has to happen then. The
naive adapters may fail with the errors of their package, the careful ones raise this kit's.

The adapters, and the reasons given below, are in `tests/real/`; `tox run -e real` runs them again,
and notices what a newer package does otherwise. The bodies that the server sends are those of the
kit's wire formats; that each means what the format claims is tested there with the same packages.

{versions}
## At a glance

A check that *fails* breaks a MUST of the contract, one that *warns* a SHOULD; *skipped* means that
the check cannot judge this kind of adapter: one that never sends a request again, say.
"""

CARE = """\
## What care takes

Nothing here depends on the provider, and little on the package:

- Close the response on every way out: at the end, on an error, on `close()`, and when the stream
  is dropped without ever being read. A stream object does that; `ChatStream` is one of [the
  examples](writing-an-adapter.md).
- Give a Finish only for the provider's own end of turn. But for one, no package tells a whole
  answer from one that was cut, and that one misses the answer that was cut before it began.
- Read the bytes with a reader that was tested. Each package has its own, and each stumbles over
  something that server-sent events allow: a byte order mark, empty data, mixed line ends, a name
  on the event. Both careful adapters let the package send the request, and read the response
  beneath its stream themselves.
- Wake a read that waits for the provider, by shutting its socket down. The packages' own `close()`,
  called from another thread, returns, and neither the reader nor the server notices. As long as
  the headers have not come there is no stream, and nothing to take hold of: only the package's
  `timeout` ends that wait.
- Raise one family of errors. The packages let others through: their HTTP library's where the
  connection breaks or falls silent, and ValueError for an event that is not JSON.
- Keep a bounded part of what the provider refuses with, and no key that it repeats: most packages
  carry whatever comes, be it a page of ten megabytes, in their error.
- Look at the Content-Type before the first byte. Without that, a login page is an empty answer.
- Refuse redirects. Every package follows them, and leaves it to its HTTP library to take the key
  away, which knows the Authorization header alone.
- Set a read timeout: it counts from byte to byte, and is all that ends a silence.
- Look at the tools' names and at the choice before anything is sent. The packages do not.
- Know what else a package sends. litellm fetches a list of prices when it is imported, unless
  `LITELLM_LOCAL_MODEL_COST_MAP` is set; huggingface_hub once a day a list of agents that may be
  running it, unless `HF_HUB_DISABLE_TELEMETRY` is. Both are set here.

Both careful adapters use this:

```{literalinclude} ../tests/real/careful.py
:pyobject: StayingClient
```

```{literalinclude} ../tests/real/careful.py
:pyobject: SDKBody
```

```{literalinclude} ../tests/real/careful.py
:pyobject: send
```
"""


@dataclass(frozen=True)
class Client:
    """One adapter, and what the checks found.

    Attributes:
        name: the head of its column.
        code: the classes and functions that it consists of.
        reasons: check id → why it fails.
        outcomes: check id → outcome.
    """

    name: str
    code: Sequence[Any] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)

    def broken(self) -> dict[str, list[Outcome]]:
        """Return reason → what fails for it: a reason of several checks is told once."""
        found: dict[str, list[Outcome]] = {}
        for check, outcome in self.outcomes.items():
            if outcome.status in (Status.FAILED, Status.WARNED):
                found.setdefault(self.reasons.get(check, "not explained yet"), []).append(outcome)
        return found


def page(clients: Sequence[Client]) -> str:
    parts = [
        INTRODUCTION.format(versions=_filled(_versions())),
        table(clients),
        *_unjudged(clients),
        *(part for client in clients for part in _section(client, clients)),
        CARE,
    ]
    return "\n".join(parts)


# The table


def table(clients: Sequence[Client]) -> str:
    """Return a row for each check that could judge any of the clients."""
    heads = ["Check", "What must hold", *(client.name for client in clients)]
    rows = [
        [
            f"`{name_of(check)}`",
            check.requirement,
            *(_WORDS[client.outcomes[name_of(check)].status] for client in clients),
        ]
        for check in ALL
        if not _skipped_by_all(name_of(check), clients)
    ]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [heads, ["---"] * len(heads), *rows])


def verdicts(markdown: str) -> dict[tuple[str, str], str]:
    """Return (client, check) → verdict of a page's table; empty without one."""
    rows = [
        [cell.strip(" `*") for cell in line.split("|")[1:-1]]
        for line in markdown.splitlines()
        if line.startswith("|")
    ]
    if not rows:
        return {}
    clients = rows[0][2:]
    return {
        (client, row[0]): verdict
        for row in rows[2:]
        for client, verdict in zip(clients, row[2:], strict=True)
    }


def _skipped_by_all(check: str, clients: Sequence[Client]) -> bool:
    return all(client.outcomes[check].status is Status.SKIPPED for client in clients)


def _unjudged(clients: Sequence[Client]) -> list[str]:
    names = [f"`{name}`" for name in map(name_of, ALL) if _skipped_by_all(name, clients)]
    return [_filled(f"Judged for none of them: {', '.join(names)}.")] if names else []


def _versions() -> str:
    installed = [f"{name} {version(name)}" for name in PACKAGES]
    return (
        f"This page is from a run with {', '.join(installed)} and modeltest "
        f"{modeltest.__version__} on Python {platform.python_version()}."
    )


# One client


def _section(client: Client, clients: Sequence[Client]) -> Iterator[str]:
    yield f"## {client.name}\n"
    for part in client.code:
        source = part.__module__.replace(".", "/")
        yield f"```{{literalinclude}} ../{source}.py\n:pyobject: {part.__qualname__}\n```\n"
    broken = client.broken()
    if not broken:
        yield "It passes every check that can judge it.\n"
    for reason, outcomes in broken.items():
        yield _explained(reason, outcomes)
    yield from told_of_skips(client, clients)


def told_of_skips(client: Client, clients: Sequence[Client]) -> Iterator[str]:
    """Yield a sentence for each reason why checks that judge others are skipped."""
    found: dict[str, list[str]] = {}
    for check, outcome in client.outcomes.items():
        of_the_client = not outcome.text.startswith("needs ")  # the rest has no such attribute
        skipped = outcome.status is Status.SKIPPED and of_the_client
        if skipped and not _skipped_by_all(check, clients):
            found.setdefault(outcome.text, []).append(f"`{check}`")
    for reason, names in found.items():
        yield _filled(f"{_listed(names)} skipped: {reason}.")


def _listed(names: Sequence[str]) -> str:
    """Return the names as a target with its verb; most of all checks by one word."""
    if len(names) > len(ALL) // 2:
        return "All other checks are"
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _explained(reason: str, outcomes: Sequence[Outcome]) -> str:
    """Return a reason, all that fails for it, and the first failure in full."""
    names = ", ".join(name_of(outcome.check) for outcome in outcomes)
    text = shortened(outcomes[0].text)
    explanation = _filled(f"{reason[0].upper()}{reason[1:]}.")
    return f"### {names}\n\n{explanation}\n```text\n{text}\n```\n"


def _filled(sentence: str) -> str:
    return textwrap.fill(sentence, 100, break_on_hyphens=False) + "\n"


def shortened(text: str) -> str:
    """Return the start of a failure text: its first case, and of the evidence what is short."""
    lines = [line for line in text.splitlines() if _is_told(line)]
    cases = [number for number, line in enumerate(lines) if line.startswith("- ")]
    if len(cases) > 1:
        lines = [*lines[: cases[1]], "- …"]
    return "\n".join(map(_wrapped, lines))


def _is_told(line: str) -> bool:
    # The rest is of use to whoever mends an adapter: bytes, stacks with paths, advice.
    label = re.match(r"  (\w*)", line)
    return label is None or label[1] in ("server", "expected", "got")


def _wrapped(line: str) -> str:
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
    label = re.match(r"  \w+ +|- ", line)
    return textwrap.fill(
        line,
        _WIDTH,
        subsequent_indent=" " * (label.end() if label else 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
