# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of frameworks: runs the frameworks in child processes to write files, and returns tfprof's
numbers for them."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SCRIPT = os.path.abspath(sys.argv[0])
FOLDER = tempfile.TemporaryDirectory()
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, 'check'), os.path.join(TESTS, 'trace')]
import cases  # noqa: E402
import trace_case  # noqa: E402
from trace_case import dump, equal, program  # noqa: E402, F401


def make(maker, *words):
    """Runs a function of the test script in a child process, because a process can have only one profiler. Returns the
    folder that the function wrote to; later calls return the same folder."""
    folder = os.path.join(FOLDER.name, '-'.join((maker, *words)))
    if os.path.exists(folder):
        return folder
    os.makedirs(folder + '.part', exist_ok=True)
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL='3', TF_ENABLE_ONEDNN_OPTS='1', JAX_PLATFORMS='cpu', CUDA_VISIBLE_DEVICES='')
    p = subprocess.run([sys.executable, '-B', SCRIPT, '--make', maker, folder + '.part', *words], env=env, capture_output=True, text=True)
    assert p.returncode == 0, '%s: %s' % (maker, p.stderr[-2000:])
    os.rename(folder + '.part', folder)
    return folder


def host_ops(path, by='none'):
    """Returns {name: (type, executions, total, self)} of the ops on threads, in ticks of the trace."""
    return {o['name']: (o['type'], o['host_runs'], o['host_total'], o['host_self']) for o in dump(path, '--by=' + by)['ops']
            if o['host_runs']}


def printed_ops(path):
    """Returns {type: [executions, self time in microseconds, cells]} over all steps, from `op -output json`. A cell is
    a node in a step."""
    steps = [r['step'] for r in json.loads(program('steps', path, '-output', 'json', '--top=0')[0])['steps']]
    found = {}
    for step in steps:
        out, _ = program('op', path, '-step', str(step), '-select', 'self_micros,occurrence', '-output', 'json')
        for r in json.loads(out[out.index('{'):])['rows']:
            sums = found.setdefault(r['path'], [0, 0, 0])
            for i, key in enumerate(('own_occurrence', 'own_self_micros', 'nodes')):
                sums[i] += r[key]
    return found


def compare_printed(path, exact, per_us):
    """Compares printed times with exact times, {type: (executions, self time in ticks)}. Times are rounded to
    microseconds once per node and step, so a sum differs by at most half a microsecond per node and step."""
    found = printed_ops(path)
    for kind, (runs, ticks) in exact.items():
        if not runs:
            continue
        count, micros, cells = found[kind]
        equal(count, runs, kind)
        assert abs(micros - ticks / per_us) <= cells / 2 + .001, '%s: %d us, expected %.3f' % (kind, micros, ticks / per_us)


def main(doc, makers, tests):
    a = argparse.ArgumentParser(description=doc.split('\n')[0])
    a.add_argument('names', nargs='*')
    a.add_argument('--bin', default='build/check')
    a.add_argument('--make', nargs='+', metavar='NAME')
    args = a.parse_args()
    if args.make:
        makers[args.make[0]](*args.make[1:])
        return 0
    trace_case.BIN = os.path.abspath(args.bin)
    return cases.run([c for c in tests if not args.names or c.__name__ in args.names])
