#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests random captures and replays whose pairs are known: each piece of work is paired correctly, marked, or refused.

    tests/graphs/pairs.py --bin build/check [--seeds N] [--first SEED] [--show SEED]

Each captured call has an op of its own, and each kernel has a different length, so the time of an op shows which kernels were
assigned to it.
"""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, 'check'), os.path.join(ROOT, 'trace')]
import kineto  # noqa: E402

KINDS = ['plain', 'pieces', 'streams', 'lost', 'permuted', 'padded', 'wrong', 'cut', 'unnamed', 'shifted', 'nodes', 'unstepped', 'requests', 'several']
# Difficulties that a pair of the kind 'several' can combine.
SEVERAL = ['pieces', 'streams', 'lost', 'permuted', 'padded', 'cut', 'unnamed', 'shifted', 'nodes', 'unstepped', 'requests']
BATCHES = (8, 16, 32)


# Outcomes: the first kernel that differs, and its position; the numbers of kernels, if the names are equal up to the end of the
# shorter list; or that nothing was captured.
REFUSED = r"without a matching capture in '.*': (kernel \d+ of graph \d+ is '.+', but '.+' in the nearest capture|graph \d+ has \d+ kernels, the nearest capture \d+ calls|several captures have the \d+ kernels of graph \d+, but no names of kernels|no capture is in the file)"


class Pair:
    """A model, its captures by batch, and steps that replay them."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.kinds = set(r.sample(SEVERAL, r.randint(2, 4))) if self.kind == 'several' else {self.kind}
        self.batches = BATCHES if self.kinds & {'padded', 'unstepped', 'requests'} else (8,)
        self.pieces = r.randint(2, 6) if self.kinds & {'pieces', 'cut', 'shifted'} or r.random() < 0.3 else 1
        self.streams = r.randint(2, 3) if self.kinds & {'streams', 'nodes'} else 1
        self.node = 0  # id of the next executable graph
        self.steps = r.randint(1, 3)
        self.named = 'unnamed' not in self.kinds
        # Pieces in the middle often have the same kernels; the last one is different.
        layer = self.kernels()
        self.names = [list(layer) if r.random() < 0.6 else self.kernels() for _ in range(self.pieces - 1)] + [self.kernels() + ['head']]
        if self.streams > 1:
            self.lane = [[r.randrange(self.streams) for _ in p] for p in self.names]
        self.expected = collections.Counter()
        self.length = 1000  # ns; each kernel is 10 ns longer than the previous one

    def kernels(self):
        n = self.r.randint(90, 140) if 'lost' in self.kinds else self.r.randint(3, 30)
        pool = ['gemm%d' % i for i in range(self.r.randint(2, 12))] + ['Memset (Device)', 'Memcpy DtoD (Device -> Device)']
        return [self.r.choice(pool) for _ in range(n)]

    @staticmethod
    def op(batch, piece, call):
        return 'nn.Module: B%d_0/nn.Module: Piece_%d/op%d' % (batch, piece, call)

    def capture(self, batch):
        """Returns the events of the capture of a batch: frames that cross, calls outside, and the calls of each piece."""
        out, t, correlation = [], 1000.0, 1
        for piece, names in enumerate(self.names):
            if 'wrong' in self.kinds:
                names = ['other' + n for n in names]
            begin = t
            body = [kineto.event('cuda_runtime', 'hipStreamBeginCapture', t + 1, 0.5, correlation=correlation)]
            body += [self.call('gemm0', t + 0.2, correlation + 1)]  # before the capture
            correlation += 2
            t += 2
            for call, name in enumerate(names):
                body.append(kineto.event('cpu_op', 'op%d' % call, t, 4))
                body.append(kineto.event('python_function', 'launch.py(1): go', t + 1, 9))  # ends after the op
                body.append(self.call(name, t + 2, correlation))
                correlation += 1
                t += 5
            body.append(kineto.event('cuda_runtime', 'hipStreamEndCapture', t, 0.5, correlation=correlation))
            t += 2
            if 'requests' not in self.kinds:
                out += [kineto.event('user_annotation', 'capture_%d_FULL' % batch, begin, t - begin)]
            out += [kineto.event('python_function', 'nn.Module: B%d_0' % batch, begin, t - begin),
                    kineto.event('python_function', 'nn.Module: Piece_%d' % piece, begin, t - begin)] + body
            correlation += 1
        if 'cut' in self.kinds:
            out = out[:self.r.randint(len(out) // 3, len(out) - 2)]
        return out

    def call(self, name, ts, correlation):
        copy = next((w for w in ('Memcpy', 'Memset') if name.startswith(w)), None)
        if copy:
            return kineto.event('cuda_runtime', 'hip%sAsync' % copy, ts, 1, correlation=correlation)
        more = {'kernel': name} if self.named else {}
        return kineto.event('cuda_runtime', 'hipLaunchKernel', ts, 1, correlation=correlation, **more)

    def replay(self):
        """Returns the events of the steps, and counts the time of each op."""
        out, t, correlation = [], 1000.0, 1
        for _ in range(self.steps):
            tokens = self.r.randint(1, self.batches[-1])
            batch = next(b for b in self.batches if b >= tokens)
            name = 'execute_%d_context_0(sq0sk0sqsq0sqsk0)_generation_%d(sq1sk1sqsq1sqsk1)' % (tokens, tokens)
            if 'requests' in self.kinds:  # of several tokens each
                name = 'step[VERIFY bs=%d g_sq=%d g_sqsq=9 g_sqsk=9 g_sk=9]' % (tokens, 3 * tokens)
            if 'unstepped' not in self.kinds:
                out.append(kineto.event('user_annotation', name, t, 10 * self.pieces))
            at = t + 1000
            for piece in range(self.pieces):
                out.append(kineto.event('cuda_runtime', 'hipGraphLaunch', t + 10 * piece + 1, 2, correlation=correlation))
                work, at = self.work(piece, batch, at)
                out += [dict(w, args=dict(w['args'], correlation=correlation)) for w in work]
                correlation += 1
            t = at + 10
        return out

    def work(self, piece, batch, at):
        calls = list(enumerate(self.names[piece]))
        if 'lost' in self.kinds:
            for _ in range(self.r.randint(1, 3)):
                calls.pop(self.r.randrange(len(calls)))
        if 'permuted' in self.kinds:
            self.r.shuffle(calls)
        free, out = [at] * self.streams, []
        self.node += 1 << 32
        for call, name in calls:
            lane = self.lane[piece][call] if self.streams > 1 else 0
            self.length += 10
            start = free[lane] + self.r.randint(1, 3)
            free[lane] = start + self.length / 1000
            cat = 'gpu_memcpy' if name.startswith('Memcpy') else 'gpu_memset' if name.startswith('Memset') else 'kernel'
            node = {'graph node id': self.node + call} if 'nodes' in self.kinds else {}
            out.append(kineto.event(cat, name, start, self.length / 1000, 0, 7 + lane, device=0, stream=7 + lane, **node))
            self.expected[self.op(batch, piece, call)] += self.length
        return out, max(free)

    def captures(self):
        """Returns {name of a file: events}."""
        pattern = 'DecodeCudaGraphRunner_bs_%d_rank0.json' if 'requests' in self.kinds else 'graph_capture_rank_0.%d.json'
        files = {pattern % b: self.capture(b) for b in self.batches}
        if 'shifted' in self.kinds:  # the first and the last piece are missing
            for name in files:
                around = 0 if 'requests' in self.kinds else 1  # an annotation is around the modules
                first = [i - around for i, e in enumerate(files[name]) if e['name'].startswith('nn.Module: B')]
                if len(first) > 2:
                    files[name] = files[name][first[1]:first[-1]]
        return files


def numbers(text, pattern):
    return [int(m) for m in re.findall(pattern, text)]


def check(seed, program, show=False):
    """Returns (outcome, None), or the fault."""
    pair = Pair(seed)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, 'capture_traces'))
        with open(os.path.join(folder, 'replay.json'), 'wb') as f:
            f.write(kineto.trace(pair.replay()))
        details = []
        for name, events in pair.captures().items():
            with open(os.path.join(folder, 'capture_traces', name), 'wb') as f:
                f.write(kineto.trace(events))
            if name.startswith('graph_'):
                details.append({'file': name, 'batch_size': int(name.split('.')[1]), 'mode': 'FULL'})
        if seed % 2 and details:
            with open(os.path.join(folder, 'capture_traces', 'execution_details.json'), 'w') as f:
                json.dump(details, f)
        p = subprocess.run([program, os.path.join(folder, 'replay.json'), 'scope', '-select', 'accelerator_micros', '-max_depth', '100', '-output', 'json'],
                           capture_output=True, text=True)
    if p.returncode:
        return None, 'status %d: %s' % (p.returncode, p.stderr)
    steps = 1 if 'unstepped' in pair.kinds else pair.steps
    found = {r['path']: 10 * round(r['own_accelerator_micros'] * 100 * steps) for r in json.loads(p.stdout)['rows'] if r['own_accelerator_micros']}
    if show:
        print(sorted(pair.kinds), p.stderr)
    if sum(found.values()) != sum(pair.expected.values()):
        return None, 'time %d, expected %d' % (sum(found.values()), sum(pair.expected.values()))
    as_graph = sum(v for k, v in found.items() if k.startswith('graph '))
    right = sum(min(v, pair.expected[k]) if v == pair.expected[k] else 0 for k, v in found.items())
    wrong = [k for k, v in found.items() if not k.startswith('graph ') and v > pair.expected[k]]
    marked = sum(numbers(p.stderr, r'(\d+) kernels? \([\d.]+[mun]?s\) are ambiguous')) + sum(numbers(p.stderr, r'\((\d+) kernels, [\d.]+[mun]?s\): unconfirmed'))
    if len(wrong) > marked:
        return None, '%d ops have the wrong time, %d kernels are marked: %s\n%s' % (len(wrong), marked, sorted(wrong)[:3], p.stderr)
    if pair.kind in ('plain', 'pieces', 'padded', 'nodes', 'requests') and (wrong or as_graph or marked):
        return None, 'not paired: %s' % p.stderr
    if pair.kind == 'wrong' and (right or not as_graph or 'without a matching capture' not in p.stderr):
        return None, 'a wrong capture is not refused: %s' % p.stderr
    if 'without a matching capture' in p.stderr and not re.search(REFUSED, p.stderr):
        return None, 'a refusal does not say what differs: %s' % p.stderr
    if as_graph and 'without a matching capture' not in p.stderr and 'have no captured' not in p.stderr:
        return None, 'graphs are left without a note: %s' % p.stderr
    return 'refused' if as_graph else 'marked' if marked else 'right', None


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument('--bin', required=True)
    a.add_argument('--seeds', type=int, default=40)
    a.add_argument('--first', type=int, default=0)
    a.add_argument('--show', type=int)
    o = a.parse_args()
    program = os.path.join(os.path.abspath(o.bin), 'tfprof')
    failed, outcomes = 0, collections.defaultdict(collections.Counter)
    for seed in range(o.first, o.first + o.seeds) if o.show is None else [o.show]:
        outcome, bad = check(seed, program, o.show is not None)
        if bad:
            print('seed %d (%s): %s' % (seed, KINDS[seed % len(KINDS)], bad))
            failed += 1
        else:
            outcomes[KINDS[seed % len(KINDS)]][outcome] += 1
    for kind in KINDS:
        print('    %s: %s' % (kind, ', '.join('%d %s' % (n, k) for k, n in sorted(outcomes[kind].items()))))
    print('%d passed, %d failed, 0 skipped' % (sum(sum(c.values()) for c in outcomes.values()), failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
