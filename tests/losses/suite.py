# SPDX-License-Identifier: Apache-2.0
"""Losses: what record, gpu and JSON say about them, and what has really been lost."""
from step import Step

STEPS = [
    Step('losses', 'quick covered', 'tests/losses/run.py --bin {bin} --seeds 0-9,12-13,15-18,20-39,42-46', seconds=8),
]
