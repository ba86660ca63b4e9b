#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares memory with PyTorch's own viewer (torch/cuda/_memory_viz.py) on 30 snapshots: bytes reserved, allocated and free at
the end, and allocated bytes by stack.

    PYTHON-WITH-TORCH tests/frameworks/snapshot_viz.py --bin build/check
"""
import argparse
import importlib.util
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'snapshot'))
import layout  # noqa: E402

UNITS = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}


def load():
    """Loads the viewer without importing all of PyTorch."""
    torch = os.path.dirname(importlib.util.find_spec('torch').origin)
    spec = importlib.util.spec_from_file_location('memory_viz', os.path.join(torch, 'cuda', '_memory_viz.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PAGE_SIZE = 1 << 20
    return module


def compare(viz, program, seed):
    snapshot, truth = layout.make(seed, version=layout.VERSIONS[seed % 4], steps=200 + 7 * seed, before=50 * (seed % 3), private=seed % 2 == 1,
                                  expandable=seed % 5 == 0)
    with tempfile.NamedTemporaryFile(suffix='.pickle') as f:
        pickle.dump(snapshot, f, seed % 6)
        f.flush()
        r = subprocess.run([program, 'memory', f.name, '--at=end', '--top=0', '-output', 'json'], capture_output=True, text=True, check=True)
    doc = json.loads(r.stdout)
    lines = {}
    for line in viz.memory(snapshot, format_flamegraph=lambda x: x).splitlines():
        stack, size = line.rsplit(' ', 1)
        if ';active_' in stack and '<gaps>' not in stack:
            lines[stack] = lines.get(stack, 0) + int(size)
    text = viz.segsum(snapshot)
    reserved = sum(s['total_size'] for s in snapshot['segments'])
    shown = re.search(r'total_reserved: ([0-9.]+)(\w+)', text)
    assert abs(float(shown[1]) * UNITS[shown[2]] - reserved) <= 0.051 * UNITS[shown[2]], (seed, text)
    row, state = doc['memory'][0], doc['pools'][0]
    active = sum(lines.values())
    assert row['live_bytes'] == active, (seed, row, active)
    assert state['unused_bytes'] == reserved - active, (seed, state)
    assert row['peak_bytes'] == layout.peak(snapshot['device_traces'][0], truth[0]['start']), seed
    by_line = {}
    for stack, size in lines.items():
        # The innermost frame of the user's program; the viewer leaves out directories and C++.
        frames = [x.split(':') for x in stack.split(';')[2:]]
        own = [x for x in frames if x[0].startswith(('model_', 'train'))]
        key = ':'.join(own[-1][:2])
        by_line[key] = by_line.get(key, 0) + size
    found = {}
    for r in doc['live']:
        key = os.path.basename(r['line'].split(' ')[0])
        found[key] = found.get(key, 0) + r['bytes']
    assert found == by_line, (seed, found, by_line)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--bin', default=os.path.join(ROOT, 'build/check'))
    o = p.parse_args()
    viz, failed = load(), 0
    for seed in range(30):
        try:
            compare(viz, os.path.join(o.bin, 'tfprof'), seed)
        except AssertionError as e:
            failed += 1
            print('%.600s' % e)
    print('%d passed, %d failed, 0 skipped' % (30 - failed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
