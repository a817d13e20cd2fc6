"""The ledger in a test that has nothing to do with models: no connection is left in use."""

import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

from modeltest.transports import Ledger, RequestsTransport


def first_line(session: requests.Session, url: str) -> bytes:
    """Return the first line of a page, and give the connection back."""
    with session.get(url, stream=True) as response:
        return next(response.iter_lines())


class TestFirstLine(unittest.TestCase):
    """Tests `first_line`."""

    def setUp(self) -> None:
        """Serve the page."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.enterContext(server)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}/"

    def test_it_gives_the_connection_back(self) -> None:
        """Leave no connection in use."""
        ledger = Ledger()
        with RequestsTransport().client(ledger) as session, ledger.all_released():
            self.assertEqual(first_line(session, self.url), b"one")

    def test_a_response_left_open_is_found(self) -> None:
        """Name the line that opened the connection, and the fix."""
        ledger = Ledger()
        with (
            RequestsTransport().client(ledger) as session,
            self.assertRaisesRegex(AssertionError, "opened at .* in test_a_response_left_open"),
            ledger.all_released(timeout=0.1),
        ):
            response = session.get(self.url, stream=True)
            self.addCleanup(response.close)


class Page(BaseHTTPRequestHandler):
    """Answers with two lines."""

    def do_GET(self) -> None:
        """Send the page."""
        self.send_response(200)
        self.send_header("Content-Length", "8")
        self.end_headers()
        self.wfile.write(b"one\ntwo\n")

    def log_message(self, *_args: object) -> None:
        """Say nothing."""
