# SPDX-License-Identifier: Apache-2.0
"""The checks for a machine with a GPU, rehearsed on fakes. On a GPU make check-gpu runs them."""
from step import Step

STEPS = [
    Step('gpu-quick', 'quick', 'tests/gpu/rehearsal.py --quick --bin {bin}', seconds=60),
    Step('gpu-portable', 'deep', 'tests/gpu/portable.py', seconds=300),
    Step('gpu-rehearsal', 'deep', 'tests/gpu/rehearsal.py --bin {plain}', seconds=250),
]
