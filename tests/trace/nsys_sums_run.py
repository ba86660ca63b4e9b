#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Nsight Systems exports read with sums only to the same exports read with all slices.

    tests/trace/nsys_sums_run.py --bin build/check [NAME...]     without a name: all but the large file
"""
import gzip
import json
import os
import random
import re
import shutil
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import nsys  # noqa: E402
import trace_case  # noqa: E402
from trace_case import dump, equal, judge, program  # noqa: E402

ANSWERS = ('ops', 'kernels', 'devices', 'steps', 'mean_step', 'steps_by')


def compare(path):
    kept, summed = dump(path), dump(path, '--sums')
    for key in ANSWERS:
        equal(summed[key], kept[key], '%s of %s' % (key, path))
    return summed


def sort_rows(x, table, key):
    columns, found = x.tables[table]
    found.sort(key=lambda row: key(dict(zip(columns, row))))


def sums():
    """Sums equal the slices if rows are sorted by start, sorted by thread, or unsorted."""
    for seed in range(12):
        x = nsys.random_export(random.Random(seed), 100000 if seed % 2 else 1)
        if seed % 3:
            for table in ('CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_MEMCPY', 'NVTX_EVENTS'):
                sort_rows(x, table, lambda r: r['start'])
        if seed % 3 == 2:
            sort_rows(x, 'CUPTI_ACTIVITY_KIND_RUNTIME', lambda r: (r['globalTid'], r['start']))
        found = compare(x.save('%d.sqlite' % seed))
        assert len(found['ops']) > 300, len(found['ops'])


def missing():
    """Every table and column may be missing. Rows without a start are ignored."""
    x = nsys.random_export(random.Random(1), 100000)
    for table, (columns, _) in x.tables.items():
        for column in columns:
            if column not in ('start', 'end', 'value', 'name'):
                path = x.save('a.sqlite', more=['ALTER TABLE %s RENAME COLUMN "%s" TO other' % (table, column)])
                compare(path)
                os.unlink(path)
        if 'start' in columns:
            path = x.save('a.sqlite', more=['UPDATE %s SET start = NULL WHERE rowid %% 3 = 1' % table])
            compare(path)
            os.unlink(path)
        compare(x.save('no-%s.sqlite' % table, drop=[table]))


def no_order():
    """All slices are kept if the starts jump back too often, or if a table has no rowids."""
    x = nsys.random_export(random.Random(1), 10 ** 9)
    random.Random(2).shuffle(x.tables['NVTX_EVENTS'][1])
    x.tables['NVTX_EVENTS'][1].extend(x.tables['NVTX_EVENTS'][1] * 4)
    path = x.save('a.sqlite')
    compare(path)
    path = x.save('b.sqlite', more=[
        'CREATE TABLE k (a INTEGER PRIMARY KEY, %s) WITHOUT ROWID' % ', '.join('"%s"' % c for c in nsys.COPY.split()),
        'INSERT INTO k SELECT rowid, * FROM CUPTI_ACTIVITY_KIND_MEMCPY', 'DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY',
        'ALTER TABLE k RENAME TO CUPTI_ACTIVITY_KIND_MEMCPY'])
    compare(path)


def steps_without_work():
    """In sums, too, a step that launched no device work does not count in the mean step, although the work of the step before ends
    in it, on two devices."""
    x = nsys.Export()
    for i in range(3):
        x.range(70, 'step %d' % i, 1000 * i, 1000 * i + (900 if i < 2 else 100))
    for i, (at, start, end, device) in enumerate([(10, 100, 600, 0), (20, 100, 400, 1), (1010, 1100, 2050, 0), (1020, 1100, 2030, 1)]):
        x.launch(70, 1 + i, at, start, end, device=device)
    found = compare(x.save('a.sqlite'))
    equal([(s['works'], s['busy'] > 0) for s in found['steps']], [(1, True), (1, True), (0, True)])
    equal(found['mean_step'], [{'device': 0, 'steps': 2, 'busy': 1300, 'kernels': 1300}, {'device': 1, 'steps': 2, 'busy': 1100, 'kernels': 1100}])


def steps_of_a_pattern():
    """The user's pattern for steps also applies to sums."""
    path = nsys.random_export(random.Random(3)).save('a.sqlite')
    out = [program('--step-nvtx=outer', name, 'steps', '-output', 'json')[0] for name in (path, zipped(path))]
    equal(*[json.loads(o)['steps'] for o in out])


def zipped(path):
    """Returns a compressed copy. The slices of compressed files are always kept."""
    with open(path, 'rb') as i, gzip.open(path + '.gz', 'wb', 1) as o:
        o.write(i.read())
    return path + '.gz'


def document(*words):
    text = program(*words, '-output', 'json')[0]
    return json.loads(text[text.index('{'):])


def large():
    """A file of 77 MB gives the same results as its compressed copy, in a fraction of the memory. Slices are read on
    demand. Also several files, and the error at the memory limit."""
    path = 'large.sqlite'
    nsys.write_large(path, 1500000, chance=random.Random(4))
    assert os.path.getsize(path) > 64 << 20, os.path.getsize(path)
    copy = zipped(path)
    few = '--max-memory=32M'
    for key, words in (('rows', ('op',)), ('rows', ('scope', '-max_depth', '9', '-select', 'accelerator_micros,self_micros,occurrence')),
                       ('kernels', ('kernels', '--top=0')), ('steps', ('steps',)), ('devices', ('devices',))):
        equal(*[document(*o, *words)[key] for o in ((few, path), (copy,))], words)
    _, err = program(few, path, 'devices')
    assert re.search('files over 64 MiB have only the first table: only sums of their slices [(][1-9][0-9]*[)] are kept', err), err
    assert 'only the first table' in program(path, copy, 'devices')[1]
    _, err = program(few, path, 'scope', '-by', 'kernel', status=1)
    assert 'memory' in err, err
    equal(*[document(o, 'op', '-by', 'kernel')['rows'] for o in (path, copy)])
    program(path, 'scope', '-output', 'timeline:outfile=t.json')
    assert os.path.getsize('t.json') > 50 << 20
    shutil.copy(path, 'second.sqlite')
    both = document(few, path, 'second.sqlite', 'kernels', '--top=0')['kernels']
    equal(len(both), 2 * len(document(path, 'kernels', '--top=0')['kernels']))


def damaged():
    """A damaged file gives the same error with sums as with slices. With --recover, the intact rows are used."""
    x = nsys.random_export(random.Random(5))
    good = open(x.save('a.sqlite'), 'rb').read()
    chance = random.Random(6)
    for _ in range(40):
        bad = bytearray(good)
        for _ in range(1 + chance.randrange(8)):
            bad[chance.randrange(100, len(bad))] = chance.randrange(256)
        trace_case.write(bytes(bad[:chance.randrange(4096, len(bad))] if chance.random() < .3 else bad), 'bad.sqlite')
        judge('trace_dump', '--sums', 'bad.sqlite')


CASES = [sums, missing, no_order, steps_without_work, steps_of_a_pattern, damaged, large]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, sqlite=CASES, slow=[large]))
