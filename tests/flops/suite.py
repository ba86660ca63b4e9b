# SPDX-License-Identifier: Apache-2.0
"""Float operations of graphs: TensorFlow's numbers for each node, and shapes that tfprof computes; hostile shapes in each format."""
from step import Step

STEPS = [
    Step('flops', 'quick covered', 'tests/flops/run.py --program {program}', seconds=3),
    Step('flops-hostile', 'quick', 'tests/flops/hostile_run.py --bin {bin}', seconds=5),
    Step('flops-golden', 'real', 'tests/flops/golden_run.py --program {program} --realdata {realdata} --modern={modern}'),
    Step('flops-coverage', 'real', 'tests/flops/coverage.py --program {program} {realdata}', seconds=60),
]
