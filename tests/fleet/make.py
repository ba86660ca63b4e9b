#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes PyTorch traces as a fleet of workers writes them: OUT/RUN/WORKER.pt.trace.json, about 2 MB each.

    tests/fleet/make.py OUT --runs 2 --workers 150 --damaged 100

In each run worker 3 is slow in compute, worker 5 is late for collectives and worker 7 waits for its input; the last run
has a slower GEMM. Every N-th file is damaged (--damaged N). Equal arguments give equal files.
"""
import argparse
import json
import os
import random

STEPS, LAYERS = 12, 260
KERNELS = [('aten::addmm', 'ampere_sgemm_128x64_tn', 40), ('aten::relu', 'void at::native::vectorized_elementwise_kernel<4>', 6),
           ('aten::layer_norm', 'void at::native::vectorized_layer_norm_kernel<float>', 9),
           ('aten::dropout', 'void at::native::fused_dropout_kernel_vec<float>', 5)]


def event(cat, name, pid, tid, ts, dur, **args):
    return '{"ph": "X", "cat": "%s", "name": "%s", "pid": %d, "tid": %d, "ts": %.3f, "dur": %.3f, "args": %s}' % (
        cat, name, pid, tid, ts, dur, json.dumps(args))


def step_events(step, at, worker, last_run, noise, lines):
    """Adds one step from time `at` on, in microseconds. Returns its end."""
    host, device = at, at + 20.0
    slow = 1.3 if worker == 3 else 1.0
    if worker == 7:
        host += 4000  # waits for its input
    for layer in range(LAYERS):
        op, kernel, length = KERNELS[layer % len(KERNELS)]
        length *= slow * (1.2 if last_run and layer % len(KERNELS) == 0 else 1) * (0.98 + 0.04 * noise.random())
        correlation = step * 10000 + layer + 1
        lines.append(event('cpu_op', op, 1000, 1000, host, 12.5, **{'External id': correlation, 'Sequence number': layer}))
        lines.append(event('cuda_runtime', 'cudaLaunchKernel', 1000, 1000, host + 5, 4, correlation=correlation,
                           **{'External id': correlation, 'cbid': 211}))
        device = max(device, host + 12)
        lines.append(event('kernel', kernel, 0, 7, device, length, device=0, stream=7, correlation=correlation,
                           grid=[128, 1, 1], block=[256, 1, 1], **{'External id': correlation, 'registers per thread': 64}))
        device += length + 1.5
        host += 15
    ready = device
    length = 900.0 + (0 if worker == 5 else 600.0)  # the other workers wait for worker 5 inside the collective
    lines.append(event('kernel', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 0, 20, ready, length, device=0, stream=20,
                       correlation=step * 10000 + 9000, **{'Collective name': 'allreduce'}))
    lines.append(event('cpu_op', 'c10d::allreduce_', 1000, 1000, host, 30))
    lines.append(event('cuda_runtime', 'cudaLaunchKernelExC', 1000, 1000, host + 5, 6, correlation=step * 10000 + 9000))
    end = ready + length + 10
    lines.append(event('user_annotation', 'ProfilerStep#%d' % step, 1000, 1000, at, end - at))
    for k in range(4):
        total = 400000000 + 1000000 * worker + 100000 * k
        lines.append('{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1000, "tid": 1000, "ts": %.3f, '
                     '"args": {"Total Reserved": %d, "Total Allocated": %d, "Bytes": %d, "Addr": %d, "Device Id": 0, '
                     '"Device Type": 1}}' % (at + k, 500000000, total, 4096 * (k + 1), 1 << 40))
    return end + 5


def trace(run, worker, workers, last_run):
    """Returns the text of a worker's trace."""
    noise = random.Random('%s/%d' % (run, worker))
    at, lines = 1000.0, []
    for step in range(STEPS):
        at = step_events(step, at, worker, last_run, noise, lines)
    head = {'schemaVersion': 1, 'distributedInfo': {'backend': 'nccl', 'rank': worker, 'world_size': workers},
            'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100', 'totalGlobalMem': 80000000000}]}
    return json.dumps(head)[:-1] + ', "traceEvents": [\n' + ',\n'.join(lines) + '\n]}\n'


def damage(kind):
    """Returns damaged contents of a file: noise, an error page of a server, or zero blocks."""
    return [bytes(range(1, 256)) * 40, b'<html><body>503 Service Unavailable</body></html>', bytes(1 << 20)][kind % 3]


def make(out, runs, workers, damaged, pad=0):
    """Writes the fleet. Returns the paths of the damaged files."""
    bad, n = [], 0
    for r in range(runs):
        folder = os.path.join(out, 'run%03d' % r)
        os.makedirs(folder, exist_ok=True)
        for w in range(workers):
            path = os.path.join(folder, 'w%05d.pt.trace.json' % w)
            n += 1
            text = trace('run%03d' % r, w, workers, r == runs - 1 and runs > 1)
            with open(path, 'wb') as f:
                if damaged and n % damaged == 0:
                    bad.append(path)
                    f.write(damage(n // damaged))
                else:
                    f.write(text.encode() + b' ' * max(0, pad - len(text)))
    return bad


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('out')
    p.add_argument('--runs', type=int, default=1)
    p.add_argument('--workers', type=int, default=100)
    p.add_argument('--damaged', type=int, default=0, help='every N-th file; 0: none')
    a = p.parse_args()
    print('\n'.join(make(a.out, a.runs, a.workers, a.damaged)))
