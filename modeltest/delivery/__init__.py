"""Ways for bytes to reach what is under test: over HTTP, in process, in memory."""

from modeltest.delivery.elsewhere import Caught, caught_elsewhere
from modeltest.delivery.files import as_chunks, as_lines, as_requests_response, as_urllib3_response
from modeltest.delivery.http import ServedContext
from modeltest.delivery.memory import ParserContext
from modeltest.delivery.parser import Parser, SSEResult, StreamSSE, read_sse
from modeltest.delivery.prefix import check_sse_prefix, check_sse_prefixes
from modeltest.delivery.process_state import failure_of, process_state_kept
from modeltest.delivery.runner import run, run_in_memory
from modeltest.delivery.scenario import Scenario
from modeltest.delivery.sending import Sending
from modeltest.delivery.target import Target
from modeltest.delivery.watch import watched

__all__ = [
    "Caught",
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
    "caught_elsewhere",
    "check_sse_prefix",
    "check_sse_prefixes",
    "failure_of",
    "process_state_kept",
    "read_sse",
    "run",
    "run_in_memory",
    "watched",
]
