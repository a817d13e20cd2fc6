"""The contract on the anthropic package: Messages, streamed."""

from functools import partial

from modeltest.wire import AnthropicMessages
from tests.real import causes
from tests.real.anthropic_clients import (
    CarefulAnthropicModel,
    NaiveAnthropicModel,
    anthropic,
)
from tests.real.naive import JUDGED_WITHOUT_RETRIES, PackageTestCase


class AnthropicTestCase(PackageTestCase, abstract=True):
    wire = AnthropicMessages()


class TestNaiveAnthropic(AnthropicTestCase):
    title = "anthropic, tutorial loop"
    adapter = NaiveAnthropicModel
    model_error = anthropic.AnthropicError
    expected_failures = causes.ANTHROPIC


class TestRetryingAnthropic(AnthropicTestCase):
    title = "anthropic, retrying"
    adapter = partial(NaiveAnthropicModel, max_retries=anthropic.DEFAULT_MAX_RETRIES)
    retries = anthropic.DEFAULT_MAX_RETRIES
    model_error = anthropic.AnthropicError
    expected_failures = causes.ANTHROPIC_RETRYING
    skips = JUDGED_WITHOUT_RETRIES


class TestCarefulAnthropic(AnthropicTestCase):
    title = "anthropic, careful"
    adapter = CarefulAnthropicModel
    strict = True
    refused_tool_names = ("fs.read", "a" * 129)
    accepted_tool_names = ("a" * 128,)
