"""Which line of an adapter is named."""

import sys
import threading
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from modeltest.threads import Place, calling_place
from modeltest.transports.ledger import Ledger

from .servers import PATIENCE


def call_in(module: str) -> Callable[..., Any]:
    """Return a function that calls another one, from a line that stands in `module`."""
    names = {"__name__": module}
    source = "def call(function, *args): return function(*args)"
    exec(compile(source, f"<{module}>", "exec"), names)
    return names["call"]


class PlaceTest(unittest.TestCase):
    def test_path_is_relative_inside_the_working_directory(self) -> None:
        place = Place(str(Path.cwd() / "acme" / "adapter.py"), 41, "stream")
        self.assertEqual(str(place), f"{Path('acme/adapter.py')}:41 in stream")

    def test_path_outside_the_working_directory_is_whole(self) -> None:
        file = Path.cwd().parent / "adapter.py"
        self.assertEqual(str(Place(str(file), 41, "stream")), f"{file}:41 in stream")

    def test_code_that_is_no_file_is_named_as_it_is(self) -> None:
        self.assertEqual(str(Place("<string>", 1, "f")), "<string>:1 in f")

    def test_working_directory_may_be_gone(self) -> None:
        file = str(Path.cwd() / "adapter.py")
        with mock.patch.object(Path, "cwd", side_effect=FileNotFoundError):
            self.assertEqual(str(Place(file, 3, "f")), f"{file}:3 in f")


class CallingPlaceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.ledger = Ledger()
        self.socket = mock.Mock()

    def opened_through(self, *modules: str) -> Place:
        """Return the place recorded when the last of `modules` opens a connection."""
        calls = [call_in(module) for module in modules]
        calls[0](*calls[1:], self.ledger.opened, ("host", 1), self.socket)
        return self.ledger.connections[-1].opened

    def test_line_is_that_of_the_call(self) -> None:
        place = calling_place(sys._getframe())
        self.assertEqual((place.file, place.function), (__file__, "test_line_is_that_of_the_call"))
        lines = Path(__file__).read_text(encoding="utf-8").splitlines()
        self.assertIn("place = calling_place", lines[place.line - 1])

    def test_plumbing_is_skipped(self) -> None:
        for plumbing in ("http.client", "requests.api", "urllib3.pool", "modeltest.transports.x"):
            with self.subTest(plumbing):
                place = self.opened_through("acme.app", "acme.adapter", plumbing)
                self.assertEqual(place, Place("<acme.adapter>", 1, "call"))

    def test_adapter_may_call_back_from_the_library(self) -> None:
        place = self.opened_through("acme.adapter", "requests.api", "acme.hooks", "urllib3.pool")
        self.assertEqual(place.file, "<acme.hooks>")

    def test_package_of_the_adapter_may_have_a_module_named_like_a_library(self) -> None:
        self.assertEqual(self.opened_through("acme.requests").file, "<acme.requests>")

    def test_nothing_but_plumbing_gives_the_outermost_call_into_a_library(self) -> None:
        # A thread's own frames are the standard library's: no adapter is on the stack.
        run_in_thread(
            call_in("requests.api"),
            call_in("urllib3.pool"),
            call_in("socket"),
            *(self.ledger.opened, ("host", 1), self.socket),
        )
        self.assertEqual(self.ledger.connections[0].opened.file, "<requests.api>")

    def test_no_library_at_all_gives_the_innermost_frame(self) -> None:
        run_in_thread(self.ledger.opened, ("host", 1), self.socket)
        self.assertEqual(self.ledger.connections[0].opened.function, "opened")


def run_in_thread(target: Callable[..., Any], *args: Any) -> None:
    thread = threading.Thread(target=target, args=args)
    thread.start()
    thread.join(PATIENCE)
