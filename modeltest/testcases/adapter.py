"""`ModelContractTestCase`: the contract as unittest test methods, one a check."""

from __future__ import annotations

import unittest
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.checks import ALL, BY_NAME, METHODS
from modeltest.consumer import AsyncConsumer, SyncConsumer
from modeltest.delivery import Target, run
from modeltest.harness import (
    ContractWarning,
    Evidence,
    Level,
    Need,
    Outcome,
    Secret,
    SetUpError,
    Status,
    refused,
)
from modeltest.interface import ConfigError, ModelError
from modeltest.testcases.attach import (
    attach,
    attach_check,
    judging_method,
    reasons_of,
    warn_at,
    warn_of_slips,
)
from modeltest.testcases.preflight import SET_UP
from modeltest.testcases.settings import HOUR, settings_of
from modeltest.transports import OwnTransport, RequestsTransport

if TYPE_CHECKING:
    from modeltest.consumer import Consumer
    from modeltest.harness import Check
    from modeltest.interface import Request
    from modeltest.transports import Attempt, Transport


__unittest = True  # keeps this module's lines out of a failure's traceback


SETUP_TEST = SET_UP.method
"""The one test that fails when the test case itself is not right; all others then skip."""

_EGRESS = "faults/egress"
_SHOULD = f" [{Level.SHOULD}]"
"""After a check's name in `expected_failures`: its SHOULD cases alone are expected to fail."""
_PATIENCE = 60
"""By which `idle_timeout` is multiplied where no silence is tested."""
_EXPECTABLE = {
    **METHODS,
    **{
        name + _SHOULD: tuple(method + _SHOULD for method in methods)
        for name, methods in METHODS.items()
    },
}


class _ContractTestCase(unittest.TestCase):
    """Attaches the checks to each subclass; has no test itself, so importing it adds none."""

    transport: Transport = RequestsTransport()
    wire: Any = None
    request: Request = Target.request
    model_error: Any = ModelError
    config_error: Any = ConfigError
    api_key: str = Target.api_key
    retries: int = 0
    idle_timeout: float | None = None
    refused_tool_names: tuple[str, ...] = ()
    accepted_tool_names: tuple[str, ...] = ()
    expected_failures: Mapping[str, str] = {}
    skips: Mapping[str, str] = {}
    strict: bool = False
    deadline: float = 2.0
    open_stream: Any = None
    translate: Any = None

    _consumer: ClassVar[type[Consumer]]
    _declared: ClassVar[frozenset[str]]
    _problem: ClassVar[str | None]
    _attempts: ClassVar[list[Attempt]]
    _secret: ClassVar[Secret]

    def __init_subclass__(cls, *, abstract: bool = False, **kwargs: Any) -> None:
        """Attach one test method a check.

        Args:
            abstract: the class is a base of the author's own; it is given no tests.
            kwargs: for further bases.

        Raises:
            TypeError: `expected_failures` or `skips` names a check that does not exist, or
                gives no reason.
        """
        super().__init_subclass__(**kwargs)
        listing = "`python -m modeltest checks`"
        expected = reasons_of(cls, "expected_failures", _EXPECTABLE, listing)
        skipped = reasons_of(cls, "skips", METHODS, listing)
        cls._declared = frozenset({*expected, *skipped})
        cls._problem = None
        cls._attempts = []
        warn_of_slips(cls, _READ, ContractWarning)
        if abstract:
            return
        attach(cls, SETUP_TEST, judging_method(SET_UP.requirement, cls._find_problem))
        for check in ALL:
            whole, part = expected.get(check.method), expected.get(check.method + _SHOULD)
            attach_check(
                cls,
                check,
                partial(cls._judge, check=check, expected=whole or part, must_hold=whole is None),
                expected=whole or part,
                skipped=skipped.get(check.method),
            )

    def _judge(self, check: Check, expected: str | None, *, must_hold: bool) -> str:
        """Run a check; return the text of its failure, or "" if it does not fail.

        Args:
            check: the check.
            expected: why it is expected to fail, if it is.
            must_hold: that is so of its SHOULD cases alone.
        """
        try:
            problem = self._find_problem()
            if problem:
                self.skipTest(f"see {SETUP_TEST}: {problem.splitlines()[0]}")
            outcome = self.outcome_of(check)
        except unittest.SkipTest:
            raise
        except Exception as fault:
            if not isinstance(fault, SetUpError):
                fault.add_note("modeltest failed here, not the adapter; please report it.")
            if expected is not None:
                self._end_with(fault)
            raise
        self._note_attempts(outcome)
        match outcome.status:
            case Status.SKIPPED:
                self.skipTest(outcome.text)
            case Status.WARNED if not self.strict and expected is None:
                warn_at(type(self), ContractWarning, outcome.text)
            case Status.FAILED if expected is not None and must_hold:
                self._end_with(self.failureException(outcome.text))
                return outcome.text
            case Status.WARNED | Status.FAILED:
                return outcome.text
        return ""

    def outcome_of(self, check: Check) -> Outcome:
        """Run a check; its own `idle_timeout` is for those that test a silence."""
        tests_silence = Need.IDLE_TIMEOUT in check.needs
        with nullcontext() if tests_silence else self._long_idle_timeout():
            return run(check, target_of(self))

    def _end_with(self, error: BaseException) -> None:
        """Let the test end with `error` although unittest expects it to fail.

        It takes what the test raises for the failure that is expected; one more in a cleanup,
        where none is, counts.
        """
        self.addCleanup(_raise, error)

    def _find_problem(self) -> str:
        """Return what is wrong with the test case itself, or ""; tried once a class."""
        cls = type(self)
        if cls._problem is None:
            with self._long_idle_timeout():
                outcome = try_out(self)
            cls._problem = outcome.text if outcome.status is Status.FAILED else ""
            if outcome.status is Status.WARNED:
                warn_at(cls, ContractWarning, outcome.text)
        return cls._problem

    @contextmanager
    def _long_idle_timeout(self) -> Iterator[None]:
        """Let `new_model` see a longer `idle_timeout`: a busy machine's pauses are no silence."""
        given: Any = self.idle_timeout
        changed = False
        if isinstance(given, int | float) and 0 < given <= HOUR:
            with suppress(AttributeError):  # a property of the author's: then it stays
                self.idle_timeout = min(given * _PATIENCE, HOUR)
                changed = True
        try:
            yield
        finally:
            if changed:
                self.idle_timeout = given

    def _note_attempts(self, outcome: Outcome) -> None:
        """Let the class fail at its end for connections to elsewhere that a check saw."""
        cls = type(self)
        egress = BY_NAME[_EGRESS].method
        if outcome.attempts and outcome.check.id != _EGRESS and egress not in cls._declared:
            if not cls._attempts:
                cls.addClassCleanup(cls._report_attempts)
            cls._attempts += outcome.attempts
            cls._secret = Secret(self.api_key)  # the class may have a property there

    @classmethod
    def _report_attempts(cls) -> None:
        attempts, cls._attempts = cls._attempts, []
        text = (
            f"{_EGRESS}: connections to elsewhere were attempted, and refused, during other "
            f"checks; expected none.\n{refused(attempts)}\n"
            f"{Evidence('fix', BY_NAME[_EGRESS].fix)}"
        )
        raise AssertionError(cls._secret.redact(text))


_READ = ("new_model", "event", *(n for n in _ContractTestCase.__annotations__ if n[0] != "_"))


class ModelContractTestCase(_ContractTestCase, abstract=True):
    """Holds a synchronous adapter to the contract.

    Subclass it, give `new_model` and `event` (or a `wire`), and run `python -m unittest`.

    Attributes:
        new_model: `(base_url, client)` → the adapter pointed at `base_url`, using `client`. A
            method, staticmethod, class, partial or plain function.
        event: `(i)` → the i-th server-sent event of an endless text response, blank line
            included, not ending the turn; str or bytes.
        wire: a wire format; unlocks the checks that need whole turns.
        open_stream: `(model, request)` → the stream, for an adapter whose method has another name
            or takes other requests than the kit's; by default `model.stream(request)`. With an
            optional parameter `cancel` it is given the token. It may be `async def`.
        translate: `(event)` → the adapter's own event as one of the kit's, several in order, or
            None for nothing; by default it is taken as it is. A plain function.
        transport: which client `new_model` is given.
        request: what the checks stream.
        model_error: the exception type, or types, by which a turn fails.
        config_error: the same for a request that cannot be sent.
        api_key: a recognisable secret to hand to the adapter.
        retries: extra requests the adapter may send before the first event.
        idle_timeout: seconds of silence after which the adapter gives up, if it does. Hand
            `self.idle_timeout` to it: in all checks but faults/idle this is 60 times as long
            (an hour at most), for the pauses of a busy machine are no silence of the provider's.
        refused_tool_names: names the adapter refuses by a rule of its own.
        accepted_tool_names: names the adapter accepts by a rule of its own.
        expected_failures: check → reason; a check is named by its id or its test method, a
            group of them as in `"tools/*"`. One that passes fails. "release/blocked [SHOULD]"
            expects its SHOULD cases to fail, and no other.
        skips: check → reason.
        strict: SHOULD checks fail instead of warning.
        deadline: seconds within which something must happen; an upper limit only, scaled by
            the environment variable MODELTEST_DEADLINE_SCALE.
    """

    _consumer = SyncConsumer


class AsyncModelContractTestCase(_ContractTestCase, abstract=True):
    """Holds an asynchronous adapter to the contract; the attributes are the same.

    But for `transport`: an asynchronous adapter brings its own client.
    """

    transport: Transport = OwnTransport()
    _consumer = AsyncConsumer


def _raise(error: BaseException) -> None:
    raise error


def target_of(case: Any) -> Target:
    """Return a test case as what the checks are run on.

    Raises:
        SetUpError: one of its attributes cannot be used; the text says what is expected.
    """
    return Target(**settings_of(case))


def try_out(case: Any) -> Outcome:
    """Try a test case on the simplest answer; return what is wrong with it, or doubtful.

    A wrong `event`, or an adapter that ignores its `base_url`, would fail every check in its
    own way; here it is named.
    """
    try:
        return run(SET_UP, target_of(case))
    except SetUpError as error:
        return Outcome(SET_UP, Status.FAILED, str(error))
