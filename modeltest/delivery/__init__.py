"""Ways for bytes to reach what is under test: over HTTP, in process, in memory."""

from modeltest.delivery.files import as_chunks, as_lines, as_requests_response, as_urllib3_response
from modeltest.delivery.http import ServedContext, run
from modeltest.delivery.memory import ParserContext, run_in_memory
from modeltest.delivery.parser import (
    Parser,
    SSEResult,
    StreamSSE,
    check_sse_prefix,
    check_sse_prefixes,
    read_sse,
)
from modeltest.delivery.process_state import failure_of, process_state_kept
from modeltest.delivery.scenario import Scenario
from modeltest.delivery.sending import Sending
from modeltest.delivery.target import Target
from modeltest.delivery.watch import watched

__all__ = [
    "Parser",
    "ParserContext",
    "SSEResult",
    "Scenario",
    "Sending",
    "ServedContext",
    "StreamSSE",
    "Target",
    "as_chunks",
    "as_lines",
    "as_requests_response",
    "as_urllib3_response",
    "check_sse_prefix",
    "check_sse_prefixes",
    "failure_of",
    "process_state_kept",
    "read_sse",
    "run",
    "run_in_memory",
    "watched",
]
