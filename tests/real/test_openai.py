"""The contract on the openai package: Chat Completions, streamed."""

from functools import partial

from modeltest.wire import OpenAIChat
from tests.real import causes
from tests.real.naive import JUDGED_WITHOUT_RETRIES, PackageTestCase
from tests.real.openai_clients import (
    CarefulOpenAIModel,
    NaiveOpenAIModel,
    openai,
)


class OpenAITestCase(PackageTestCase, abstract=True):
    wire = OpenAIChat()


class TestNaiveOpenAI(OpenAITestCase):
    title = "openai, tutorial loop"
    adapter = NaiveOpenAIModel
    model_error = openai.OpenAIError
    expected_failures = causes.OPENAI


class TestRetryingOpenAI(OpenAITestCase):
    title = "openai, retrying"
    adapter = partial(NaiveOpenAIModel, max_retries=openai.DEFAULT_MAX_RETRIES)
    retries = openai.DEFAULT_MAX_RETRIES
    model_error = openai.OpenAIError
    expected_failures = causes.OPENAI_RETRYING
    skips = JUDGED_WITHOUT_RETRIES


class TestCarefulOpenAI(OpenAITestCase):
    title = "openai, careful"
    adapter = CarefulOpenAIModel
    strict = True
    refused_tool_names = ("fs.read", "a" * 65)
    accepted_tool_names = ("a" * 64,)
