"""`check_finish`: what holds of every Finish, whatever the provider."""

import unittest

from modeltest import Finish, FinishReason, Usage, check_finish

NEUTRAL = "['stop', 'tool_use', 'length', 'filtered']"


class TestCheckFinish(unittest.TestCase):
    def assert_fails(self, finish: Finish, message: str) -> None:
        with self.assertRaises(AssertionError) as caught:
            check_finish(finish)
        self.assertEqual(str(caught.exception), message)

    def test_every_neutral_reason_keeps_it(self) -> None:
        for reason in FinishReason:
            for raw in ("", "the provider's word"):
                with self.subTest(reason, raw=raw):
                    check_finish(Finish(reason, raw, Usage(1, 2, 3, 4)))
                    check_finish(Finish(str(reason), raw))

    def test_an_empty_reason_breaks_it(self) -> None:
        self.assert_fails(
            Finish("", ""), "a Finish names its reason: expected a FinishReason, got ''"
        )

    def test_the_providers_own_word_keeps_it(self) -> None:
        check_finish(Finish("pause_turn", "pause_turn"))

    def test_another_word_than_the_providers_breaks_it(self) -> None:
        for reason, raw in (("pause_turn", ""), ("paused", "pause_turn"), ("STOP", "stop")):
            with self.subTest(reason, raw=raw):
                self.assert_fails(
                    Finish(reason, raw),
                    f"a reason outside {NEUTRAL} is the provider's own word: "
                    f"expected reason == raw, got reason={reason!r}, raw={raw!r}",
                )

    def test_discarded_tokens_break_it(self) -> None:
        for discarded in (Usage(1), Usage(output_tokens=1), Usage(cache_write_tokens=-1)):
            with self.subTest(discarded):
                self.assert_fails(
                    Finish("stop", discarded=discarded),
                    f"an adapter discards nothing: expected {Usage()}, got {discarded}",
                )

    def test_each_negative_count_breaks_it(self) -> None:
        for name in Usage().counts():
            with self.subTest(name):
                self.assert_fails(
                    Finish("stop", usage=Usage(**{name: -1})),
                    f"token counts are never negative: got {{{name!r}: -1}}",
                )

    def test_it_gives_nothing_back(self) -> None:
        self.assertIsNone(check_finish(Finish("stop")))


if __name__ == "__main__":
    unittest.main()
