# SPDX-License-Identifier: Apache-2.0
"""Data outputs: rows, schemas, statistics, the notebook; tools of others that load them."""
import os
import sys

from step import Result, Step, counted, run

PACKAGES = ['jsonschema==4.23.0', 'pandas==2.2.3', 'duckdb==1.1.3']


def other_tools(places):
    """Loads our rows with other tools, in a scratch environment of Python that is made once."""
    home = os.path.join('build', 'venv')
    python, done = os.path.join(home, 'bin', 'python'), os.path.join(home, 'packages')
    if not os.path.exists(done) or open(done).read() != ' '.join(PACKAGES):
        for words in ([sys.executable, '-m', 'venv', '--clear', home],
                      [python, '-m', 'pip', 'install', '--quiet', '--only-binary=:all:'] + PACKAGES):
            status, text = run(words)
            if status:
                return Result(skipped=1, note='no scratch environment: ' + text.strip().split('\n')[-1])
        with open(done, 'w') as f:
            f.write(' '.join(PACKAGES))
    return counted([python, '-B', 'tests/data/run.py', '--program', places['program'], 'other_tools', 'schemas', 'schema_of_gpu'])


STEPS = [
    Step('data', 'quick covered', 'tests/data/run.py --program {program}', seconds=60),
    Step('data', 'deep', 'tests/data/run.py --all --program {program}', seconds=120),
    Step('data-tools', 'deep', other_tools, seconds=60),
]
