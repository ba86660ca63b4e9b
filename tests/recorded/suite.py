# SPDX-License-Identifier: Apache-2.0
"""Answers recorded from the original, which are never rewritten."""
import os

from step import Result, Step, counted


def outside(places):
    """Compares with recorded answers outside the repository."""
    golden, asked = places['golden'], places['filter']
    if not places['realdata'] or not golden:
        return Result(skipped=1, note='REALDATA or GOLDEN is not set')
    release = os.path.join(golden, 'release')
    return counted(['tests/recorded/run.py', '--program', places['program'], '--threads', places['many'], '--data',
                    release if os.path.isdir(release) else golden, '--realdata', places['realdata']] +
                   ([asked] if asked not in 'recorded-real' else []))


VALGRIND = 'valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible'
STEPS = [
    Step('recorded', 'quick', 'tests/recorded/run.py --program {program} --threads 1 {filter}', seconds=5),
    Step('recorded-threads', 'quick covered',
         'tests/recorded/run.py --program {program} --threads {many} {filter}', seconds=10, skips=False),
    Step('recorded', 'deep', 'tests/recorded/run.py --program {program} --threads {many} {filter}', seconds=10),
    Step('tsan-recorded', 'deep',
         'tests/recorded/run.py --program {tsan}/tfprof --threads {many} --inputs-only {filter}', seconds=10, skips=False),
    Step('valgrind', 'deep', 'tests/recorded/run.py --program {plain}/tfprof --threads 1 --sample 100 --exec-prefix "%s"' % VALGRIND, seconds=250),
    Step('recorded-real', 'real', outside, seconds=10),
]
