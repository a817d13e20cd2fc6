"""Tests of modeltest.contract, rule by rule."""
