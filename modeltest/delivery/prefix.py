"""A body cut short: an error, or the same turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.assertions import WholeAnswer
from modeltest.delivery.parser import Parser, checked
from modeltest.delivery.rules import FIXES, as_assertion
from modeltest.harness import Failure, count
from modeltest.interface import ModelError

if TYPE_CHECKING:
    from modeltest.delivery.parser import StreamSSE
    from modeltest.harness import ErrorTypes


__unittest = True  # keeps this module's lines out of a failure's traceback


def check_sse_prefix(
    stream_sse: StreamSSE, body: bytes, cut: int, *, model_error: ErrorTypes = ModelError
) -> None:
    """Hold a reader to `read_sse`'s rules for `body` and for its first `cut` bytes.

    If the cut body succeeds, its answer must be the whole one's: the same text, reasoning, calls
    with the same parsed arguments, and the same reason. Usage may come after the end of the turn,
    and is not compared; nor are the ids of calls, which some readers make up.

    Args:
        stream_sse: the reader.
        body: a whole body.
        cut: how many of its bytes are read, from 0 to all.
        model_error: the exception type, or types, by which the reader says that a turn failed.

    Raises:
        AssertionError: a rule is broken; the text shows the bytes before and after the cut.
        ValueError: `cut` is no place in `body`.
        TypeError: `body` is no bytes, `stream_sse` cannot be called.
    """
    parser, data = Parser(stream_sse, model_error), checked(body)
    if not 0 <= cut <= len(data):
        raise ValueError(f"expected a cut from 0 to {len(data)}, the body's length; got {cut}")
    with as_assertion():
        _expect_error_or_same(parser, WholeAnswer(data, parser.read(data)), data, cut)


def check_sse_prefixes(
    stream_sse: StreamSSE, body: bytes, *, model_error: ErrorTypes = ModelError
) -> None:
    """Do what `check_sse_prefix` does for every cut from 0 to the last byte.

    The whole body is read once, and each cut once. The time grows with the square of the body's
    length: take short ones.

    Raises:
        AssertionError: a rule is broken; the text says for how many cuts, and shows the first.
        TypeError: `body` is no bytes, `stream_sse` cannot be called.
    """
    parser, data = Parser(stream_sse, model_error), checked(body)
    with as_assertion():
        whole = WholeAnswer(data, parser.read(data))
        first: Failure | None = None
        number = 0
        for cut in range(len(data)):
            try:
                _expect_error_or_same(parser, whole, data, cut)
            except Failure as failure:
                first, number = first or failure, number + 1
        if first is not None:
            found = f"{number} of {count(len(data), 'cut')} fail; the first: {first}"
            raise Failure(found, fix=first.fix) from first.__cause__


def _expect_error_or_same(parser: Parser, whole: WholeAnswer, data: bytes, cut: int) -> None:
    reading = parser.read(data, cut=cut)
    try:
        whole.expect_error_or_same(parser, reading, cut)
    except Failure as failure:
        fix = FIXES["reader/prefix"]
        raise Failure(f"reader/prefix: {failure.statement}", failure.evidence, fix=fix) from None
