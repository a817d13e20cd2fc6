"""How a verdict reads."""

import unittest

from modeltest.harness import Evidence, Failure
from modeltest.harness.failure import count, report, size


class TestEvidence(unittest.TestCase):
    def test_one_line(self) -> None:
        self.assertEqual(str(Evidence("server", "sent 2 events")), "  server   sent 2 events")

    def test_further_lines_stand_below_the_first(self) -> None:
        self.assertEqual(
            str(Evidence("stack", "a.py:1\nb.py:2\nc.py:3")),
            "  stack    a.py:1\n           b.py:2\n           c.py:3",
        )

    def test_nothing(self) -> None:
        self.assertEqual(str(Evidence("stack", "")), "  stack    ")

    def test_alike_lines_are_counted(self) -> None:
        self.assertEqual(
            str(Evidence("leaked", "\n".join(["a"] * 300 + ["b", "a"]))),
            "  leaked   a (300 times)\n           b\n           a",
        )

    def test_only_a_line_feed_ends_a_line(self) -> None:
        text = "one\u2028two\x85three\rfour"
        self.assertEqual(str(Evidence("server", text)), f"  server   {text}")


class TestFailure(unittest.TestCase):
    def test_the_statement_comes_first(self) -> None:
        failure = Failure("it broke.", (Evidence("server", "left"), Evidence("fix", "mend it")))
        self.assertEqual(str(failure), "it broke.\n  server   left\n  fix      mend it")

    def test_without_evidence(self) -> None:
        failure = Failure("it broke.")
        self.assertEqual(str(failure), "it broke.")
        self.assertFalse(failure.hung)

    def test_more_evidence(self) -> None:
        failure = Failure("it broke.", (Evidence("server", "left"),), hung=True)
        more = failure.with_evidence((Evidence("client", "closed"), Evidence("client", "idle")))
        self.assertEqual(
            str(more), "it broke.\n  server   left\n  client   closed\n  client   idle"
        )
        self.assertTrue(more.hung)
        self.assertEqual(failure.evidence, (Evidence("server", "left"),))

    def test_evidence_of_a_kind_it_has_is_not_told_again(self) -> None:
        failure = Failure("it broke.", (Evidence("server", "left"),))
        more = failure.with_evidence((Evidence("server", "has left since"),))
        self.assertEqual(more.evidence, failure.evidence)


class TestReport(unittest.TestCase):
    def test_cases_after_the_third_are_named(self) -> None:
        broken = [(name, Failure("no.", (Evidence("server", "left"),))) for name in "abcde"]
        self.assertEqual(
            report("x/y", "mend it", broken, 9),
            "x/y: 5 of 9 cases fail.\n"
            "- a: no.\n  server   left\n- b: no.\n  server   left\n- c: no.\n  server   left\n"
            "- and 2 more: d; e\n  fix      mend it",
        )

    def test_what_is_always_shown_is_shown_of_these_too(self) -> None:
        shown = (Evidence("request", "GET /", always=True), Evidence("server", "left"))
        broken = [(name, Failure("no.", shown if name == "e" else ())) for name in "abcdef"]
        self.assertEqual(
            report("x/y", "mend it", broken, 9),
            "x/y: 6 of 9 cases fail.\n- a: no.\n- b: no.\n- c: no.\n"
            "- e: no.\n  request  GET /\n- and 2 more: d; f\n  fix      mend it",
        )


class TestWords(unittest.TestCase):
    def test_count(self) -> None:
        counted = [count(number, "event") for number in (0, 1, 2)]
        self.assertEqual(counted, ["0 events", "1 event", "2 events"])

    def test_size(self) -> None:
        for number, text in (
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1 kB"),
            (23_400, "23 kB"),
            (999_499, "999 kB"),
            (1_000_000, "1.0 MB"),
            (1_250_000, "1.2 MB"),
        ):
            with self.subTest(number):
                self.assertEqual(size(number), text)


if __name__ == "__main__":
    unittest.main()
