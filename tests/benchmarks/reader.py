"""What holding a reader to the contract costs beside the reader itself."""

from __future__ import annotations

import io
import time
import tracemalloc
import unittest
from collections.abc import Callable, Iterator

import tests.adapters.test_sse_reader as example
from modeltest import Event, Finish, TextDelta, check_sse_prefixes, corpus, read_sse
from modeltest.corpus.fuzz import try_bodies
from modeltest.delivery import Parser, StreamSSE
from modeltest.wire import AnthropicMessages, OpenAIChat
from tests.adapters.anthropic_messages_turn import MessagesTurn
from tests.adapters.file_body import FileBody
from tests.adapters.read_turn import read_turn
from tests.benchmarks.measure import Series, Table, compare, in_turns, milliseconds, timed

MEGABYTE = 1_000_000


def read_messages(body: io.BytesIO) -> Iterator[Event]:
    """The example reader of Anthropic Messages."""
    return read_turn(FileBody(body), MessagesTurn())


def tables(*, quick: bool) -> Iterator[Table]:
    """Compare cuts, any bytes, and large bodies with bare reads; time the whole test case."""
    yield _cuts("every cut, OpenAI Chat", example.read_chat, OpenAIChat(), quick=quick)
    yield _cuts("every cut, Anthropic Messages", read_messages, AnthropicMessages(), quick=quick)
    yield _any_bytes(quick=quick)
    yield _large(quick=quick)
    yield _growth(quick=quick)
    yield _test_cases(quick=quick)


def _cuts(
    title: str, reader: StreamSSE, wire: OpenAIChat | AnthropicMessages, *, quick: bool
) -> Table:
    bodies = [body.data for body in corpus.short_bodies(wire)][: 1 if quick else None]

    def bare() -> None:
        for body in bodies:
            for cut in range(len(body) + 1):
                _bare(reader, body[:cut])

    def checked() -> None:
        for body in bodies:
            check_sse_prefixes(reader, body)

    clock = time.process_time
    actions = {
        "n + 1 bare reads": timed(bare, clock),
        "check_sse_prefixes": timed(checked, clock),
    }
    cuts = sum(map(len, bodies))
    note = f"{cuts} cuts of {len(bodies)} bodies; CPU time; aim: a ratio of at most 1.15"
    return compare(title, in_turns(1 if quick else 15, actions), note)


def _any_bytes(*, quick: bool) -> Table:
    body = corpus.whole_bodies(OpenAIChat())[0]
    examples = 20 if quick else 1_000
    reader = Parser(example.read_chat)
    tried: list[bytes] = []
    try_bodies(body.chunks, tried.append, examples, bodies=[body.data])

    def bare() -> None:
        for data in tried:
            _bare(example.read_chat, data)

    def held() -> None:
        for data in tried:
            reader.read(data)

    def whole() -> None:
        try_bodies(body.chunks, lambda data: _hold(reader, data), examples, bodies=[body.data])

    clock = time.process_time
    actions = {
        "bare reads": timed(bare, clock),
        "held to the rules": timed(held, clock),
        "made by Hypothesis, and held": timed(whole, clock),
    }
    measured = in_turns(1 if quick else 7, actions)
    speed = examples / measured["made by Hypothesis, and held"].median
    return compare("any bytes", measured, f"{examples} bodies; Hypothesis: {speed:.0f} a second")


def _hold(reader: Parser, data: bytes) -> None:
    reader.read(data)


def _large(*, quick: bool) -> Table:
    """Compare time and memory of large bodies: one event, and many."""
    scale = 100 if quick else 1
    wire = OpenAIChat()
    bodies = {
        "10 MB in one event": wire.encode(
            TextDelta("x" * (10 * MEGABYTE // scale)), Finish("stop")
        ).data,
        "100,000 events": wire.encode(
            *[TextDelta("word ")] * (100_000 // scale), Finish("stop")
        ).data,
    }
    rows = []
    for name, body in bodies.items():
        actions = {
            "bare": timed(lambda body=body: _kept(example.read_chat, body)),
            "held": timed(lambda body=body: read_sse(example.read_chat, body)),
        }
        seconds = in_turns(1 if quick else 5, actions)
        memory = {
            "bare": _peak(lambda body=body: _kept(example.read_chat, body)),
            "held": _peak(lambda body=body: read_sse(example.read_chat, body)),
        }
        for way, series in seconds.items():
            rows.append(
                (
                    f"{name}, {way}",
                    milliseconds(series.median),
                    f"{memory[way] / MEGABYTE:.1f}",
                    f"{memory[way] / len(body):.2f}",
                )
            )
    note = "memory: the peak while reading, the body itself left out; bare: events kept in a list"
    return Table("large bodies", ("", "median ms", "peak MB", "of body"), rows, note)


def _growth(*, quick: bool) -> Table:
    """Show that twice the body takes about twice the time."""
    wire = OpenAIChat()
    rows = []
    for name, make in {
        "one event": lambda n: wire.encode(TextDelta("x" * 100 * n), Finish("stop")).data,
        "n events": lambda n: wire.encode(*[TextDelta("word ")] * n, Finish("stop")).data,
    }.items():
        times = []
        for n in (500, 1_000) if quick else (25_000, 50_000, 100_000):
            body = make(n)
            series = in_turns(
                1 if quick else 5,
                {"": timed(lambda body=body: read_sse(example.read_chat, body), time.process_time)},
            )[""]
            times.append(min(series.values))
        rows.append((name, *(f"{t / times[0]:.1f}" for t in times)))
    columns = ("", *(["n", "2 n"] if quick else ["n", "2 n", "4 n"]))
    return Table("time of read_sse by the size of the body", columns, rows)


def _test_cases(*, quick: bool) -> Table:
    cases = (
        [example.TestRecordedBody]
        if quick
        else [example.TestChatReader, example.TestMessagesReader]
    )
    rows = []
    for case in cases:
        wall, cpu = zip(*(_run(case) for _ in range(1 if quick else 5)), strict=True)
        rows.append((case.__name__, f"{Series(wall).median:.2f}", f"{Series(cpu).median:.2f}"))
    return Table("SSEReaderTestCase", ("", "wall s", "CPU s"), rows, "aim: at most 2 s each")


def _run(case: type[unittest.TestCase]) -> tuple[float, float]:
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    began = time.perf_counter(), time.process_time()
    result = unittest.TestResult()
    suite.run(result)
    if not result.wasSuccessful():
        raise AssertionError(
            f"expected the example to pass, got {result.failures or result.errors}"
        )
    return time.perf_counter() - began[0], time.process_time() - began[1]


def _bare(reader: StreamSSE, body: bytes) -> None:
    try:
        for _ in reader(io.BytesIO(body)):
            pass
    except Exception:
        return


def _kept(reader: StreamSSE, body: bytes) -> list[Event]:
    return list(reader(io.BytesIO(body)))


def _peak(action: Callable[[], object]) -> int:
    """Return the most bytes that were allocated while `action` ran, its result included."""
    tracemalloc.start()
    try:
        result = action()
        del result
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
