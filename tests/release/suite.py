# SPDX-License-Identifier: Apache-2.0
"""The files of a release, and the comparison of its interface with the last one."""
from step import Step

STEPS = [
    Step('release', 'deep', 'tests/release/run.py', seconds=200),
]
