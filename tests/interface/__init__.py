"""Tests of modeltest.interface, rule by rule."""
