# SPDX-License-Identifier: Apache-2.0
"""Random sequences of commands in one session."""
from step import Step

STEPS = [
    Step('sessions', 'quick covered', 'tests/sessions/run.py --program {program}'),
    Step('sessions', 'deep', 'tests/sessions/run.py --seeds 100-150 --program {program}'),
]
