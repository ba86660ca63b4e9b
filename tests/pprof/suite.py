# SPDX-License-Identifier: Apache-2.0
"""pprof files, opened with the Go toolchain."""
from step import Step

STEPS = [
    Step('pprof', 'quick covered', 'tests/pprof/run.py --program {program}', seconds=25),
]
