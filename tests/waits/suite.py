# SPDX-License-Identifier: Apache-2.0
"""Pipes and files that never end, and how Ctrl-C ends the waiting."""
from step import Step

STEPS = [
    Step('waits', 'quick deep covered', 'tests/waits/run.py --program {program} --make {bin}/spool_make'),
]
