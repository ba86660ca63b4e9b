# SPDX-License-Identifier: Apache-2.0
"""Recordings as inputs."""
from step import Step, counted, under_valgrind

# Only some tests, because valgrind is slow; truncation and damage have unit tests.
SPOOLS_SLOWLY = ['names', 'ranges', 'join', 'wrap', 'steps_marks', 'gpus', 'ranks', 'clock', 'sums', 'kept', 'size']


def valgrind(places):
    return counted(['tests/spool/run.py', '--program', under_valgrind(places['plain'] + '/tfprof'),
                    '--make', places['plain'] + '/spool_make'] + SPOOLS_SLOWLY)


STEPS = [
    Step('spool', 'quick deep covered', 'tests/spool/run.py --program {program} --make {bin}/spool_make', seconds=12),
    Step('spool-tsan', 'deep', 'tests/spool/run.py --program {tsan}/tfprof --make {tsan}/spool_make', seconds=250),
    Step('spool-valgrind', 'deep', valgrind, seconds=450),
]
