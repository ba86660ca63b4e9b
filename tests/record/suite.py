# SPDX-License-Identifier: Apache-2.0
"""record, ctl, gpu and doctor."""
from step import Step

STEPS = [
    Step('record', 'quick deep covered', 'tests/record/run.py --program {program} --tools {bin}', seconds=12),
]
