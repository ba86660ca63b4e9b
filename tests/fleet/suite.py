# SPDX-License-Identifier: Apache-2.0
"""Fleets: thousands of profiles on a process pool and on Spark, and questions in SQL."""
import os
import sys

from step import Result, Step, counted, run

PACKAGES = ['pyarrow==17.0.0', 'duckdb==1.1.3', 'pyspark==3.5.3', 'pandas==2.2.3']


def with_packages(places):
    """Runs everything in a scratch environment of Python that is made once."""
    home = os.path.join('build', 'venv-fleet')
    python, done = os.path.join(home, 'bin', 'python'), os.path.join(home, 'packages')
    if not os.path.exists(done) or open(done).read() != ' '.join(PACKAGES):
        for words in ([sys.executable, '-m', 'venv', '--clear', home],
                      [python, '-m', 'pip', 'install', '--quiet'] + PACKAGES):
            status, text = run(words)
            if status:
                return Result(skipped=1, note='no scratch environment: ' + text.strip().split('\n')[-1])
        with open(done, 'w') as f:
            f.write(' '.join(PACKAGES))
    return counted([python, '-B', 'tests/fleet/run.py', '--bin', places['plain']])


STEPS = [
    Step('fleet', 'quick', 'tests/fleet/run.py --bin {bin} --without-packages', seconds=2),
    Step('fleet', 'deep', with_packages, seconds=180),
]
