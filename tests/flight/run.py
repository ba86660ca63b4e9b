#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dumps of PyTorch's Flight Recorder: planted faults of jobs, every form of the files, damage.

    tests/flight/run.py --program build/check/tfprof [NAME ...]
"""
import base64
import gzip
import json
import os
import pickle
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'flight')]
import cases  # noqa: E402
import job  # noqa: E402
from cases import equal  # noqa: E402

NAME = 'nccl_trace_rank_%d'
REAL = os.path.join(cases.TESTDATA, 'flight')


def call(t, *words, status=0):
    r = subprocess.run([t.program, 'collectives', *words], capture_output=True, text=True, timeout=120)
    assert r.returncode == status, '%s: status %d: %s' % (' '.join(words), r.returncode, r.stderr[-600:])
    return r


def write(path, content):
    with open(path, 'wb') as f:
        f.write(content)
    return path


def put(dumps, encode=pickle.dumps, name=NAME):
    return [write(name % rank, encode(dump)) for rank, dump in dumps.items()]


def answer(t, paths, *words):
    return json.loads(call(t, *paths, '-output', 'json', *words).stdout)


def problems(t, j):
    """Returns the problems of a job as (problem, group, collective, ranks, others)."""
    return [(p['problem'], p['group'], p['collective'], p['ranks'], p['others']) for p in answer(t, put(j.dumps()))['problems']]


def healthy(world=4, calls=5, **groups):
    j = job.Job(world, **groups)
    for i in range(calls):
        for g in j.groups:
            j.call('all_reduce', [[8 + i]], group=g)
    return j


def all_match(t):
    """Ranks with equal calls have no problem, and the progress of each group is its number of calls."""
    j = healthy(a=[0, 1], b=[2, 3])
    doc = answer(t, put(j.dumps()))
    equal((doc['problems'], doc['running']), ([], []))
    equal([(g['group'], g['ranks'], g['dumps'], g['completed'], g['called_by_all'], g['called']) for g in doc['groups']],
          [('0', 4, 4, 5, 5, 5), ('a', 2, 2, 5, 5, 5), ('b', 2, 2, 5, 5, 5)])
    assert 'The ranks called the same collectives: 40 calls in 3 groups, from the dumps of 4 ranks.' in call(t, *put(j.dumps())).stdout
    alone = call(t, put(j.dumps())[0]).stdout
    assert alone.startswith('Only the dump of one rank is loaded, so nothing is compared: ') and 'The ranks' not in alone, alone


def missing(t):
    """A rank that did not arrive is missing; later calls of the other ranks belong to the same problem."""
    j = healthy()
    for _ in range(3):
        j.call('reduce_scatter', [[8]], ranks=[0, 1, 3])
    doc = answer(t, put(j.dumps()))
    p, = doc['problems']
    equal((p['problem'], p['collective'], p['last'], p['op'], p['ranks'], p['others']), ('missing', 6, 8, 'reduce_scatter', '2', '0, 1, 3'))
    equal(p['detail'], 'rank 2 called last: all_reduce, collective 5, completed, at /home/me/train.py:20 step')
    equal(p['line'], '/home/me/train.py:24 step')
    equal([(g['completed'], g['called_by_all'], g['called']) for g in doc['groups']], [(5, 5, 8)])
    equal([(r['rank'], r['collective'], r['state']) for r in doc['running']], [(r, s, 'started') for s in (6, 7, 8) for r in (0, 1, 3)])
    text = call(t, *put(j.dumps())).stdout
    assert text.startswith('Rank 2 has not called collective 6 of group 0 (default_pg), reduce_scatter\n'), text


def called_nothing(t):
    """A rank whose dump has no entries has called nothing."""
    dumps = healthy(3).dumps()
    dumps[1]['entries'] = []
    p, = answer(t, put(dumps))['problems']
    equal((p['problem'], p['collective'], p['last'], p['ranks'], p['detail']), ('missing', 1, 5, '1', 'rank 1 called none of group 0'))


def mismatches(t):
    """Different operations, sizes and types are problems; the named ranks are those that differ from the majority."""
    for by_rank, kind, ranks, others in (({1: {'op': 'broadcast'}}, 'op', '1', '0, 2, 3'), ({3: {'sizes': [[9]]}}, 'size', '3', '0-2'),
                                         ({0: {'types': ['Half']}}, 'dtype', '0', '1-3'), ({0: {'sizes': [[9]]}, 1: {'sizes': [[9]]}}, 'size', '0-3', None)):
        j = healthy()
        j.call('all_reduce', [[8]], by_rank=by_rank)
        equal(problems(t, j), [(kind, '0', 6, ranks, others)])


def roots(t):
    """Only the root has the inputs of scatter and the outputs of gather."""
    j = healthy()
    j.call('scatter', [], outputs=[[4]], state='completed', by_rank={0: {'sizes': [[4]] * 4}})
    j.call('gather', [[4]], outputs=[], state='completed', by_rank={0: {'outputs': [[4]] * 4}})
    equal(problems(t, j), [])


def uneven(t):
    """Ranks may send different sizes in all_to_all, but all that is sent is received."""
    for received, expected in (([[2], [3], [2], [5]], []), ([[2], [3], [2], [4]], [('size', '0', 6, None, None)])):
        j = healthy()
        by_rank = {r: {'sizes': [[3, 1]], 'outputs': [received[r]]} for r in range(4)}
        j.call('all_to_all', [[3]], state='completed', by_rank=by_rank)
        equal(problems(t, j), expected)


def coalesced(t):
    """Operations of a coalesced collective are compared by their order."""
    j = healthy()
    j.coalesced([[4], [5]])
    equal(problems(t, j), [])
    j.coalesced([[4], [5]], by_rank={2: [[4], [6]]})
    equal(problems(t, j), [('size', '0', 7, '2', '0, 1, 3')])


def unfinished(t):
    """Running calls of all ranks, and calls that timed out, are reported."""
    j = healthy()
    j.call('barrier', [], state='started')
    equal(problems(t, j), [('running', '0', 6, '0-3', None)])
    j = healthy()
    j.call('barrier', [], state='started', retired=True)
    doc = answer(t, put(j.dumps()))
    equal([(p['problem'], p['ranks']) for p in doc['problems']], [('timeout', '0-3')])
    equal(doc['groups'][0]['completed'], 5)


def peers(t):
    """A send without its receive, and a receive without its send, are reported."""
    j = healthy(a=[1, 3])
    j.p2p(0, 'send 0->2', [[4]])
    j.p2p(2, 'recv 2<-0', [[4]])
    j.p2p(0, 'send 0->3', [[4]], state='completed')
    equal(problems(t, j), [])
    j.p2p(1, 'send 0->1', [[4]], group='a')
    equal(problems(t, j), [('peer', 'a', None, '3', '1')])
    j.p2p(3, 'recv 1<-0', [[4]], group='a')
    j.p2p(3, 'recv 3<-?', [[4]])
    j.p2p(3, 'recv 3<-1', [[4]])
    equal(problems(t, j), [('peer', '0', None, '1', '3')])


def overwritten(t):
    """A call that was overwritten in a rank's recorder counts as called."""
    j = healthy(calls=9)
    j.forget(1, 6)
    j.call('all_reduce', [[8]], ranks=[0, 2, 3])
    equal(problems(t, j), [('missing', '0', 10, '1', '0, 2, 3')])


def no_dump(t):
    """A rank without a dump is not reported as missing."""
    j = healthy()
    dumps = j.dumps()
    del dumps[3]
    r = call(t, *put(dumps), '-output', 'json')
    equal((json.loads(r.stdout)['problems'], json.loads(r.stdout)['groups'][0]['dumps']), ([], 3))
    assert '1 rank of groups has no dump' in r.stderr, r.stderr


def same_names(t):
    """Groups with equal names and different ranks are different groups."""
    j = healthy(a=[0, 1], b=[2, 3])
    j.call('all_reduce', [[8]], group='a')
    dumps = j.dumps()
    text = {r: json.dumps(d).replace('["b", "undefined"]', '["a", "undefined"]').replace('"b": {"name": "b"', '"a": {"name": "a"') for r, d in dumps.items()}
    doc = answer(t, [write('same_%d' % r, x.encode()) for r, x in text.items()])
    equal([(g['group'], g['called'], g['problems']) for g in doc['groups']], [('0', 5, 0), ('a', 6, 0), ('a', 5, 0)])


def random_jobs(t):
    """Random jobs with one planted fault: it is the first problem, and healthy ones have none."""
    for seed in range(40):
        chance = random.Random(seed)
        world = chance.randrange(2, 9)
        half = sorted(chance.sample(range(world), chance.randrange(2, world + 1)))
        j = healthy(world, chance.randrange(1, 6), g=half)
        group = chance.choice(['0', 'g'])
        members = j.groups[group]
        rank = chance.choice(members)
        kind = ['none', 'missing', 'op', 'size', 'dtype', 'running', 'timeout'][seed % 7]
        n = j.seq[group, rank] + 1
        if kind == 'missing':
            j.call('all_reduce', [[4]], group, [r for r in members if r != rank])
        elif kind in ('op', 'size', 'dtype'):
            other = {'op': {'op': 'barrier'}, 'size': {'sizes': [[5]]}, 'dtype': {'types': ['Int']}}[kind]
            j.call('all_reduce', [[4]], group, by_rank={rank: other})
        elif kind != 'none':
            j.call('all_reduce', [[4]], group, state='started', retired=kind == 'timeout')
        found = problems(t, j)
        if kind == 'none':
            equal(found, [], seed)
            continue
        equal(found[0][:3], (kind, group, n), seed)
        if kind == 'missing':
            equal(found[0][3], str(rank), seed)
        elif len(members) > 2 and kind in ('op', 'size', 'dtype'):
            equal(found[0][3], str(rank), seed)


def every_form(t):
    """Protocols 0 to 5, gzip and JSON give the same answer; JSON has no lines."""
    j = healthy(a=[0, 1])
    j.call('all_reduce', [[8]], ranks=[0, 1, 3])
    expected = answer(t, put(j.dumps()))
    for p in range(6):
        found = answer(t, put(j.dumps(), lambda x: pickle.dumps(x, p), 'p%d_' % p + NAME))
        equal((found['problems'], found['groups'], found['running']), (expected['problems'], expected['groups'], expected['running']), p)
    for name, encode in (('gz', lambda x: gzip.compress(pickle.dumps(x))), ('json', lambda x: json.dumps(x).encode()),
                         ('sorted', lambda x: json.dumps(x, sort_keys=True, indent=1).encode())):
        equal(answer(t, put(j.dumps(), encode, NAME + '.' + name))['problems'], expected['problems'], name)


def ranks_of_names(t):
    """The rank is the number after "rank", or else the last one; dumps without a number come last."""
    j = healthy(2)
    j.call('all_reduce', [[8]], ranks=[0])
    first, second = (pickle.dumps(d) for d in j.dumps().values())
    for a, b in (('rank0.2026.pickle', 'rank1.2026.pickle'), ('x3_rank-0', 'x3_rank-1'), ('dump_0', 'dump_1'), ('0.json.gz', '1.json.gz')):
        equal([p['ranks'] for p in answer(t, [write(a, first), write(b, second)])['problems']], ['1'], a)
    r = call(t, write('here_0', first), write('there', second), '-output', 'json')
    equal([p['ranks'] for p in json.loads(r.stdout)['problems']], ['1'])
    assert '1 dump has no rank in the file name' in r.stderr, r.stderr


def real_dumps(t):
    """Dumps of Gloo: rank 2 has not called the last all_reduce."""
    r = call(t, REAL, '-output', 'json')
    doc = json.loads(r.stdout)
    p, = doc['problems']
    equal((p['problem'], p['group'], p['description'], p['collective'], p['op'], p['ranks'], p['others']),
          ('missing', '0', 'default_pg', 5, 'all_reduce', '2', '0, 1'))
    equal(p['line'], '/opt/job/train.py:21 train')
    equal([(g['group'], g['completed'], g['called']) for g in doc['groups']], [('0', 4, 5), ('1', 1, 1)])
    assert 'do not list the ranks of 2 groups' in r.stderr, r.stderr


def fail_on(t):
    """The status is 1 if a problem that --fail-on names is found."""
    call(t, REAL, '--fail-on=size')
    for words in (['--fail-on=missing'], ['--fail-on=size', '--fail-on=missing', '-output', 'csv']):
        r = call(t, REAL, *words, status=1)
        assert 'collective 5 of group 0 has the problem missing (--fail-on)' in r.stderr, r.stderr
        assert 'missing' in r.stdout
    assert 'running was expected' in call(t, REAL, '--fail-on=late', status=2).stderr


def twice(t):
    """Entries that occur in two dumps of a rank count once."""
    dumps = healthy(2).dumps()
    paths = put(dumps) + put(dumps, name='again_rank_%d')
    r = call(t, *paths, '-output', 'json')
    equal(json.loads(r.stdout)['problems'], [])
    assert '10 calls are in two dumps of the same rank' in r.stderr, r.stderr


def odd_entries(t):
    """Entries without a group, a name or a number are counted and left out."""
    dumps = healthy(2).dumps()
    for field in 'process_group', 'profiling_name', 'collective_seq_id':
        dumps[0]['entries'].insert(0, {k: v for k, v in dumps[0]['entries'][0].items() if k != field})
    r = call(t, *put(dumps), '-output', 'json')
    equal(json.loads(r.stdout)['problems'], [])
    assert '3 entries lack a process group, a name or collective_seq_id' in r.stderr, r.stderr


def damaged(t):
    """No prefix of a dump causes a crash; --recover reads the complete entries."""
    content = pickle.dumps(healthy(2, 3).dumps()[0])
    kept = 0
    for n in range(1, len(content), 7):
        path = write('cut_0', content[:n])
        r = subprocess.run([t.program, 'collectives', path] + ['--recover'] * (n % 2), capture_output=True, text=True)
        assert r.returncode in (0, 1, 3), (n, r)
        kept += r.returncode == 0
    assert kept > 20, kept
    assert 'not a dump of the Flight Recorder' in call(t, write('other_0', pickle.dumps({'x': 'pg_config'})), status=3).stderr


def runs_nothing(t):
    """A dump that would run code is refused."""
    class Evil:
        def __reduce__(self):
            return os.mkdir, ('executed',)
    dump = healthy(2).dumps()[0]
    dump['extra'] = Evil()
    assert 'would run code' in call(t, write('evil_0', pickle.dumps(dump)), status=3).stderr
    assert not os.path.exists('executed')


def other_answers(t):
    """why names the command for dumps; a report has the table of collectives, and neither steps nor devices."""
    dumps = [os.path.join(REAL, 'dump_%d' % rank) for rank in range(3)]
    said = ' '.join(subprocess.run([t.program, 'why', *dumps], capture_output=True, text=True, check=True).stdout.split())
    assert "'tfprof collectives' compares" in said, said
    subprocess.run([t.program, 'report', dumps[0], '-o', 'r.html'], capture_output=True, check=True)
    with open('r.html') as f:
        text = re.search(r'<script id="data"[^>]*>\s*([A-Za-z0-9+/=\s]+)</script>', f.read()).group(1)
    names = {d['name'] for d in json.loads(gzip.decompress(base64.b64decode(text)))['documents']}
    assert 'collectives' in names and not names & {'steps', 'devices', 'critical'}, names


def needs_dumps(t):
    """Files that are not dumps are refused."""
    r = call(t, os.path.join(cases.TESTDATA, 'memory', 'snapshot.pickle'), status=1)
    assert "collectives needs dumps of PyTorch's Flight Recorder" in r.stderr, r.stderr


def main():
    t = cases.arguments(__doc__)
    tests = [all_match, missing, called_nothing, mismatches, roots, uneven, coalesced, unfinished, peers, overwritten, no_dump, same_names, random_jobs, every_form,
             ranks_of_names, real_dumps, fail_on, twice, odd_entries, damaged, runs_nothing, other_answers, needs_dumps]
    return cases.run([f for f in tests if not t.names or f.__name__ in t.names], t)


if __name__ == '__main__':
    sys.exit(main())
