"""`SSEReaderTestCase`: a reader held to the contract as unittest test methods, in memory."""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

from modeltest.harness import Failure, Level, SetUpError, Skip
from modeltest.interface import ModelError
from modeltest.reader.clause import Clause
from modeltest.reader.reading import Reader
from modeltest.reader.spellings import SPELLINGS
from modeltest.reader.trial import ReaderTrial, recorded_body
from modeltest.reader.watch import run_watched
from modeltest.reader.whole import WHOLE, whole_body_is_its_turn
from modeltest.testcases import (
    ContractWarning,
    attach,
    attach_rule,
    deadline_scale,
    hook,
    judging_method,
    reasons_of,
    warn_at,
    warn_of_slips,
)
from modeltest.wire import Body, Framing, WireFormat

__unittest = True  # keeps this module's lines out of a failure's traceback

CLAUSES: tuple[Clause, ...] = (*WHOLE, *SPELLINGS)
"""Every clause that a reader is held to."""

SETUP_TEST = "test_reader_is_set_up"
"""The one test that fails when the test case itself is not right; all others then skip."""

_METHODS = {name: (clause.method,) for clause in CLAUSES for name in (clause.id, clause.method)}


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
        wire: a wire format; it spells bodies of every kind, and says what each means.
        model_error: the exception type, or types, by which a turn fails.
        expected_failures: clause → reason. One that passes fails.
        skips: clause → reason.
        strict: SHOULD clauses fail instead of warning.
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
        """Attach one test method a clause.

        Args:
            abstract: the class is a base of the author's own; it is given no tests.
            kwargs: for further bases.

        Raises:
            TypeError: `expected_failures` or `skips` names a clause that does not exist, or
                gives no reason.
        """
        super().__init_subclass__(**kwargs)
        listing = "modeltest.reader.CLAUSES"
        expected = reasons_of(cls, "expected_failures", _METHODS, listing)
        skipped = reasons_of(cls, "skips", _METHODS, listing)
        cls._found = None
        warn_of_slips(cls, _READ, ContractWarning)
        if abstract:
            return
        given = "The test case gives what is needed: stream_sse, and bodies or wire."
        attach(cls, SETUP_TEST, judging_method(given, lambda case: case._look().problem))
        for clause in CLAUSES:
            reason = expected.get(clause.method)
            attach_rule(
                cls,
                clause,
                partial(cls._judge, clause=clause, expected=reason),
                expected=reason,
                skipped=skipped.get(clause.method),
            )

    def _look(self) -> _Found:
        """Return what the first reading shows; it is made once a class."""
        cls = type(self)
        if cls._found is None:
            cls._found = _look_at(self)
        return cls._found

    def _judge(self, clause: Clause, expected: str | None) -> str:
        """Run a clause; return the text of its failure, or "" if it does not fail."""
        found = self._look()
        if found.problem:
            self.skipTest(f"see {SETUP_TEST}: {found.problem.splitlines()[0]}")
        if found.fault and clause is not whole_body_is_its_turn:
            self.skipTest(f"see {whole_body_is_its_turn.method}: {found.fault.splitlines()[0]}")
        trial = _trial_of(self)
        try:
            run_watched(clause.run, trial)
        except Skip as skip:
            trial.leave_unjudged(str(skip))
        except Failure as failure:
            trial.broken.append(("", failure))
        text = trial.report(clause.id, clause.fix)
        if not text and not trial.tried:
            self.skipTest("; ".join(trial.unjudged) or "the bodies leave nothing to try")
        if text and clause.level is Level.SHOULD and not self.strict and expected is None:
            warn_at(type(self), ContractWarning, text)
            return ""
        return text


_READ = ("stream_sse", *(n for n in SSEReaderTestCase.__annotations__ if n[0] != "_"))


class _Found(NamedTuple):
    """What is wrong from the first, so that other clauses have nothing to judge.

    Attributes:
        problem: with the test case itself.
        fault: of the reader, in a whole answer: a rule broken that holds for any body.
    """

    problem: str = ""
    fault: str = ""


def _look_at(case: SSEReaderTestCase) -> _Found:
    try:
        trial = _trial_of(case)
        run_watched(_read_first, trial)
    except (SetUpError, Skip) as error:
        return _Found(problem=str(error))
    except Failure as failure:
        text = failure.with_fix
        return _Found(problem=text) if text.startswith("reader/iterable") else _Found(fault=text)
    return _Found()


def _read_first(trial: ReaderTrial) -> None:
    trial.read(trial.answers[0])


def _trial_of(case: SSEReaderTestCase) -> ReaderTrial:
    """Return the attributes of a test case, ready to be tried.

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
        reader = Reader(hook(case, "stream_sse", "body"), case.model_error)
    except TypeError as error:
        raise SetUpError(f"{owner}.{error}") from None
    return ReaderTrial(reader, wire, recorded, deadline * deadline_scale())


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
