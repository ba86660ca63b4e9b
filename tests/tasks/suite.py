# SPDX-License-Identifier: Apache-2.0
"""Questions of users, and the commands that answer them on their first screen."""
from step import Step

STEPS = [
    Step('tasks', 'quick covered', 'tests/tasks/run.py --program {program}', seconds=5),
]
