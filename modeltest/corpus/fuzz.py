"""Bodies that no provider would send on purpose: Hypothesis strategies, and a plain fallback.

A reader must make of any bytes an event or a declared error, and come to an end. The
strategies need Hypothesis (`pip install modeltest-kit[hypothesis]`); `seeded_bodies` does not.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import os
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_T = TypeVar("_T")

INSERTED = (
    b"\n", b"\r", b"\r\n", b"\n\n", b"data:", b"data: ", b"event: ", b": ", b"\x00", b"\xff",
    b"\xef\xbb\xbf", b"{", b"}", b'"', b"[", b"]", b",", b"null", b"[DONE]", b"\xe2\x80\xa8",
    b"1e999", b"NaN", b'{"error":{}}', b"\\u0000", b"\\ud800",
)  # fmt: skip
"""Pieces that mean something to a reader of server-sent events or JSON."""


def arbitrary_bytes(max_size: int = 400) -> SearchStrategy[bytes]:
    """Return a strategy for any bytes at all, at most `max_size` of them."""
    from hypothesis import strategies as st

    return st.binary(max_size=max_size)


def mutated_bodies(bodies: Sequence[bytes]) -> SearchStrategy[bytes]:
    """Return a strategy for these bodies with up to four small changes each.

    Bytes are cut out, repeated, replaced, or pieces put in that mean something to a reader.

    Raises:
        ValueError: there is no body.
    """
    from hypothesis import strategies as st

    given = _some(bodies, "body")

    @st.composite
    def mutate(draw: Callable[[SearchStrategy[int]], int]) -> bytes:
        def choose(limit: int) -> int:
            return draw(st.integers(0, limit))

        body = given[choose(len(given) - 1)]
        for _ in range(choose(4)):
            body = _mutate(body, choose)
        return body

    return mutate()


def event_sequences(events: Sequence[bytes], max_size: int = 12) -> SearchStrategy[bytes]:
    """Return a strategy for sequences of whole events in any order: a grammar without sense.

    Args:
        events: each with its frame, as `Body.chunks` gives them.
        max_size: at most so many in a row.

    Raises:
        ValueError: there is no event.
    """
    from hypothesis import strategies as st

    given = _some(events, "event")
    return st.lists(st.sampled_from(given), max_size=max_size).map(b"".join)


def chunkings(body: bytes, max_cuts: int = 20) -> SearchStrategy[tuple[bytes, ...]]:
    """Return a strategy for the ways to cut `body` into chunks, none of them empty."""
    from hypothesis import strategies as st

    def cut(places: list[int]) -> tuple[bytes, ...]:
        ends = [0, *sorted(places), len(body)]
        return tuple(body[start:end] for start, end in itertools.pairwise(ends) if start < end)

    return st.lists(st.integers(0, len(body)), max_size=max_cuts).map(cut)


def any_bodies(events: Sequence[bytes], bodies: Sequence[bytes] = ()) -> SearchStrategy[bytes]:
    """Return a strategy for all of it: senseless sequences, mutated bodies, arbitrary bytes.

    Args:
        events: whole events, for the sequences.
        bodies: what is mutated; all `events` in a row if none are given.

    Raises:
        ValueError: there is no event.
    """
    from hypothesis import strategies as st

    whole = bodies or [b"".join(events)]
    # A failing body is made small towards the first of them.
    return st.one_of(event_sequences(events), mutated_bodies(whole), arbitrary_bytes())


def retyped_bodies(bodies: Iterable[Sequence[bytes]]) -> Iterator[bytes]:
    """Yield beginnings of bodies whose last event has one JSON value of another type in it.

    Every field of the events is tried with each type that it does not have, once in all. What is
    no JSON object, or has another frame than text around it, is left out.

    Args:
        bodies: the events of each body, each with its frame, as `Body.chunks` gives them.
    """
    tried: set[tuple[object, ...]] = set()
    for chunks in bodies:
        for number, chunk in enumerate(chunks):
            before = b"".join(chunks[:number])
            yield from (before + odd for odd in _retyped(chunk, tried))


def _retyped(chunk: bytes, tried: set[tuple[object, ...]]) -> Iterator[bytes]:
    """Yield an event with each of its values in each other type, but for those tried before."""
    start, end = chunk.find(b"{"), chunk.rfind(b"}") + 1
    try:
        payload = json.loads(chunk[start:end])
    except ValueError:
        return
    for path, value in _values(payload):
        # What stands in a list is of one kind, wherever it stands there.
        kind = (*(step for step in path if isinstance(step, str)), type(value))
        if kind in tried:
            continue
        tried.add(kind)
        for other in _OF_EACH_TYPE:
            if type(other) is not type(value):
                text = json.dumps(_with_value(payload, path, other), ensure_ascii=False)
                yield chunk[:start] + text.encode() + chunk[end:]


_OF_EACH_TYPE: tuple[Any, ...] = (None, True, 7, "x", [], ["x"], {})


def _values(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every value inside a JSON value, with the way to it."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _values(member, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, (*path, index))


def _with_value(value: Any, path: tuple[str | int, ...], other: Any) -> Any:
    """Return a JSON value with another one at the end of `path`."""
    if not path:
        return other
    changed = copy.copy(value)
    changed[path[0]] = _with_value(value[path[0]], path[1:], other)
    return changed


def seeded_bodies(
    events: Sequence[bytes], count: int, seed: int = 0, bodies: Sequence[bytes] = ()
) -> Iterator[bytes]:
    """Yield `count` bodies of the kinds of `any_bodies`, the same ones for the same seed.

    For where Hypothesis is not installed: nothing is shrunk.

    Raises:
        ValueError: there is no event.
    """
    chance = random.Random(seed)  # noqa: S311 - not for secrets, and the same in every run
    given, whole = _some(events, "event"), bodies or [b"".join(events)]
    for number in range(count):
        match number % 4:
            case 0:
                yield chance.randbytes(chance.randint(0, 200))
            case 1:
                yield b"".join(chance.choices(given, k=chance.randint(0, 8)))
            case _:
                body = chance.choice(whole)
                for _ in range(chance.randint(1, 4)):
                    body = _mutate(body, lambda limit: chance.randint(0, limit))
                yield body


def try_bodies(
    events: Sequence[bytes],
    expect: Callable[[bytes], None],
    examples: int | None = None,
    *,
    bodies: Sequence[bytes] = (),
) -> None:
    """Call `expect` with many bodies; what it raises for one of them comes out.

    With Hypothesis the smallest body that still fails is found first; without it the seeded
    ones are tried, and a warning says so. The same bodies come in every run.

    Args:
        events: whole events to make bodies of.
        expect: judges one body, and raises if it fails.
        examples: how many; by default the number in the environment variable
            MODELTEST_EXAMPLES, or 100.
        bodies: whole bodies to change a little; all `events` in a row if none are given.

    Raises:
        ValueError: there is no event, or the number of examples is none.
    """
    number = _examples() if examples is None else examples
    try:
        import hypothesis
    except ImportError:
        # Where warnings are errors, this one is left unsaid: the adapter is not at fault.
        with contextlib.suppress(UserWarning):
            warnings.warn(
                "Hypothesis is not installed: seeded bodies are tried, and none is made small "
                "(pip install modeltest-kit[hypothesis])",
                stacklevel=2,
            )
        for body in seeded_bodies(events, number, bodies=bodies):
            expect(body)
        return

    @hypothesis.settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        # One fault is enough; several come in a group, which nobody expects of `expect`.
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(any_bodies(events, bodies))
    def try_one(body: bytes) -> None:
        expect(body)

    try_one()


def _examples() -> int:
    text = os.environ.get("MODELTEST_EXAMPLES", "100")
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f"MODELTEST_EXAMPLES: expected a number above 0, got {text!r}")
    return int(text)


def _some(given: Sequence[_T], what: str) -> list[_T]:
    if not given:
        raise ValueError(f"expected at least one {what} to make others of, got none")
    return list(given)


def _mutate(body: bytes, choose: Callable[[int], int]) -> bytes:
    """Return `body` with one change; `choose(n)` gives a number from 0 to n."""
    at = choose(len(body))
    to = min(len(body), at + choose(16))
    match choose(3):
        case 0:
            return body[:at] + body[to:]
        case 1:
            return body[:to] + body[at:to] + body[to:]
        case 2:
            return body[:at] + INSERTED[choose(len(INSERTED) - 1)] + body[at:]
        case _:
            return body[:at] + bytes([choose(255)]) + body[at + 1 :]
