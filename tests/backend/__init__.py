"""The streaming backend."""
