# SPDX-License-Identifier: Apache-2.0
"""Checkpoints, whole, damaged and hostile."""
from step import Step

STEPS = [
    Step('checkpoint', 'quick covered', 'tests/checkpoint/run.py --program {program}', seconds=7),
    Step('checkpoint', 'deep', 'tests/checkpoint/run.py --sanitized --program {program}', seconds=20),
    Step('checkpoint-real', 'real',
         'tests/checkpoint/run.py --program {program} --realdata {realdata} hostile damage_real'),
]
