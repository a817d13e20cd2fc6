"""What a check expects: the turn, the refusal, the text, the request, the same answer."""

from modeltest.assertions.assembly import (
    Assembler,
    Turn,
    assemble,
    check_finish,
    generate,
    refused_by_assemble,
)
from modeltest.assertions.refusal import (
    declared_errors,
    expect_error,
    expect_known_error,
    expect_refusal,
    expect_said,
    names_of,
)
from modeltest.assertions.report import around, bytes_shown, ending, quoted
from modeltest.assertions.request import members, parsed, texts_in
from modeltest.assertions.same_answer import WholeAnswer, expect_same, merged
from modeltest.assertions.text import expect_beginning, expect_events, expect_requests
from modeltest.assertions.turn import (
    Content,
    content_of,
    expect_answer,
    expect_ids,
    expect_one_finish,
    expect_raw,
    expect_sound,
    expect_turn,
    expect_usage,
    tool_names,
)

__all__ = [
    "Assembler",
    "Content",
    "Turn",
    "WholeAnswer",
    "around",
    "assemble",
    "bytes_shown",
    "check_finish",
    "content_of",
    "declared_errors",
    "ending",
    "expect_answer",
    "expect_beginning",
    "expect_error",
    "expect_events",
    "expect_ids",
    "expect_known_error",
    "expect_one_finish",
    "expect_raw",
    "expect_refusal",
    "expect_requests",
    "expect_said",
    "expect_same",
    "expect_sound",
    "expect_turn",
    "expect_usage",
    "generate",
    "members",
    "merged",
    "names_of",
    "parsed",
    "quoted",
    "refused_by_assemble",
    "texts_in",
    "tool_names",
]
