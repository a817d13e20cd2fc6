"""What the naive adapters have in common: the tutorial's loop, and what it leaves undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from modeltest import ModelContractTestCase, OwnTransport
from modeltest.checks import ALL
from tests.real.quick import quick_and_quiet

TEXT_ALONE = (
    "the loop reads text alone: a tool call is dropped without a word, be it whole, cut or "
    "broken, and the turn that asks for it ends as an ordinary answer"
)
NO_REASON = (
    "the loop looks at no finish reason: whatever ended the answer, the wrapper says stop, and "
    "what comes after the end is more text to it"
)
OPEN_WHILE_HANDLED = (
    "what the package raises in mid-stream closes nothing: the response is open for as long as "
    "the error, and with it its traceback, is held"
)
READS_ON = (
    "the package's loop reads on after the end of the turn, to the end of the body, for as long "
    "as the server keeps the connection"
)
NO_COUNTS = "the loop reads no token counts"
UNCHECKED_TOOLS = (
    "nothing in the loop or the package refuses a tool's name or a choice: whatever is given is "
    "sent, and it is left to the provider to refuse it"
)
CHOICE_ALONE = "the loop and the package hand the tool choice on where there are no tools, too"

TUTORIAL: Mapping[str, str] = {
    "truncation/arguments": TEXT_ALONE,
    "finish/reasons": NO_REASON,
    "finish/unknown": NO_REASON,
    "finish/usage": NO_COUNTS,
    "calls/parallel": TEXT_ALONE,
    "calls/empty": TEXT_ALONE,
    "calls/reason": TEXT_ALONE,
    "calls/large": TEXT_ALONE,
    "tools/config": UNCHECKED_TOOLS,
}
"""What every such loop fails, whatever the package."""

OPENAI_SHAPED: Mapping[str, str] = {
    **TUTORIAL,
    "finish/after": NO_REASON,
    "finish/with-content": TEXT_ALONE,
    "calls/index": TEXT_ALONE,
    "calls/identity": TEXT_ALONE,
    "calls/invalid": TEXT_ALONE,
    "tools/traps": UNCHECKED_TOOLS,
}
"""The same, where calls come in fragments beside the text."""

LEFT = (
    "release/break",
    "release/close",
    "release/with",
    "release/consumer-error",
    "release/nothing-left",
)
"""Checks that leave a loop early."""

CUT_CLEANLY = (
    "truncation/clean",
    "truncation/close-delimited",
    "truncation/empty",
    "truncation/mid-event",
    "truncation/boundaries",
    "truncation/prefix",
)
"""Checks whose bodies end early without an error below."""

BROKEN_OFF = ("truncation/closed", "truncation/reset", "truncation/short")
"""Checks whose connections break in mid-answer."""

FAILING = (*BROKEN_OFF, "faults/unreachable", "faults/idle")
"""Checks whose connections break, fall silent, or never come about."""

BOM_IS_READ = (
    "the package takes a byte order mark for part of the first line, which then is no `data:` "
    "line; the event is lost"
)
NOT_UTF8 = (
    "a byte that is no UTF-8 raises UnicodeDecodeError, which is none of the package's errors"
)


KEPT_BY_A_CYCLE = (
    "whoever leaves the loop drops the package's stream without closing it, and the stream and "
    "its generator refer to each other: the connection stays open until Python's cyclic garbage "
    "collector comes by"
)
MAY_HANG = (
    "it may hang for good: the collector closes a dropped response on a thread that is inside "
    "httpcore 1.0.9's connection pool, and waits for the lock that this thread holds"
)


NO_LOOK_AT_THE_TYPE = (
    "the package does not look at the Content-Type: a page, or an object in JSON, has no `data:` "
    "line, and is to it a stream without events; the wrapper then yields its Finish"
)


def untranslated(library: str, error: str) -> str:
    """Return why a connection that fails is no error of the package's."""
    return (
        f"the package lets the errors of its HTTP library through as they are: {library}'s "
        f"ConnectError, RemoteProtocolError, ReadError and ReadTimeout are no {error}, which a "
        "caller would catch"
    )


def untranslated_in_stream(library: str, error: str) -> str:
    """Return the same, where the package translates what fails before the response."""
    return (
        "once the response has begun, the package lets the errors of its HTTP library through as "
        f"they are: {library}'s RemoteProtocolError, ReadError and ReadTimeout are no {error}, "
        "which a caller would catch"
    )


def keeps_the_body(where: str) -> str:
    """Return why a page of ten megabytes is in an error."""
    return (
        "the package reads the body of a refusal to its end, however large it is, and keeps all "
        f"of it in its error: {where}"
    )


def gzip_ends_alike(library: str) -> str:
    """Return why a cut gzip body is taken for a whole one."""
    return (
        f"the package asks for gzip, and {library} hands out what a cut gzip body holds without an "
        "error; the wrapper then yields its Finish"
    )


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
