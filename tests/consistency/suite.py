# SPDX-License-Identifier: Apache-2.0
"""The totals of all answers about an input are equal, and correct for its bytes; damaged inputs give no silently wrong
answer."""
from step import Step

STEPS = [
    Step('consistency', 'quick covered', 'tests/consistency/run.py --bin {bin}', seconds=8),
    Step('consistency', 'deep', 'tests/consistency/run.py --bin {bin} views: steps: exports: itself: timeline: converted:', seconds=60),
    Step('consistency-real', 'real', 'tests/consistency/run.py --bin {bin} --realdata {realdata}', seconds=80),
    Step('damage', 'quick covered', 'tests/consistency/damage.py --program {program} --make {bin}/spool_make --times 12', seconds=10),
    Step('damage', 'deep', 'tests/consistency/damage.py --program {plain}/tfprof --make {plain}/spool_make', seconds=120),
    Step('damage-asan', 'deep', 'tests/consistency/damage.py --program {program} --make {bin}/spool_make --times 30', seconds=120),
]
