# SPDX-License-Identifier: Apache-2.0
"""Limits of memory, patterns, counts, depths and names."""
from step import Step

STEPS = [
    Step('limits', 'deep',
         'tests/limits/run.py --program {plain}/tfprof --shim {plain}/faults/shim.so --make {plain}/spool_make', seconds=280),
]
