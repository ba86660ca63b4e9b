#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes initial inputs of a fuzz target from folders of whole files.

    tests/fuzz/seeds.py TARGET OUT FOLDER...
"""
import glob
import os
import re
import sys

MOST = 1 << 16  # bytes; libFuzzer is slow with larger inputs

# The files that a target reads, by their names.
TARGETS = {
    'graph': r'graph.*\.pb(txt)?(\.gz)?$|/graphs/.*\.pb(txt)?$',
    'run': r'run_meta(_\w+)?(\.pb|\.pbtxt)?(\.gz)?$',
    'oplog': r'(op_log|tfprof_log)(\.pb)?(\.gz)?$',
    'profile': r'profile(_\d+)?(\.pb)?(\.gz)?$',
    'gzip': r'\.gz$',
    'spool': r'\.tfspool$',
    'chrome': r'\.(pt\.)?(trace\.)?json(\.gz)?$',
    'xspace': r'\.xplane\.pb$',
    'onnxruntime': r'(ort|onnx)[^/]*\.json$',
    'pprof': r'(cpu|heap)\.pb(\.gz)?$',
    'onnx': r'\.onnx$',
    'nsys': r'\.sqlite$',
    'hlo': r'\.hlo\.pb$',
    'snapshot': r'\.pickle(\.gz)?$',
    'flight': r'/flight/dump_\d+$',
    'rocprof': r'_results\.json(\.gz)?$',
    'perfetto': r'\.(pftrace|perfetto-trace)(\.gz)?$',
    'json': r'\.json$',
    'ckpt': r'\.index$|/ckpt$',
}


def seed(target, path):
    """Returns the input made from a file, or None if it is too large."""
    with open(path, 'rb') as f:
        data = f.read(MOST + 1)
    if target == 'ckpt':  # where the input is divided: index, data
        cut = len(data)
        for shard in sorted(glob.glob(glob.escape(re.sub(r'index$', 'data-', path)) + '*')):
            with open(shard, 'rb') as f:
                data += f.read(MOST + 1)
        data = cut.to_bytes(2, 'little') + data if cut < 1 << 16 else bytes(MOST + 1)
    return data if len(data) <= MOST else None


def main(target, out, *folders):
    os.makedirs(out, exist_ok=True)
    found = sorted(p for d in folders for p in glob.glob(os.path.join(d, '**'), recursive=True)
                   if target in TARGETS and os.path.isfile(p) and '/fuzz/' not in p and re.search(TARGETS[target], p))
    n = 0
    for path in found:
        data = seed(target, path)
        if data is not None:
            with open(os.path.join(out, '%d_%s' % (n, os.path.basename(path))), 'wb') as f:
                f.write(data)
            n += 1
    print('%d seeds of whole files' % n)


if __name__ == '__main__':
    main(*sys.argv[1:])
