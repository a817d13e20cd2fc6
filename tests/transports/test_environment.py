"""The author's settings are kept out, and given back as they were."""

import os
import socket
import threading
import unittest
from unittest import mock

import requests

from modeltest.transports.environment import neutral_environment

from .servers import PATIENCE

REMOVED = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "ftp_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
SET = {"NO_PROXY": "*", "no_proxy": "*", "NETRC": os.devnull}


class NeutralEnvironmentTest(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(mock.patch.dict(os.environ))
        self.addCleanup(socket.setdefaulttimeout, socket.getdefaulttimeout())
        for name in (*REMOVED, *SET):
            os.environ[name] = "the author's"
        os.environ["UNRELATED"] = "stays"
        socket.setdefaulttimeout(7.5)
        self.before = dict(os.environ)

    def assert_neutral(self) -> None:
        self.assertEqual([name for name in REMOVED if name in os.environ], [])
        self.assertEqual({name: os.environ[name] for name in SET}, SET)
        self.assertEqual(os.environ["UNRELATED"], "stays")
        self.assertIsNone(socket.getdefaulttimeout())

    def assert_restored(self) -> None:
        self.assertEqual(dict(os.environ), self.before)
        self.assertEqual(socket.getdefaulttimeout(), 7.5)

    def test_settings_are_neutral_inside_and_back_afterwards(self) -> None:
        with neutral_environment():
            self.assert_neutral()
        self.assert_restored()

    def test_unset_is_unset_again(self) -> None:
        for name in (*REMOVED, *SET):
            os.environ.pop(name, None)
        self.before = dict(os.environ)
        with neutral_environment():
            self.assert_neutral()
        self.assert_restored()

    def test_what_the_block_changes_is_undone(self) -> None:
        with neutral_environment():
            for name in REMOVED:
                os.environ[name] = "the adapter's"
            for name in SET:
                os.environ.pop(name, None)
            socket.setdefaulttimeout(1)
        self.assert_restored()

    def test_error_passes_through_and_everything_is_restored(self) -> None:
        with self.assertRaises(ZeroDivisionError), neutral_environment():
            raise ZeroDivisionError
        self.assert_restored()

    def test_inner_block_is_neutral_again_and_ends_nothing(self) -> None:
        with neutral_environment():
            os.environ["HTTP_PROXY"] = "http://proxy.invalid"
            with neutral_environment():
                self.assert_neutral()
            self.assert_neutral()
        self.assert_restored()

    def test_blocks_that_overlap_end_with_the_last(self) -> None:
        inside, leave = threading.Event(), threading.Event()

        def other() -> None:
            with neutral_environment():
                inside.set()
                leave.wait(PATIENCE)

        thread = threading.Thread(target=other)
        with neutral_environment():
            thread.start()
            self.assertTrue(inside.wait(PATIENCE))
        self.assert_neutral()
        leave.set()
        thread.join(PATIENCE)
        self.assert_restored()

    def test_session_that_trusts_the_environment_finds_nothing(self) -> None:
        os.environ["HTTP_PROXY"] = "http://proxy.invalid"
        with neutral_environment(), requests.Session() as session:
            settings = session.merge_environment_settings(
                "http://provider.invalid", {}, stream=None, verify=None, cert=None
            )
        self.assertEqual((dict(settings["proxies"]), settings["verify"]), ({}, True))
