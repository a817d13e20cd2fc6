"""reader: what holds of a stream parser alone, which is given bodies of its author's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.assertions import bytes_shown, expect_turn, refused_by_assemble
from modeltest.harness import Failure, check
from modeltest.threads import shown

if TYPE_CHECKING:
    from modeltest.harness import Answer, CheckContext


@check(
    "reader/turn",
    in_memory=True,
    fix="give what the body says, and a Finish at the provider's own end of the turn; if the body "
    "means something else, correct the wire",
)
def whole_body_is_its_turn(context: CheckContext) -> None:
    """A whole body gives the turn that it means.

    Text, calls and reason are compared with what the wire claims. A recorded body has to be an
    answer: to end with a Finish.
    """
    for body in context.plain_bodies():
        context.deliver(body, expect_turn if body.events else _expect_some_answer)


def _expect_some_answer(answer: Answer) -> None:
    error = answer.log.error or refused_by_assemble(answer.log.events)
    if error is not None:
        raise Failure(
            f"a recorded body is taken for no answer: {shown(error)}; expected a Finish. A body "
            "that has to fail is tested by read_sse(...).error.",
            (bytes_shown(answer.body),),
        )
