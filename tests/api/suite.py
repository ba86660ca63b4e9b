# SPDX-License-Identifier: Apache-2.0
"""The library from C: two sessions at once, long use, random calls."""
from step import Step

STEPS = [
    Step('api', 'quick', 'tests/api/run.py --bin {bin}', seconds=6),
    Step('api', 'deep', 'tests/api/run.py --bin {bin} --san address,undefined --seeds 200',
         seconds=300),
    Step('api-tsan', 'deep', 'tests/api/run.py --bin {tsan} --san thread --seeds 8'),
]
