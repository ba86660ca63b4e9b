# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of PyTorch."""
from step import Step

STEPS = [
    Step('snapshot', 'quick deep covered', 'tests/snapshot/run.py --program {program}', seconds=20),
]
