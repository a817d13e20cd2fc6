"""The house: which room knows which, and what is public."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
import types
import unittest
from collections.abc import Iterator
from pathlib import Path

import modeltest

from .imports import imports_of, longest_chain
from .imports import modules as modules_by_name

ROOT = Path(__file__).parents[1]


def modules() -> Iterator[types.ModuleType]:
    """Yield every module of the package that can be imported here."""
    yield modeltest
    for found in pkgutil.walk_packages(modeltest.__path__, "modeltest."):
        if found.name != "modeltest.__main__":
            try:
                yield importlib.import_module(found.name)
            except ModuleNotFoundError as error:
                # What belongs to an extra may lack it; what is the package's own may not.
                if str(error.name).startswith("modeltest"):
                    raise


def own(module: types.ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the public classes and functions that `module` defines, and their public methods."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            yield f"{module.__name__}.{name}", value
            for member, function in vars(value).items():
                inner = getattr(function, "fget", None) or getattr(function, "__func__", function)
                if not member.startswith("_") and inspect.isfunction(inner):
                    yield f"{module.__name__}.{name}.{member}", inner
        elif inspect.isfunction(value):
            yield f"{module.__name__}.{name}", value


class TestPublicNames(unittest.TestCase):
    def test_what_all_lists_is_there_once(self) -> None:
        for module in modules():
            names = getattr(module, "__all__", [])
            with self.subTest(module.__name__):
                self.assertEqual(len(names), len(set(names)))
                self.assertEqual([name for name in names if not hasattr(module, name)], [])

    def test_rooms_offer_what_they_import_for_it(self) -> None:
        """A name that a package's `__init__` takes from within is in its `__all__`."""
        for module in modules():
            if not hasattr(module, "__path__") or not hasattr(module, "__all__"):
                continue
            offered = {
                name
                for name, value in vars(module).items()
                if not name.startswith("_")
                and (inspect.isclass(value) or inspect.isfunction(value))
                and str(value.__module__).startswith(f"{module.__name__}.")
            }
            with self.subTest(module.__name__):
                self.assertEqual(offered - set(module.__all__), set())

    def test_the_package_offers_the_test_cases(self) -> None:
        for name in (
            "ModelContractTestCase",
            "AsyncModelContractTestCase",
            "ContractWarning",
            "RequestsTransport",
            "Urllib3Transport",
            "OwnTransport",
        ):
            self.assertIn(name, modeltest.__all__)

    def test_everything_public_is_explained(self) -> None:
        for module in modules():
            with self.subTest(module.__name__):
                self.assertTrue(inspect.getdoc(module))
            for name, value in own(module):
                with self.subTest(name):
                    self.assertTrue(explained(value))


def explained(value: object) -> bool:
    """Whether it has a docstring; one that the interpreter gave to a dataclass is none."""
    text = inspect.getdoc(value) or ""
    return bool(text) and not text.startswith(f"{getattr(value, '__name__', '')}(")


def room_of(module: str) -> str:
    """Return the room of a module: the package below modeltest, or the module itself."""
    return ".".join(module.split(".")[:2])


def sources() -> list[Path]:
    """Return all of the kit's own code: the package, its tests and its documentation's."""
    return [file for top in ("modeltest", "tests", "docs") for file in (ROOT / top).rglob("*.py")]


def private_uses(file: Path) -> Iterator[tuple[int, str]]:
    """Yield where `file` uses a private name of another module of the kit, and the name."""
    own = file.parent.relative_to(ROOT).parts
    imported = {}
    for one in imports_of(file):
        if not one.module.startswith(("modeltest", "docs", "tests")):
            continue
        if is_private(one.name) and tuple(one.module.split(".")[: len(own)]) != own:
            yield one.line, f"{one.module}.{one.name}"
        if f"{one.module}.{one.name}" in modules_by_name():
            imported[one.name] = f"{one.module}.{one.name}"
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if (
                name in imported and is_private(attribute)
            ):
                yield node.lineno, f"{imported[name]}.{attribute}"
            case ast.Constant(value=str(text)) if re.fullmatch(
                r"modeltest(\.\w+)*\._[a-zA-Z]\w*", text
            ):
                yield node.lineno, text


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


class TestHouse(unittest.TestCase):
    LONGEST = 12
    """Modules of the longest chain of imports; h11 has 7, httpx 11."""

    def test_no_chain_of_imports_is_long(self) -> None:
        chain = longest_chain()
        shown = "\n  imports ".join(chain)
        self.assertLessEqual(len(chain), self.LONGEST, f"the chain has grown:\n  {shown}")

    def test_rooms_take_from_others_what_those_export(self) -> None:
        for name, file in modules_by_name().items():
            for one in imports_of(file):
                room = room_of(one.module)
                if room == room_of(name) or not one.module.startswith("modeltest."):
                    continue
                with self.subTest(f"{name}:{one.line}"):
                    self.assertEqual(
                        one.module, room, "import from the room, not from a module of it"
                    )
                    if hasattr(importlib.import_module(room), "__path__") and one.name != "*":
                        self.assertIn(one.name, importlib.import_module(room).__all__)

    def test_no_private_name_crosses_a_room(self) -> None:
        for file in sources():
            for line, name in private_uses(file):
                with self.subTest(f"{file.relative_to(ROOT)}:{line}"):
                    self.fail(f"{name} is private to its module")

    @unittest.skipUnless(importlib.util.find_spec("importlinter"), "import-linter is not installed")
    def test_each_room_knows_only_those_below(self) -> None:
        program = "from importlinter.cli import lint_imports_command as lint; lint()"
        done = subprocess.run(
            [sys.executable, "-c", program, "--no-cache"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("0 broken", done.stdout)

    def test_importing_the_package_needs_no_extra(self) -> None:
        program = (
            "import sys\n"
            "for name in ('httpx', 'aiohttp', 'hypothesis', 'pytest', 'openai', 'anthropic'):\n"
            "    sys.modules[name] = None\n"
            "import modeltest, modeltest.checks, modeltest.demo, modeltest.__main__\n"
        )
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", program],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
