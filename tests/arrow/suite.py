# SPDX-License-Identifier: Apache-2.0
"""Arrow streams: from C without an Arrow library, and read by pyarrow, polars, DuckDB and pandas."""
from step import Step, counted, scratch_python

PACKAGES = ['pyarrow==17.0.0', 'duckdb==1.1.3', 'polars==1.20.0', 'pandas==2.2.3', 'nanoarrow==0.6.0']


def consumers(places):
    """Reads tfprof's streams with other libraries, in a scratch Python environment that is made once."""
    python, missing = scratch_python('venv-arrow', PACKAGES, '--only-binary=:all:')
    if missing:
        return missing
    return counted([python, '-B', 'tests/arrow/run.py', '--bin', places['plain'], '--consumers'])


STEPS = [
    Step('arrow', 'quick covered', 'tests/arrow/run.py --bin {bin}', seconds=9),
    Step('arrow', 'deep', 'tests/arrow/run.py --bin {bin} --san address,undefined', seconds=30),
    Step('arrow-tsan', 'deep', 'tests/arrow/run.py --bin {tsan} --san thread threads', seconds=20),
    Step('arrow-consumers', 'deep', consumers, seconds=60),
]
