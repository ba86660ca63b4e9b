# SPDX-License-Identifier: Apache-2.0
"""Builds, installs and uses wheels. make check-wheel runs the plain one."""
from step import Step

STEPS = [
    Step('wheel', 'deep', 'tests/wheel/run.py --portable'),
]
