# SPDX-License-Identifier: Apache-2.0
"""Limits of memory, patterns, counts, depths and names."""
from step import Step

BOMBS = 'tests/limits/bombs.py --program {plain}/tfprof --shim {plain}/faults/shim.so'
STEPS = [
    Step('limits-formats', 'quick', BOMBS.replace('{plain}', '{bin}'), seconds=20),
    Step('limits-formats', 'deep', BOMBS + ' --size=40000'),
    Step('limits', 'deep',
         'tests/limits/run.py --program {plain}/tfprof --shim {plain}/faults/shim.so --make {plain}/spool_make', seconds=280),
]
