# SPDX-License-Identifier: Apache-2.0
"""Reported losses, compared with the truth under random faults."""
from step import Step

# 363: a graph that was launched once and had not ended; 965, 988: callbacks that were taken shortly before a sudden end.
STEPS = [
    Step('losses', 'quick covered', 'tests/losses/run.py --bin {bin} --seeds 0-47,363,965,988', seconds=8),
    Step('losses', 'deep', 'tests/losses/run.py --bin {bin} --seeds 0-99', seconds=30),
    Step('losses-500', 'deep', 'tests/losses/run.py --bin {plain} --seeds 0-499,965,988,1164', seconds=90),
]
