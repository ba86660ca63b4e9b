# SPDX-License-Identifier: Apache-2.0
"""Upstream's own test inputs, with the answers of releases of the original."""
from step import Step

STEPS = [
    Step('upstream', 'real', 'tests/upstream/run.py --program {program} --realdata {realdata} {filter}'),
]
