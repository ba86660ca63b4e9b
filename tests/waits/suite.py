# SPDX-License-Identifier: Apache-2.0
"""Pipes and files that never end, and interrupting them with Ctrl-C."""
from step import Step

STEPS = [
    Step('waits', 'quick deep covered', 'tests/waits/run.py --program {program} --make {bin}/spool_make', seconds=8),
]
