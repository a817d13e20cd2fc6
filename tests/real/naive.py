"""What the naive adapters have in common: the tutorial's loop, and what it leaves undone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from modeltest import ModelContractTestCase, OwnTransport
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

TUTORIAL: Mapping[str, str] = {
    "truncation/arguments": TEXT_ALONE,
    "finish/reasons": NO_REASON,
    "finish/unknown": NO_REASON,
    "finish/usage": NO_COUNTS,
    "calls/parallel": TEXT_ALONE,
    "calls/empty": TEXT_ALONE,
    "calls/reason": TEXT_ALONE,
    "calls/large": TEXT_ALONE,
}
"""What every such loop fails, whatever the package."""

OPENAI_SHAPED: Mapping[str, str] = {
    **TUTORIAL,
    "finish/after": NO_REASON,
    "finish/with-content": TEXT_ALONE,
    "calls/index": TEXT_ALONE,
    "calls/identity": TEXT_ALONE,
    "calls/invalid": TEXT_ALONE,
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
"""Checks whose connections break."""

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


def untranslated(library: str, error: str) -> str:
    """Return why a broken connection is no error of the package's."""
    return (
        "once the response has begun, the package lets the errors of its HTTP library through as "
        f"they are: {library}.RemoteProtocolError and {library}.ReadError are no {error}, which a "
        "caller would catch"
    )


def gzip_ends_alike(library: str) -> str:
    """Return why a cut gzip body is taken for a whole one."""
    return (
        f"the package asks for gzip, and {library} hands out what a cut gzip body holds without an "
        "error; the wrapper then yields its Finish"
    )


NO_TOOLS = "the loop sends the text of the conversation, and no tools"


class PackageTestCase(ModelContractTestCase, abstract=True):
    """An adapter that brings its own client: a package's."""

    transport = OwnTransport()
    skips: ClassVar[Mapping[str, str]] = {"tools/*": NO_TOOLS}

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.enterClassContext(quick_and_quiet())
