"""Adapters and their tests: production code that knows nothing of modeltest, and how it is held."""
