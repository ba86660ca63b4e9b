#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the verdicts about windows of real files with verdicts of a person. A window is a part of a file: the slices of
threads that start in it, and the device work that they launched. The person read sums per kernel and call, the largest gaps of
the device, and what the launching threads did in them, from the raw events, and wrote the verdicts below before why was run on
any of the windows. The verdicts about the whole files were known.

    --program, --realdata  tfprof, and the folder of the files
"""
import argparse
import collections
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'check'))
import built  # noqa: E402

# start, end: on the clock of the file, us for JSON and ns for SQLite; None: the whole file. answer: of why, where it differs
Window = collections.namedtuple('Window', 'file start end cause reason answer', defaults=[None])
VLLM = 'kineto_graphs/vllm_prefilldecode_piecewise/capture_traces/graph_capture_rank_0.1773709679453551615.pt.trace.json.gz'
SGLANG = 'kineto_graphs/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz'
WINDOWS = [
    Window('kineto/alexnet.json.gz', 1695835585784481, 1695835585864159, 'host_work',
           'the first kernel starts after 52 of 80 ms; aten::mul and aten::fill_ of clear_cache take 42 ms on the CPU; cudaMalloc is second, 33 ms'),
    Window('kineto/alexnet.json.gz', 1695835585827782, 1695835585864139, 'allocation', 'five cudaMalloc take 33 of 36 ms, the device works for 5 ms'),
    Window('kineto/mi300_normalization.json.gz', 3545057580571.6, 3545057582779, 'launch_bound', '23 kernels of 6 us in 2.2 ms, many short ops'),
    Window('kineto/mi300_normalization.json.gz', 3545057583959.4, 3545057585541, 'launch_bound', '23 kernels of 5 us in 1.6 ms, many short ops'),
    Window('kineto/mi300_normalization.json.gz', 3545056905225.6, 3545057237554, 'host_work', 'one of 4 hipLaunchKernel takes 332 of 332 ms'),
    Window(VLLM, None, None, 'unknown', 'hipDeviceSynchronize waits for 115 of 174 ms, and no device work is in the file for 119 ms'),
    Window(SGLANG, 4909913692199, 4909914214941, 'unknown', 'hipMemcpyWithStream waits for 493 of 987 ms, and the device has no work meanwhile'),
    Window(SGLANG, 4909914185841, 4909914214757, 'none', 'busy for 99.8 % of 494 ms, mostly with large matrix products'),
    Window('kineto/sampled_rank-0.json.gz', 'ProfilerStep#552', None, 'host_work',
           'busy for 43 %; while the device is idle, the threads are in the optimizer and outside of slices; NCCL has 200 ms beside that'),
    Window('kineto/resnet50_gpu.pt.trace.json.gz', 'ProfilerStep#10', None, 'input_pipeline', 'the first kernel starts after 63 of 180 ms, of which the loader has 40 ms by itself'),
    Window('nsys/h100_2gpu_1s.sqlite', 156064000000, 156322000000, 'host_copies', 'copies from pinned memory take 251 of 262 ms, kernels 4 ms'),
    Window('nsys/mfu_2gpu_before.sqlite', 60111000000, 60211000000, 'unfused_elementwise', 'kernels for 85 of 110 ms: flash attention 40 ms, elementwise ones 27 ms'),
]


def is_work(e):
    return e.get('cat', '').lower() in ('kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset')


def correlation(e):
    return e.get('args', {}).get('correlation')


def cut_json(x, source, path):
    with gzip.open(source) as f:
        d = json.load(f)
    d = d if isinstance(d, dict) else {'traceEvents': d}
    start, end = x.start, x.end
    if isinstance(start, str):
        mark = next(e for e in d['traceEvents'] if e.get('ph') == 'X' and e['name'] == start)
        start, end = mark['ts'], mark['ts'] + mark['dur']
    slices = [e for e in d['traceEvents'] if e.get('ph') == 'X' and e.get('cat') != 'gpu_user_annotation']
    host = [e for e in slices if not is_work(e) and start <= float(e['ts']) < end]
    launched = {correlation(e) for e in host} - {None}
    kept = [e for e in d['traceEvents'] if e.get('ph') == 'M'] + host + [e for e in slices if is_work(e) and correlation(e) in launched]
    with open(path, 'w') as f:
        json.dump(dict({k: d[k] for k in ('schemaVersion', 'deviceProperties') if k in d}, traceEvents=kept), f)


def cut_sqlite(x, source, path):
    shutil.copy(source, path)
    os.chmod(path, 0o600)
    db = sqlite3.connect(path)
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = {row[1] for row in db.execute('PRAGMA table_info("%s")' % table)}
        if {'start', 'end'} <= columns:
            db.execute('DELETE FROM "%s" WHERE start < ? OR start >= ?' % table, (x.start, x.end))
    db.execute('DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId NOT IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)')
    db.commit()
    db.close()


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', required=True, type=os.path.abspath)
    p.add_argument('--realdata', required=True)
    p.add_argument('--keep', help='a folder for the windows')
    a = p.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, x in enumerate(WINDOWS):
            source, sqlite = os.path.join(a.realdata, x.file), x.file.endswith('.sqlite')
            if sqlite and not built.has(a.program, 'sqlite'):
                skipped += 1
                continue
            path = source if x.start is None else os.path.join(a.keep or folder, '%d.%s' % (i, 'sqlite' if sqlite else 'pt.trace.json'))
            if x.start is not None:
                (cut_sqlite if sqlite else cut_json)(x, source, path)
            answer = subprocess.run([a.program, 'why', path, '-output', 'json'], capture_output=True, text=True)
            found = json.loads(answer.stdout) if answer.returncode == 0 else {'cause': answer.stderr, 'verdict': ''}
            if found['cause'] == (x.answer or x.cause):
                passed += 1
                continue
            failed += 1
            print('%d of %s: expected %s (%s), found %s: %s' % (i, x.file, x.cause, x.reason, found['cause'], found['verdict']))
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
