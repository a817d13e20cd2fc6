"""Each adapter that is careless about tools is caught by the checks named for it.

As in test_mutants.py, it is tried with those checks alone unless MODELTEST_ALL_CHECKS is set.

Each is judged twice: with the wire format, and with its events alone, as if the shape of the
requests were not known.
"""

import os
import unittest
from dataclasses import replace

from modeltest.checks import ALL, name_of
from modeltest.delivery import Target, run
from modeltest.harness import Status
from modeltest.wire import OpenAIChat

from . import tooling
from .parsers.correct import ChatModel

CHECKS = tuple(check for check in ALL if check.group == "tools")
CONFIG, ACCEPTED, TRAPS, HISTORY = "tools/config", "tools/accepted", "tools/traps", "tools/history"
OWN_REFUSED, OWN_ACCEPTED = "test_refused_tool_names", "test_accepted_tool_names"

CORRECT = (
    tooling.Careful,
    tooling.RewritesHistory,
    tooling.ForgetsHistory,
    tooling.TellsHistory,
    tooling.LeavesOutToolsForNone,
    tooling.KeepsNamesBeside,
    tooling.NamesEveryWay,
)

EVERYTHING = "MODELTEST_ALL_CHECKS" in os.environ

MUTANTS = {
    # mutant: the checks that must fail for it
    # The rule for names.
    tooling.MatchAndDollar: {TRAPS},
    tooling.AnyDigit: {TRAPS},
    tooling.IgnoresCase: {TRAPS},
    tooling.ManyLines: {TRAPS},
    tooling.Strips: {TRAPS},
    # The é of "résumé" is a letter to these: it takes no trap to see it.
    tooling.Alphanumeric: {CONFIG, TRAPS},
    tooling.WordCharacters: {CONFIG, TRAPS},
    tooling.FirstToolOnly: {CONFIG, TRAPS},
    tooling.LastToolOnly: {CONFIG, TRAPS},
    tooling.LimitOffByOne: {CONFIG},
    tooling.EmptyIsLegal: {CONFIG},
    tooling.LimitBelow: {ACCEPTED},
    tooling.LettersFirst: {ACCEPTED},
    tooling.NoRuleOfItsOwn: {OWN_REFUSED},
    tooling.SaysNothing: {OWN_REFUSED},
    tooling.RefusesItsOwn: {OWN_ACCEPTED},
    # What else is to be refused.
    tooling.KeepsDuplicates: {CONFIG},
    tooling.MergesDuplicates: {CONFIG},
    tooling.DuplicatesOfTheFirst: {CONFIG},
    tooling.ChoosesInAnyCase: {CONFIG},
    tooling.ModeOfToolsAlone: {CONFIG},
    tooling.UndeclaredChoice: {CONFIG},
    tooling.NamelessChoice: {CONFIG},
    tooling.AnyMode: {CONFIG},
    tooling.ChoiceDroppedWithoutTools: {CONFIG},
    tooling.ChecksNothing: {CONFIG, TRAPS, OWN_REFUSED, HISTORY},
    tooling.ChecksAfterSending: {CONFIG, TRAPS, OWN_REFUSED, HISTORY},
    tooling.RaisesValueError: {CONFIG, TRAPS, OWN_REFUSED, HISTORY},
    # What is sent.
    tooling.SanitisesNames: {CONFIG, TRAPS, OWN_REFUSED},
    tooling.LowersNames: {ACCEPTED},
    tooling.ChoiceWithoutTools: {ACCEPTED},
    tooling.RefusesChoiceWithoutTools: {ACCEPTED},
    tooling.DropsTheChoice: {ACCEPTED},
    tooling.RequiresAny: {ACCEPTED},
    tooling.RequiresNothing: {ACCEPTED},
    tooling.NoneIsAuto: {ACCEPTED},
    tooling.DropsParameters: {ACCEPTED},
    tooling.DropsTools: {ACCEPTED, OWN_ACCEPTED},
    tooling.SendsTwice: {ACCEPTED, OWN_ACCEPTED},
    tooling.MirrorsElsewhere: {ACCEPTED, OWN_ACCEPTED},
    tooling.SendsElsewhere: {ACCEPTED, OWN_ACCEPTED},
    tooling.SendsUncheckedElsewhere: {*map(name_of, CHECKS)},
    tooling.ChecksAfterSendingElsewhere: {*map(name_of, CHECKS)},
    # What was called before.
    tooling.HistoryAsItIs: {HISTORY},
    tooling.HistoryOfResults: {HISTORY},
    tooling.HistoryShortened: {HISTORY},
    tooling.HistoryOfFirstCalls: {HISTORY},
    tooling.HistoryOfTheLastMessage: {HISTORY},
    tooling.HistoryOfAnyLength: {HISTORY},
    tooling.HistoryNumbered: {HISTORY},
    tooling.HistoryInOneName: {HISTORY},
}

MAY: dict[type, set[str]] = {}
"""Mutant → other checks that its fault may show in."""

SEEN_WITH_THE_WIRE_ALONE = {
    tooling.DropsTheChoice,
    tooling.RequiresAny,
    tooling.RequiresNothing,
    tooling.NoneIsAuto,
    tooling.HistoryNumbered,
    tooling.HistoryOfResults,
    tooling.HistoryInOneName,
}
"""Only who knows where a request says something sees that it does not say it."""

RIGHT_WITH_THE_WIRE_ALONE = {tooling.KeepsNamesBeside}
"""Only who knows where a request says something sees that elsewhere it does not matter."""

SAYS = {
    tooling.MatchAndDollar: (
        r"\Atools/traps: tool name 'get_weather\\n': sent: 1 request, and the adapter raised "
        r"nothing; expected ConfigError and no request\.\n  request  POST /chat/completions\n"
        r'           \{.*"name": "get_weather\\n".*\}\n  server   .*\n  client   .*\n  fix      .*\Z'
    ),
    tooling.ChecksAfterSending: (
        r"- tool name 'get weather': sent: 1 request, and then the adapter raised ConfigError: "
        r"tool name 'get weather'; expected ConfigError and no request\.\n"
    ),
    tooling.RaisesValueError: (
        r"- tool name 'get weather': nothing was sent, and the adapter raised ValueError: tool name "
        r"'get weather'; expected ConfigError and no request\.\n  request  none\n"
        r"  raised   (.*\n)+?.*tooling\.py:\d+ in check: raise ValueError(.*\n)+"
        r"  fix      raise ConfigError for it, or set config_error to what the adapter raises\n"
    ),
    tooling.LimitOffByOne: r"tools/config: tool name 'aaa'… \(65 characters\): sent: 1 request",
    tooling.LimitBelow: (
        r"- tool name 'aaa'… \(64 characters\): not sent; expected exactly one request; the adapter "
        r"raised ConfigError: tool name 'a+'\.\n  request  none\n"
    ),
    tooling.KeepsDuplicates: "- two tools of one name, the last ones: sent: 1 request",
    tooling.UndeclaredChoice: (
        r"- tool choice of a tool that is not declared, 'get_time': sent: 1 request, .*\n"
        r'  request  .*\n .*"tool_choice": \{.*"name": "get_time"'
    ),
    tooling.AnyMode: "tool choice of an unknown mode, 'sometimes': sent",
    tooling.SaysNothing: (
        r"\Atools/names: tool name 'weather_': refused, but the error does not quote the name: "
        r"ConfigError: a tool has a name that .*; expected 'weather_' in it\.\n"
    ),
    tooling.LowersNames: r"expected 'getWeather2' in the request, got 'getweather2'\.\n",
    tooling.ChoiceWithoutTools: (
        r"- tool choice 'none' without tools: a tool choice was sent without tools: \"none\"; "
        r"expected none\.\n"
    ),
    tooling.DropsTheChoice: (
        r"- tool choice 'required': the tool choice 'required' is not in the request: it asks for "
        r"something else\.\n"
    ),
    tooling.RequiresAny: r"expected 'get_time' in the tool choice, got \"required\"\.\n",
    tooling.DropsTools: "expected 'get_weather' in the request, got no tool",
    tooling.SendsTwice: r"- tool name '_x': sent in 2 requests; expected exactly one\.\n",
    tooling.MirrorsElsewhere: (
        r"- tool name 'a-1': sent in 2 requests; expected exactly one\.\n  request  POST /chat/comple"
        r"tions\n.*\n           POST https://api\.example\.com/\n"
    ),
    tooling.SendsElsewhere: (
        r"- tool name 'a-1': sent elsewhere; expected one request to base_url; the adapter raised "
        r"ModelError: modeltest refused to connect to api\.example\.com.*\n"
        r"  request  POST https://api\.example\.com/chat/completions\n.*\n  server   received no req"
    ),
    tooling.ChecksAfterSendingElsewhere: (
        r"- tool name 'get weather': sent elsewhere: 1 request, and then the adapter raised "
        r"ConfigError: tool name 'get weather'; expected ConfigError and no request\.\n"
    ),
    tooling.HistoryAsItIs: (
        r"twice: sent as names of earlier calls, though they are illegal: '\$READFILE', 'read file', "
        r"'\$READFILE'; expected a refusal \(ConfigError\), or legal names\.\n  request  "
    ),
    tooling.HistoryOfResults: (
        r"the results of 2 earlier calls were sent, and 1 of the calls; expected each call with its "
        r"result\.\n  request  "
    ),
    tooling.HistoryNumbered: (
        r"were rewritten inconsistently: '\$READFILE', 'read file', '\$READFILE' became 'tool_1', "
        r"'tool_2', 'tool_3'; expected the same name for the same one"
    ),
}
"""What the first check that fails says: what was sent, and what came of it."""

WIRE = OpenAIChat()
SUBJECT = Target(
    new_model=tooling.Careful,
    event=WIRE.event,
    wire=WIRE,
    refused_tool_names=("weather_",),
    accepted_tool_names=("weather_2",),
    deadline=5.0,
)


class TestTooling(unittest.TestCase):
    """One test a mutant, and a correct adapter; they are attached below."""

    def judge(self, model, expected, **changes):
        target = replace(SUBJECT, new_model=model, **changes)
        named = MUTANTS.get(model, set())
        everything = EVERYTHING or not named
        checks = [check for check in CHECKS if everything or name_of(check) in named]
        outcomes = [run(check, target) for check in checks]
        failed = {
            name_of(outcome.check): outcome
            for outcome in outcomes
            if outcome.status in (Status.FAILED, Status.WARNED)
        }
        text = "\n".join(outcome.text for outcome in failed.values())
        self.assertLessEqual(expected, set(failed), text)
        self.assertLessEqual(set(failed), expected | MAY.get(model, set()), text)
        for name, outcome in failed.items():
            should = name == HISTORY or model is tooling.DropsParameters
            self.assertEqual(outcome.status is Status.WARNED, should)
            self.assertRegex(outcome.text, r"\n  fix      \S.*\Z")
            self.assertFalse(target.secret.is_in(outcome.text), outcome.text)
            cases = max(1, outcome.text.count("\n- "))
            self.assertEqual(outcome.text.count("\n  request  "), cases, outcome.text)
        return text

    def test_the_names_are_in_the_table(self):
        defined = {
            value
            for value in vars(tooling).values()
            if isinstance(value, type) and issubclass(value, tooling.Careful)
        }
        self.assertEqual(defined, {*CORRECT, *MUTANTS})
        caught = set().union(*MUTANTS.values())
        self.assertEqual(caught, {*map(name_of, CHECKS)})

    def test_an_adapter_of_whole_turns_passes(self):
        self.judge(ChatModel, set(), refused_tool_names=())  # it has no rule of its own

    def test_every_failing_case_is_told_with_its_request(self):
        text = self.judge(tooling.ChecksNothing, MUTANTS[tooling.ChecksNothing])
        for trap in WIRE.tool_names.traps:
            self.assertIn(f"\n- tool name {trap!a}: sent: 1 request, ", text)


def _test(model, expected):
    def test(self):
        text = self.judge(model, expected)
        self.assertRegex(text, SAYS.get(model, "^"))
        unseen = model in SEEN_WITH_THE_WIRE_ALONE
        if model not in RIGHT_WITH_THE_WIRE_ALONE:
            self.judge(model, set() if unseen else expected, wire=None)

    test.__doc__ = model.__doc__
    return test


for _model in CORRECT:
    setattr(TestTooling, f"test_{_model.__name__}", _test(_model, set()))
for _model, _expected in MUTANTS.items():
    setattr(TestTooling, f"test_{_model.__name__}", _test(_model, _expected))
