# SPDX-License-Identifier: Apache-2.0
"""Failing calls, signals and full disks, on the plain program, because the fault injection does not work with sanitizers."""
from step import Step

STEPS = [
    Step('faults', 'quick', 'tests/faults/run.py --program {program} --shim {bin}/faults/shim.so', seconds=5),
    Step('faults', 'deep',
         'tests/faults/run.py --program {plain}/tfprof --shim {plain}/faults/shim.so --all', seconds=300),
]
