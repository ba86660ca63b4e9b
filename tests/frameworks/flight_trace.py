#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares collectives with PyTorch's own analyser (torch/distributed/flight_recorder) on the dumps of 60 jobs with a planted fault:
the collective, the kind of fault and the missing ranks.

    PYTHON-WITH-TORCH tests/frameworks/flight_trace.py --bin build/check
"""
import argparse
import copy
import json
import logging
import os
import pickle
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'flight'))
import job  # noqa: E402
from torch.distributed.flight_recorder.components import builder  # noqa: E402

logging.disable(logging.CRITICAL)
FAULTS = ['none', 'missing', 'op', 'size', 'dtype']
OURS = {'op': 'COLLECTIVE_TYPE_MISMATCH', 'size': 'SIZE_OR_SYNTAX_MISMATCH', 'dtype': 'COLLECTIVE_DTYPE_MISMATCH'}
OPTIONS = argparse.Namespace(verbose=False, just_print_entries=False, allow_incomplete_ranks=False, mismatch_cap=10)


def make(seed):
    """Returns a job and its fault: (kind, group, collective, rank)."""
    chance = random.Random(seed)
    world = chance.randrange(3, 9)
    j = job.Job(world, g=sorted(chance.sample(range(world), chance.randrange(3, world + 1))))
    for i in range(chance.randrange(1, 6)):
        for g in j.groups:
            n = len(j.groups[g])
            j.call('all_reduce', [[8 + i]], group=g)
            j.call('_all_gather_base', [[4]], group=g, outputs=[[4 * n]])
            j.call('_reduce_scatter_base', [[4 * n]], group=g, outputs=[[4]])
    group = chance.choice(['0', 'g'])
    rank = chance.choice(j.groups[group])
    kind = FAULTS[seed % len(FAULTS)]
    where = kind, group, j.seq[group, rank] + 1, rank
    if kind == 'missing':
        j.call('all_reduce', [[4]], group, [r for r in j.groups[group] if r != rank])
    elif kind != 'none':
        other = {'op': {'op': 'broadcast'}, 'size': {'sizes': [[5]]}, 'dtype': {'types': ['Int']}}[kind]
        j.call('all_reduce', [[4]], group, by_rank={rank: other})
    return j, where


def theirs(dumps):
    """Returns the first collective in which PyTorch's analyser finds a fault: (group, collective, kinds of mismatch, missing
    ranks)."""
    details = {str(r): dict(copy.deepcopy(d), rank=r, host_name='') for r, d in dumps.items()}
    for c in builder.build_db(details, OPTIONS, '2.10').collectives:
        if c.missing_ranks or not c.pass_check:
            kinds = {m.type_of_mismatch.state.name for m in (c.mismatch_collectives or {}).values()}
            return c.group_id, c.collective_seq_id, kinds, sorted(c.missing_ranks or [])
    return None


def ours(program, dumps):
    with tempfile.TemporaryDirectory() as top:
        for rank, dump in dumps.items():
            with open(os.path.join(top, 'dump_%d' % rank), 'wb') as f:
                pickle.dump(dump, f)
        r = subprocess.run([program, 'collectives', top, '-output', 'json'], capture_output=True, text=True, check=True)
    found = json.loads(r.stdout)['problems']
    if not found:
        return None
    p = found[0]
    missing = [int(p['ranks'])] if p['problem'] == 'missing' else []
    return p['group'], p['collective'], {OURS[p['problem']]} if p['problem'] in OURS else set(), missing


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--bin', default=os.path.join(ROOT, 'build/check'))
    o = p.parse_args()
    failed = 0
    for seed in range(60):
        j, (kind, group, n, rank) = make(seed)
        expected, found = theirs(j.dumps()), ours(os.path.join(o.bin, 'tfprof'), j.dumps())
        planted = None if kind == 'none' else (group, n, {OURS[kind]} if kind in OURS else set(), [rank] if kind == 'missing' else [])
        if expected != found or found != planted:
            failed += 1
            print(seed, kind, 'PyTorch', expected, 'tfprof', found, 'planted', planted)
    print('%d passed, %d failed, 0 skipped' % (60 - failed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
