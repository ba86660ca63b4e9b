#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares documents with stored ones of earlier versions: within a version of a schema, members are only added.

    tests/data/stored_run.py --program build/check/tfprof            all
    tests/data/stored_run.py --program build/check/tfprof --store    stores the documents that are missing, or have a new version

A stored document is kept as it was written. If its schema has the same version today, the document of the same command must
have every member of it, with a value of the same type, and the schema of today must accept the stored document.
"""
import argparse
import base64
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
from cases import ROOT  # noqa: E402
import schemas  # noqa: E402

TRAIN, TF, SNAP = 'testdata/traces/training.pt.trace.json.gz', 'testdata/example/profile_100', 'testdata/memory/snapshot.pickle'
RANKS = '{made}/rank0.pt.trace.json {made}/rank1.pt.trace.json'
COMMANDS = {'advice': 'advise ' + TF, 'checkpoint': "checkpoint {made}/model.ckpt -show_name_regexes 'init/.*'", 'collectives': 'collectives testdata/flight', 'critical': 'critical ' + TRAIN,
            'devices': 'devices ' + TRAIN, 'diff': 'diff %s testdata/example/profile_200' % TF,
            'diff-phases': 'diff --by=phase testdata/graphs/replay.pt.trace.json testdata/graphs/replay.pt.trace.json',
            'diff-rows': 'diff --of=devices %s %s' % (TRAIN, TRAIN),
            'flops': 'flops ' + TRAIN, 'flops-ranks': 'flops ' + RANKS,
            'idle': 'idle ' + TRAIN, 'kernels': 'kernels ' + TRAIN, 'memory': 'memory ' + SNAP, 'peek': 'peek aten::addmm ' + TRAIN,
            'phases': 'phases testdata/graphs/replay.pt.trace.json', 'roofline': 'roofline ' + TRAIN, 'steps': 'steps ' + TRAIN,
            'slices': None, 'summary': 'summary ' + TRAIN, 'top': 'top ' + TF, 'version': '--version', 'view': 'scope -max_depth 2 ' + TF,
            'what-if': 'what-if sync=0 ' + TRAIN, 'why': 'why ' + TRAIN, 'why-runs': 'why --as=runs ' + RANKS}
UNSTORED = {'arrays', 'names', 'row'}  # parts of documents and of reports


def make_inputs(folder):
    """Writes a checkpoint, and two ranks of a job, of which the second has longer kernels."""
    models = os.path.join(ROOT, 'testdata', 'models', 'resnet')
    for end in ('index', 'data-00000-of-00001'):
        with gzip.open(os.path.join(models, 'model.ckpt.%s.gz' % end)) as f, open(os.path.join(folder, 'model.ckpt.' + end), 'wb') as to:
            to.write(f.read())
    with gzip.open(os.path.join(ROOT, TRAIN)) as f:
        trace = json.load(f)
    for rank in range(2):
        trace.setdefault('distributedInfo', {}).update(rank=rank, world_size=2)
        for e in trace['traceEvents'] if rank else ():
            if e.get('cat') == 'kernel':
                e['dur'] *= 1.5
        with open(os.path.join(folder, 'rank%d.pt.trace.json' % rank), 'w') as f:
            json.dump(trace, f)


def document_of_page(program, name, made):
    """Returns a document that only pages have."""
    page = os.path.join(made, 'page.html')
    subprocess.run([program, 'report', TRAIN, '-o', page], capture_output=True, check=True, cwd=ROOT)
    with open(page, encoding='utf-8') as f:
        data = re.search(r'<script id="data" type="application/octet-stream">([^<]*)</script>', f.read())[1]
    return next(d['document'] for d in json.loads(gzip.decompress(base64.b64decode(data)))['documents'] if d['name'] == name)


def kind(x):
    """Returns the type of a value. All numbers are one type, and null may become any other type."""
    return {int: 'number', float: 'number', type(None): 'null'}.get(type(x), type(x).__name__)


def lost(old, new, where=''):
    """Returns the members of the old document that the new one lacks. Lists are compared by the members of their first
    elements. An answer may have fewer warnings than before."""
    if kind(old) == 'null' or kind(new) == 'null':
        return []
    if kind(old) != kind(new):
        return ['%s is %s, was %s' % (where, kind(new), kind(old))]
    if isinstance(old, dict):
        gone = ['%s.%s is gone' % (where, k) for k in old if k not in new]
        return gone + [x for k in old if k in new for x in lost(old[k], new[k], where + '.' + k)]
    if isinstance(old, list) and old and not new:
        return [] if where.endswith('.warnings') else [where + ' is empty']
    return lost(old[0], new[0], where + '[]') if isinstance(old, list) and old else []


def document(program, name, command, made):
    if not command:
        return document_of_page(program, name, made)
    out = subprocess.run([program] + shlex.split(command.format(made=made)) + ['-output', 'json'], capture_output=True, cwd=ROOT, text=True)
    assert not out.returncode, out.stderr
    return json.loads(out.stdout.replace(made + '/', ''))


def check(program, name, command, validators, store, made):
    """Returns the faults of a document."""
    path = os.path.join(HERE, 'stored', name + '.json')
    new, bad = document(program, name, command, made), []
    of = new.get('schema', {})
    if of.get('name') != 'tfprof/' + name or not isinstance(of.get('version'), int):
        return ['schema is %s' % of]
    old = json.load(open(path)) if os.path.exists(path) else None
    if old and old['schema'] == of:
        bad = lost(old, new)
        bad += ['the schema refuses the stored document: ' + e for e in (validators or {}).get(name + '.json', lambda _: [])(old)]
    elif store:
        with open(path, 'w') as f:
            json.dump(new, f, separators=(',', ':'))
            f.write('\n')
    else:
        bad = ['no document of version %d is stored: run with --store' % of['version']]
    return bad


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', required=True, type=os.path.abspath)
    p.add_argument('--store', action='store_true')
    args = p.parse_args()
    failed, validators = 0, schemas.validators()
    with tempfile.TemporaryDirectory() as made:
        make_inputs(made)
        for name, command in COMMANDS.items():
            bad = check(args.program, name, command, validators, args.store, made)
            failed += bool(bad)
            print('\n'.join('%s: %s' % (name, x) for x in bad), end='\n' if bad else '')
    printed = subprocess.run([args.program, 'schema'], capture_output=True, text=True).stdout.split()
    same = sorted(printed) == sorted(n[:-5] for n in os.listdir(schemas.SCHEMAS)) and set(printed) == set(COMMANDS) | UNSTORED
    for name in printed:
        out = subprocess.run([args.program, 'schema', name], capture_output=True, text=True).stdout
        with open(os.path.join(schemas.SCHEMAS, name + '.json')) as f:
            same = same and out == f.read()
    if not same:
        print('tfprof schema does not print the files of docs/schema')
    print('%d passed, %d failed, 0 skipped' % (len(COMMANDS) - failed + same, failed + (not same)))
    return 1 if failed or not same else 0


if __name__ == '__main__':
    sys.exit(main())
