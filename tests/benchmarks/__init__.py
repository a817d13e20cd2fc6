"""What the kit costs: `python -m tests.benchmarks [NAME …] [--quick]`.

Absolute times depend on the machine and on what else runs there. So what is compared is
measured in the same process, in turns, and printed with its ratio.
"""
