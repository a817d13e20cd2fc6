"""An adapter that misbehaves gets a verdict; it cannot end the run, hang it or turn it green."""

import concurrent.futures
import json
import re
import unittest
from typing import NamedTuple

from . import fooling_contracts
from .running import python

NOT_TO_END = r"the process, and with it the test run, is not an adapter's to end\."
GIVEN_BACK = r"; it belongs to the whole process, and is given back as it was\."
FORKED = r"the adapter forked, and the child came back to its consumer, which then exists twice\."
CLOSED = r"the sockets of the test server were closed, by the adapter or by what it calls\."
NO_EVENT = r"; expected TextDelta, ReasoningDelta, ToolCallDelta or Finish, of modeltest\."
NO_STR = r"expected ModelError, which is what an agent loop catches\."
NO_MODEL_ERROR = r"made the adapter raise, after 2 events, "

EXPECTED: tuple[dict[str, str], ...] = (
    # Those of one group run in one process, so that what one leaves behind shows in the next.
    # test case → what the failures must say at least once
    {
        "Exits": rf"os\._exit\(0\) was called at .*fooling_contracts\.py:\d+ in act; {NOT_TO_END}",
        "ExitsInThread": rf"os\._exit\(0\) was called at .*; {NOT_TO_END}",
        "ExitsAtTheCall": rf"os\._exit\(0\) was called at .* in stream; {NOT_TO_END}",
        "ExitsWhenMade": rf"os\._exit\(0\) was called at .* in __init__; {NOT_TO_END}",
        "ExitsByProperty": rf"os\._exit\(0\) was called at .* in stream; {NOT_TO_END}",
        "ExitsWhenDropped": rf"os\._exit\(0\) was called at .* in __del__; {NOT_TO_END}",
        "ReplacesExit": rf"os\._exit was changed to .*{GIVEN_BACK}",
        "RaisesSystemExit": r"it raised SystemExit: 0\.",
        "RaisesSystemExitByProperty": r"looking up the adapter's stream raised SystemExit: 0",
        "RaisesKeyboardInterrupt": r"it raised KeyboardInterrupt\.",
        "AsyncExits": rf"os\._exit\(0\) was called at .*{NOT_TO_END}",
        "AsyncExitsInTask": rf"os\._exit\(0\) was called at .*{NOT_TO_END}",
        "AsyncRaisesSystemExit": r"it raised SystemExit: 0\.",
        "AsyncRaisesSystemExitInTask": r"the event loop was stopped by SystemExit",
        "AsyncRaisesKeyboardInterrupt": r"it raised KeyboardInterrupt\.",
        "AsyncStopsTheLoop": r"leaked   the event loop was stopped by its stop\(\)",
        "AsyncRaisesKeyboardInterruptInTask": r"the event loop was stopped by KeyboardInterrupt",
    },
    {
        "Forks": FORKED,
        "ForksAndLeaves": FORKED,
        "ForksAndSleeps": r"the response is still open \d",
        "AsyncForks": FORKED,
    },
    {"ClosesDescriptors": CLOSED},
    {"AsyncClosesDescriptors": CLOSED},
    {
        "ClosesSockets": CLOSED,
        "ReplacesOutput": rf"sys\.stdout was changed to <_io\.StringIO .*>{GIVEN_BACK}",
        "SetsTimeout": rf"socket\.getdefaulttimeout\(\) was changed to 0\.001{GIVEN_BACK}",
        "ReplacesSocket": rf"socket\.socket was changed to \S+OwnSocket{GIVEN_BACK}",
        "RefusesSockets": rf"socket\.socket was changed to \S+\.no_socket{GIVEN_BACK}",
        "ReplacesThreadStart": rf"threading\.Thread\.start was changed to .*{GIVEN_BACK}",
        "FreezesTime": rf"time\.sleep was changed to .*{GIVEN_BACK}",
        "AsyncFreezesTime": rf"time\.sleep was changed to .*{GIVEN_BACK}",
        "ReplacesHooks": rf"threading\.excepthook was changed to .*{GIVEN_BACK}",
        "ChangesDirectory": rf"the working directory was changed to '/'{GIVEN_BACK}",
    },
    {
        "EndlessAfterFirst": r"the stream gave [\d,]+ events, and no end; expected an end where|"
        r"did not return within",
        "EndlessAfterCut": r"the stream gave [\d,]+ events, and no end; expected an end where|"
        r"did not return within",
        "EndlessAndLarge": r"the stream gave 50 events, and no end; expected an end where",
        "AsyncEndless": r"the stream gave [\d,]+ events, and no end; expected an end where|"
        r"did not return within",
    },
    {
        "GivesStr": rf"the adapter gave 'word'{NO_EVENT}",
        "GivesDict": rf"the adapter gave {{'text': 'word', 'type': 'text'}}{NO_EVENT}",
        "GivesNoneLast": rf"the adapter gave None{NO_EVENT}",
        "GivesTuple": rf"the adapter gave \('text', 'word'\){NO_EVENT}",
        "GivesBytesAsText": r"the adapter gave b'word' as TextDelta\.text; expected a str\.",
        "GivesNoText": r"the adapter gave None as TextDelta\.text; expected a str \(\"\" where there is none\)\.",
        "GivesMock": rf"the adapter gave <MagicMock spec='TextDelta' id='\d+'>{NO_EVENT}",
        "AsyncGivesDict": rf"the adapter gave {{'type': 'text'}}{NO_EVENT}",
        "RaisesNasty": r"the adapter raised a Nasty whose str\(\) raises KeyError; expected a text",
        "RaisesNastyModelError": r"a NastyModelError whose str\(\) raises KeyError; expected a",
        "RaisesNastyTypeError": r"a NastyTypeError whose str\(\) raises KeyError; expected a text",
        "RaisesVeryNasty": r"the adapter raised a VeryNasty whose str\(\) raises SystemExit",
        "RaisesHuge": rf"{NO_MODEL_ERROR}ValueError: x{{300}}… \(5000000 characters\); {NO_STR}",
        "RaisesCycle": rf"{NO_MODEL_ERROR}ValueError: one; {NO_STR}",
        "RaisesGroup": rf"{NO_MODEL_ERROR}ExceptionGroup: several \(2 sub-exceptions\); {NO_STR}",
        "RaisesNewBase": rf"{NO_MODEL_ERROR}NewBase: base; {NO_STR}",
        "RaisesStopIteration": rf"{NO_MODEL_ERROR}RuntimeError: generator raised StopIteration; ",
        "RaisesGeneratorExit": rf"{NO_MODEL_ERROR}GeneratorExit; {NO_STR}",
        "RaisesInDel": r"unraisable exception in 'Watch\.__del__': ValueError: in __del__",
    },
    {
        "MockAdapter": r"received no request",
        "MockedEverywhere": r"the adapter sent no request to http://127\.0\.0\.1:\d+: it ended\.",
        "AsyncMock": r"received no request",
        "AgreeableModel": rf"the adapter gave <.*AgreeableModel object at .*>{NO_EVENT}",
        "ClosesNothing": r"the response is still open \d",
    },
    {
        "HangsInStr": r"did not return within (.*\n)+.* in __str__: FOR_EVER\.wait\(\)",
        "HangsInErrorAttribute": r"an error's attributes did not return within (.*\n)+.* in answer: F",
        "HangsInRepr": r"an error's repr\(\) did not return within (.*\n)+.* in __repr__: F",
        "HangsInIter": r"next\(\) did not return within (.*\n)+.* in __iter__: FOR_EVER\.wait\(\)",
        "HangsByProperty": r"looking up the model's stream did not return within (.*\n)+.*FOR_EVER",
        "HangsInDel": r"dropping the model did not return within (.*\n)+.* in __del__: FOR_EVER",
        "RaisesByProperty": r"looking up the adapter's stream raised ValueError: no stream today",
        "RaisesInRepr": r"new_model gave <RaisesInRepr instance at .*>: expected an adapter with a",
        "NeverWaits": r"did not return within",
        "WaitsForEver": r"WaitsForEver\.deadline: expected seconds above 0, an hour at most, got 1",
        "RaisingSetUp": r"ValueError: no set-up",
    },
)
GREEN: tuple[tuple[str, ...], ...] = (
    ("ForksAndExits", "RunsCommand", "Collects", "StartsThreads", "LeavesRawThread", "FakesClass"),
    ("GivesSubclasses", "GivesStrSubclass", "WithWire", "RaisesFrozen", "StartsManyThreads"),
)
MEGABYTES = 300
"""More than a run of a few endless streams holds: each of them could fill gigabytes."""


class Ran(NamedTuple):
    """What a test case came to: each test with how it ended and what was said."""

    tests: list[tuple[str, str, str]]
    changed: list[str]
    megabytes: int | None


def ran(names: tuple[str, ...]) -> dict[str, Ran]:
    """Run test cases in a process of their own, which has to come to its own end."""
    module = fooling_contracts.__name__
    done = python("-X", "dev", "-m", module, *names, PYTHONWARNINGS="ignore")
    found: dict[str, Ran] = {}
    tests: list[tuple[str, str, str]] = []
    for line in done.stdout.splitlines():
        match json.loads(line) if line.startswith("[") else None:
            case [case, [*changed], megabytes]:
                found[case], tests = Ran(tests, changed, megabytes), []
            case [_, test, ended, text]:
                tests.append((test, ended, text))
    assert (done.returncode, [*found]) == (7, [*names]), done.stdout[-5_000:]
    return found


class TestFooling(unittest.TestCase):
    """What misbehaves does so in a process of its own: it may well end that."""

    @classmethod
    def setUpClass(cls) -> None:
        groups = [*map(tuple, EXPECTED), *GREEN]
        cls.ran: dict[str, Ran] = {}
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for found in pool.map(ran, groups):
                cls.ran |= found

    def test_every_adapter_is_tried(self) -> None:
        named = {*(name for group in EXPECTED for name in group), *sum(GREEN, ())}
        self.assertEqual({*fooling_contracts.CASES} - named, {"InterruptsMain", "RaisesSignal"})

    def test_what_misbehaves_is_told_of(self) -> None:
        for name, says in ((name, says) for group in EXPECTED for name, says in group.items()):
            with self.subTest(name):
                texts = [text for _, ended, text in self.ran[name].tests if ended == "failed"]
                texts += [text for _, ended, text in self.ran[name].tests if ended == "error"]
                self.assertTrue(any(re.search(says, text) for text in texts), texts)

    def test_nothing_of_it_is_taken_for_a_fault_of_the_kit(self) -> None:
        for name, (tests, *_) in self.ran.items():
            for test, _, text in tests:
                with self.subTest(name, test=test):
                    self.assertNotIn("modeltest failed here", text)

    def test_what_is_legal_passes(self) -> None:
        for name in sum(GREEN, ()):
            for test, ended, text in self.ran[name].tests:
                with self.subTest(name, test=test):
                    self.assertIn(ended, ("passed", "skipped"), text)

    def test_the_process_is_as_it_was(self) -> None:
        for name, found in self.ran.items():
            with self.subTest(name):
                self.assertEqual(found.changed, [])

    def test_memory_is_bounded(self) -> None:
        megabytes = self.ran["AsyncEndless"].megabytes
        if megabytes is None:
            self.skipTest("only /proc says how much memory a process held at most")
        self.assertLess(megabytes, MEGABYTES)


class TestInterrupting(unittest.TestCase):
    """Whoever interrupts the main thread, the run ends, and is not green."""

    def test_by_the_adapter(self) -> None:
        for name in ("InterruptsMain", "RaisesSignal"):
            with self.subTest(name):
                # A shell that starts this run in the background has interrupts ignored, here too.
                script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                script += (
                    f"from {fooling_contracts.__name__} import CASES; Test = CASES[{name!r}]; "
                )
                script += "import unittest; unittest.main(argv=['x', 'Test.test_break_releases'])"
                done = python("-c", script)
                self.assertNotIn(done.returncode, (0, 5), done.stdout)
                self.assertIn("KeyboardInterrupt", done.stdout)

    def test_a_child_that_lives_on_reports_nothing(self) -> None:
        script = f"from {fooling_contracts.__name__} import CASES; Test = CASES['Forks']; "
        script += "import unittest; unittest.main(argv=['x', 'Test.test_break_releases'])"
        done = python("-c", script, PYTHONWARNINGS="ignore")
        self.assertEqual(done.stdout.count("Ran 1 test"), 1, done.stdout)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
