"""The streaming backend: a threaded HTTP server that plays scripts and records exchanges.

It knows bytes and sockets, not models.
"""

from modeltest.backend.backend import Backend, BackendError, SocketsClosed
from modeltest.backend.exchange import Exchange, Leaving, Played
from modeltest.backend.progress import Progress
from modeltest.backend.redaction import REDACTED, shown_request
from modeltest.backend.response import Framing, Response, SendHead
from modeltest.backend.stage import PeerLeft, Stage, Stopped
from modeltest.backend.steps import (
    Await,
    Close,
    CloseInsideChunk,
    End,
    Flood,
    Pause,
    Repeat,
    Reset,
    Send,
    Stall,
    Step,
    events,
    writes,
)
from modeltest.backend.threads import KitThread, copies_came_back, leave_copy

__all__ = [
    "REDACTED",
    "Await",
    "Backend",
    "BackendError",
    "Close",
    "CloseInsideChunk",
    "End",
    "Exchange",
    "Flood",
    "Framing",
    "KitThread",
    "Leaving",
    "Pause",
    "PeerLeft",
    "Played",
    "Progress",
    "Repeat",
    "Reset",
    "Response",
    "Send",
    "SendHead",
    "SocketsClosed",
    "Stage",
    "Stall",
    "Step",
    "Stopped",
    "copies_came_back",
    "events",
    "leave_copy",
    "shown_request",
    "writes",
]
