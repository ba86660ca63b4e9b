# SPDX-License-Identifier: Apache-2.0
"""The prompt and the screens of a terminal; random keys."""
from step import Step

STEPS = [
    Step('term', 'quick covered', 'tests/term/run.py --program {program} --tools {bin}', seconds=30),
    Step('widths', 'quick covered', 'tests/term/widths.py --program {program}', seconds=10),
    Step('ui', 'quick covered', 'tests/term/ui.py --program {program}', seconds=60),
    Step('ui', 'deep', 'tests/term/ui.py --program {program} million', seconds=60),
    Step('keys', 'quick covered', 'tests/term/keys.py --program {program} --seeds 1-6', seconds=12),
    Step('keys', 'deep', 'tests/term/keys.py --program {program} --seeds 1-40'),
]
