"""The example suites on a busy machine, and a thousand checks in one process.

    python -m tests.soak [--runs N] [--busy N] [--checks N] [--quick]

A verdict that depends on luck or on the clock shows itself sooner or later when a machine has
more to do than it can; what a check leaves behind adds up. The exit status is 0 if nothing failed
and nothing grew.
"""
