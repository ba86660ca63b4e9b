# SPDX-License-Identifier: Apache-2.0
"""Timelines, read back and checked."""
from step import Step

STEPS = [
    Step('timelines', 'quick covered', 'tests/timelines/run.py --program {program}', seconds=5),
]
