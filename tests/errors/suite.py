# SPDX-License-Identifier: Apache-2.0
"""Error messages, each provoked."""
from step import Step

STEPS = [
    Step('errors', 'quick covered', 'tests/errors/run.py --program {program}', seconds=12),
]
