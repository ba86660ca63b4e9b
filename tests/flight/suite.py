# SPDX-License-Identifier: Apache-2.0
"""Dumps of PyTorch's Flight Recorder."""
from step import Step

STEPS = [
    Step('flight', 'quick deep covered', 'tests/flight/run.py --program {program}', seconds=10),
]
