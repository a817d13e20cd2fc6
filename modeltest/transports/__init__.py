"""HTTP clients that keep a record of their connections, and what surrounds them.

A `Transport` makes the client an adapter is given; the client's connections are in a
`Ledger`. `EgressGuard` lets nothing else be contacted, `neutral_environment` keeps the
author's settings out.
"""

from modeltest.threads import HTTP_LIBRARIES, Place, calling_place
from modeltest.transports.base import OwnTransport, Transport
from modeltest.transports.egress import Attempt, EgressGuard, EgressRefused, LookupRefused
from modeltest.transports.environment import neutral_environment
from modeltest.transports.ledger import Connection, Ledger, State
from modeltest.transports.requests_client import RequestsTransport
from modeltest.transports.urllib3_client import Urllib3Transport

__all__ = [
    "HTTP_LIBRARIES",
    "Attempt",
    "Connection",
    "EgressGuard",
    "EgressRefused",
    "Ledger",
    "LookupRefused",
    "OwnTransport",
    "Place",
    "RequestsTransport",
    "State",
    "Transport",
    "Urllib3Transport",
    "calling_place",
    "neutral_environment",
]
