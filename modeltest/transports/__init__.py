"""HTTP clients that keep a record of their connections, and what surrounds them.

A `Transport` makes the client an adapter is given; the client's connections are in a
`Ledger`. `EgressGuard` lets nothing else be contacted, `neutral_environment` keeps the
author's settings out.
"""

from modeltest.transports.base import OwnTransport, Transport
from modeltest.transports.egress import Attempt, EgressGuard, EgressRefused, LookupRefused
from modeltest.transports.elsewhere import Caught, caught_elsewhere
from modeltest.transports.environment import neutral_environment
from modeltest.transports.in_process import answered_in_process
from modeltest.transports.ledger import Connection, Ledger, State
from modeltest.transports.requests_client import RequestsTransport
from modeltest.transports.urllib3_client import Urllib3Transport

__all__ = [
    "Attempt",
    "Caught",
    "Connection",
    "EgressGuard",
    "EgressRefused",
    "Ledger",
    "LookupRefused",
    "OwnTransport",
    "RequestsTransport",
    "State",
    "Transport",
    "Urllib3Transport",
    "answered_in_process",
    "caught_elsewhere",
    "neutral_environment",
]
