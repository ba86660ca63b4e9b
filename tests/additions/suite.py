# SPDX-License-Identifier: Apache-2.0
"""The worked examples of docs/HACKING.md: their places exist; deep: they are built, and their commands run."""
from step import Step

STEPS = [
    Step('additions', 'quick', 'tests/additions/run.py'),
    Step('additions-built', 'deep', 'tests/additions/run.py --build', seconds=120),
]
