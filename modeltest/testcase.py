"""`ModelContractTestCase`: the contract as unittest test methods, one a check."""

from __future__ import annotations

import os
import unittest
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from modeltest.checks import (
    ALL,
    BY_NAME,
    Check,
    Level,
    Outcome,
    SetUpError,
    Status,
    Subject,
    run,
)
from modeltest.consumer import AsyncConsumer, Consumer, SyncConsumer
from modeltest.contract import ConfigError, ModelError, Request
from modeltest.hooks import Hook, event_bytes
from modeltest.set_up import expect_set_up, expect_usable
from modeltest.transports import Attempt, RequestsTransport, Transport

__unittest = True  # keeps this module's lines out of a failure's traceback


class ContractWarning(UserWarning):
    """A SHOULD of the contract is not kept; under `strict` it fails the test instead."""


SETUP_TEST = "test_adapter_is_set_up"
"""The one test that fails when the test case itself is not right; all others then skip."""


class _ContractTestCase(unittest.TestCase):
    """Attaches the checks to each subclass; has no test itself, so importing it adds none."""

    transport: Transport = RequestsTransport()
    wire: Any = None
    request: Request = Subject.request
    model_error: Any = ModelError
    config_error: Any = ConfigError
    api_key: str = Subject.api_key
    retries: int = 0
    idle_timeout: float | None = None
    refused_tool_names: tuple[str, ...] = ()
    accepted_tool_names: tuple[str, ...] = ()
    expected_failures: Mapping[str, str] = {}
    skips: Mapping[str, str] = {}
    strict: bool = False
    deadline: float = 2.0

    _consumer: ClassVar[type[Consumer]]
    _attempts: ClassVar[list[Attempt]]

    def __init_subclass__(cls, *, abstract: bool = False, **kwargs: Any) -> None:
        """Attach one test method a check.

        Args:
            abstract: the class is a base of the author's own; it gets no tests.
            kwargs: for further bases.

        Raises:
            TypeError: `expected_failures` or `skips` names a check that does not exist, or
                gives no reason.
        """
        super().__init_subclass__(**kwargs)
        cls._attempts = []
        if abstract or cls.__module__ == __name__:
            return
        expected = _reasons(cls, "expected_failures")
        skipped = _reasons(cls, "skips")
        _attach(cls, SETUP_TEST, _setup_method())
        for check in ALL:
            method = _check_method(check, expected.get(check.id))
            if check.id in skipped:
                method = unittest.skip(skipped[check.id])(method)
            elif check.id in expected:
                method = unittest.expectedFailure(method)
            _attach(cls, check.method, method)

    @classmethod
    def tearDownClass(cls) -> None:
        """Fail if a check that is not about it saw a connection to elsewhere.

        Raises:
            AssertionError: naming what was refused.
        """
        super().tearDownClass()
        attempts, cls._attempts = cls._attempts, []
        if attempts:
            lines = "\n".join(f"  refused  {attempt}" for attempt in dict.fromkeys(attempts))
            raise AssertionError(
                "faults/egress: connections to elsewhere were attempted, and refused, during "
                f"other checks; expected none.\n{lines}"
            )

    def _subject(self) -> Subject:
        """Return the attributes as plain values.

        Raises:
            SetUpError: one of them cannot be used.
        """
        new_model = Hook(self, "new_model", ("base_url", "client"))
        event = self.wire.event if self._event_from_wire() else Hook(self, "event", ("i",))
        return Subject(
            new_model=new_model,
            event=lambda index: event_bytes(event(index), index),
            transport=self.transport() if isinstance(self.transport, type) else self.transport,
            consumer=type(self)._consumer,
            request=self.request,
            model_error=self.model_error,
            config_error=self.config_error,
            wire=self.wire,
            api_key=self.api_key,
            retries=self.retries,
            idle_timeout=self.idle_timeout,
            refused_tool_names=tuple(self.refused_tool_names),
            accepted_tool_names=tuple(self.accepted_tool_names),
            deadline=self.deadline * _deadline_scale(),
        )

    def _event_from_wire(self) -> bool:
        return self.wire is not None and not hasattr(self, "event")

    def _judge(self, check: Check, expected: str | None) -> None:
        """Run a check, and turn its outcome into unittest's terms."""
        __tracebackhide__ = True  # pytest: the text says all
        try:
            subject = self._subject()
            expect_usable(subject)
            outcome = run(check, subject)
        except SetUpError as error:
            self.skipTest(f"see {SETUP_TEST}: {error}")
        except BaseException as fault:
            # Not to be taken for an expected failure: it is raised again as the cleanup's own.
            self.addCleanup(_raise, fault)
            raise
        self._note_attempts(check, outcome, expected)
        match outcome.status:
            case Status.SKIPPED:
                self.skipTest(outcome.text)
            case Status.FAILED:
                self.fail(outcome.text)
            case Status.WARNED if self.strict or expected is not None:
                self.fail(outcome.text)
            case Status.WARNED:
                warnings.warn(outcome.text, ContractWarning, stacklevel=2)

    def _judge_set_up(self) -> None:
        """Fail if the test case itself is not right."""
        __tracebackhide__ = True
        problem = None
        try:
            subject = self._subject()
            expect_usable(subject)
            expect_set_up(subject)
        except SetUpError as error:
            problem = str(error)
        if problem is not None:
            self.fail(problem)

    def _note_attempts(self, check: Check, outcome: Outcome, expected: str | None) -> None:
        egress = BY_NAME["faults/egress"]
        declared = {*_reasons(type(self), "expected_failures"), *_reasons(type(self), "skips")}
        if check is not egress and expected is None and egress.id not in declared:
            type(self)._attempts.extend(outcome.attempts)


class ModelContractTestCase(_ContractTestCase):
    """Holds a synchronous adapter to the contract.

    Subclass it, give `new_model` and `event` (or a `wire`), and run `python -m unittest`.

    Attributes:
        new_model: `(base_url, client)` → the adapter pointed at `base_url`, using `client`. A
            method, staticmethod, class, partial or plain function.
        event: `(i)` → the i-th server-sent event of an endless text response, blank line
            included, not ending the turn; str or bytes.
        wire: a wire format; unlocks the checks that need whole turns.
        transport: which client `new_model` is handed.
        request: what the checks stream.
        model_error: the exception type, or types, by which a turn fails.
        config_error: the same for a request that cannot be sent.
        api_key: a recognisable secret to hand to the adapter.
        retries: extra requests the adapter may send before the first event.
        idle_timeout: seconds of silence after which the adapter gives up, if it does.
        refused_tool_names: names the adapter refuses by a rule of its own.
        accepted_tool_names: names the adapter accepts by a rule of its own.
        expected_failures: check → reason. One that passes fails.
        skips: check → reason.
        strict: SHOULD checks fail instead of warning.
        deadline: seconds within which something must happen; an upper limit only, scaled by
            the environment variable MODELTEST_DEADLINE_SCALE.
    """

    _consumer = SyncConsumer


class AsyncModelContractTestCase(_ContractTestCase):
    """Holds an asynchronous adapter to the contract; the attributes are the same."""

    _consumer = AsyncConsumer


def _attach(cls: type, name: str, method: Callable[..., None]) -> None:
    """Add a test method, unless the class or a base of it in the author's code has its own."""
    if getattr(getattr(cls, name, None), "_by_modeltest", True):
        method._by_modeltest = True  # type: ignore[attr-defined] # told apart from the author's
        method.__name__ = name
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)


def _check_method(check: Check, expected: str | None) -> Callable[..., None]:
    def method(self: _ContractTestCase) -> None:
        self._judge(check, expected)

    suffix = f" (expected to fail: {expected})" if expected else ""
    level = "" if check.level is Level.MUST else f" [{check.level}]"
    method.__doc__ = f"{check.requirement}{level}{suffix}\n\n{check.why}\n"
    return method


def _setup_method() -> Callable[..., None]:
    def method(self: _ContractTestCase) -> None:
        self._judge_set_up()

    method.__doc__ = "The test case gives what the checks need: new_model, and event or wire."
    return method


def _reasons(cls: type[_ContractTestCase], attribute: str) -> dict[str, str]:
    """Return an attribute check → reason, by the checks' ids."""
    given = getattr(cls, attribute)
    if not isinstance(given, Mapping):
        raise TypeError(
            f"{cls.__name__}.{attribute}: expected a dict of check name → reason, got {given!r}"
        )
    for name, reason in given.items():
        if name not in BY_NAME:
            raise TypeError(
                f"{cls.__name__}.{attribute} names {name!r}, which is no check; see "
                "`python -m modeltest checks`"
            )
        if not isinstance(reason, str) or not reason.strip():
            raise TypeError(f"{cls.__name__}.{attribute}[{name!r}] needs a reason, got {reason!r}")
    return {BY_NAME[name].id: reason for name, reason in given.items()}


def _raise(error: BaseException) -> None:
    raise error


def _deadline_scale() -> float:
    text = os.environ.get("MODELTEST_DEADLINE_SCALE", "1")
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not scale > 0:
        raise SetUpError(f"MODELTEST_DEADLINE_SCALE: expected a number above 0, got {text!r}")
    return scale
