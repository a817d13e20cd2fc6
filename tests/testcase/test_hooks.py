"""`new_model` and `event`, in every form in which they can be given."""

import functools
import unittest
from typing import Any
from unittest import mock

from modeltest.harness import SetUpError
from modeltest.testcases.hooks import event_bytes, hook

from .running import SET_UP, acme, case, run


class Recorded:
    """What `make` was called with."""

    def __init__(self, *given: Any) -> None:
        self.given = given


def make(base_url: Any, client: Any) -> Recorded:
    return Recorded(base_url, client)


def make_with_default(base_url: Any, client: Any, retries: int = 3) -> Recorded:
    return Recorded(base_url, client, retries)


def make_of_any(*given: Any) -> Recorded:
    return Recorded(*given)


class Factory:
    def __call__(self, base_url: Any, client: Any) -> Recorded:
        return Recorded(base_url, client)

    def make(self, base_url: Any, client: Any) -> Recorded:
        return Recorded(base_url, client)


class Forms:
    """Each attribute is a form; called with "url" and "client", each must hand on just these."""

    key = "secret"

    function = make
    function_with_default = make_with_default
    function_of_any = make_of_any
    a_class = Recorded
    a_lambda = lambda base_url, client: Recorded(base_url, client)  # noqa: E731, PLW0108
    lambda_with_self = lambda self, base_url, client: Recorded(base_url, client)  # noqa: E731
    partial = functools.partial(make_with_default, retries=3)
    partial_of_class = functools.partial(Recorded)
    callable_object = Factory()
    bound_elsewhere = Factory().make
    mocked = mock.Mock(side_effect=make)

    def method(self, base_url: Any, client: Any) -> Recorded:
        assert self.key == "secret"
        return Recorded(base_url, client)

    def method_with_default(self, base_url: Any, client: Any, retries: int = 3) -> Recorded:
        assert self.key == "secret"
        return Recorded(base_url, client, retries)

    def method_of_any(self, *given: Any) -> Recorded:
        assert self.key == "secret"
        return Recorded(*given)

    def method_by_another_name(this, base_url: Any, client: Any) -> Recorded:
        assert this.key == "secret"
        return Recorded(base_url, client)

    @staticmethod
    def static(base_url: Any, client: Any) -> Recorded:
        return Recorded(base_url, client)

    @classmethod
    def of_class(cls, base_url: Any, client: Any) -> Recorded:
        assert cls.key == "secret"
        return Recorded(base_url, client)

    partial_method = functools.partialmethod(method_with_default, retries=3)

    @property
    def as_property(self) -> Any:
        return self.method

    @functools.lru_cache  # noqa: B019 - a decorator that makes no function
    def cached(self, base_url: Any, client: Any) -> Recorded:
        assert self.key == "secret"
        return Recorded(base_url, client)


class TestHook(unittest.TestCase):
    def test_every_form_is_called_with_what_it_wants(self) -> None:
        forms = [name for name in vars(Forms) if not name.startswith("_") and name != "key"]
        self.assertGreaterEqual(len(forms), 18)
        for name in forms:
            with self.subTest(name):
                made = hook(Forms(), name, "base_url", "client")("url", "client")
                self.assertEqual(made.given[:2], ("url", "client"))
                self.assertIn(made.given[2:], [(), (3,)])

    def test_a_function_set_on_the_instance(self) -> None:
        forms = Forms()
        forms.own = make  # type: ignore[attr-defined]
        self.assertEqual(hook(forms, "own", "base_url", "client")(1, 2).given, (1, 2))

    def test_a_built_in_that_does_not_tell_its_signature(self) -> None:
        class Builtin:
            event = max
            partial = functools.partial(max, 1)

        self.assertEqual(hook(Builtin(), "event", "a", "b")(1, 2), 2)
        self.assertEqual(hook(Builtin(), "partial", "a")(2), 2)

    def test_a_missing_one(self) -> None:
        self.assert_refused("nothing", r"^Wrong has no nothing: define nothing\(a, b\)$")

    def test_one_that_cannot_be_called(self) -> None:
        self.assert_refused("text", r"^Wrong\.text is 'data': expected text\(a, b\)$")

    def test_one_with_too_few_parameters(self) -> None:
        # Taken for a function of two, it would be called with the URL for `self`.
        self.assert_refused("method", r"^Wrong\.method takes \(a\): expected method\(a, b\)$")
        self.assert_refused("function", r"^Wrong\.function takes \(\): expected function\(a, b\)$")

    def test_one_with_too_many_parameters(self) -> None:
        self.assert_refused("a_class", r"^Wrong\.a_class takes \(a, b, c\): expected a_class\(a, b")

    def test_one_with_a_keyword_that_must_be_given(self) -> None:
        self.assert_refused("keyword", r"^Wrong\.keyword takes \(a, b, \*, key\): expected keyword")

    def assert_refused(self, name: str, pattern: str) -> None:
        class Three:
            def __init__(self, a, b, c): ...

        class Wrong:
            text = "data"
            a_class = Three
            function = lambda a: a  # noqa: E731

            def method(self, a): ...

            def keyword(self, a, b, *, key): ...

        with self.assertRaisesRegex(SetUpError, pattern):
            hook(Wrong(), name, "a", "b")


class TestEventBytes(unittest.TestCase):
    def test_text_and_bytes(self) -> None:
        for given in ("data: é\n\n", "data: é\n\n".encode(), bytearray("data: é\n\n".encode())):
            with self.subTest(given):
                made = event_bytes(lambda i, given=given: given, 0, blank_line=True)
                self.assertEqual(made, b"data: \xc3\xa9\n\n")
                self.assertIs(type(made), bytes)

    def test_every_line_end_makes_a_blank_line(self) -> None:
        for end in ("\n\n", "\r\n\r\n", "\r\r"):
            with self.subTest(end):
                event_bytes(lambda i, end=end: f"data: {i}{end}", 7, blank_line=True)

    def test_what_is_no_event(self) -> None:
        for given, pattern in (
            (None, r"^event\(4\) gave None: expected str or bytes$"),
            ({"text": "a"}, r"^event\(4\) gave \{'text': 'a'\}: expected str or bytes$"),
            ("data: a\n", r"^event\(4\) gave b'data: a\\n': expected .* with its blank line, such"),
            ("", r"^event\(4\) gave nothing: expected the bytes of one event$"),
            ("x" * 500, r"^event\(4\) gave b'x{80}': expected"),
        ):
            with self.subTest(given), self.assertRaisesRegex(SetUpError, pattern):
                event_bytes(lambda i, given=given: given, 4, blank_line=True)

    def test_other_framings_know_no_blank_line(self) -> None:
        self.assertEqual(event_bytes(lambda i: "{}\n", 0, blank_line=False), b"{}\n")
        with self.assertRaisesRegex(SetUpError, "gave nothing"):
            event_bytes(lambda i: "", 0, blank_line=False)

    def test_what_the_author_raises_is_told(self) -> None:
        words = ["one", "two"]
        with self.assertRaisesRegex(
            SetUpError, r"^event\(2\) raised IndexError\('list index out of range'\)$"
        ) as caught:
            event_bytes(words.__getitem__, 2, blank_line=True)
        self.assertIsInstance(caught.exception.__cause__, IndexError)


class TestInATestCase(unittest.TestCase):
    def test_plain_functions_serve(self) -> None:
        from . import running

        tests = case(new_model=running.new_model, event=running.event)
        self.assertTrue(run(tests, SET_UP, "test_truncated_is_an_error").wasSuccessful())

    def test_methods_see_the_test_case(self) -> None:
        class TestAcme(acme()):  # type: ignore[misc]
            def event(self, i: int) -> str:
                assert self.strict is False
                return f'data: {{"text": "{self.id()}"}}\n\n'

        self.assertTrue(run(TestAcme, SET_UP).wasSuccessful())


if __name__ == "__main__":
    unittest.main()
