"""Driving adapters of every kind, also those that do not come back."""
