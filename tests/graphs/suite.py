# SPDX-License-Identifier: Apache-2.0
"""Graphs that are captured and replayed, and the steps of servers."""
from step import Step

STEPS = [
    Step('graphs', 'quick deep covered', 'tests/graphs/run.py --bin {bin}'),
    Step('graphs-pairs', 'quick covered', 'tests/graphs/pairs.py --bin {bin} --seeds 56', seconds=3),
    Step('graphs-pairs-all', 'deep', 'tests/graphs/pairs.py --bin {bin} --seeds 200', seconds=15),
    Step('graphs-real', 'real', 'tests/graphs/real.py --bin {bin} --realdata {realdata}'),
]
