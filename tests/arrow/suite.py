# SPDX-License-Identifier: Apache-2.0
"""Arrow streams: from C without an Arrow library, and read by pyarrow, polars, DuckDB and pandas."""
import os
import sys

from step import Result, Step, counted, run

PACKAGES = ['pyarrow==17.0.0', 'duckdb==1.1.3', 'polars==1.9.0', 'pandas==2.2.3', 'nanoarrow==0.6.0']


def consumers(places):
    """Reads our streams with others' libraries, in a scratch environment of Python that is made once."""
    home = os.path.join('build', 'venv-arrow')
    python, done = os.path.join(home, 'bin', 'python'), os.path.join(home, 'packages')
    if not os.path.exists(done) or open(done).read() != ' '.join(PACKAGES):
        for words in ([sys.executable, '-m', 'venv', '--clear', home],
                      [python, '-m', 'pip', 'install', '--quiet', '--only-binary=:all:'] + PACKAGES):
            status, text = run(words)
            if status:
                return Result(skipped=1, note='no scratch environment: ' + text.strip().split('\n')[-1])
        with open(done, 'w') as f:
            f.write(' '.join(PACKAGES))
    return counted([python, '-B', 'tests/arrow/run.py', '--bin', places['plain'], '--consumers'])


STEPS = [
    Step('arrow', 'quick covered', 'tests/arrow/run.py --bin {bin}', seconds=10),
    Step('arrow', 'deep', 'tests/arrow/run.py --bin {bin} --san address,undefined', seconds=30),
    Step('arrow-tsan', 'deep', 'tests/arrow/run.py --bin {tsan} --san thread threads', seconds=20),
    Step('arrow-consumers', 'deep', consumers, seconds=60),
]
