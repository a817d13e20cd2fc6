"""Tests of modeltest itself; run `python -m unittest discover -s tests -t .`."""
