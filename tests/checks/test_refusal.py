"""A turn that has to fail: what passes, what is a SHOULD, and what fails."""

import unittest
from collections.abc import Iterator
from typing import Any

from modeltest.checks import BY_NAME
from modeltest.delivery import run
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Outcome, Status
from modeltest.interface import Event, Finish, ModelError, TextDelta, ToolCallDelta

from .targets import target

HALF = (ToolCallDelta(0, "1", "plan", '{"days": 3'), Finish("tool_use", "tool_use"))
WHOLE = (TextDelta("half"), Finish("stop", "stop"))


def outcome_of(events: tuple[Event, ...], error: Exception | None) -> Outcome:
    """Return what comes of an adapter that makes this of a cut answer."""

    class Model(AcmeModel):
        def stream(self, request: Any) -> Iterator[Event]:
            try:
                for _ in super().stream(request):
                    pass
            except ModelError:
                yield from events
                if error is not None:
                    raise error from None

    def new_model(base_url: str, client: Any) -> AcmeModel:
        return Model(base_url, client, "key")

    return run(BY_NAME["truncation/clean"], target(new_model=new_model))


class TestRefusal(unittest.TestCase):
    def test_a_declared_error_passes_whatever_came_before(self) -> None:
        for events in ((), (TextDelta("half"),), HALF):
            with self.subTest(events):
                outcome = outcome_of(events, ModelError("cut"))
                self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))

    def test_what_only_assemble_refuses_is_a_should(self) -> None:
        for events, said in (
            ((TextDelta("half"),), r"ended after 1 event without a Finish\."),
            (HALF, r"gave 2 events that only `assemble`\s+refuses \(TruncatedToolArgumentsError\)"),
        ):
            with self.subTest(events):
                outcome = outcome_of(events, None)
                self.assertIs(outcome.status, Status.WARNED)
                self.assertRegex(outcome.text, rf" raised no error: the stream {said}")
                self.assertIn("\n  fix      raise the adapter's model_error (", outcome.text)

    def test_a_finish_is_a_failure(self) -> None:
        for error in (None, ModelError("cut")):
            with self.subTest(error):
                outcome = outcome_of(WHOLE, error)
                self.assertIs(outcome.status, Status.FAILED)
                self.assertIn("was taken for a finished answer: got 2 events", outcome.text)

    def test_so_is_an_error_of_another_type(self) -> None:
        for events in ((), HALF):
            with self.subTest(events):
                outcome = outcome_of(events, ValueError("cut"))
                self.assertIs(outcome.status, Status.FAILED)
                self.assertIn("ValueError: cut; expected ModelError", outcome.text)


if __name__ == "__main__":
    unittest.main()
