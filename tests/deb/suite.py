# SPDX-License-Identifier: Apache-2.0
"""Debian packages: built, checked by lintian, installed in a scratch root; the interface of the library."""
from step import Step

STEPS = [
    Step('deb', 'deep', 'tests/deb/run.py --bin build/check', seconds=300),
]
