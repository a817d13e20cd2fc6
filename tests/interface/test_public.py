"""The contract's names are the package's names."""

import inspect
import unittest

import modeltest
from modeltest import interface as contract


class TestPublicNames(unittest.TestCase):
    def test_every_name_is_there_and_listed_once(self) -> None:
        self.assertEqual(len(contract.__all__), len(set(contract.__all__)))
        for name in contract.__all__:
            with self.subTest(name):
                self.assertTrue(hasattr(contract, name))

    def test_the_package_offers_them(self) -> None:
        for name in contract.__all__:
            with self.subTest(name):
                self.assertIs(getattr(modeltest, name), getattr(contract, name))
                self.assertIn(name, modeltest.__all__)

    def test_every_class_and_function_is_documented(self) -> None:
        for name in contract.__all__:
            value = getattr(contract, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                with self.subTest(name):
                    self.assertTrue(inspect.getdoc(value))


if __name__ == "__main__":
    unittest.main()
