# SPDX-License-Identifier: Apache-2.0
"""Fleets: thousands of profiles on a process pool and on Spark, in an object store, and queries in SQL."""
from step import Step, counted, scratch_python

PACKAGES = ['pyarrow==17.0.0', 'duckdb==1.1.3', 'pyspark==3.5.3', 'pandas==2.2.3', 'moto[server]==5.2.5',
            's3fs==2026.9.0', 'deltalake==1.6.6', 'pyiceberg[sql-sqlite]==0.12.0', 'gcsfs==2026.10.1', 'gcp-storage-emulator==2026.7.19', 'adlfs==2026.8.0']


def with_packages(places):
    """Runs everything in a scratch Python environment that is made once."""
    python, missing = scratch_python('venv-fleet', PACKAGES)
    if missing:
        return missing
    return counted([python, '-B', 'tests/fleet/run.py', '--bin', places['plain']])


STEPS = [
    Step('fleet', 'quick', 'tests/fleet/run.py --bin {bin} --without-packages', seconds=2),
    Step('fleet', 'deep', with_packages, seconds=900),
]
