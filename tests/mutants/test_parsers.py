"""Each broken stream parser is caught by the checks named for it, in memory and over HTTP.

In memory every mutant is tried. Over HTTP those are whose fault is of the adapter, and of the
others one for each check: what becomes of the bytes is the same code. Where MODELTEST_ALL_CHECKS is
set, every mutant is tried in both ways with every check, those that it passes too.
"""

import gc
import os
import unittest
import warnings
from fnmatch import fnmatchcase
from unittest import mock

from modeltest.checks import ALL, BY_NAME, IN_MEMORY
from modeltest.delivery import Target, run
from modeltest.harness import Need, Status
from modeltest.harness.secret import Secret
from modeltest.transports import Urllib3Transport
from modeltest.wire import AnthropicMessages, OpenAIChat
from tests.reader.bodies import ShortChat
from tests.reader.running import case_of, failed

from .parsers import calls, correct, ends, finish, framing, rules, served
from .parsers.table import BROKEN

EVERYTHING = "MODELTEST_ALL_CHECKS" in os.environ
SHORT, WIRE = ShortChat(), OpenAIChat()
"""One of each: what a check asks of a wire format is made once."""

METHODS = {check.id: check.method for check in IN_MEMORY}
SERVED = {
    check.id: check
    for check in ALL
    if check.in_memory or Need.WIRE in check.needs or check.group == "framing"
}
"""Checks over HTTP that have a mutant here."""

REPRESENTATIVES = {
    mutant: [
        check
        for check in row.must
        if check in SERVED
        and mutant is next(m for m, r in BROKEN.items() if check in r.must and not r.in_memory_only)
    ]
    for mutant, row in BROKEN.items()
}
"""Mutant → the checks that it alone is tried with over HTTP."""


def parser_of(mutant):
    return mutant() if issubclass(mutant, correct.ChatParser) else mutant


def in_memory(mutant, ids):
    """Return the ids of those checks that a parser does not pass in memory, with their texts."""
    names = {METHODS[id_]: id_ for id_ in METHODS if id_ in ids}
    found = failed(case_of(parser_of(mutant), wire=SHORT, strict=True), *names)
    return {names[name]: text for name, text in found.items()}


def over_http(mutant, ids):
    """Return the same over HTTP."""
    target = Target(new_model=correct.adapter_of(mutant), event=WIRE.event, wire=WIRE)
    outcomes = [run(BY_NAME[id_], target) for id_ in ids]
    return {
        outcome.check.id: outcome.text
        for outcome in outcomes
        if outcome.status in (Status.FAILED, Status.WARNED)
    }


class TestParsers(unittest.TestCase):
    """Two tests a mutant at most; they are attached below."""

    def setUp(self):
        # Mutants leak sockets, which warn when they are collected.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)
        self.enterContext(mock.patch.dict(os.environ, {"MODELTEST_EXAMPLES": "20"}))
        self.addCleanup(gc.collect)

    def expect(self, mutant, must, found):
        row = BROKEN[mutant]
        texts = "\n".join(found.values())
        self.assertLessEqual(set(must), set(found), texts)
        others = [id_ for id_ in found if not any(fnmatchcase(id_, may) for may in row.allowed)]
        self.assertEqual(others, [], texts)
        for id_, text in found.items():
            self.assertTrue(text.removeprefix("AssertionError: ").startswith(f"{id_}: "), text)
            self.assertRegex(text, r"\n  fix      \S")
            self.assertFalse(Secret(Target.api_key).is_in(text))
        if row.says and row.must[0] in found:
            self.assertRegex(found[row.must[0]], row.says)

    def test_a_correct_one_passes(self):
        self.assertEqual(in_memory(correct.ChatParser, METHODS), {})
        # It stops at the marker, and so takes a connection a turn, which release/finished warns of.
        self.assertEqual(over_http(correct.ChatParser, SERVED.keys() - {"release/finished"}), {})

    def test_reasoning_is_compared_too(self):
        wire = AnthropicMessages()
        target = Target(
            new_model=served.LosesSignatures,
            event=wire.event,
            wire=wire,
            transport=Urllib3Transport(),
        )
        outcome = run(BY_NAME["truncation/prefix"], target)
        self.assertRegex(
            outcome.text, "short reasoning, then text: the answer's reasoning: not what"
        )


class TestTable(unittest.TestCase):
    def test_every_check_has_a_mutant(self):
        caught = {id_ for row in BROKEN.values() for id_ in row.must}
        self.assertEqual({*METHODS, *SERVED} - caught, set())
        self.assertEqual(caught - {*METHODS, *(check.id for check in ALL)}, set())

    def test_every_check_is_tried_in_each_way(self):
        tried = {id_ for ids in REPRESENTATIVES.values() for id_ in ids}
        self.assertEqual({*SERVED} - tried, set())

    def test_every_mutant_is_in_the_table(self):
        # What a test of `read_sse` or of the set-up needs, and what catches those is no check.
        apart = {rules.GivesNone, rules.IsAsynchronous, rules.SpinsForEver, rules.Iterated}
        bases = (correct.ChatParser, correct.ChatModel, rules.Iterated)
        defined = {
            value
            for module in (framing, finish, calls, ends, rules, served)
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, bases)
            and value.__module__ == module.__name__
        }
        self.assertEqual(defined - apart, set(BROKEN))


def attach(name, mutant, judge, must, everything):
    def test(self):
        found = judge(mutant, everything if EVERYTHING else must)
        self.expect(mutant, must, found)

    test.__doc__ = mutant.__doc__
    setattr(TestParsers, f"test_{mutant.__name__}_{name}", test)


for _mutant, _row in BROKEN.items():
    if not _row.served:
        _must = [id_ for id_ in _row.must if id_ in METHODS]
        attach("in_memory", _mutant, in_memory, _must, METHODS)
    if _row.served:
        attach("over_http", _mutant, over_http, _row.must, _row.must)
    elif not _row.in_memory_only and (EVERYTHING or REPRESENTATIVES[_mutant]):
        _must = (
            [id_ for id_ in _row.must if id_ in SERVED] if EVERYTHING else REPRESENTATIVES[_mutant]
        )
        _others = [id_ for id_ in SERVED if SERVED[id_].in_memory]
        attach("over_http", _mutant, over_http, _must, {*_must, *_others})


if __name__ == "__main__":
    unittest.main()
