"""What the adapters that are a tutorial's loop have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from modeltest import ModelContractTestCase, OwnTransport
from modeltest.checks import ALL
from tests.real.quick import quick_and_quiet

RETRIED = ("faults/status", "faults/retry-after", "faults/no-repeat")
"""Checks of whether, and when, a request is sent again."""

JUDGED_WITHOUT_RETRIES: Mapping[str, str] = {
    check.method: "the same adapter is judged without retries"
    for check in ALL
    if check.id not in RETRIED
}
"""What a test case skips that is about nothing but its package's retries."""


class PackageTestCase(ModelContractTestCase, abstract=True):
    """An adapter that brings its own client: a package's."""

    transport = OwnTransport()
    idle_timeout = 0.2
    adapter: Callable[..., Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.enterClassContext(quick_and_quiet())

    def new_model(self, base_url: str, client: None) -> Any:
        return self.adapter(base_url, self.api_key, self.idle_timeout)
