# SPDX-License-Identifier: Apache-2.0
"""Examples of documents, manual pages and tutorials, each run."""
from step import Step

STEPS = [
    Step('examples', 'quick', 'tests/examples/run.py --program {program} {filter}', seconds=10),
    Step('examples-defaults', 'quick', 'tests/examples/defaults.py --program {program}', seconds=5),
]
