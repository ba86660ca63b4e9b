#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads checkpoints with the program: every form of the same tensors gives the same answer; damaged ones are refused with an
error message and little memory; --verify finds every flipped bit and every cut.

    tests/checkpoint/run.py --program build/check/tfprof [--realdata DIR] [FILTER...]
"""
import argparse
import concurrent.futures
import csv
import glob
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'models')]
import make_checkpoint as make  # noqa: E402
from built import has  # noqa: E402

MEMORY = 64 << 10  # KiB that a run on a damaged file may use
NAMES_OF_FAULT = {'extent_end_overflow': 'extent[0]', 'missing_extent_length': '.length is missing',
                  'missing_tensor_data': 'data.string_val', 'missing_tensor_type': 'type is missing',
                  'negative_dimension': 'shape.dim[0].size', 'negative_extent_start': '.start is neg',
                  'tensor_size_overflow': 'shape:', 'unsupported_tensor_type': 'type: 103'}
HOSTILE = {
    'extent_end_overflow': 'shape { dim { size: 4 } } type: DT_FLOAT slice { extent { start: '
                           '9223372036854775807 length: 2 } }',
    'missing_extent_length': 'shape { dim { size: 4 } } type: DT_FLOAT slice { extent { start: 2 } }',
    'missing_tensor_type': 'shape { dim { size: 4 } } slice { extent { } }',
    'negative_dimension': 'shape { dim { size: -4 } } type: DT_FLOAT slice { extent { } }',
    'negative_extent_start': 'shape { dim { size: 4 } } type: DT_FLOAT slice { extent { start: -1 '
                             'length: 1 } }',
    'tensor_size_overflow': 'shape { dim { size: 0 } dim { size: 0x100000000 } dim { size: '
                            '0x100000000 } } type: DT_DOUBLE slice { extent { } extent { } extent { } }',
    'unsupported_tensor_type': 'type: DT_INT32_REF slice { }',
}


def run(*words):
    """Returns (status, standard output, standard error, KiB of memory)."""
    p = subprocess.Popen([ARGS.program, 'checkpoint'] + list(words), stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = p.stdout.read(), p.stderr.read()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    p.stdout.close()
    p.stderr.close()
    return (p.returncode, out.decode('utf-8', 'backslashreplace'),
            err.decode('utf-8', 'backslashreplace'), usage.ru_maxrss)


class Tally:
    passed = failed = skipped = 0

    def check(self, ok, what):
        self.passed += bool(ok)
        if not ok:
            self.failed += 1
            print('FAILED ' + what)


    def needs_snappy(self, what):
        """True if the program can read Snappy data; otherwise counts a skipped check."""
        if not ARGS.snappy:
            self.skipped += 1
            print('skipped: %s: no snappy in this build' % what)
        return ARGS.snappy


T = Tally()


def refused(path, part, words=('--verify',), statuses=(1, 3)):
    status, out, err, memory = run(path, *words)
    small = memory < MEMORY or ARGS.sanitized
    T.check(status in statuses and part in err and err.count('\n') == 1 and small,
            '%s %s: status %d, %d KiB, %r without %r' % (path, words, status, memory, err[:300], part))


# ---- cases --------------------------------------------------------------------------------------
def case_status(top):
    """Listing a bad file cannot read it (3); --verify reports it as bad (1); a missing file was not read (3)."""
    path = os.path.join(top, 'bad')
    with open(path, 'wb') as f:
        f.write(b'no checkpoint')
    for words, wanted in (([path], 3), ([path, '--verify'], 1), ([path + 'x'], 3), ([path + 'x', '--verify'], 3)):
        status, out, err, _ = run(*words)
        T.check(status == wanted and not out and err.count('\n') == 1, '%s: status %d, %s' % (words, status, err))


def case_forms(top):
    """Every form of the same tensors has the same list and values, and correct checksums."""
    make.main(top, [])
    for name in ('v2', 'v2_seven', 'v2_big', 'v2_snappy', 'v2_gap', 'v1', 'v1_snappy', 'v1_part-*'):
        if name.endswith('snappy') and not T.needs_snappy(name):
            continue
        path = os.path.join(top, name)
        status, out, err, _ = run(path, '--verify')
        T.check(status == 0 and not err, '%s --verify: %d %s' % (name, status, err))
        if not name.startswith('v1_part'):
            status, out, err, _ = run(os.path.join(top, name[:2]), path)
            T.check(status == 0 and out == 'the checkpoints are equal\n', name + ': ' + out + err)
    status, out, _, _ = run(os.path.join(top, 'v2'), '-output', 'json', '-show_name_regexes', 'a/.*')
    rows = json.loads(out)['rows']
    T.check([r['name'] for r in rows] == ['a/empty', 'a/none', 'a/scalar'] and
            rows[0]['shape'] == '2x0x3' and rows[2]['bytes'] == 8, 'json: ' + out)
    status, out, _, _ = run(os.path.join(top, 'v1'), '-output', 'csv')
    T.check(out.count('\n') == 30 and out.startswith('name,dtype,shape,params,bytes,'), 'csv: ' + out)
    for name in ('v1', 'v2'):
        rows = list(csv.DictReader(io.StringIO(run(os.path.join(top, name), '-output', 'csv')[1])))
        answer = json.loads(run(os.path.join(top, name), '-output', 'json')[1])
        same = [{k: '' if r[k] is None else str(r[k]) for k in rows[0]} for r in answer['rows']]
        T.check(answer['row_count'] == len(rows) and answer['bytes'] == sum(r['bytes'] or 0 for r in answer['rows']), 'totals of ' + name)
        T.check(rows == same, 'csv and json of %s differ: %r' % (name, [x for x in zip(rows, same) if x[0] != x[1]][:2]))
    both = [os.path.join(top, name) for name in ('v1', 'v2')]
    for paths in both[:1], both:
        T.check(json.loads(run(*paths, '-output', 'json')[1])['sources'] == [{'kind': 'checkpoint', 'path': p} for p in paths],
                'sources of %r' % paths)
    for name, shards in (('v2', 1), ('v2_seven', 7)):
        rows = [r for r in json.loads(run(os.path.join(top, name), '-output', 'json')[1])['rows'] if r['offset'] is not None and r['dtype'] != 'string']
        for r in rows:
            with open('%s.data-%05d-of-%05d' % (os.path.join(top, name), r['shard'], shards), 'rb') as f:
                f.seek(r['offset'])
                T.check(make.masked(make.crc32c(f.read(r['bytes']))) == int(r['checksum'][:8], 16), '%s: not the place of %r' % (name, r))
        T.check(len(rows) > 20, '%s: %d rows' % (name, len(rows)))
    status, out, err, _ = run(os.path.join(top, 'v1'), os.path.join(top, 'v2'))
    T.check(status == 1 and 'only in the second' in out, 'v1 v2: %d %s' % (status, err))
    # A shell completes names of files; names of other files are not changed.
    listed = run(os.path.join(top, 'v2'))
    open(os.path.join(top, 'v2.meta'), 'w').close()
    for end in ('.index', '.meta', '.data-00000-of-00001'):
        T.check(run(os.path.join(top, 'v2' + end))[:3] == listed[:3], 'v2' + end)
    for end in ('.meta', '.index.index', '.notes'):
        T.check(run(os.path.join(top, 'none' + end))[0] == 3, 'none' + end)
    one = make.Tensor('x', 'float64', [3], [1, 2, 4])
    make.bundle(os.path.join(top, 'one'), [one])
    make.bundle(os.path.join(top, 'two'), [make.Tensor('x', 'float64', [3], [1, 2.5, 5])])
    status, out, _, _ = run(os.path.join(top, 'one'), os.path.join(top, 'two'))
    T.check(status == 1 and out == 'x  float64  3  differs values  differing values 2  largest absolute '
            '1  largest relative 0.2\n', 'two values: ' + out)
    # Partitions of different lengths are compared value by value.
    values = [float(i) for i in range(12)]
    for name, cuts, last in (('parts', (0, 4, 6, 12), 11.0), ('other', (0, 2, 6, 7, 12), 11.5)):
        values[11] = last
        make.bundle(os.path.join(top, name), [make.Tensor('x', 'float64', [12], None, [
            ([(a, b - a)], values[a:b]) for a, b in zip(cuts, cuts[1:])])])
    for pair in (('parts', 'other'), ('other', 'parts')):
        status, out, err, _ = run(*(os.path.join(top, n) for n in pair))
        T.check(status == 1 and 'differing values 1  largest absolute 0.5' in out, '%s: %s %s' % (pair, out, err))


def case_widths(top):
    """With a width, lines are wrapped between values, and nothing is lost; -wide does not wrap."""
    make.main(top, [])
    path = os.path.join(top, 'v2')
    whole, narrow, wide = run(path)[1], run(path, '--width=50')[1], run(path, '--width=50', '-wide')[1]
    T.check(narrow.replace('\n  ', '  ') == whole and narrow != whole and wide == whole, 'a value is lost: %r' % narrow[:200])
    long = [line for line in narrow.split('\n')[:-2] if len(line) > 50 and '  ' in line.strip()]
    T.check(not long, 'too long at 50 columns: %s' % long[:3])


def case_names(top):
    """Names stay in their cell, and their control characters are escaped."""
    path = os.path.join(top, 'odd')
    make.bundle(path, [make.Tensor('a\x1b[2J', 'int32', [1], [1]), make.Tensor('b,"q"', 'int32', [1], [1])])
    out = run(path, '-output', 'csv')[1].split('\n')
    T.check([x.rsplit(',int32', 1)[0] for x in out[1:3]] == ['"a\\x1b[2J"', '"b,""q"""'], 'names in csv: %r' % out)
    out = run('--color=always', path)[1].split('\n')
    T.check(out[0].startswith('a\\x1b[2J  int32'), 'a name on a terminal: %r' % out)


def case_shown(top):
    """Values are printed as text up to -max_values; nodes that the checkpoint contains are marked."""
    graph = os.path.join(top, 'graph.pbtxt')
    with open(graph, 'w') as f:
        f.write(''.join('node { name: "%s" op: "VariableV2" }\n' % n for n in
                        ('m', 'v', 's', 'e', 'w', 'h', 'absent')))
    tensors = [make.Tensor('m', 'float32', [2, 2], [1, 2, 3, 4]),
               make.Tensor('v', 'float64', [2], [1234567.89, float('nan')]),
               make.Tensor('s', 'int64', [], [5]), make.Tensor('e', 'float32', [2, 0], []),
               make.Tensor('w', 'string', [2], [b'a', b'bc']),
               make.Tensor('h', 'complex64', [1], [(1, -2)])]
    exp = ('_TFProfRoot ()\n  e ()\n[[],\n[],\n],\n  h ()\n[(1.00,-2.00) ],\n  m ()\n[[1.00 2.00 ],\n'
           '[3.00 4.00 ],\n],\n  s ()\n[5 ],\n  v ()\n[1234570.00 nan ],\n  w ()\n[\'a\' \'bc\' ],\n')
    short = ('_TFProfRoot ()\n  m ()\n[[1.00 ],\n],\n4 values, min 1, max 4, mean 2.5, standard '
             'deviation 1.11803, 0 zeros, 0 NaN, 0 infinite\n')
    for name, write in (('shown2', make.bundle), ('shown1', make.version1)):
        path = os.path.join(top, name)
        write(path, tensors)

        def scope(*more):
            p = subprocess.run([ARGS.program, '--graph_path=' + graph, '--checkpoint_path=' + path,
                                'scope', '-select', 'tensor_value'] + list(more),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            return p.stdout.decode().split('Profile:\nnode name | \n')[-1], p.stderr.decode()
        out, err = scope('-account_type_regexes', '_checkpoint_variables')
        T.check(out == exp and not err, '%s: %s%s' % (name, out, err))
        out, err = scope('-show_name_regexes', 'm', '-max_values', '1')
        T.check(out == short, '%s -max_values: %s' % (name, out))
        out, err = scope('-show_name_regexes', 'absent')
        say = 'Key absent not found in checkpoint\n' if name[-1] == '2' else \
            'absent not found in checkpoint file\n'
        T.check(err == say, '%s absent: %s' % (name, err))


def case_hostile(top):
    make.bundle(os.path.join(top, 'x'), [])  # a name that does not match the next ones as a pattern
    for name, text in HOSTILE.items():
        path = os.path.join(top, name)
        make.hostile(path, 'meta { tensor { name: "t" %s } }\n' % text)
        refused(path, NAMES_OF_FAULT[name])
    path = os.path.join(top, 'missing_tensor_data')
    make.hostile(path, 'meta { tensor { name: "t" shape { dim { size: 3 } } type: DT_STRING slice { '
                       'extent { } } } }\ndata { name: "t" slice { extent { } } data { } }')
    refused(path, "tensor 't': data.string_val")
    if ARGS.realdata:
        for text in sorted(glob.glob(os.path.join(ARGS.realdata, 'checkpoints/hostile/*'))):
            name = os.path.basename(text).split('.')[0]
            path = os.path.join(top, 'real_' + name)
            with open(text, encoding='utf-8') as f:
                make.hostile(path, f.read())
            if name in NAMES_OF_FAULT:
                refused(path, NAMES_OF_FAULT[name])
            else:
                T.check(run(path, '--verify')[0] == 0, path)


def with_footer(top, name, body, meta, index):
    path = os.path.join(top, name)
    with open(path, 'wb') as f:
        footer = b''.join(make.varint(v) for v in meta + index)
        f.write(body + footer.ljust(40, b'\0') + struct.pack('<Q', make.MAGIC))
    return path


def bomb(size, claim=None):
    """Returns Snappy data that expands 21-fold to size bytes of zeros; claim: the size in its header."""
    out = bytearray(make.varint(size if claim is None else claim)) + b'\0\0'
    out += b'\xfe\x01\x00' * ((size - 1) // 64)
    if (size - 1) % 64:
        out += bytes([(((size - 1) % 64) - 1) << 2 | 2, 1, 0])
    return bytes(out)


def case_tables(top):
    path = os.path.join(top, 'none')
    refused(path, 'Failed to find any matching files for ' + path)
    for name, text, part in (('short', b'x' * 47, 'too short'), ('magic', b'x' * 100, 'bad magic')):
        path = os.path.join(top, name)
        with open(path, 'wb') as f:
            f.write(text)
        refused(path, part)
        os.rename(path, path + '.index')
        refused(path, 'Unable to read file (' + path + '.index). Perhaps')
    far = 1 << 60
    refused(with_footer(top, 'huge', b'', [0, far], [0, far]), 'truncated block read')
    refused(with_footer(top, 'wrap', b'', [0, 0], [(1 << 64) - 3, far]), 'truncated block read')
    for name, kind, text, part in (
            ('kind', 7, b'\0' * 8, 'bad block type'), ('count', 0, b'\xff' * 8, 'bad block contents'),
            ('claim', 1, bomb(1000, 1 << 31), 'corrupted compressed'),
            ('more', 1, bomb(1 << 20, 1 << 16), 'corrupted compressed'),
            ('bomb', 1, bomb(21 << 20), 'bad block')):
        if kind == 1 and not T.needs_snappy(name):
            continue
        body = make.sealed(text, kind)
        refused(with_footer(top, name, body, [0, 0], [0, len(text)]), part)
    path = with_footer(top, 'sparse', b'', [0, 0], [0, 1 << 40])
    with open(path, 'rb') as f:
        footer = f.read()
    if not ARGS.sanitized:  # reading this much under valgrind is slow
        size = 1 << 29
        with open(path, 'wb') as f:
            f.truncate(size)
            f.seek(size)
            f.write((b''.join(make.varint(v) for v in (0, 0, 0, size - 5))).ljust(40, b'\0') + footer[40:])
        refused(path, 'block checksum mismatch')
        os.unlink(path)
    bad = make.table([(b'', b'\x0a\x00'), (b'b', b''), (b'a', b'')])
    with open(os.path.join(top, 'order'), 'wb') as f:
        f.write(bad)
    refused(os.path.join(top, 'order'), 'bad entry in block')


def entry(dtype, shape, shard, at, size, crc=0):
    return (make.field(1, dtype) + make.field(2, make.shape_proto(shape)) + make.field(3, shard) +
            make.field(4, at) + make.field(5, size) + b'\x35' + struct.pack('<I', crc))


def case_bundles(top):
    header = make.field(1, 1)
    for name, rows, part in (
            ('outside', [(b'x', entry(1, [4], 0, 96, 16))], 'values end outside the file'),
            ('overlap', [(b'x', entry(4, [4], 0, 0, 4, make.masked(make.crc32c(bytes(4))))),
                         (b'y', entry(4, [4], 0, 2, 4))], 'overlaps'),
            ('shard', [(b'x', entry(1, [4], 3, 0, 16))], 'shard_id 3'),
            ('size', [(b'x', entry(1, [4], 0, 0, 17))], 'Invalid size in bundle entry: key x; stored '
                                                        'size 17; expected size 16'),
            ('product', [(b'x', entry(1, [1 << 40, 1 << 40], 0, 0, 16))], 'shape'),
            ('negative', [(b'x', entry(1, [4], 0, -1, 16))], 'offset is negative'),
            ('crc', [(b'x', entry(1, [4], 0, 0, 16, 1))], 'Checksum does not match'),
            ('words', [(b'x', entry(7, [4], 0, 0, 16, 1))], 'strings'),
            ('rank', [(b'x', entry(1, [1] * 300, 0, 0, 4))], 'at most 254 are supported'),
            ('slice', [(b'x', make.field(1, 1) + make.field(2, make.shape_proto([4])) +
                        make.field(7, make.slice_proto([(0, 2)])))], 'slice[0] is missing'),
            ('future', None, 'version')):
        path = os.path.join(top, name)
        h = header if rows is not None else header + make.field(3, make.field(2, 2))
        with open(path + '.index', 'wb') as f:
            f.write(make.table([(b'', h)] + (rows or [])))
        with open(path + '.data-00000-of-00001', 'wb') as f:
            f.write(bytes(100))
        refused(path, part)
    make.bundle(os.path.join(top, 'gone'), make.usual(), shards=3)
    os.unlink(os.path.join(top, 'gone.data-00001-of-00003'))
    refused(os.path.join(top, 'gone'), 'gone.data-00001-of-00003')


def found(folder, prefix, victim, text):
    """Returns a description of the fault if --verify misses this damage, otherwise None."""
    with open(os.path.join(folder, os.path.basename(victim)), 'wb') as f:
        f.write(text)
    status, _, err, memory = run(os.path.join(folder, prefix), '--verify')
    return status in (1, 3) and err.count('\n') == 1 and (memory < MEMORY or ARGS.sanitized)


def damage(top, prefix, files, cuts, flips, seed):
    """Truncates each file of a checkpoint and flips its bits, while the other files are intact."""
    rng = random.Random(seed)
    work = [tempfile.mkdtemp(dir=top) for _ in range(os.cpu_count() or 2)]
    whole = {}
    for f in files:
        with open(f, 'rb') as g:
            whole[f] = g.read()
    total = sum(map(len, whole.values()))
    jobs = []
    for f, text in whole.items():
        places = range(len(text)) if len(text) <= cuts else sorted(rng.sample(range(len(text)), cuts))
        jobs += [(f, at, None) for at in places]
    for _ in range(flips):
        at = rng.randrange(total * 8)
        for f, text in whole.items():
            if at < len(text) * 8:
                break
            at -= len(text) * 8
        jobs.append((f, at // 8, at % 8))

    def share(k):
        for f in files:
            shutil.copy(f, work[k])
        bad = []
        for f, at, bit in jobs[k::len(work)]:
            text = bytearray(whole[f] if bit is not None else whole[f][:at])
            if bit is not None:
                text[at] ^= 1 << bit
            if not found(work[k], prefix, f, text):
                bad.append('%s: %s byte %d is not found' % (
                    f, 'a cut at' if bit is None else 'bit %d of' % bit, at))
            with open(os.path.join(work[k], os.path.basename(f)), 'wb') as g:
                g.write(whole[f])
        return bad
    with concurrent.futures.ThreadPoolExecutor(len(work)) as pool:
        bad = sum(pool.map(share, range(len(work))), [])
    T.passed += len(jobs) - len(bad)
    for what in bad[:20]:
        print('FAILED ' + what)
    T.failed += len(bad)


def case_damage(top):
    make.bundle(os.path.join(top, 'd2'), make.usual(), shards=2)
    make.version1(os.path.join(top, 'd1'), make.usual())
    flips = 20 if ARGS.sanitized else 300
    damage(top, 'd2', sorted(glob.glob(os.path.join(top, 'd2.*'))), 40, flips, 1)
    damage(top, 'd1', [os.path.join(top, 'd1')], 40, flips, 2)


def case_damage_real(top):
    """Truncates small files at each byte and large ones at a sample of bytes; flips 20,000 bits."""
    if not ARGS.realdata:
        return
    at = os.path.join(ARGS.realdata, 'checkpoints')
    for i, name in enumerate(('bundle_checkpoint', 'model.ckpt-46900', 'table_legacy_saveable_object')):
        damage(top, name, sorted(glob.glob(os.path.join(at, name + '.*'))), 700, 20000 // 3 + 1, 10 + i)
    damage(top, 'ckpt', [os.path.join(ARGS.realdata, 'tensorflow-0.11/ckpt')], 3000, 2000, 20)


def main():
    if not shutil.which('protoc'):
        print('skipped: no protoc\n0 passed, 0 failed, 1 skipped')
        return 0
    for name, f in sorted(globals().items()):
        if not name.startswith('case_') or (ARGS.filters and not any(w in name for w in ARGS.filters)):
            continue
        with tempfile.TemporaryDirectory(prefix='tfprof-checkpoint-') as top:
            f(top)
    print('%d passed, %d failed, %d skipped' % (T.passed, T.failed, T.skipped))
    return 1 if T.failed else 0


if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('filters', nargs='*')
    a.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    a.add_argument('--realdata', default='')
    a.add_argument('--sanitized', action='store_true', help='the program is slow and large')
    ARGS = a.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    ARGS.snappy = has(ARGS.program, 'snappy')
    sys.exit(main())
