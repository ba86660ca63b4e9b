# SPDX-License-Identifier: Apache-2.0
"""Processor time of the program, held against limits."""
from step import Step

STEPS = [
    Step('cost', 'deep', 'tests/bench/guard.py', seconds=120),
]
