# SPDX-License-Identifier: Apache-2.0
"""Converts thousands of profiles to Parquet tables, on a process pool or on Spark, and queries them in SQL.

    python -m tfprof.fleet build OUT 'runs/*/*.pb'         a process pool
    python -m tfprof.fleet build OUT 's3a://...' --engine spark
    python -m tfprof.fleet ask OUT slowest_workers

OUT/TABLE/run=RUN/*.parquet contain the tables of docs/TABLES.md. OUT/errors lists the files that could not be read.
OUT/_runs has a file for each complete run."""
from .local import build
from .plan import Item, plan
from .recipes import Recipe, all_recipes, run_recipe

__all__ = ['Item', 'Recipe', 'all_recipes', 'build', 'plan', 'run_recipe']
