# SPDX-License-Identifier: Apache-2.0
"""Data outputs: rows, schemas, statistics, the notebook; other tools that load them."""
from step import Step, counted, scratch_python

PACKAGES = ['jsonschema==4.23.0', 'pandas==2.2.3', 'duckdb==1.1.3']


def other_tools(places):
    """Loads tfprof's rows with other tools, in a scratch Python environment that is made once."""
    python, missing = scratch_python('venv', PACKAGES, '--only-binary=:all:')
    if missing:
        return missing
    return counted([python, '-B', 'tests/data/run.py', '--program', places['program'], 'other_tools', 'schemas', 'schema_of_gpu'])


STEPS = [
    Step('data', 'quick covered', 'tests/data/run.py --program {program}', seconds=20),
    Step('data-stored', 'quick deep', 'tests/data/stored_run.py --program {program}', seconds=5),
    Step('data', 'deep', 'tests/data/run.py --all --program {program}', seconds=120),
    Step('data-tools', 'deep', other_tools, seconds=60),
]
