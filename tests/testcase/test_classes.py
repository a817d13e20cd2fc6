"""Subclassing: what a test case may add, change and share."""

import unittest
from typing import Any

from modeltest import AsyncModelContractTestCase, ModelContractTestCase
from modeltest.checks import ALL

from .running import SET_UP, acme, run, text_of

BREAK = "test_break_releases"
CLEAN = "test_truncated_is_an_error"


def names(tests: type[unittest.TestCase]) -> set[str]:
    return set(unittest.defaultTestLoader.getTestCaseNames(tests))


class TestBases(unittest.TestCase):
    def test_they_have_no_tests(self) -> None:
        for base in (ModelContractTestCase, AsyncModelContractTestCase):
            with self.subTest(base.__name__):
                self.assertEqual(names(base), set())

    def test_a_subclass_has_one_test_a_check(self) -> None:
        self.assertEqual(names(acme()), {SET_UP, *(check.method for check in ALL)})

    def test_the_first_line_of_a_docstring_is_the_requirement(self) -> None:
        tests = acme()
        for check in ALL:
            with self.subTest(check.id):
                described = tests(check.method).shortDescription()
                level = " [SHOULD]" if check.level == "SHOULD" else ""
                self.assertEqual(described, check.requirement + level)
                self.assertIn(check.why, getattr(tests, check.method).__doc__)

    def test_a_method_knows_its_name(self) -> None:
        tests = acme(skips={CLEAN: "not now"}, expected_failures={BREAK: "known"})
        for name in (SET_UP, CLEAN, BREAK):
            with self.subTest(name):
                method = getattr(tests, name)
                self.assertEqual(method.__name__, name)
                self.assertEqual(method.__qualname__, f"TestAcme.{name}")


class TestSubclasses(unittest.TestCase):
    def test_tests_may_be_added(self) -> None:
        class TestAcme(acme()):  # type: ignore[misc]
            def test_of_my_own(self) -> None:
                self.assertEqual(self.retries, 0)

        self.assertIn("test_of_my_own", names(TestAcme))
        self.assertTrue(run(TestAcme, "test_of_my_own").wasSuccessful())

    def test_a_check_may_be_overridden(self) -> None:
        class TestAcme(ModelContractTestCase):
            def test_break_releases(self) -> None:
                self.fail("my own")

        self.assertIn("my own", text_of(run(TestAcme, BREAK)))

        class TestLater(TestAcme):
            pass

        self.assertIn("my own", text_of(run(TestLater, BREAK)))

    def test_a_check_may_be_overridden_by_a_mixin(self) -> None:
        class Mixin:
            def test_break_releases(self) -> None:
                raise AssertionError("the mixin's")

        for bases in ((Mixin, ModelContractTestCase), (ModelContractTestCase, Mixin)):
            with self.subTest(bases):
                self.assertIn("the mixin's", text_of(run(type("TestAcme", bases, {}), BREAK)))

    def test_a_check_may_be_wrapped(self) -> None:
        class TestFirst(acme()):  # type: ignore[misc]
            pass

        class TestSecond(TestFirst):
            test_break_releases = unittest.skip("by hand")(TestFirst.test_break_releases)

        class TestThird(TestSecond):
            pass

        for tests in (TestSecond, TestThird):
            self.assertEqual([why for _, why in run(tests, BREAK).skipped], ["by hand"])
        self.assertEqual(run(TestFirst, BREAK).skipped, [])

    def test_a_check_may_be_taken_away(self) -> None:
        self.assertNotIn(BREAK, names(acme(test_break_releases=None)))

    def test_an_override_may_call_the_check(self) -> None:
        called = []

        class TestAcme(acme()):  # type: ignore[misc]
            def test_truncated_is_an_error(self) -> None:
                called.append(self.id())
                super().test_truncated_is_an_error()

        self.assertTrue(run(TestAcme, CLEAN).wasSuccessful())
        self.assertEqual(len(called), 1)

    def test_an_abstract_base_has_no_tests_and_its_subclasses_have(self) -> None:
        class AcmeTestCase(ModelContractTestCase, abstract=True):
            strict = True
            skips = {CLEAN: "not now"}

            def test_of_all_our_adapters(self) -> None: ...

        class TestAcme(AcmeTestCase):
            pass

        self.assertEqual(names(AcmeTestCase), {"test_of_all_our_adapters"})
        self.assertEqual(len(names(TestAcme)), len(ALL) + 2)
        self.assertEqual([why for _, why in run(TestAcme, CLEAN).skipped], ["not now"])

    def test_a_subclass_of_a_test_case_has_its_own_expectations(self) -> None:
        class TestFirst(acme()):  # type: ignore[misc]
            expected_failures = {CLEAN: "known"}

        class TestSecond(TestFirst):
            expected_failures: dict[str, str] = {}

        class TestThird(TestFirst):
            skips = {CLEAN: "not now"}

        self.assertEqual(len(run(TestFirst, CLEAN).unexpectedSuccesses), 1)
        self.assertTrue(run(TestSecond, CLEAN).wasSuccessful())
        self.assertEqual(run(TestSecond, CLEAN).unexpectedSuccesses, [])
        self.assertEqual(len(run(TestThird, CLEAN).skipped), 1)

    def test_two_subclasses_do_not_influence_each_other(self) -> None:
        wrong = acme(new_model=None)
        expecting = acme(expected_failures={CLEAN: "known"})
        skipping = acme(skips={CLEAN: "not now"})
        plain = acme()
        self.assertEqual(len(run(wrong, SET_UP).failures), 1)
        self.assertEqual(len(run(expecting, CLEAN).unexpectedSuccesses), 1)
        self.assertEqual(len(run(skipping, CLEAN).skipped), 1)
        result = run(plain, SET_UP, CLEAN)
        self.assertEqual((result.skipped, result.unexpectedSuccesses), ([], []))
        self.assertTrue(result.wasSuccessful())

    def test_other_bases_get_what_is_theirs(self) -> None:
        class Base:
            def __init_subclass__(cls, *, word: str = "", **kwargs: Any) -> None:
                super().__init_subclass__(**kwargs)
                cls.word = word

        class TestAcme(ModelContractTestCase, Base, word="theirs", abstract=True):
            pass

        self.assertEqual(TestAcme.word, "theirs")
        self.assertEqual(names(TestAcme), set())

    def test_with_an_asynchronous_test_case_of_unittest(self) -> None:
        class TestAcme(acme(), unittest.IsolatedAsyncioTestCase):  # type: ignore[misc]
            async def test_of_my_own(self) -> None: ...

        self.assertTrue(run(TestAcme, SET_UP, BREAK, CLEAN, "test_of_my_own").wasSuccessful())

    def test_set_up_and_clean_up_of_the_author_are_run(self) -> None:
        class TestAcme(acme()):  # type: ignore[misc]
            def setUp(self) -> None:
                self.events: list[int] = []
                self.addCleanup(self.assertEvents)

            def event(self, i: int) -> str:
                self.events.append(i)
                return f'data: {{"text": "word {i} "}}\n\n'

            def assertEvents(self) -> None:
                assert self.events

        self.assertTrue(run(TestAcme, CLEAN).wasSuccessful())


if __name__ == "__main__":
    unittest.main()
