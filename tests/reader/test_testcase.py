"""`SSEReaderTestCase`: what it is given, what it says when that cannot be used, and verdicts."""

import functools
import importlib.util
import os
import tempfile
import textwrap
import time
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from unittest import mock

import modeltest.testcases
from modeltest import ContractWarning, Event, ModelError, SSEReaderTestCase
from modeltest.checks import IN_MEMORY
from modeltest.wire import OpenAIChat, Unsupported
from tests.mutants.parsers import finish, framing, rules
from tests.testcase.running import python

from .bodies import CALL, TEXT, ShortChat
from .readers import generator
from .running import case_of, failed, names_of, run, skipped

SET_UP = "test_reader_is_set_up"
WHOLE = "test_whole_body_is_its_turn"
PREFIX = "test_every_prefix_is_an_error_or_the_same_turn"
COMMENTS = "test_comments_are_ignored"
BOM = "test_bom_is_ignored"


def read(body: Any, chunks: int = 0) -> Iterator[Event]:
    del chunks
    return generator(body)


class Reader:
    def __call__(self, body: BinaryIO) -> Iterator[Event]:
        return generator(body)

    def read(self, body: BinaryIO) -> Iterator[Event]:
        return generator(body)


class Sleeper:
    """Comes back from no body within a second."""

    def __call__(self, body: BinaryIO) -> Iterator[Event]:
        time.sleep(1)
        return generator(body)


class TestBase(unittest.TestCase):
    def test_it_has_no_tests(self) -> None:
        self.assertEqual(names_of(SSEReaderTestCase), [])
        suite = unittest.defaultTestLoader.loadTestsFromModule(modeltest.testcases)
        self.assertEqual(suite.countTestCases(), 0)

    def test_a_subclass_has_one_test_a_clause(self) -> None:
        case = case_of(generator, bodies=TEXT)
        self.assertEqual(set(names_of(case)), {SET_UP, *(clause.method for clause in IN_MEMORY)})
        for clause in IN_MEMORY:
            with self.subTest(clause.id):
                level = " [SHOULD]" if clause.level == "SHOULD" else ""
                test = case(clause.method)
                self.assertEqual(test.shortDescription(), clause.requirement + level)
                self.assertIn(clause.why, getattr(test, clause.method).__doc__)

    def test_an_abstract_base_has_no_tests_and_its_subclasses_have(self) -> None:
        class Base(SSEReaderTestCase, abstract=True):
            skips = {PREFIX: "not now"}

        class TestReader(Base):
            bodies = TEXT
            stream_sse = read

        self.assertEqual(names_of(Base), [])
        self.assertEqual(skipped(TestReader, PREFIX), {PREFIX: "not now"})

    def test_an_override_may_call_the_clause(self) -> None:
        called = []

        class TestReader(case_of(generator, bodies=TEXT)):  # type: ignore[misc]
            def test_comments_are_ignored(self) -> None:
                called.append(1)
                super().test_comments_are_ignored()

            def test_of_my_own(self) -> None:
                called.append(2)

        self.assertEqual(failed(TestReader, COMMENTS, "test_of_my_own"), {})
        self.assertEqual(called, [1, 2])

    def test_a_clause_may_be_overridden_or_taken_away(self) -> None:
        class Mixin:
            def test_comments_are_ignored(self) -> None:
                raise AssertionError("the mixin's")

        own = type("TestReader", (Mixin, SSEReaderTestCase), {"bodies": TEXT, "stream_sse": read})
        self.assertIn("the mixin's", failed(own, COMMENTS)[COMMENTS])
        self.assertNotIn(COMMENTS, names_of(case_of(generator, **{COMMENTS: None})))

    def test_other_bases_get_what_is_theirs(self) -> None:
        class Other:
            def __init_subclass__(cls, *, word: str = "", **kwargs: Any) -> None:
                super().__init_subclass__(**kwargs)
                cls.word = word

        class TestReader(SSEReaderTestCase, Other, word="theirs", abstract=True):
            pass

        self.assertEqual(TestReader.word, "theirs")


class TestForms(unittest.TestCase):
    def test_every_form_of_reader(self) -> None:
        forms = {
            "a function": read,
            "a static method": staticmethod(read),
            "a method": lambda self, body: generator(body),
            "a class method": classmethod(lambda cls, body: generator(body)),
            "a partial": functools.partial(read, chunks=3),
            "a callable object": Reader(),
            "another object's method": Reader().read,
            "a class": rules.Iterated,
        }
        for name, form in forms.items():
            with self.subTest(name):
                case = case_of(bodies=TEXT, stream_sse=form)
                self.assertEqual(failed(case, SET_UP, WHOLE, COMMENTS), {})

    def test_every_form_of_bodies(self) -> None:
        for bodies in (TEXT, TEXT.decode(), bytearray(TEXT), {"a": TEXT, "b": TEXT.decode()}):
            with self.subTest(type(bodies)):
                result = run(case_of(generator, bodies=bodies), SET_UP, WHOLE, PREFIX)
                self.assertEqual((result.failures, result.errors, result.skipped), ([], [], []))

    def test_a_wire_and_bodies(self) -> None:
        case = case_of(finish.FinishesTwice(), wire=ShortChat(), bodies={"mine": TEXT})
        found = failed(case, WHOLE)[WHOLE]
        self.assertIn("\n- mine: reader/one-finish", found)
        self.assertIn("\n- text: reader/one-finish", found)

    def test_a_wire_without_its_parentheses(self) -> None:
        self.assertEqual(failed(case_of(generator, wire=ShortChat), SET_UP, WHOLE), {})

    def test_errors_of_the_author_s_own(self) -> None:
        class AcmeError(Exception):
            pass

        def reader(body: BinaryIO) -> Iterator[Event]:
            try:
                yield from generator(body)
            except ModelError as error:
                raise AcmeError(str(error)) from error

        names = ("test_error_event_is_an_error", PREFIX, "test_every_event_boundary_is_an_error")
        self.assertEqual(set(failed(case_of(reader, wire=ShortChat()), *names)), set(names))
        for declared in (AcmeError, (KeyError, AcmeError)):
            case = case_of(reader, wire=ShortChat(), model_error=declared)
            self.assertEqual(failed(case, *names), {})


class TestSetUp(unittest.TestCase):
    def assertSays(self, pattern: str, **attributes: Any) -> None:
        case = case_of(**{"stream_sse": staticmethod(generator), "bodies": TEXT, **attributes})
        with self.subTest(pattern):
            result = run(case)
            self.assertEqual(result.errors, [])
            ((test, text),) = result.failures
            self.assertEqual(test.id().rpartition(".")[2], SET_UP)
            self.assertRegex(text, rf"AssertionError: {pattern}")
            self.assertEqual(len(result.skipped), len(IN_MEMORY))
            for _, why in result.skipped:
                self.assertRegex(why, rf"\Asee {SET_UP}: {pattern}")

    def test_the_reader(self) -> None:
        expected = r"expected stream_sse\(body\)"
        self.assertRegex(
            failed(case_of(bodies=TEXT), SET_UP)[SET_UP],
            r"TestReader has no stream_sse: define stream_sse\(body\)",
        )
        self.assertSays(rf"TestReader.stream_sse is 7: {expected}", stream_sse=7)
        self.assertSays(
            rf"TestReader.stream_sse takes \(\): {expected}", stream_sse=lambda self: None
        )
        for broken in (rules.GivesNone(), rules.IsAsynchronous()):
            self.assertSays(
                r"reader/iterable: stream_sse\(body\) returned (None|<coroutine .*>); expected an",
                stream_sse=broken,
            )

    def test_the_bodies(self) -> None:
        self.assertSays(
            r"TestReader has nothing to read: give bodies = \{name: bytes\}, or a wire", bodies=None
        )
        self.assertSays(r"TestReader has nothing to read: ", bodies={})
        self.assertSays(r"TestReader.bodies: expected the body as bytes or str, got 7", bodies=7)
        self.assertSays(
            r"TestReader.bodies\['a'\]: expected the body as bytes or str, got None",
            bodies={"a": None},
        )
        self.assertSays(
            r"TestReader.bodies: expected the body as bytes or str, got \[b'data", bodies=[TEXT]
        )
        self.assertSays(r"TestReader.bodies\['b'\] is empty: ", bodies={"a": TEXT, "b": b""})
        self.assertSays(r"TestReader.bodies is empty: expected a whole answer", bodies="")

    def test_the_wire(self) -> None:
        class Nothing(OpenAIChat):
            def start_events(self, script: Any) -> Any:
                raise Unsupported("Nothing can be said")

        self.assertSays(
            r"TestReader.wire: expected a WireFormat such as OpenAIChat\(\), got 'openai'",
            wire="openai",
        )
        self.assertSays(r"TestReader.wire: expected a WireFormat .* got <class 'int'>", wire=int)
        self.assertSays(r"Nothing can be said", wire=Nothing(), bodies=None)

    def test_the_others(self) -> None:
        self.assertSays(
            r"TestReader.model_error: expected an exception class or a tuple of them, got 'E'",
            model_error="E",
        )
        for wrong in (0, -1.0, None, "soon", float("nan")):
            self.assertSays(rf"TestReader.deadline: expected seconds .* {wrong!r}", deadline=wrong)

    def test_the_deadline_is_scaled(self) -> None:
        for scale, text in {
            "2": "within 0.4 s",
            "none": "MODELTEST_DEADLINE_SCALE: expected ",
        }.items():
            case = case_of(Sleeper(), bodies=TEXT, deadline=0.2)
            with mock.patch.dict(os.environ, {"MODELTEST_DEADLINE_SCALE": scale}):
                self.assertIn(text, "".join(failed(case, SET_UP, WHOLE).values()))

    def test_names(self) -> None:
        for attribute in ("skips", "expected_failures"):
            with self.assertRaisesRegex(
                TypeError,
                rf"TestReader.{attribute} names 'framing/bon', which is no check; see "
                r"`python -m modeltest checks --parser`",
            ):
                case_of(generator, **{attribute: {"framing/bon": "why"}})
            with self.assertRaisesRegex(TypeError, r"\['framing/bom'\] needs a reason, got ' '"):
                case_of(generator, **{attribute: {"framing/bom": " "}})
            with self.assertRaisesRegex(TypeError, r"\['framing/bom'\] needs a reason, got None"):
                case_of(generator, **{attribute: {"framing/bom": None}})
            with self.assertRaisesRegex(TypeError, "expected a dict of check name → reason, got "):
                case_of(generator, **{attribute: ["framing/bom"]})

    def test_it_is_found_once_a_class(self) -> None:
        reads = []

        def reader(body: BinaryIO) -> None:
            reads.append(body)

        self.assertEqual(len(skipped(case_of(reader, bodies=TEXT))), len(IN_MEMORY))
        self.assertEqual(len(reads), 1)


class TestVerdicts(unittest.TestCase):
    def test_expected_failures(self) -> None:
        for name in ("framing/comments", COMMENTS):
            with self.subTest(name):
                attributes = {"bodies": TEXT, "expected_failures": {name: "known"}}
                case = case_of(framing.ChokesOnComments(), **attributes)
                result = run(case, COMMENTS)
                self.assertEqual(len(result.expectedFailures), 1)
                self.assertTrue(result.wasSuccessful())
                self.assertRegex(
                    case(COMMENTS).shortDescription() or "", r"\(expected to fail: known\)\Z"
                )
                result = run(case_of(generator, **attributes), COMMENTS)
                self.assertEqual(len(result.unexpectedSuccesses), 1)
                self.assertFalse(result.wasSuccessful())

    def test_a_should_that_is_expected_to_fail_fails(self) -> None:
        case = case_of(
            framing.KeepsTheByteOrderMark(),
            bodies=TEXT,
            expected_failures={"framing/bom": "nobody sends one"},
        )
        self.assertEqual(len(run(case, BOM).expectedFailures), 1)

    def test_skips(self) -> None:
        case = case_of(generator, bodies=TEXT, skips={"framing/comments": "not now"})
        self.assertEqual(skipped(case, COMMENTS), {COMMENTS: "not now"})

    def test_a_should_warns(self) -> None:
        class TestReader(SSEReaderTestCase):
            bodies = TEXT
            stream_sse = framing.KeepsTheByteOrderMark()

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = unittest.TestResult()
            TestReader(BOM).run(result)
        self.assertTrue(result.wasSuccessful())
        (warning,) = caught
        self.assertIs(warning.category, ContractWarning)
        self.assertIn("framing/bom: ", str(warning.message))
        self.assertEqual(Path(warning.filename), Path(__file__))
        line = Path(__file__).read_text(encoding="utf-8").splitlines()[warning.lineno - 1]
        self.assertEqual(line.strip(), "class TestReader(SSEReaderTestCase):")

    def test_a_class_made_at_run_time_warns_too(self) -> None:
        case = case_of(framing.KeepsTheByteOrderMark(), bodies=TEXT)
        case.__module__ = "nowhere"
        with self.assertWarns(ContractWarning):
            result = unittest.TestResult()
            case(BOM).run(result)
        self.assertTrue(result.wasSuccessful())

    def test_a_should_fails_under_strict(self) -> None:
        case = case_of(framing.KeepsTheByteOrderMark(), bodies=TEXT, strict=True)
        self.assertRegex(failed(case, BOM)[BOM], "AssertionError: framing/bom: ")

    def test_a_rule_that_every_answer_breaks_fails_one_test(self) -> None:
        case = case_of(finish.FinishesTwice(), bodies=TEXT)
        why = skipped(case)
        self.assertEqual(len(why), len(IN_MEMORY) - 1)
        for text in why.values():
            self.assertRegex(
                text, rf"\Asee {WHOLE}: reader/one-finish: the stream parser gave a second"
            )
        self.assertEqual(set(failed(case)), {WHOLE})

    def test_the_kit_s_own_lines_are_not_shown(self) -> None:
        case = case_of(framing.ChokesOnComments(), bodies=TEXT)
        self.assertNotIn("modeltest/testcases", failed(case, COMMENTS)[COMMENTS])

    def test_a_fault_of_the_kit_is_an_error(self) -> None:
        case = case_of(generator, bodies=TEXT)
        self.assertEqual(failed(case, SET_UP), {})
        for name in ("outcome", "plain"):  # the one in the test's thread, the other in the reader's
            with (
                self.subTest(name),
                mock.patch(f"modeltest.delivery.ParserContext.{name}", side_effect=OSError),
            ):
                self.assertEqual(len(run(case, COMMENTS).errors), 1)


class TestReadersThatHang(unittest.TestCase):
    def test_one_that_computes_for_ever(self) -> None:
        spinning = rules.SpinsForEver()
        self.addCleanup(setattr, spinning, "waits", False)
        case = case_of(spinning, bodies=TEXT, deadline=2)
        found = failed(case, SET_UP, WHOLE, PREFIX)
        self.assertEqual(set(found), {PREFIX})
        self.assertRegex(
            found[PREFIX],
            r"truncation/prefix: the stream parser did not come back from a body within 2\.0 s\.\n"
            r"  stack    [\s\S]*rules\.py",
        )

    def test_one_that_hangs_in_every_body(self) -> None:
        case = case_of(Sleeper(), bodies=TEXT, deadline=0.2)
        self.assertEqual(set(failed(case, SET_UP, WHOLE)), {WHOLE})
        self.assertRegex(
            skipped(case, PREFIX)[PREFIX], "see .*: the stream parser did not come back"
        )

    def test_a_slow_one_is_not_given_up(self) -> None:
        reads = []

        def reader(body: BinaryIO) -> Iterator[Event]:
            reads.append(time.sleep(0.1))
            return generator(body)

        case = case_of(reader, bodies={"a text": TEXT, "a call": CALL}, deadline=1.0)
        self.assertEqual(failed(case, "test_chunking_does_not_matter"), {})
        self.assertGreater(len(reads) * 0.1, 1.5)


FILE = """
    from modeltest import SSEReaderTestCase, read_sse
    from modeltest.testcases import *
    from tests.reader.bodies import TEXT
    from tests.reader.readers import generator

    class TestReader(SSEReaderTestCase):
        stream_sse = generator
        bodies = TEXT
"""


class TestCollection(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        path = self.directory / "test_reader.py"
        path.write_text(textwrap.dedent(FILE), encoding="utf-8")

    def test_unittest(self) -> None:
        done = python("-X", "dev", "-W", "error", "-m", "unittest", "-v", cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"Ran {len(IN_MEMORY) + 1} tests", done.stdout)
        self.assertRegex(done.stdout, r"Comments between and inside events are ignored\. \.\.\. ok")

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
    def test_pytest(self) -> None:
        options = ("-q", "-p", "no:cacheprovider", "-W", "error")
        done = python("-m", "pytest", *options, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"\d+ passed, \d+ skipped")
        listing = python("-m", "pytest", "--collect-only", *options, cwd=self.directory).stdout
        found = [line for line in listing.splitlines() if "::" in line]
        self.assertEqual(len(found), len(IN_MEMORY) + 1)

    def test_without_hypothesis(self) -> None:
        program = (
            "import sys; sys.modules['hypothesis'] = None\n"
            "import unittest; unittest.main('test_reader', argv=['x', '-k', 'any_bytes'])"
        )
        done = python("-W", "default", "-c", program, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("Hypothesis is not installed: seeded bodies are tried", done.stdout)


if __name__ == "__main__":
    unittest.main()
