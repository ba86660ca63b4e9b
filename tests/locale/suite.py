# SPDX-License-Identifier: Apache-2.0
"""Answers in other locales."""
from step import Step

STEPS = [
    Step('locales', 'quick', 'tests/locale/run.py --program {program}', seconds=5),
]
