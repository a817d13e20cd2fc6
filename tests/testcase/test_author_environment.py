"""Whatever an author's machine and program are like, the verdicts are the same."""

import asyncio
import gc
import importlib.util
import os
import socket
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import acme_contract
from .acme_contract import state
from .running import python, run

CHECKS = (
    "test_adapter_is_set_up",
    "test_break_releases",
    "test_cancel_releases",
    "test_close_releases",
    "test_connection_reset_is_an_error",
    "test_events_arrive_as_sent",
    "test_interleaved_streams_do_not_mix",
    "test_only_the_provider_is_contacted",
    "test_truncated_is_an_error",
)
DEAD = "http://192.0.2.1:9"
"""An address that nobody answers at."""
PROXIES = dict.fromkeys(
    ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), DEAD
) | {"NO_PROXY": "example.org", "no_proxy": "example.org"}
CERTIFICATES = dict.fromkeys(
    ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    "/nowhere/certificates.pem",
)


class TestAuthorEnvironment(unittest.TestCase):
    def home(self) -> dict[str, str]:
        """Return the variables of a home whose .netrc has a password for every host."""
        home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        netrc = home / ".netrc"
        netrc.write_text("default login someone password secret\n", encoding="utf-8")
        netrc.chmod(0o600)
        return {"HOME": str(home), "USERPROFILE": str(home), "NETRC": str(netrc)}

    def assert_passes(self) -> None:
        before = state()
        for tests in (acme_contract.TestAcme, acme_contract.TestTrusting):
            with self.subTest(tests.__name__):
                result = run(tests, *CHECKS)
                self.assertEqual([text for _, text in result.failures + result.errors], [])
                self.assertEqual(result.skipped, [])
        self.assertEqual(state(), before)

    def variables(self, **variables: str) -> None:
        self.enterContext(mock.patch.dict(os.environ, variables))

    def test_proxies_at_a_dead_address(self) -> None:
        self.variables(**PROXIES)
        self.assert_passes()

    def test_a_netrc_for_every_host(self) -> None:
        self.variables(**self.home())
        self.assert_passes()

    def test_certificates_that_are_not_there(self) -> None:
        self.variables(**CERTIFICATES)
        self.assert_passes()

    def test_a_default_timeout_of_sockets(self) -> None:
        self.addCleanup(socket.setdefaulttimeout, socket.getdefaulttimeout())
        socket.setdefaulttimeout(0.05)
        self.assert_passes()

    def test_an_event_loop_that_runs_in_this_thread(self) -> None:
        async def main() -> None:
            asyncio.get_running_loop().slow_callback_duration = 600  # it is blocked on purpose
            self.assert_passes()

        asyncio.run(main())

    def test_a_collector_that_is_off(self) -> None:
        self.addCleanup(gc.enable)
        gc.disable()
        self.assert_passes()
        self.assertFalse(gc.isenabled())

    def test_a_check_that_turns_the_collector_on_leaves_it_off(self) -> None:
        self.addCleanup(gc.enable)
        gc.disable()
        run(acme_contract.TestAcme, "test_many_abandoned_streams_do_not_deadlock")
        self.assertFalse(gc.isenabled())

    def test_a_collector_that_runs_all_the_time(self) -> None:
        self.addCleanup(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(1, 1, 1)
        self.assert_passes()

    def test_a_program_that_is_traced(self) -> None:
        self.addCleanup(sys.settrace, sys.gettrace())
        seen: set[str] = set()

        def trace(frame, event, argument):  # type: ignore[no-untyped-def]
            seen.add(frame.f_code.co_name)
            return trace

        sys.settrace(trace)
        self.assert_passes()
        self.assertIn("_judge", seen)

    @unittest.skipUnless(importlib.util.find_spec("coverage"), "coverage is not installed")
    def test_a_program_that_is_covered(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            done = python(
                *("-X", "dev", "-W", "error", "-m", "coverage", "run", "--branch"),
                *(f"--data-file={directory}/data", "-m", "tests.testcase.acme_contract"),
                *("TestAcme.test_break_releases", "TestTrusting.test_truncated_is_an_error"),
            )
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_all_of_it_and_all_the_checks(self) -> None:
        program = (
            "import asyncio, gc, socket\n"
            "from tests.testcase import acme_contract\n"
            "async def main():\n"
            "    asyncio.get_running_loop().slow_callback_duration = 600\n"
            "    acme_contract.main()\n"
            "socket.setdefaulttimeout(0.05)\n"
            "gc.set_threshold(5)\n"
            "asyncio.run(main())\n"
        )
        variables = {**PROXIES, **CERTIFICATES, **self.home()}
        del variables["NETRC"]
        done = python(*("-X", "dev", "-W", "error", "-c", program, "TestTrusting"), **variables)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"\nOK \(skipped=\d+\)\n")


if __name__ == "__main__":
    unittest.main()
