"""Tests of modeltest.wire: every body is read back by a decoder that shares no code with it."""
