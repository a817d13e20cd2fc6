"""What is said where a fault is not the one that the check is about."""

import unittest
from dataclasses import replace
from typing import Any

from modeltest.checks import BY_NAME
from modeltest.consumer import AsyncConsumer
from modeltest.delivery import Target, run
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Status
from modeltest.transports import OwnTransport
from tests.mutants import awaiting, failing, parrot
from tests.testcase.running import event


class OwnError(Exception):
    """An error of this package's own, as the adapter is."""


class Own(AcmeModel):
    """Raises what nobody was told of."""

    def stream(self, request: Any) -> Any:
        try:
            yield from super().stream(request)
        except Exception as error:
            raise OwnError(str(error)) from error


class Closing(AcmeModel):
    """Counts how often it is closed."""

    closed = 0

    def close(self) -> None:
        type(self).closed += 1
        raise OSError("nobody minds")


class AsyncClosing(awaiting.AsyncParrot):
    """The same, asynchronous."""

    closed = 0

    async def aclose(self) -> None:
        type(self).closed += 1


def target(model: Any, **changes: Any) -> Target:
    return Target(
        new_model=lambda url, client: model(url, client, "another key"),
        event=lambda i: event(i).encode(),
        **changes,
    )


class TestHints(unittest.TestCase):
    def test_an_error_of_the_adapters_own_has_to_be_named(self) -> None:
        outcome = run(BY_NAME["faults/redirect"], target(Own))
        self.assertRegex(
            outcome.text, r"\n  fix      derive the adapter's errors .*`model_error = …`$"
        )

    def test_an_error_of_another_package_has_to_be_caught(self) -> None:
        outcome = run(
            BY_NAME["faults/unreachable"],
            Target(new_model=failing.LeavesConnectionErrors, event=parrot.event),
        )
        self.assertRegex(outcome.text, r"\n  fix      catch what the HTTP client raises")

    def test_a_key_that_was_not_given_cannot_be_looked_for(self) -> None:
        outcome = run(BY_NAME["faults/secret"], target(AcmeModel))
        self.assertEqual(outcome.status, Status.SKIPPED)
        self.assertIn("no request carries the api_key: pass `self.api_key` to", outcome.text)

    def test_a_400_that_is_sent_again_is_none_of_its_business(self) -> None:
        again = Target(
            new_model=failing.RepeatsEveryRefusal, event=parrot.event, retries=failing.RETRIES
        )
        outcome = run(BY_NAME["isolation/reuse"], again)
        self.assertEqual(outcome.status, Status.PASSED, outcome.text)


class TestClosing(unittest.TestCase):
    """A model that can be closed is closed, or its own client would be left to the collector."""

    def test_a_model(self) -> None:
        before = Closing.closed
        outcome = run(BY_NAME["truncation/clean"], target(Closing))
        self.assertEqual(outcome.status, Status.PASSED, outcome.text)
        self.assertEqual(Closing.closed, before + 1)

    def test_an_asynchronous_model(self) -> None:
        before = AsyncClosing.closed
        own = Target(new_model=AsyncClosing, event=parrot.event)
        own = replace(own, consumer=AsyncConsumer, transport=OwnTransport())
        outcome = run(BY_NAME["truncation/clean"], own)
        self.assertEqual(outcome.status, Status.PASSED, outcome.text)
        self.assertEqual(AsyncClosing.closed, before + 1)


if __name__ == "__main__":
    unittest.main()
