"""What a check is, and what all of them have in common."""

import inspect
import itertools
import unittest

from modeltest.checks import ALL, BY_NAME, METHODS, name_of
from modeltest.delivery import ServedContext
from modeltest.harness import Check, Level, Need, check


class TestMakingOne(unittest.TestCase):
    def test_the_docstring_gives_requirement_and_why(self) -> None:
        @check("group/name", fix="mend it", needs=(Need.WIRE,))
        def made(context: ServedContext) -> None:
            """It holds.

            It matters, because
            it matters.
            """

        self.assertIsInstance(made, Check)
        self.assertEqual(made.requirement, "It holds.")
        self.assertEqual(made.why, "It matters, because it matters.")
        self.assertEqual((made.id, made.group, made.method), ("group/name", "group", "test_made"))
        self.assertEqual((made.level, made.fix), (Level.MUST, "mend it"))
        self.assertEqual(made.needs, (Need.WIRE,))

    def test_one_that_is_not_explained_is_refused(self) -> None:
        def without(context: ServedContext) -> None: ...

        def without_why(context: ServedContext) -> None:
            """It holds."""

        for function in (without, without_why):
            with (
                self.subTest(function.__name__),
                self.assertRaisesRegex(
                    TypeError,
                    "^check group/name: the docstring gives a requirement, then the why$",
                ),
            ):
                check("group/name", fix="mend it")(function)


class TestAll(unittest.TestCase):
    def test_methods_name_one_each(self) -> None:
        self.assertEqual(len({each.method for each in ALL}), len(ALL))
        for each in ALL:
            self.assertIs(BY_NAME[each.method], each)
            self.assertIs(BY_NAME[name_of(each)], each)
            self.assertEqual(METHODS[each.method], (each.method,))

    def test_a_group_names_all_its_checks(self) -> None:
        tools = tuple(each.method for each in ALL if each.group == "tools")
        self.assertEqual(METHODS["tools/*"], tools)

    def test_an_id_names_all_that_have_it(self) -> None:
        for each in ALL:
            alike = tuple(other.method for other in ALL if other.id == each.id)
            self.assertEqual(METHODS[each.id], alike)
            self.assertEqual(each.id in BY_NAME, len(alike) == 1)
            self.assertEqual(name_of(each), each.id if len(alike) == 1 else each.method)

    def test_groups_stand_together(self) -> None:
        groups = [each.group for each in ALL]
        self.assertEqual(groups, sorted(groups, key=groups.index))

    def test_every_one_is_written_as_the_others_are(self) -> None:
        for each in ALL:
            with self.subTest(each.id):
                self.assertRegex(each.id, r"\A[a-z]+/[a-z0-9-]+\Z")
                self.assertRegex(each.method, r"\Atest_[a-z0-9_]+\Z")
                self.assertRegex(each.requirement, r"\A\S.{10,95}\.\Z")
                self.assertGreater(len(each.why), 40)
                self.assertNotRegex(each.fix, r"\A[A-Z][a-z]|\.\Z|\n")

    def test_every_group_has_a_heading(self) -> None:
        for group, members in itertools.groupby(ALL, lambda each: each.group):
            module = inspect.getmodule(next(members).judge)
            self.assertRegex(str(inspect.getdoc(module)), rf"\A{group}: .+\.")


if __name__ == "__main__":
    unittest.main()
