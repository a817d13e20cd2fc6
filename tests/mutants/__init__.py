"""Broken adapters, each with one realistic fault, to hold the checks to what they promise.

`parrot` has an invented provider and correct adapters for it in four styles; every mutant
changes one thing in one of them. `test_mutants` names the checks that must notice.
"""
