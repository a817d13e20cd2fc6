"""What the framing checks see with the author's `event` alone."""

import unittest
from collections.abc import Iterable, Iterator
from typing import Any

from modeltest.checks import BY_NAME
from modeltest.delivery import Target, run
from modeltest.harness import Status
from tests.mutants import parrot


class Latin(parrot.Parrot):
    """Decodes as HTTP did once, where nothing says otherwise."""

    def decode(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        return super().decode(chunk.decode("latin-1").encode() for chunk in chunks)


class TestCharset(unittest.TestCase):
    """An author's event has no accent in it, as a rule."""

    def judge(self, model: Any, event: Any = parrot.event) -> Any:
        return run(BY_NAME["framing/charset"], Target(new_model=model, event=event))

    def test_an_accent_is_put_into_it(self) -> None:
        self.assertIs(self.judge(parrot.Parrot).status, Status.PASSED)
        outcome = self.judge(Latin)
        self.assertIs(outcome.status, Status.FAILED)
        self.assertRegex(outcome.text, r"an accent: expected the text 'Grüße', got 'GrÃ")

    def test_where_its_text_cannot_be_found_it_is_compared_as_it_is(self) -> None:
        def event(index: int) -> bytes:
            return b'data: {"word": "\\u0061 %d"}\n\n' % index

        self.assertIs(self.judge(parrot.Parrot, event).status, Status.PASSED)


if __name__ == "__main__":
    unittest.main()
