# SPDX-License-Identifier: Apache-2.0
"""Inputs that are too large for the original."""
from step import Step

STEPS = [
    Step('large', 'quick covered', 'tests/large/run.py --program {program}'),
    Step('large', 'deep', 'tests/large/run.py whole --program {program}'),
    Step('large-tsan', 'deep', 'tests/large/run.py threads --program {tsan}/tfprof'),
]
