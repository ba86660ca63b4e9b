# SPDX-License-Identifier: Apache-2.0
"""Differences of generated pairs of models."""
from step import Step

STEPS = [
    Step('diffs', 'quick covered', 'tests/diffs/run.py --program {program}', seconds=10),
    Step('diffs', 'deep', 'tests/diffs/run.py --seeds 6 --program {program}'),
]
