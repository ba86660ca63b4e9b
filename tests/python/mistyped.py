# SPDX-License-Identifier: Apache-2.0
"""Contains mistakes that mypy and pyright must find; typing_run.py compares the lines."""
import tfprof

p = tfprof.open('x')
p.scope(order_by='micross')  # wrong
p.scope(max_depth='all')  # wrong
p.kernels(tops=3)  # wrong
p.kernels(by='step')  # wrong
p.steps(top='x')  # wrong
p.open()  # wrong
text: str = p.kernels()  # wrong
number: int = p.scope().total.micros
tfprof.open(3)  # wrong
