# SPDX-License-Identifier: Apache-2.0
"""The programs, libraries and wheels for Windows and macOS."""
from step import Step

STEPS = [
    Step('port', 'deep', 'tests/port/run.py --program {program}', seconds=1200),
]
