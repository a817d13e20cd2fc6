"""How what is shown in a report is shortened."""

import unittest

from modeltest.text import in_one_line, short_repr, shortened


class Weird:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


class TestShortening(unittest.TestCase):
    def test_a_text_that_fits_is_whole(self) -> None:
        self.assertEqual(shortened("abc", 3), "abc")
        self.assertEqual(in_one_line(" a\n b ", 3), "a b")
        self.assertEqual(short_repr("abc", 3), "'abc'")

    def test_of_a_long_text_the_beginning_and_the_length_are_told(self) -> None:
        self.assertEqual(shortened("abcd", 3), "abc… (4 characters)")
        self.assertEqual(in_one_line("a\nbcd", 3), "a b… (5 characters)")

    def test_of_a_long_repr_both_ends_are_told(self) -> None:
        text = short_repr("a" * 10**6 + "z", 20)
        self.assertRegex(text, r"^'a+\.\.\.a+z'$")
        self.assertLessEqual(len(text), 22)

    def test_a_repr_that_raises(self) -> None:
        self.assertRegex(short_repr(Weird()), r"^<Weird instance at 0x[0-9a-f]+>$")


if __name__ == "__main__":
    unittest.main()
