# SPDX-License-Identifier: Apache-2.0
"""Commands and their expected output (goldens)."""
from step import Step

STEPS = [
    Step('cli', 'quick deep covered', 'tests/cli/run.py --program {program} {filter}', seconds=8),
    Step('cli-spool-tsan', 'deep', 'tests/cli/run.py --program {tsan}/tfprof spool/'),
    Step('cli-spool-valgrind', 'deep',
         'tests/cli/run.py --program {plain}/tfprof spool/ --exec-prefix "valgrind -q --error-exitcode=99"'),
]
