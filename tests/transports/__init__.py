"""The clients that keep a record, against real servers on loopback."""
