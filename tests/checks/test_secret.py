"""A secret is recognised in every spelling, and kept out of every text of the kit."""

import base64
import json
import unittest
from urllib.parse import quote, quote_plus

from modeltest.checks import BY_NAME
from modeltest.delivery import Target, run
from modeltest.harness import SetUpError
from modeltest.harness.secret import Secret
from modeltest.redaction import REDACTED

KEY = 'sk-a/b+c d"e\\f-3f9c2a'


class TestSpellings(unittest.TestCase):
    def test_it_is_found_as_it_may_travel(self) -> None:
        secret = Secret(KEY)
        for text in (
            f"Bearer {KEY}",
            f"/v1?key={quote(KEY, safe='')}&x=1",
            f"/v1?key={quote_plus(KEY)}",
            f"/v1?key={quote(KEY, safe='').lower()}",
            json.dumps({"key": KEY}),
            repr({"key": KEY}),
            f"body with {KEY}".encode(),
        ):
            with self.subTest(text):
                self.assertTrue(secret.is_in(text))

    def test_it_is_found_in_base64_wherever_it_stands(self) -> None:
        for before in ("", "u", "us", "usr", "user:"):
            for after in ("", ":", ":x", ":xy"):
                for encode in (base64.b64encode, base64.urlsafe_b64encode):
                    with self.subTest(before=before, after=after):
                        text = encode(f"{before}{KEY}{after}".encode()).decode()
                        self.assertTrue(Secret(KEY).is_in(f"Basic {text}"))

    def test_it_is_not_found_where_it_is_not(self) -> None:
        self.assertFalse(Secret(KEY).is_in("Bearer sk-another-secret-of-this-length"))

    def test_a_short_one_is_recognised_nowhere(self) -> None:
        self.assertFalse(Secret("x").is_in("text"))
        self.assertEqual(Secret("x").redact("text"), "text")
        for blank in " " * 8, "a      b":
            self.assertFalse(Secret(blank).is_in("a b, and a text"))
            self.assertEqual(Secret(blank).redact("a b"), "a b")

    def test_its_repr_does_not_tell_it(self) -> None:
        self.assertEqual(repr(Secret(KEY)), f"<Secret of {len(KEY)} characters>")


class TestRedaction(unittest.TestCase):
    def test_no_spelling_is_left(self) -> None:
        text = Secret(KEY).redact(f"a {KEY} b {quote(KEY, safe='')} c {KEY!r} d")
        self.assertEqual(text, f"a {REDACTED} b {REDACTED} c '{REDACTED}' d")

    def test_nothing_is_left_of_one_that_was_shortened(self) -> None:
        secret = Secret(Target.api_key)
        for length in range(3, 14):
            self.assertEqual(secret.redact(f"{Target.api_key[:length]}…"), REDACTED)
        for length in range(14, len(Target.api_key)):
            self.assertEqual(secret.redact(f"{Target.api_key[:length]}…"), f"{REDACTED}…")
            self.assertEqual(secret.redact(f"…{Target.api_key[-length:]}"), f"…{REDACTED}")

    def test_a_word_that_it_begins_with_stays(self) -> None:
        self.assertEqual(Secret(Target.api_key).redact("modeltest"), "modeltest")


class Telltale:
    """Says its key in every error."""

    def stream(self, request: object) -> object:
        raise ValueError(f"cannot use the key {Target.api_key}")


class TestOutcomes(unittest.TestCase):
    def test_a_failure_does_not_say_the_key(self) -> None:
        target = Target(new_model=lambda url, client: Telltale(), event=lambda i: b"data: {}\n\n")
        outcome = run(BY_NAME["truncation/clean"], target)
        self.assertIn(f"ValueError: cannot use the key {REDACTED}", outcome.text)
        self.assertNotIn(Target.api_key, outcome.text)

    def test_what_new_model_raises_does_not_say_it(self) -> None:
        def new_model(url: str, client: object) -> object:
            raise ValueError(f"bad key {Target.api_key}")

        target = Target(new_model=new_model, event=lambda i: b"data: {}\n\n")
        with self.assertRaises(SetUpError) as caught:
            run(BY_NAME["truncation/clean"], target)
        self.assertRegex(str(caught.exception), r"new_model\(.*bad key \[redacted\](.|\n)*line \d+")
        self.assertNotIn(Target.api_key, str(caught.exception))
        self.assertIsNone(caught.exception.__cause__)
        self.assertTrue(caught.exception.__suppress_context__)


if __name__ == "__main__":
    unittest.main()
