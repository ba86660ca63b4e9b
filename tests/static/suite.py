# SPDX-License-Identifier: Apache-2.0
"""The statically linked program."""
from step import Step

STEPS = [
    Step('static', 'deep', 'tests/static/run.py'),
]
