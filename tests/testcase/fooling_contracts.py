"""Adapters that misbehave, on purpose or by accident, run in processes of their own.

Each is a correct adapter with one misbehaviour, which begins after the set-up. Run as a script
with names of test cases, it prints a line of JSON for each test: test case, test, how it ended
and what was said; and one after each test case: what is no longer as it was in the process, and
the most megabytes that it held until then.
"""

import _thread
import asyncio
import contextlib
import dataclasses
import gc
import io
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
from collections.abc import Iterator
from typing import Any

from modeltest import (
    AsyncModelContractTestCase,
    Event,
    Finish,
    ModelContractTestCase,
    ModelError,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from modeltest.checks import ALL
from modeltest.demo.acme import AcmeModel
from modeltest.wire import OpenAIChat
from tests.adapters.openai_chat import OpenAIChatModel
from tests.mutants.awaiting import AsyncParrot

A_FEW = (
    "test_break_releases",
    "test_close_releases",
    "test_truncated_is_an_error",
    "test_events_arrive_as_sent",
)
EVERY = tuple(check.method for check in ALL)
FOR_EVER = threading.Event()
"""Never set."""


def event(i: int) -> str:
    return f'data: {{"text": "word {i} "}}\n\n'


class Fooling(ModelContractTestCase, abstract=True):
    """Gives the set-up a model that works, and every check after it one that misbehaves."""

    model: Any = None
    made, tried_out = 0, 2
    checks: tuple[str, ...] = A_FEW
    patience = 10.0
    event = staticmethod(event)

    @property
    def deadline(self) -> float:  # type: ignore[override] # may be short, but not for the set-up
        return 10.0 if self.made < self.tried_out else self.patience

    def new_model(self, base_url: str, client: Any) -> Any:
        kind = type(self)
        kind.made += 1
        if kind.made <= self.tried_out:
            return AcmeModel(base_url, client, self.api_key)
        return kind.model(base_url, client, self.api_key)


CASES: dict[str, Any] = {}


def fooling(model: Any) -> Any:
    """Make a test case of an adapter, under the adapter's name."""
    attributes = {"model": model, **getattr(model, "attributes", {})}
    CASES[model.__name__] = type(model.__name__, (Fooling,), attributes)
    return model


# Ending the process


class AtFirst(AcmeModel):
    """Does something once the first event is there."""

    def stream(self, request: Request) -> Iterator[Event]:
        for event in super().stream(request):
            self.act()
            yield event

    def act(self) -> None: ...


@fooling
class Exits(AtFirst):
    def act(self) -> None:
        os._exit(0)


@fooling
class ExitsInThread(AtFirst):
    def act(self) -> None:
        thread = threading.Thread(target=os._exit, args=(0,))
        thread.start()
        thread.join()


@fooling
class ExitsAtTheCall(AcmeModel):
    def stream(self, request: Request) -> Any:
        os._exit(0)


@fooling
class ExitsWhenMade(AcmeModel):
    def __init__(self, *given: Any) -> None:
        os._exit(0)


@fooling
class ExitsByProperty(AcmeModel):
    @property
    def stream(self) -> Any:
        os._exit(0)


@fooling
class ExitsWhenDropped(AcmeModel):
    def __del__(self) -> None:
        os._exit(0)


@fooling
class ReplacesExit(AtFirst):
    def act(self) -> None:
        os._exit = sys.exit


@fooling
class RaisesSystemExit(AtFirst):
    def act(self) -> None:
        sys.exit(0)


@fooling
class RaisesSystemExitByProperty(AcmeModel):
    @property
    def stream(self) -> Any:
        sys.exit(0)


@fooling
class RaisesKeyboardInterrupt(AtFirst):
    def act(self) -> None:
        raise KeyboardInterrupt


@fooling
class InterruptsMain(AtFirst):
    def act(self) -> None:
        _thread.interrupt_main()


@fooling
class RaisesSignal(AtFirst):
    def act(self) -> None:
        signal.raise_signal(signal.SIGINT)


# Other processes


@fooling
class Forks(AtFirst):
    """The child goes on as if it were the consumer."""

    def act(self) -> None:
        os.fork()


@fooling
class ForksAndExits(AtFirst):
    """As multiprocessing does."""

    def act(self) -> None:
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)


@fooling
class ForksAndLeaves(AtFirst):
    def act(self) -> None:
        child = os.fork()
        if not child:
            sys.exit(0)
        os.waitpid(child, 0)


@fooling
class ForksAndSleeps(AtFirst):
    attributes = {"patience": 0.5, "checks": A_FEW[:1]}

    def act(self) -> None:
        if not os.fork():
            time.sleep(10)
            os._exit(0)


@fooling
class RunsCommand(AtFirst):
    def act(self) -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)


# Closing what is not its own


@fooling
class ClosesDescriptors(AtFirst):
    attributes = {"patience": 1.0}

    def act(self) -> None:
        os.closerange(3, 1000)


@fooling
class ClosesSockets(AtFirst):
    attributes = {"patience": 1.0}

    def act(self) -> None:
        for found in gc.get_objects():
            if isinstance(found, socket.socket):
                found.close()


@fooling
class ReplacesOutput(AtFirst):
    def act(self) -> None:
        sys.stdout = io.StringIO()


# Changing what is everybody's


@fooling
class SetsTimeout(AtFirst):
    def act(self) -> None:
        socket.setdefaulttimeout(0.001)


class OwnSocket(socket.socket):
    pass


@fooling
class ReplacesSocket(AtFirst):
    def act(self) -> None:
        socket.socket = OwnSocket


@fooling
class RefusesSockets(AtFirst):
    def act(self) -> None:
        def no_socket(*args: Any, **kwargs: Any) -> Any:
            raise OSError("no sockets here")

        socket.socket = socket.create_connection = no_socket


@fooling
class ReplacesThreadStart(AtFirst):
    def act(self) -> None:
        threading.Thread.start = lambda thread: None


def freeze() -> None:
    time.sleep = lambda seconds: None
    time.monotonic = lambda: 42.0
    time.time = lambda: 42.0


@fooling
class FreezesTime(AtFirst):
    def act(self) -> None:
        freeze()


@fooling
class ReplacesHooks(AtFirst):
    def act(self) -> None:
        sys.unraisablehook = threading.excepthook = lambda args: None


@fooling
class ChangesDirectory(AtFirst):
    def act(self) -> None:
        os.chdir("/")


@fooling
class Collects(AtFirst):
    """Which is odd, but no fault."""

    def act(self) -> None:
        gc.enable()
        gc.collect()


# Events


@fooling
class EndlessAfterFirst(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        for event in super().stream(request):
            while True:
                yield event


@fooling
class EndlessAfterCut(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        with contextlib.suppress(ModelError):
            yield from super().stream(request)
        while True:
            yield TextDelta("x")


@fooling
class EndlessAndLarge(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        for _ in super().stream(request):
            for number in itertools.count():
                yield TextDelta(str(number) + "x" * 1_000_000)


def strange(what: Any, after: int = 3) -> Any:
    def stream(self: Any, request: Request) -> Iterator[Any]:
        for number, event in enumerate(AcmeModel.stream(self, request)):
            yield what if number == after else event

    return stream


def strange_at_the_end(self: Any, request: Request) -> Iterator[Any]:
    try:
        yield from AcmeModel.stream(self, request)
    except ModelError:
        yield None
        raise


for name, method in {
    "GivesStr": strange("word", 1),
    "GivesDict": strange({"type": "text", "text": "word"}, 1),
    "GivesNoneLast": strange_at_the_end,
    "GivesTuple": strange(("text", "word"), 3),
    "GivesBytesAsText": strange(TextDelta(b"word"), 1),
    "GivesNoText": strange(TextDelta(None), 1),
    "GivesMock": strange(unittest.mock.MagicMock(spec=TextDelta), 1),
}.items():
    fooling(type(name, (AcmeModel,), {"stream": method}))


class MyText(TextDelta):
    """As an adapter may that keeps more than the contract asks for."""

    def __init__(self, text: str) -> None:
        super().__init__(text)


class MyStr(str):
    __slots__ = ()


@fooling
class GivesSubclasses(AcmeModel):
    attributes = {"checks": EVERY}

    def stream(self, request: Request) -> Iterator[Event]:
        for event in super().stream(request):
            yield MyText(event.text) if isinstance(event, TextDelta) else event


@fooling
class GivesStrSubclass(AcmeModel):
    attributes = {"checks": EVERY}

    def stream(self, request: Request) -> Iterator[Event]:
        for event in super().stream(request):
            yield TextDelta(MyStr(event.text)) if isinstance(event, TextDelta) else event


class MyReasoning(ReasoningDelta):
    pass


class MyCall(ToolCallDelta):
    pass


class MyUsage(Usage):
    pass


class MyFinish(Finish):
    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 1


MINE = {TextDelta: MyText, ReasoningDelta: MyReasoning, ToolCallDelta: MyCall}


class GivesSubclassesOnly(OpenAIChatModel):
    def stream(self, request: Request) -> Iterator[Event]:
        for event in super().stream(request):
            given = {name: getattr(event, name) for name in event.__match_args__}
            if isinstance(event, Finish):
                given["usage"] = MyUsage(**event.usage.counts())
                yield MyFinish(**given)
            else:
                yield MINE[type(event)](**given)


class WithWire(ModelContractTestCase):
    wire = OpenAIChat()
    checks = EVERY

    def new_model(self, base_url: str, client: Any) -> Any:
        return GivesSubclassesOnly(base_url, api_key=self.api_key, session=client)


CASES["WithWire"] = WithWire


# Errors


class Nasty(Exception):
    """Whatever is asked of it raises."""

    def __str__(self) -> str:
        raise KeyError("no str")

    __repr__ = __str__

    @property
    def response(self) -> Any:
        raise KeyError("no response")

    @property
    def args(self) -> Any:
        raise KeyError("no args")

    def __setattr__(self, name: str, value: object) -> None:
        raise KeyError("no setattr")


class NastyModelError(Nasty, ModelError):
    pass


class NastyTypeError(Nasty, TypeError):
    pass


class VeryNasty(Exception):
    def __str__(self) -> str:
        raise SystemExit

    __repr__ = __str__


@dataclasses.dataclass(frozen=True)
class FrozenError(ModelError):
    code: int


class NewBase(BaseException):
    pass


def raising(make: Any) -> Any:
    """Return a stream that raises another error than ModelError."""

    def stream(self: Any, request: Request) -> Iterator[Event]:
        try:
            yield from AcmeModel.stream(self, request)
        except ModelError:
            pass
        raise make()

    return stream


def cyclic() -> BaseException:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    return one


for name, make in {
    "RaisesNasty": Nasty,
    "RaisesNastyModelError": NastyModelError,
    "RaisesNastyTypeError": NastyTypeError,
    "RaisesVeryNasty": VeryNasty,
    "RaisesFrozen": lambda: FrozenError(3),
    "RaisesHuge": lambda: ValueError("x" * 5_000_000),
    "RaisesCycle": cyclic,
    "RaisesGroup": lambda: ExceptionGroup("several", [ValueError("one"), KeyError("two")]),
    "RaisesNewBase": lambda: NewBase("base"),
    "RaisesStopIteration": lambda: StopIteration(1),
    "RaisesGeneratorExit": GeneratorExit,
}.items():
    fooling(type(name, (AcmeModel,), {"stream": raising(make)}))


class HangingError(Exception):
    def __str__(self) -> str:
        FOR_EVER.wait()
        return ""


@fooling
class HangsInStr(AcmeModel):
    attributes = {"patience": 0.5, "checks": A_FEW[:3]}
    stream = raising(HangingError)


class BlockingError(ModelError):
    """As one that reads on from its response when it is asked for the answer's text."""

    @property
    def answer(self) -> str:
        FOR_EVER.wait()
        return ""


@fooling
class HangsInErrorAttribute(AcmeModel):
    attributes = {"checks": ("test_http_errors_are_errors",)}
    stream = raising(BlockingError)


class UnprintableError(ModelError):
    def __repr__(self) -> str:
        FOR_EVER.wait()
        return ""


@fooling
class HangsInRepr(AcmeModel):
    attributes = {"checks": ("test_errors_do_not_reveal_the_key",), "strict": True}
    stream = raising(UnprintableError)


class Watch:
    def __del__(self) -> None:
        raise ValueError("in __del__")


@fooling
class RaisesInDel(AcmeModel):
    def stream(self, request: Request) -> Iterator[Event]:
        watch = Watch()
        yield from super().stream(request)
        del watch


# Threads


@fooling
class StartsThreads(AtFirst):
    def act(self) -> None:
        for _ in range(3):
            threading.Thread(target=int).start()


@fooling
class StartsManyThreads(AtFirst):
    attributes = {"checks": A_FEW[:2]}

    def act(self) -> None:
        threads = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(500)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@fooling
class LeavesRawThread(AtFirst):
    def act(self) -> None:
        _thread.start_new_thread(FOR_EVER.wait, ())


# Lying


@fooling
class MockAdapter:
    attributes = {"checks": EVERY}

    def __new__(cls, *given: Any) -> Any:
        return unittest.mock.MagicMock()


class MockedEverywhere(Fooling):
    """The set-up has one, too."""

    checks = EVERY

    def new_model(self, base_url: str, client: Any) -> Any:
        return unittest.mock.MagicMock()


CASES["MockedEverywhere"] = MockedEverywhere


class Agreeable:
    """Has every attribute, and equals everything."""

    def __init__(self, *given: Any) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self


@fooling
class AgreeableModel(Agreeable):
    attributes = {"checks": EVERY}


class Stream:
    """As a generator, but as an object."""

    def __init__(self, events: Any) -> None:
        self.events = events

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Event:
        return next(self.events)

    def close(self) -> None:
        self.events.close()


class LyingClose(Stream):
    closed = False

    def close(self) -> None:
        self.closed = True

    def __next__(self) -> Event:
        if self.closed:
            raise StopIteration
        return super().__next__()


KEPT: list[Any] = []


@fooling
class ClosesNothing(AcmeModel):
    attributes = {"patience": 0.5}

    def stream(self, request: Request) -> Any:
        KEPT.append(LyingClose(super().stream(request)))
        return KEPT[-1]


class HangingIter(Stream):
    def __iter__(self) -> Any:
        FOR_EVER.wait()


@fooling
class HangsInIter(AcmeModel):
    attributes = {"patience": 0.5, "checks": A_FEW[:3]}

    def stream(self, request: Request) -> Any:
        return HangingIter(super().stream(request))


@fooling
class HangsByProperty(AcmeModel):
    attributes = {"patience": 0.5, "checks": A_FEW[:3]}

    @property
    def stream(self) -> Any:
        FOR_EVER.wait()


@fooling
class HangsInDel(AcmeModel):
    attributes = {"patience": 0.5, "checks": A_FEW[:3]}

    def __del__(self) -> None:
        FOR_EVER.wait()


@fooling
class RaisesByProperty(AcmeModel):
    @property
    def stream(self) -> Any:
        raise ValueError("no stream today")


@fooling
class FakesClass(AcmeModel):
    attributes = {"checks": EVERY}
    __class__ = TextDelta


@fooling
class RaisesInRepr(AcmeModel):
    stream = None

    def __repr__(self) -> str:
        raise ValueError("no repr")


# Test cases


class NeverWaits(Fooling):
    model = AcmeModel
    deadline = 0.0001  # type: ignore[assignment]


class WaitsForEver(Fooling):
    model = AcmeModel
    deadline = 1e9  # type: ignore[assignment]


class RaisingSetUp(Fooling):
    model = AcmeModel

    def setUp(self) -> None:
        raise ValueError("no set-up")


for case in (NeverWaits, WaitsForEver, RaisingSetUp):
    CASES[case.__name__] = case


# Asynchronous


class AsyncFooling(AsyncModelContractTestCase, abstract=True):
    """The same, for asynchronous adapters."""

    model: Any = None
    made, tried_out = 0, 2
    checks: tuple[str, ...] = A_FEW
    patience = 10.0

    @property
    def deadline(self) -> float:  # type: ignore[override] # as above
        return 10.0 if self.made < self.tried_out else self.patience

    def new_model(self, base_url: str, client: Any) -> Any:
        kind = type(self)
        kind.made += 1
        if kind.made <= self.tried_out:
            return AsyncParrot(base_url, client)
        return kind.model(base_url, client)

    def event(self, i: int) -> str:
        return f'data: {{"word": "word {i} "}}\n\n'


def fooling_async(model: Any) -> Any:
    """Make a test case of an asynchronous adapter, under the adapter's name."""
    attributes = {"model": model, **getattr(model, "attributes", {})}
    CASES[model.__name__] = type(model.__name__, (AsyncFooling,), attributes)
    return model


class AsyncAtFirst(AsyncParrot):
    """Does something once the first event is there."""

    async def stream(self, request: Request) -> Any:
        async with contextlib.aclosing(super().stream(request)) as events:
            async for event in events:
                self.act()
                yield event

    def act(self) -> None: ...


async def in_a_task(act: Any) -> None:
    act()


for name, act in {
    "AsyncExits": lambda: os._exit(0),
    "AsyncRaisesSystemExit": lambda: sys.exit(0),
    "AsyncForks": lambda: os.fork() and None,
    "AsyncClosesDescriptors": lambda: os.closerange(3, 1000),
    "AsyncFreezesTime": freeze,
}.items():
    fooling_async(type(name, (AsyncAtFirst,), {"act": staticmethod(act)}))
CASES["AsyncClosesDescriptors"].patience = 1.0


TASKS: list[Any] = []


def leave_to_a_task(act: Any) -> None:
    TASKS.append(asyncio.get_running_loop().create_task(in_a_task(act)))


def interrupt() -> None:
    raise KeyboardInterrupt


for name, act in {
    "AsyncExitsInTask": lambda: leave_to_a_task(lambda: os._exit(0)),
    "AsyncRaisesSystemExitInTask": lambda: leave_to_a_task(sys.exit),
    "AsyncRaisesKeyboardInterruptInTask": lambda: leave_to_a_task(interrupt),
}.items():
    fooling_async(type(name, (AsyncAtFirst,), {"act": staticmethod(act)}))


@fooling_async
class AsyncRaisesKeyboardInterrupt(AsyncAtFirst):
    def act(self) -> None:
        raise KeyboardInterrupt


@fooling_async
class AsyncStopsTheLoop(AsyncParrot):
    async def stream(self, request: Request) -> Any:
        try:
            async with contextlib.aclosing(super().stream(request)) as events:
                async for event in events:
                    yield event
        finally:
            asyncio.get_running_loop().stop()


@fooling_async
class AsyncEndless(AsyncParrot):
    async def stream(self, request: Request) -> Any:
        async with contextlib.aclosing(super().stream(request)) as events:
            async for event in events:
                while True:
                    yield event


@fooling_async
class AsyncGivesDict(AsyncParrot):
    async def stream(self, request: Request) -> Any:
        async with contextlib.aclosing(super().stream(request)) as events:
            async for event in events:
                yield event
                yield {"type": "text"}


@fooling_async
class AsyncMock:
    def __new__(cls, *given: Any) -> Any:
        return unittest.mock.AsyncMock()


def state() -> dict[str, Any]:
    """Return what belongs to the whole process."""
    return {
        "socket": socket.socket,
        "create_connection": socket.create_connection,
        "timeout": socket.getdefaulttimeout(),
        "start": threading.Thread.start,
        "sleep": time.sleep,
        "monotonic": time.monotonic,
        "time": time.time,
        "exit": os._exit,
        "gc": gc.isenabled(),
        "unraisablehook": sys.unraisablehook,
        "excepthook": threading.excepthook,
        "stdout": sys.stdout,
        "cwd": os.getcwd(),
    }


def run(case: Any, name: str, out: Any) -> None:
    result = unittest.TestResult()
    try:
        case(name).run(result)
    except KeyboardInterrupt:
        ended, texts = "interrupted", []
    else:
        kinds = {
            "failed": result.failures,
            "error": result.errors,
            "skipped": result.skipped,
        }
        ended = " and ".join(kind for kind, found in kinds.items() if found) or "passed"
        texts = [text for found in kinds.values() for _, text in found]
    print(json.dumps([case.__name__, name, ended, "\n".join(texts)]), file=out, flush=True)


def most_megabytes() -> int | None:
    """Return the most memory this program held; None where the system does not say.

    Not `ru_maxrss`: Linux hands it on from the process that started this one.
    """
    with contextlib.suppress(OSError, IndexError):
        status = pathlib.Path("/proc/self/status").read_text("ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) // 1000
    return None


def main() -> None:
    out = sys.stdout
    for case in map(CASES.__getitem__, sys.argv[1:]):
        before = state()
        for name in ("test_adapter_is_set_up", *case.checks):
            run(case, name, out)
        after = state()
        changed = [what for what in before if before[what] != after[what]]
        print(json.dumps([case.__name__, changed, most_megabytes()]), file=out, flush=True)
    sys.exit(7)


if __name__ == "__main__":
    main()
