#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares flops with numbers that other tools print for calls of ops, from outside the repository.

    tests/flops/golden_run.py --program build/check/tfprof --realdata DIR --modern DIR

DIR/golden/flops.json of --modern has the calls and the numbers. The only difference: TraceLens counts the addition of a bias, one
operation for each element of the result; tfprof does not.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, 'check'))
import cases  # noqa: E402

A = argparse.ArgumentParser(description=__doc__.split('\n')[0])
A.add_argument('--program', required=True)
A.add_argument('--realdata', required=True)
A.add_argument('--modern', default='')
ARGS = A.parse_args()
PROGRAM = os.path.abspath(ARGS.program)
REALDATA = os.path.abspath(ARGS.realdata)
MODERN = os.path.abspath(ARGS.modern or os.path.join(os.path.dirname(REALDATA), 'modern'))
NOT_CAUSAL = {'aten::_scaled_dot_product_flash_attention': ['', '', '', '0.0', 'False']}


def settings(case):
    """Returns the values of the settings of a call as PyTorch writes them; texts of tensors are empty."""
    if 'stride' in case:
        return ['', '', '', str(case['stride']), str(case['padding']), str([1] * len(case['stride'])), 'False', str([0] * len(case['stride'])), '1']
    return NOT_CAUSAL.get(case['op'], [''] * len(case['input_dims']))


def trace_of(case):
    """Returns a trace with one call of the op and its kernel."""
    args = {'External id': 1, 'Input Dims': case['input_dims'], 'Input type': ['c10::Half'] * len(case['input_dims']),
            'Concrete Inputs': settings(case)}
    base = {'ph': 'X', 'pid': 1, 'tid': 1}
    return {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100 80GB HBM3'}], 'traceEvents': [
        dict(base, cat='cpu_op', name=case['op'], ts=10, dur=20, args=args),
        dict(base, cat='cuda_runtime', name='cudaLaunchKernel', ts=12, dur=3, args={'External id': 1, 'correlation': 7}),
        dict(base, cat='kernel', name='gemm', pid=0, tid=7, ts=40, dur=9, args={'External id': 1, 'correlation': 7, 'device': 0, 'stream': 7})]}


def counted(path):
    p = subprocess.run([PROGRAM, 'flops', path, '-output', 'json', '--top=0'], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def of_op(case):
    """A call in a PyTorch trace."""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        json.dump(trace_of(case), f)
        f.flush()
        d = counted(f.name)
    bias = case['input_dims'][1][0] * case['input_dims'][2][1] if case['op'] == 'aten::addmm' else 0
    cases.equal(d['flops'] + bias, case['flops'], case['op'])
    cases.equal((d['coverage'], d['uncounted']), (1, []), case['op'])


def of_convolution(case):
    """The convolutions of a program that XLA compiled: each execution has XLA's number, without the products with padding. Other
    instructions of the same op have no float operations."""
    path = os.path.join(REALDATA, 'xplane', 'jax_conv_minimal_legacy.xplane.pb')
    row, = [r for r in counted(path)['ops'] if r['family'] == 'convolutions']
    p = subprocess.run([PROGRAM, 'flops', path, '--explain=' + row['op']], capture_output=True, text=True, timeout=60)
    executions = int(re.search(r'(\d+) of %d = ' % case['flops_xla'], p.stdout)[1])
    cases.equal(row['flops'], executions * case['flops_xla'], 'convolution')
    assert case['flops_xla'] < case['flops_naive_out_times_window'], case


def test_of(index, case):
    def run():
        (of_op if 'input_dims' in case else of_convolution)(case)
    run.__name__, run.__doc__ = '%s_%d' % (case['op'], index), case['formula']
    return run


if __name__ == '__main__':
    with open(os.path.join(MODERN, 'golden', 'flops.json')) as golden:
        found = json.load(golden)['cases']
    sys.exit(cases.run([test_of(i, c) for i, c in enumerate(found)]))
