# SPDX-License-Identifier: Apache-2.0
"""make install into a staging folder."""
from step import Step

STEPS = [
    Step('install', 'quick', 'tests/install/run.py --bin {bin}'),
]
