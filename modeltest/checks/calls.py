"""calls: tool calls arrive whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.assertions import (
    bytes_shown,
    content_of,
    expect_answer,
    expect_error,
    expect_ids,
    expect_said,
    tool_names,
)
from modeltest.corpus import (
    LARGE,
    empty_argument_bodies,
    identity_bodies,
    index_bodies,
    invalid_argument_bodies,
    large_call_bodies,
    parallel_call_bodies,
    tool_reason_bodies,
)
from modeltest.harness import Evidence, Example, Failure, check
from modeltest.interface import Finish, FinishReason, ProtocolError, ToolCallDelta

if TYPE_CHECKING:
    from modeltest.harness import Answer


@check(
    "calls/parallel",
    bodies=parallel_call_bodies,
    fix="collect the fragments of each call by its own index or id, and read every entry of a "
    "chunk's list, not only the first",
    example=Example(
        "The fragments of two calls come in turns; the index tells them apart.",
        case="fragments of two tool calls in turns",
    ),
)
def parallel_calls_are_kept_apart(answer: Answer) -> None:
    """Two calls in one turn keep their own arguments, however their fragments are mixed.

    Arguments that run into each other call the right tool with the wrong values.
    """
    _expect_calls(answer)


@check(
    "calls/index",
    bodies=index_bodies,
    fix="begin a new call where a new id comes, whatever the index says",
    example=Example(
        "The index is the same, the id is not: two calls.", case="the same index for two calls"
    ),
)
def call_index_is_not_identity(answer: Answer) -> None:
    """Two calls whose index is repeated, missing or null are still two calls.

    Compatible servers send index 0 for every call, or none. By index alone two calls become
    one, with both arguments glued together.
    """
    _expect_calls(answer)


@check(
    "calls/identity",
    bodies=identity_bodies,
    fix="keep the first id and name of a call; an id or name that comes again, empty or null "
    "changes nothing",
    example=Example(
        "The name comes again with every fragment. It is still one name.",
        case="the name repeated on later fragments",
    ),
)
def call_identity_is_kept(answer: Answer) -> None:
    """An id or name repeated, empty or null on later fragments changes nothing.

    Appended, the name becomes `get_weatherget_weather`; overwritten by null, the call is lost.
    """
    _expect_calls(answer)


@check(
    "calls/empty",
    bodies=empty_argument_bodies,
    fix="read arguments that are '', null or missing as {}",
    example=Example("The call's arguments are `{}`.", case="arguments null"),
)
def call_without_arguments(answer: Answer) -> None:
    """A call without arguments is one call with `{}`.

    Tools without parameters are called with '', null or nothing at all.
    """
    _expect_calls(answer)


@check(
    "calls/reason",
    bodies=tool_reason_bodies,
    fix="let the calls that came decide, not the finish reason",
    example=Example(
        "The reason says stop, and yet there is a call.", case="a tool call under an ordinary stop"
    ),
)
def calls_are_kept_whatever_the_reason(answer: Answer) -> None:
    """A whole call is kept under any reason; a tool finish without a call is an error.

    Several servers say stop where they call a tool. An agent that then drops the call answers
    with nothing.
    """
    has_calls = any(isinstance(event, ToolCallDelta) for event in answer.body.events)
    if answer.body.finish is not None and has_calls:
        expect_answer(answer)
    else:
        _expect_no_tool_use(answer)


@check(
    "calls/invalid",
    bodies=invalid_argument_bodies,
    fix="parse the arguments at the end of the turn and raise an error that names the tool; "
    "never repair them",
    example=Example("A brace too many.", case='arguments {"a": 1}}'),
)
def invalid_arguments_are_an_error(answer: Answer) -> None:
    """Arguments that are no JSON object are an error that names the tool.

    Repaired or defaulted, they run a tool with values that the model never gave.
    """
    body = bytes_shown(answer.body)
    if answer.log.error is None:
        error = _assembled_error(answer)
    else:
        error = expect_error(answer, answer.log, "invalid arguments", body)
    expect_said(error, tool_names(answer.body), "which tool was called", body)


@check(
    "calls/large",
    bodies=large_call_bodies,
    fix="collect fragments in a list and join them once; set no small limit on a call",
    example=Example(
        f"{LARGE:,} bytes of arguments in many events; these are the first two.",
        sends=lambda wire: b"".join(large_call_bodies(wire)[0].chunks[:2]),
    ),
)
def large_arguments_arrive_whole(answer: Answer) -> None:
    """A megabyte of arguments arrives whole, characters of several bytes included.

    A tool that writes a file has the file in its arguments.
    """
    _expect_calls(answer)


def _expect_calls(answer: Answer) -> None:
    expect_answer(answer)
    expect_ids(answer)


def _assembled_error(answer: Answer) -> BaseException:
    """Return the error by which the events themselves fail in an agent loop."""
    try:
        got = content_of(answer.log.events)
    except ProtocolError as error:
        return error
    raise Failure(
        "invalid arguments were taken for a call.",
        (Evidence("got", repr(got.calls)), bytes_shown(answer.body)),
    )


def _expect_no_tool_use(answer: Answer) -> None:
    """Expect that the turn fails, in the adapter or in the agent loop that assembles it."""
    body = bytes_shown(answer.body)
    if answer.log.error is not None:
        expect_error(answer, answer.log, answer.body.name, body)
        return
    reasons = [event.reason for event in answer.log.events if isinstance(event, Finish)]
    if reasons != [FinishReason.TOOL_USE]:  # this one fails in `assemble`
        raise Failure(
            f"a finish for tool use without a call became {reasons}; expected a protocol error.",
            (body,),
        )
