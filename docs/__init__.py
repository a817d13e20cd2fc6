"""The documentation. A package only so that the examples are found by one name everywhere."""
