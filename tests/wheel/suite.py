# SPDX-License-Identifier: Apache-2.0
"""Wheels: built, installed, used. make check-wheel runs the plain one."""
from step import Step

STEPS = [
    Step('wheel', 'deep', 'tests/wheel/run.py --portable'),
]
