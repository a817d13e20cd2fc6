"""tools: a bad setup is refused before anything is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from modeltest.assertions import members, names_of, parsed, texts_in
from modeltest.corpus import (
    MADE_UP,
    WEATHER,
    bad_choices,
    bad_names,
    good_choices,
    good_names,
    histories,
    named,
    request_for,
    rule_of,
    shown_name,
)
from modeltest.harness import Evidence, Example, Failure, Level, Need, Skip, check, count
from modeltest.threads import carried_by, shown, text_of

if TYPE_CHECKING:
    from modeltest.backend import Response
    from modeltest.delivery import Sending, ServedContext
    from modeltest.encoding import WireFormat
    from modeltest.interface import Request


LOOK_BEFORE_SENDING = (
    "before the request is made, look at every tool's name (re.fullmatch, in ASCII, {}), at "
    "whether two are the same, and at whether the choice names one of them; raise ConfigError, or "
    "what the test case calls config_error"
)
_COMMON_RULE = (
    "[a-zA-Z0-9_-]{1,64} unless the provider takes others: then set `wire`, or list them in "
    "accepted_tool_names"
)
SEND_AS_IT_IS = (
    "send every tool under its own name, and the choice with it; leave the choice out where there "
    "are no tools; refuse nothing that the provider takes; an adapter without any tools says so: "
    'skips = {"tools/*": "why"}'
)
_CHOICES = {"toolchoice", "functioncall", "functioncallingconfig"}
"""Members of a request that say how to choose, whoever the provider is: without "_", in small
letters."""
_OTHER_TYPE = "raise {} for it, or set config_error to what the adapter raises"
_QUOTED = 20
"""Characters of a name that an error has to quote: a longer one may be shortened."""


class _Rules(NamedTuple):
    """The rules of an adapter that accepts what its provider does, for the examples."""

    wire: WireFormat
    accepted_tool_names: tuple[str, ...] = ()
    refused_tool_names: tuple[str, ...] = ()


def _listed(cases: Iterable[str]) -> str:
    """Return what the documentation shows of requests that nothing but their tools tells apart."""
    return "\n".join(
        ["the request has in it, each in a case of its own:", *(f"  {case}" for case in cases)]
    )


@check(
    "tools/config",
    fix=LOOK_BEFORE_SENDING.format(_COMMON_RULE),
    example=Example(
        "Nothing of it is sent. A bad name stands beside a good one.",
        sends=lambda wire: _listed(
            [*bad_names(_Rules(wire), wire.tool_names.refused), *dict(bad_choices(_Rules(wire)))]
        ),
    ),
)
def bad_tool_config_is_refused(context: ServedContext) -> None:
    """A bad or doubled tool name, or an impossible choice, is refused before anything is sent.

    The provider's 400 comes late, says little and differs from one to the next; some take a
    doubled name, and the agent loop cannot tell which of the two is called.
    """
    names = bad_names(context.target, rule_of(context.target).refused)
    fix = "" if context.target.wire is None else _fix_for(context.target.wire)
    for name, request in {**names, **dict(bad_choices(context.target))}.items():
        _try_refused(context, name, request, fix=fix)


@check(
    "tools/accepted",
    fix=SEND_AS_IT_IS,
    example=Example(
        "All of it is sent, each in one request.",
        sends=lambda wire: _listed([*good_names(_Rules(wire)), *dict(good_choices(_Rules(wire)))]),
    ),
)
def good_tool_config_is_sent(context: ServedContext) -> None:
    """A good tool config is sent once: every name unchanged, and no choice without tools.

    A name that was changed on its way comes back in the call, and no tool has it. A choice
    without tools is a 400.
    """
    for name, request in good_names(context.target).items():
        _try_accepted(context, name, request)
    _expect_definitions(context)
    sent_before: list[Any] = []
    for name, request in good_choices(context.target):
        sent_before.append(_try_accepted(context, name, request, unlike=sent_before))


@check(
    "tools/names",
    needs=(Need.REFUSED_TOOL_NAMES,),
    fix="look at the name before the request is made, and raise a ConfigError whose text has the "
    "name in it",
    example=Example(
        "The names are the test case's own: `refused_tool_names`.",
        server="an ordinary answer, if it is asked",
        consumer="streams a request that declares a tool of the name, one request a name",
        fault="the server has a request; or the error is no config_error, or does not quote the "
        "name",
    ),
)
def refused_tool_names(context: ServedContext) -> None:
    """A name that the adapter's own rule refuses is never sent, and the error quotes it.

    Tools come from plug-ins and servers by the dozen: whoever reads the error has to see which
    one it was.
    """
    for name in context.target.refused_tool_names:
        _try_refused(context, named(name), request_for(name), quoted=name)


@check(
    "tools/names",
    needs=(Need.ACCEPTED_TOOL_NAMES,),
    fix=SEND_AS_IT_IS,
    example=Example(
        "The names are the test case's own: `accepted_tool_names`.",
        server="an ordinary answer",
        consumer="streams a request that declares a tool of the name, one request a name",
        fault="the server has no request, or two; or the name is not in it as it was given",
    ),
)
def accepted_tool_names(context: ServedContext) -> None:
    """A name that the adapter's own rule accepts is sent once and unchanged.

    A rule that is stricter than it says keeps tools out that worked before.
    """
    for name in context.target.accepted_tool_names:
        _try_accepted(context, named(name), request_for(name))


@check(
    "tools/traps",
    fix="match with re.fullmatch and a class of characters that is written out, [a-zA-Z0-9_-]: "
    "`$` lets a line feed pass at the end; \\w, \\d, str.isalnum() and re.IGNORECASE let the "
    "letters and digits of other scripts pass",
    example=Example(
        "As Python writes them. None is in `[a-zA-Z0-9_-]{1,64}`, and each is to some pattern "
        "that looks like it.",
        sends=lambda wire: _listed(bad_names(_Rules(wire), wire.tool_names.traps)),
    ),
)
def tool_name_traps(context: ServedContext) -> None:
    """A name that only looks right to a careless pattern is refused before anything is sent.

    Python's "$" and its word characters let through what no provider takes: the check is there,
    passes its own tests, and the request fails all the same.
    """
    traps = rule_of(context.target).traps
    if not traps:
        raise _no_rule(context)
    for name, request in bad_names(context.target, traps).items():
        _try_refused(context, name, request)


@check(
    "tools/history",
    Level.SHOULD,
    fix="look at the names of earlier calls too: raise ConfigError, or replace what is illegal in "
    "each, the same name always by the same, in the call and in its result",
    example=Example(
        "The model made two names up in an earlier turn.",
        server="an ordinary answer, if it is asked",
        consumer=f"streams requests that replay calls of {' and '.join(map(repr, MADE_UP))}, "
        "beside good ones, in one message and in two, each call with a result; and of a name "
        "that is too long",
        fault="one of the names is sent as it is; or the same name in two ways, or both in the "
        "same; or a result without its call",
    ),
)
def names_in_history_are_legal(context: ServedContext) -> None:
    """A replayed call with an illegal name is refused, or rewritten, always in the same way.

    Models make names up, such as `$READFILE`. Once one is in the history, the provider refuses
    every further request of the conversation.
    """
    rule = rule_of(context.target)
    if any(map(rule.accepts, MADE_UP)):
        raise _no_rule(context)
    for name, request in histories(rule):
        with context.case(name, _answer(context)) as scenario:
            sending = context.send(scenario, request)
            if not sending.bodies:
                _expect_config_error(context, sending)
            for data in sending.bodies:
                _expect_legal_calls(context, sending, data)


def _no_rule(context: ServedContext) -> Skip:
    return Skip(f"{context.target.wire.name} has no rule for the characters of a tool's name")


def _answer(context: ServedContext) -> Response:
    """Return an answer that gives no adapter a reason to ask again."""
    return context.ordinary_response("Sunny.")


# Refused


def _fix_for(wire: WireFormat) -> str:
    """Return how to look at names where the provider's own rule is known."""
    rule = wire.tool_names
    pattern = rule.pattern or "not empty"
    limit = "" if rule.limit is None else f", at most {rule.limit} characters"
    return LOOK_BEFORE_SENDING.format(f"{wire.name}'s rule: {pattern}{limit}")


def _try_refused(
    context: ServedContext, name: str, request: Request, quoted: str = "", fix: str = ""
) -> None:
    """Expect an error of the configuration and no request, and what is `quoted` in its text."""
    with context.case(name, _answer(context)) as scenario:
        sending = context.send(scenario, request)
        error = _expect_config_error(context, sending, fix)
        if not _quotes(error, quoted):
            raise Failure(
                f"refused, but the error does not quote the name: {shown(error)}; expected "
                f"{quoted[:_QUOTED]!a} in it.",
                sending.evidence,
            )


def _expect_config_error(context: ServedContext, sending: Sending, fix: str = "") -> BaseException:
    error, wanted = sending.log.error, names_of(context.target.config_error)
    known = isinstance(error, context.target.config_error)
    if error is not None and known and not sending.number:
        return error
    raised = "raised nothing" if error is None else f"raised {shown(error)}"
    if sending.number:
        where = " elsewhere" if sending.strays else ""
        order = ", and then the adapter" if known else ", and the adapter"
        happened = f"sent{where}: {count(sending.number, 'request')}{order} {raised}"
    elif _was_sent(sending):
        happened = f"sent elsewhere, which was prevented, and the adapter {raised}"
    else:
        happened = f"nothing was sent, and the adapter {raised}"
    places = [Evidence("raised", "\n".join(sending.log.raised_at))] if error is not None else []
    raise Failure(
        f"{happened}; expected {wanted} and no request.",
        (*sending.evidence, *places),
        fix=fix if error is None or known or _was_sent(sending) else _OTHER_TYPE.format(wanted),
    )


def _was_sent(sending: Sending) -> bool:
    """Tell whether anything was sent, or would have been."""
    return bool(sending.number or sending.attempts or sending.caught)


def _quotes(error: BaseException, name: str) -> bool:
    said, part = f"{text_of(error)} {carried_by(error)}", name[:_QUOTED]
    spellings = (part, repr(part)[1:-1], ascii(part)[1:-1], json.dumps(part)[1:-1])
    return any(spelling in said for spelling in spellings)


# Accepted


def _try_accepted(
    context: ServedContext, name: str, request: Request, unlike: Sequence[Any] = ()
) -> Any:
    """Expect exactly one request, which says of the tools and the choice what was asked.

    Args:
        context: the context.
        name: the case's.
        request: what is streamed.
        unlike: bodies that were sent for other choices; one that has to be made differs.

    Returns:
        Its body, parsed; None if it is no JSON, or no such request came.
    """
    body = None
    with context.case(name, _answer(context)) as scenario:
        sending = context.send(scenario, request)
        exchange = sending.expect_one()
        wire, data = context.target.wire, sending.content_of(exchange)
        body = parsed(data)
        if wire is not None and wire.tool_name_paths:
            _expect_tools(sending, wire.sent_tool_names(body))
        else:
            _expect_names(sending, data, body)
        if wire is not None and wire.tool_choice_paths:
            _expect_choice(sending, wire, body)
            _expect_choice_of_its_own(sending, wire, body, unlike)
        elif not request.tools:
            _expect_no_choice(sending, (v for k, v in members(body) if _bare(k) in _CHOICES))
    return body


def _expect_tools(sending: Sending, got: tuple[str, ...]) -> None:
    """Expect all names in order; those that cannot be chosen may be left out."""
    wanted = tuple(tool.name for tool in sending.request.tools)
    if got not in (wanted, _needed(sending.request)):
        raise Failure(
            f"expected {_list(wanted)} in the request, got {_list(got)}.", sending.evidence
        )


def _expect_names(sending: Sending, data: bytes, body: Any) -> None:
    """Expect each name somewhere in a request whose shape is not known."""
    for name in _needed(sending.request):
        if not _is_told(name, body) and not _is_in(name, data, body):
            raise Failure(f"expected {name!a} in the request; it is not there.", sending.evidence)


def _is_told(what: str, body: Any) -> bool:
    """Tell whether a text of a request has `what` in it, as a word: prompts may tell of tools."""
    word = re.compile(rf"(?<![\w-]){re.escape(what)}(?![\w-])")
    return body is not None and any(map(word.search, texts_in(body)))


def _expect_definitions(context: ServedContext) -> None:
    """Expect what the model has to know of a tool: what it does, and its parameters."""
    request = request_for(WEATHER)
    (tool,) = request.tools
    name = "a tool's description and parameters"
    with context.case(name, _answer(context), level=Level.SHOULD) as scenario:
        sending = context.send(scenario, request)
        body = parsed(sending.content_of(sending.expect_one()))
        if body is None:
            return  # no JSON: its meaning in another notation is unknown
        wanted = (tool.description, *tool.parameters["properties"])
        missing = [what for what in wanted if not _is_told(what, body)]
        if missing:
            raise Failure(
                f"expected {' and '.join(map(repr, missing))} of the tool {tool.name!r} in the "
                "request; it is not there.",
                sending.evidence,
                fix="send a tool's description and its parameters with its name",
            )


def _expect_choice_of_its_own(
    sending: Sending, wire: WireFormat, body: Any, unlike: Sequence[Any]
) -> None:
    """Expect that a choice which leaves something closed is not sent like an open one."""
    mode, _ = _choice_of(sending.request)
    # Without its tools, a request for no call needs no choice.
    closes = mode in ("required", "tool") or (mode == "none" and wire.sent_tool_names(body))
    if closes and body in unlike:
        raise Failure(
            f"the same was sent for the tool choice {mode!r} as for another one.",
            sending.evidence,
        )


def _expect_choice(sending: Sending, wire: WireFormat, body: Any) -> None:
    """Expect the choice in the request where leaving it out would change what was asked."""
    said = [choice for choice in wire.sent_tool_choices(body) if choice]
    names = wire.sent_tool_names(body)
    mode, chosen = _choice_of(sending.request)
    if not sending.request.tools:
        _expect_no_choice(sending, said)
    elif mode in ("required", "tool") or (mode == "none" and names):
        if not said:
            raise Failure(
                f"the tool choice {mode!r} is not in the request: it asks for something else.",
                sending.evidence,
            )
        if mode == "tool" and names != (chosen,) and chosen not in texts_in(said):
            raise Failure(
                f"expected {chosen!r} in the tool choice, got {json.dumps(said[0])}.",
                sending.evidence,
            )


def _expect_no_choice(sending: Sending, said: Iterable[Any]) -> None:
    for choice in said:
        if isinstance(choice, str) or any(map(str.strip, _values_in(choice))):
            raise Failure(
                f"a tool choice was sent without tools: {json.dumps(choice)}; expected none.",
                sending.evidence,
            )


def _values_in(choice: Any) -> Iterator[str]:
    """Yield the texts of a choice, but for what its members are called: they choose nothing."""
    if isinstance(choice, str):
        yield choice
    elif isinstance(choice, dict | list):
        for value in choice.values() if isinstance(choice, dict) else choice:
            yield from _values_in(value)


def _choice_of(request: Request) -> tuple[str, str]:
    choice = request.tool_choice
    return ("", "") if choice is None else (choice.mode, choice.name)


def _needed(request: Request) -> tuple[str, ...]:
    """Return the names of the tools that the model can call by the request's choice."""
    mode, chosen = _choice_of(request)
    declared = tuple(tool.name for tool in request.tools)
    return {"none": (), "tool": (chosen,)}.get(mode, declared)


def _is_in(name: str, data: bytes, parsed: Any) -> bool:
    """Tell whether a request has a name as a text of its JSON, or anywhere if it is no JSON."""
    return name.encode() in data if parsed is None else name in texts_in(parsed)


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(shown_name, names)) or "no tool"


# Replayed


def _expect_legal_calls(context: ServedContext, sending: Sending, data: bytes) -> None:
    body, wire, rule = parsed(data), context.target.wire, rule_of(context.target)
    known = wire is not None and bool(wire.call_name_paths)
    got = tuple(map(str, wire.sent_call_names(body))) if known else ()
    calls = [call for message in sending.request.messages for call in message.tool_uses]
    names = tuple(call.name for call in calls)
    illegal = [name for name in got if not rule.accepts(name)]
    if not known:  # then anywhere
        illegal = [n for n in names if not rule.accepts(n) and _is_in(n, data, body)]
    if illegal:
        raise Failure(
            f"sent as names of earlier calls, though they are illegal: {_list(illegal)}; expected "
            f"a refusal ({names_of(context.target.config_error)}), or legal names.",
            sending.evidence,
        )
    # Every call that is sent has its id, and so has every result.
    with_ids = [call for call in calls if _is_in(call.id, data, body)]
    if known and len(got) < len(with_ids):
        raise Failure(
            f"the results of {count(len(with_ids), 'earlier call')} were sent, and {len(got)} of "
            "the calls; expected each call with its result.",
            sending.evidence,
            fix="leave out a call and its result together: a provider refuses one without the "
            "other",
        )
    if len(got) == len(names) and _pattern(got) != _pattern(names):
        raise Failure(
            f"the names of earlier calls were rewritten inconsistently: {_list(names)} became "
            f"{_list(got)}; expected the same name for the same one, another for another.",
            sending.evidence,
        )


def _pattern(names: tuple[str, ...]) -> list[int]:
    """Return which of `names` are the same: for each, where it comes first."""
    return [names.index(name) for name in names]
