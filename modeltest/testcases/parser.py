"""`SSEReaderTestCase`: a reader held to the contract as unittest test methods, in memory."""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from modeltest.checks import IN_MEMORY
from modeltest.corpus import recorded_body
from modeltest.delivery import Parser, ParserContext, run_in_memory, watched
from modeltest.encoding import Framing, WireFormat
from modeltest.harness import ContractWarning, Failure, SetUpError, Status
from modeltest.interface import ModelError
from modeltest.testcases.attach import (
    attach,
    attach_check,
    judging_method,
    reasons_of,
    warn_at,
    warn_of_slips,
)
from modeltest.testcases.hooks import hook
from modeltest.testcases.settings import deadline_scale

if TYPE_CHECKING:
    from modeltest.encoding import Body
    from modeltest.harness import Check


__unittest = True  # keeps this module's lines out of a failure's traceback

SETUP_TEST = "test_reader_is_set_up"
"""The one test that fails when the test case itself is not right; all others then skip."""

_WHOLE = IN_MEMORY[0].method
"""The test of whole bodies. A parser that does not even read those leaves the others nothing."""

_METHODS = {name: (check.method,) for check in IN_MEMORY for name in (check.id, check.method)}


class SSEReaderTestCase(unittest.TestCase):
    """Holds a reader of response bodies to the contract: in memory, with no server.

    Subclass it, give `stream_sse` and `bodies` (or a `wire`, or both), and run
    `python -m unittest`. The class itself has no tests, so importing it adds none.

    Attributes:
        stream_sse: `(body)` → the events of the turn, as an iterable. `body` is a binary file. A
            method, staticmethod, partial or plain function.
        bodies: recorded answers, each whole: bytes or str, or a dict of name → bytes or str.
            Every cut of them is read, which takes a time that grows with the square of their
            length: let them be short.
        wire: a wire format; it encodes bodies of every kind, and says what each means.
        model_error: the exception type, or types, by which a turn fails.
        expected_failures: check → reason. One that passes fails.
        skips: check → reason.
        strict: SHOULD checks fail instead of warning.
        deadline: seconds within which the reader must be done with one body; an upper limit only,
            scaled by the environment variable MODELTEST_DEADLINE_SCALE.
    """

    bodies: Any = None
    wire: Any = None
    model_error: Any = ModelError
    expected_failures: Mapping[str, str] = {}
    skips: Mapping[str, str] = {}
    strict: bool = False
    deadline: float = 10.0

    _found: ClassVar[_Found | None]

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
        listing = "`python -m modeltest checks --parser`"
        expected = reasons_of(cls, "expected_failures", _METHODS, listing)
        skipped = reasons_of(cls, "skips", _METHODS, listing)
        cls._found = None
        warn_of_slips(cls, _READ, ContractWarning)
        if abstract:
            return
        given = "The test case gives what is needed: stream_sse, and bodies or wire."
        attach(cls, SETUP_TEST, judging_method(given, lambda case: case._look().problem))
        for check in IN_MEMORY:
            reason = expected.get(check.method)
            attach_check(
                cls,
                check,
                partial(cls._judge, check=check, expected=reason),
                expected=reason,
                skipped=skipped.get(check.method),
            )

    def _look(self) -> _Found:
        """Return what the first reading shows; it is made once a class."""
        cls = type(self)
        if cls._found is None:
            cls._found = _look_at(self)
        return cls._found

    def _judge(self, check: Check, expected: str | None) -> str:
        """Run a check; return the text of its failure, or "" if it does not fail."""
        found = self._look()
        if found.problem:
            self.skipTest(f"see {SETUP_TEST}: {found.problem.splitlines()[0]}")
        if found.fault and check.method != _WHOLE:
            self.skipTest(f"see {_WHOLE}: {found.fault.splitlines()[0]}")
        outcome = run_in_memory(_context_of(self, check))
        match outcome.status:
            case Status.SKIPPED:
                self.skipTest(outcome.text)
            case Status.WARNED if not self.strict and expected is None:
                warn_at(type(self), ContractWarning, outcome.text)
            case Status.WARNED | Status.FAILED:
                return outcome.text
        return ""


_READ = ("stream_sse", *(n for n in SSEReaderTestCase.__annotations__ if n[0] != "_"))


class _Found(NamedTuple):
    """What is wrong from the first, so that other checks have nothing to judge.

    Attributes:
        problem: with the test case itself.
        fault: of the reader, in a whole answer: a rule broken that holds for any body.
    """

    problem: str = ""
    fault: str = ""


def _look_at(case: SSEReaderTestCase) -> _Found:
    try:
        context = _context_of(case, IN_MEMORY[0])
        watched(partial(_read_first, context), context.parser, context.deadline)
    except (SetUpError, *ParserContext.skips) as error:
        return _Found(problem=str(error))
    except Failure as failure:
        text = failure.with_fix
        return _Found(problem=text) if text.startswith("reader/iterable") else _Found(fault=text)
    return _Found()


def _read_first(context: ParserContext) -> None:
    context.parser.read(context.plain_bodies()[0].data)


def _context_of(case: SSEReaderTestCase, check: Check) -> ParserContext:
    """Return the attributes of a test case as what a check is given.

    Raises:
        SetUpError: one of them cannot be used; the text says what is expected.
    """
    owner = type(case).__name__
    wire = _wire_of(case)
    framing = Framing.SSE if wire is None else wire.framing
    recorded = tuple(_recorded(owner, case.bodies, framing))
    if wire is None and not recorded:
        raise SetUpError(
            f"{owner} has nothing to read: give bodies = {{name: bytes}}, or a wire such as "
            "OpenAIChat()"
        )
    deadline: Any = case.deadline
    if not isinstance(deadline, int | float) or not deadline > 0:
        raise SetUpError(f"{owner}.deadline: expected seconds above 0, got {deadline!r}")
    try:
        parser = Parser(hook(case, "stream_sse", "body"), case.model_error)
    except TypeError as error:
        raise SetUpError(f"{owner}.{error}") from None
    return ParserContext(check, parser, wire, recorded, deadline * deadline_scale())


def _wire_of(case: SSEReaderTestCase) -> WireFormat | None:
    given = case.wire
    if isinstance(given, type) and issubclass(given, WireFormat):
        given = given()
    if given is None or isinstance(given, WireFormat):
        return given
    raise SetUpError(
        f"{type(case).__name__}.wire: expected a WireFormat such as OpenAIChat(), got {given!r}"
    )


def _recorded(owner: str, given: Any, framing: Framing) -> list[Body]:
    """Return the author's bodies.

    Raises:
        SetUpError: one of them is no bytes, or empty.
    """
    named = given if isinstance(given, Mapping) else {} if given is None else {"the body": given}
    bodies = []
    for name, body in named.items():
        data = body.encode() if isinstance(body, str) else body
        what = f"{owner}.bodies[{name!r}]" if named is given else f"{owner}.bodies"
        if not isinstance(data, bytes | bytearray):
            raise SetUpError(f"{what}: expected the body as bytes or str, got {body!r:.80}")
        if not data:
            raise SetUpError(f"{what} is empty: expected a whole answer")
        bodies.append(recorded_body(str(name), bytes(data), framing))
    return bodies
