"""Tests of what every check stands on, and of what the checks say."""
