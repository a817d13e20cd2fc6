"""Tests of `ModelContractTestCase`: what an author sees of the kit."""
