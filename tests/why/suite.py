# SPDX-License-Identifier: Apache-2.0
"""Traces with planted causes, and healthy ones."""
from step import Step

STEPS = [
    Step('why', 'quick covered', 'tests/why/run.py --program {program} --make {bin}/spool_make causes_cost traces_have', seconds=8),
    Step('why-verdicts', 'quick covered', 'tests/why/verdict_run.py --program {program} --make {bin}/spool_make', seconds=12),
    Step('why-all', 'deep', 'tests/why/run.py --program {program} --make {bin}/spool_make --seeds 100', seconds=80),
    Step('why-healthy', 'deep', 'tests/why/run.py --program {program} --make {bin}/spool_make --seeds 100 --rows tests/why/healthy.json '
         'verdicts_are', seconds=40),
    Step('why-real', 'real', 'tests/why/real.py --program {program} --realdata {realdata}', seconds=10),
    Step('why-windows', 'real', 'tests/why/windows.py --program {program} --realdata {realdata}', seconds=20),
]
