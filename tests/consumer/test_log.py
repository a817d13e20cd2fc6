import unittest

from modeltest import ReasoningDelta, TextDelta
from modeltest.consumer.log import Log
from modeltest.threads import without_tracebacks
from tests.consumer.models import WeirdError


def raised(error):
    try:
        raise error
    except BaseException as caught:
        return caught


class TestLog(unittest.TestCase):
    def test_texts(self):
        log = Log()
        for event in (TextDelta("a"), ReasoningDelta("b"), TextDelta(""), None, TextDelta("c")):
            log.add(event)  # None is no event, but counts as taken
        self.assertEqual(log.text, "ac")
        self.assertEqual(log.texts, ["a", "b", "c"])
        self.assertEqual(log.progress.count, 5)

    def test_only_the_first_error_counts(self):
        log = Log()
        first, second = raised(ValueError("one")), raised(KeyError("two"))
        log.fail(first)
        log.fail(second)
        self.assertIs(log.error, first)
        (line,) = log.raised_at
        self.assertIn("in raised: raise error", line)

    def test_an_error_that_cannot_be_shown_is_kept_too(self):
        log = Log()
        error = raised(WeirdError())
        log.fail(error)
        self.assertIs(log.error, error)

    def test_tracebacks_are_removed_unless_they_are_held(self):
        log, error = Log(), raised(ValueError())
        log.hold_error = True
        self.assertIsNotNone(log.kept(error).__traceback__)
        log.hold_error = False
        self.assertIsNone(log.kept(error).__traceback__)


class TestWithoutTracebacks(unittest.TestCase):
    def test_follows_causes_contexts_groups_and_arguments(self):
        cause, context, part, argument = (raised(ValueError(i)) for i in range(4))
        error = raised(ExceptionGroup("g", [part, raised(OSError(argument))]))
        error.__cause__, cause.__context__ = cause, context
        self.assertIs(without_tracebacks(error), error)
        for one in (error, cause, context, part, argument, error.exceptions[1]):
            self.assertIsNone(one.__traceback__)

    def test_a_circle_ends(self):
        error = raised(ValueError())
        error.__cause__ = KeyError()
        error.__cause__.__context__ = error
        without_tracebacks(error)
        self.assertIsNone(error.__traceback__)
