# SPDX-License-Identifier: Apache-2.0
"""pprof files, opened with the Go toolchain; stacks and pprof files, opened in speedscope."""
from step import Step

STEPS = [
    Step('speedscope', 'deep', 'tests/pprof/speedscope.py --program {program}', seconds=20),
    Step('pprof', 'quick covered', 'tests/pprof/run.py --program {program}', seconds=10),
]
