# SPDX-License-Identifier: Apache-2.0
"""Answers about time, compared with a simulator that knows the causes."""
from step import Step

STEPS = [
    Step('sim', 'quick covered', 'tests/sim/run.py --program {program} --make {bin}/spool_make --seeds 12', seconds=10),
    Step('sim-500', 'deep', 'tests/sim/run.py --program {program} --make {bin}/spool_make --seeds 500', seconds=200),
    Step('sim-real', 'real', 'tests/sim/real.py --program {program} --realdata {realdata}', seconds=30),
]
