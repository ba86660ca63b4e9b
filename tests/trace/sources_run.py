#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads profiles of other programs that are made on the spot: what the passes find and what the program says.

    tests/trace/sources_run.py --bin build/check [NAME...]
    tests/trace/sources_run.py --write FOLDER      makes testdata/traces again
"""
import argparse
import json
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import cases  # noqa: E402
import onnx  # noqa: E402


def write(content, name):
    with open(name, 'wb') as f:
        f.write(content)
    return name


def dump(path, *words):
    p = subprocess.run([os.path.join(ARGS.bin, 'trace_dump'), *words, path], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return [json.loads(line) for line in p.stdout.split('\n') if line] if '--slices' in words else json.loads(p.stdout)


def program(*words, status=0):
    p = subprocess.run([os.path.join(ARGS.bin, 'tfprof'), *words], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL='C'))
    assert p.returncode == status, '%s: status %d: %s' % (words, p.returncode, p.stderr)
    return p.stdout, p.stderr


def rows(*words):
    """{path: row} of a view as JSON."""
    out, _ = program(*words, '-max_depth', '100', '-output', 'json')
    return {r['path']: r for r in json.loads(out[out.index('{'):])['rows']}


def equal(found, expected, what=''):
    assert found == expected, '%s: expected %r, found %r' % (what, expected, found)


def ops(d):
    """{name: (type, runs, total, self)} of threads and devices, in microseconds."""
    return {o['name']: (o['type'], o['host_runs'] or o['device_runs'], (o['host_total'] + o['device_total']) // 1000,
                        (o['host_self'] + o['device_self']) // 1000) for o in d['ops']}


# ---- ONNX Runtime ----

def onnx_new():
    """Nodes nest by time, loops contain their bodies, runs are steps; every microsecond of a run has its place."""
    d = dump(write(onnx.text(onnx.load() + onnx.run(1000) + onnx.run(2000)), 'ort.json'))
    execute = 'SequentialExecutor::Execute'
    equal(ops(d), {'model_run': ('step', 2, 140, 10), execute: (execute, 2, 130, 34), 'net/conv': ('Conv', 2, 40, 40),
                   'net/loop': ('Loop', 2, 50, 26), 'net/loop/' + execute: (execute, 4, 24, 8),
                   'net/loop/body/Mul': ('Mul', 4, 16, 16), 'Softmax_8': ('Softmax', 2, 6, 6)})
    equal((d['steps_by'], [(s['id'], s['end'] - s['start']) for s in d['steps']]), ('mark', [(0, 70000), (1, 70000)]))
    conv = [s for s in dump('ort.json', '--slices') if s['name'] == 'net/conv'][0]['args']
    equal([conv[k] for k in ('shapes', 'dtypes', 'output_bytes', 'parameter_bytes', 'bytes_accessed')],
          ['[[1,3,8,8],[2]]', '["float","int64"]', 4096, 64, 5120])
    found = rows('ort.json', 'scope', '-select', 'micros,occurrence', '-step', '1')
    equal(found['net/loop']['total_micros'], 25)


def onnx_old():
    """A provider is a device; what it does is taken off the thread; fences stand apart."""
    d = dump(write(onnx.text(onnx.load() + onnx.old(1000)), 'ort.json'))
    equal(ops(d), {'model_run': ('step', 1, 90, 10), 'SequentialExecutor::Execute': ('SequentialExecutor::Execute', 1, 80, 41),
                   '(fences)': ('fence', 6, 9, 9), 'blk/n0': ('Gemm', 1, 10, 10), 'blk/n1': ('Gemm', 1, 10, 10),
                   'blk/n2': ('Gemm', 1, 10, 10)})
    equal([(x['device'], x['busy']) for x in d['devices']], [('FastExecutionProvider', 20000)])
    found = rows('ort.json', 'scope', '-select', 'accelerator_micros,cpu_micros')
    equal([found['blk']['total_' + k] for k in ('accelerator_micros', 'cpu_micros')], [20, 10])


def onnx_texts():
    """Arrays one after the other are sessions one after the other; a file that breaks off gives what it has."""
    one = onnx.text(onnx.load() + onnx.run(1000))
    d = dump(write(one + one, 'ort.json'))
    equal([(s['id'], s['end'] - s['start']) for s in d['steps']], [(0, 70000), (1, 70000)])
    equal(ops(d)['net/conv'], ('Conv', 2, 40, 40))
    _, err = program(write(one[:-40], 'ort.json'), 'op')
    assert 'truncated' in err, err


def onnx_threads():
    """Two runs at a time, on two threads, are two steps, and each node belongs to its own."""
    both = onnx.run(1000) + [dict(e, tid=8) for e in onnx.run(1010)]
    write(onnx.text(both), 'ort.json')
    found = [rows('ort.json', 'scope', '-select', 'occurrence', '-step', str(s))['net/conv']['total_occurrence'] for s in range(2)]
    equal(found, [1, 1])
    equal(len(dump('ort.json')['steps']), 2)


def onnx_deep():
    """Ten thousand nodes in each other neither exhaust memory nor take long paths."""
    deep = [onnx.node('n', 'If', i, 20000 - 2 * i) for i in range(10000)]
    d = dump(write(onnx.text(onnx.load() + deep), 'ort.json'))
    equal(sum(o['host_runs'] for o in d['ops']), 10000)
    assert max(len(o['name']) for o in d['ops']) < 300


# ---- files of testdata/traces ----

def examples():
    """The files by their names."""
    return {'onnxruntime.json': onnx.text(onnx.load() + onnx.run(1000) + onnx.run(2000))}


def examples_are_made():
    """The files in testdata/traces are those that this script makes."""
    folder = os.path.join(os.path.dirname(os.path.dirname(TESTS)), 'testdata', 'traces')
    for name, content in examples().items():
        with open(os.path.join(folder, name), 'rb') as f:
            equal(f.read(), content, name)


CASES = [onnx_new, onnx_old, onnx_texts, onnx_threads, onnx_deep,
         examples_are_made]

if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('names', nargs='*')
    a.add_argument('--bin', default='build/check')
    a.add_argument('--write', metavar='FOLDER')
    ARGS = a.parse_args()
    if ARGS.write:
        for name, content in examples().items():
            write(content, os.path.join(ARGS.write, name))
        sys.exit(0)
    ARGS.bin = os.path.abspath(ARGS.bin)
    sys.exit(cases.run([c for c in CASES if not ARGS.names or any(n in c.__name__ for n in ARGS.names)]))
