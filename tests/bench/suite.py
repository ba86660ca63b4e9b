# SPDX-License-Identifier: Apache-2.0
"""Compares the processor time of the program with limits."""
from step import Step

STEPS = [
    Step('cost', 'deep', 'tests/bench/guard.py', seconds=120),
]
