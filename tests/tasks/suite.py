# SPDX-License-Identifier: Apache-2.0
"""What people want to know, and the commands that tell it on their first screen."""
from step import Step

STEPS = [
    Step('tasks', 'quick covered', 'tests/tasks/run.py --program {program}', seconds=5),
]
