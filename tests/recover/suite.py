# SPDX-License-Identifier: Apache-2.0
"""Truncated and damaged files, with and without --recover."""
from step import Step

STEPS = [
    Step('recover', 'quick covered', 'tests/recover/run.py --program {program} --make {bin}/spool_make', seconds=5),
    Step('recover', 'deep', 'tests/recover/run.py --sample 800 --program {program}'),
]
