# SPDX-License-Identifier: Apache-2.0
"""Readers of traces: files made on the spot, and real files with known numbers."""
from step import Step

STEPS = [
    Step('traces', 'quick deep covered', 'tests/trace/run.py --bin {bin}'),
    Step('traces-groups', 'quick deep covered', 'tests/trace/groups.py --bin {bin}'),
    Step('traces-hlo', 'quick deep covered', 'tests/trace/hlo.py --bin {bin}'),
    Step('traces-kineto', 'quick deep covered', 'tests/trace/kineto_run.py --bin {bin}'),
    Step('traces-sources', 'quick deep covered', 'tests/trace/sources_run.py --bin {bin}'),
    Step('traces-real', 'real', 'tests/trace/real.py --bin {bin} --realdata {realdata} --modern={modern}'),
    Step('traces-kineto-real', 'real', 'tests/trace/kineto_real.py --bin {bin} --realdata {realdata} --modern={modern}'),
    Step('traces-sources-real', 'real', 'tests/trace/sources_real.py --bin {bin} --realdata {realdata} --modern={modern}'),
]
