"""The reader on its own: from the bytes of a body to events, in memory, with no server."""

from modeltest.reader.files import as_chunks, as_lines, as_requests_response, as_urllib3_response
from modeltest.reader.prefix import check_sse_prefix, check_sse_prefixes
from modeltest.reader.reading import SSEResult, StreamSSE, read_sse
from modeltest.reader.testcase import CLAUSES, SSEReaderTestCase

__all__ = [
    "CLAUSES",
    "SSEReaderTestCase",
    "SSEResult",
    "StreamSSE",
    "as_chunks",
    "as_lines",
    "as_requests_response",
    "as_urllib3_response",
    "check_sse_prefix",
    "check_sse_prefixes",
    "read_sse",
]
