"""The version of modeltest."""

__version__ = "0.1.0"
