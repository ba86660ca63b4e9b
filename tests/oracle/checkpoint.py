#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets TensorFlow write checkpoints with both savers (every type, rank 0 to 8, no elements, names in
Unicode, variables in 7 parts along the first and along the last dimension, several shards) and compares every name, shape and
value that the program shows with the saved ones and with TensorFlow's own reader.

TFPROF_ORACLE names a Python that has tensorflow-cpu; otherwise the running Python is tried. Without it the test is
skipped.

    tests/oracle/checkpoint.py --program build/tfprof
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


# ---- in the Python that has TensorFlow ----------------------------------------------------------
def write(folder):
    """Writes checkpoints below folder, and expected.json: {prefix: {name: [dtype, shape, values]}}."""
    os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
    import numpy as np
    import tensorflow as tf
    from tensorflow.python.framework import dtypes
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    rng = np.random.default_rng(7)
    expected = {}

    def plain(array):
        def one(x):
            if isinstance(x, bytes):
                return x.decode('utf-8')
            if isinstance(x, complex):
                return [x.real, x.imag]
            return x
        array = np.asarray(array)
        if str(array.dtype) in ('int4', 'uint4', 'int2', 'uint2'):
            array = array.astype(np.int8)
        elif array.dtype.kind == 'V' or str(array.dtype).startswith(('float8', 'float4', 'bfloat')):
            array = array.astype(np.float32)
        return [one(x) for x in array.reshape(-1).tolist()]

    def save(name, pairs, version, slices=None):
        """Returns (name, tensor in the current graph) pairs, without tensors that the saver cannot store."""
        path = os.path.join(folder, name)
        names = [n for n, _ in pairs]
        given = [t for _, t in pairs]
        cut = slices or [''] * len(names)
        if version == 2:
            return v1.raw_ops.SaveV2(prefix=path, tensor_names=names, shape_and_slices=cut, tensors=given)
        return v1.raw_ops.SaveSlices(filename=path, tensor_names=names, shapes_and_slices=cut, data=given)

    def values():
        out = []
        for n in ('half bfloat16 float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz '
                  'float8_e5m2fnuz float4_e2m1fn float32 float64').split():
            d = getattr(dtypes, n, None)
            if d is not None:
                out.append(('type/' + n, np.array([0, .5, -1.5, 2, 3, -4]).astype(d.as_numpy_dtype), d))
        for n, low, high in (('int2', -2, 1), ('uint2', 0, 3), ('int4', -8, 7), ('uint4', 0, 15),
                             ('int8', -128, 127), ('uint8', 0, 255), ('int16', -2**15, 2**15 - 1),
                             ('uint16', 0, 2**16 - 1), ('int32', -2**31, 2**31 - 1),
                             ('uint32', 0, 2**32 - 1), ('int64', -2**63, 2**63 - 1),
                             ('uint64', 0, 2**64 - 1)):
            d = getattr(dtypes, n, None)
            if d is not None:
                base = np.array([low, 0, 1, high], dtype=object)
                out.append(('type/' + n, base.astype(d.as_numpy_dtype), d))
        out.append(('type/bool', np.array([True, False, True]), dtypes.bool))
        out.append(('type/complex64', np.array([1 + 2j, -3.5j], np.complex64), dtypes.complex64))
        out.append(('type/complex128', np.array([1 + 2j, -3.5j], np.complex128), dtypes.complex128))
        out.append(('type/string', np.array([b'', b'x' * 400, 'ü'.encode(), b"it's"], dtype=object),
                    dtypes.string))
        for rank in range(9):
            shape = [2, 1, 3, 1, 2, 1, 1, 2][:rank]
            out.append(('rank/%d' % rank, rng.standard_normal(shape).astype(np.float32), dtypes.float32))
        out.append(('empty/a', np.zeros([2, 0, 3], np.float32), dtypes.float32))
        out.append(('empty/b', np.zeros([0], np.int64), dtypes.int64))
        out.append(('имя/名前', np.array([1, 2, 3], np.int32), dtypes.int32))
        out.append(('long/' + 'n' * 300, np.array([3.25]), dtypes.float64))
        out.append(('large', rng.standard_normal([300, 70]).astype(np.float32), dtypes.float32))
        return out

    def quantised():
        for n, under in (('qint8', tf.int8), ('quint8', tf.uint8), ('qint16', tf.int16),
                         ('quint16', tf.uint16), ('qint32', tf.int32)):
            yield 'type/' + n, np.array([0, 1, 2, 100], under.as_numpy_dtype), getattr(dtypes, n)

    def run(op):
        with v1.Session() as s:
            s.run(op)

    for version in (2, 1):
        for name, array, d in values() + list(quantised()):
            prefix = 'v%d_%s' % (version, re.sub(r'\W', '_', name)[:40])
            with tf.Graph().as_default():
                t = tf.bitcast(tf.constant(array), d) if d.is_quantized else tf.constant(array, dtype=d)
                try:
                    run(save(prefix, [(name, t)], version, ['']))
                except (tf.errors.OpError, ValueError, TypeError):
                    continue
            shown = [n for n in os.listdir(folder) if n.startswith(prefix)]
            if shown:
                expected[prefix] = {name: [d.name, list(array.shape), plain(array)]}
        with tf.Graph().as_default():
            pairs, exp = [], {}
            for name, array, d in values():
                if version == 1 and (d.size < 2 or d in (dtypes.bfloat16, dtypes.uint32, dtypes.uint64)):
                    continue
                pairs.append((name, tf.constant(array, dtype=d)))
                exp[name] = [d.name, list(array.shape), plain(array)]
            run(save('all_v%d' % version, pairs, version))
            expected['all_v%d' % version] = exp
        with tf.Graph().as_default():
            pairs, cuts, exp = [], [], {}
            for name, shape, axis in (('rows', [700, 3], 0), ('columns', [5, 77], 1)):
                array = rng.standard_normal(shape).astype(np.float32)
                for i in range(7):
                    part = np.split(array, 7, axis)[i]
                    start = i * part.shape[axis]
                    cut = '%d,%d' % (start, part.shape[axis])
                    cuts.append('%d %d ' % tuple(shape) + (cut + ':-' if axis == 0 else '-:' + cut))
                    pairs.append((name, tf.constant(part)))
                exp[name] = ['float32', shape, plain(array)]
            run(save('parts_v%d' % version, pairs, version, cuts))
            expected['parts_v%d' % version] = exp
    with tf.Graph().as_default():  # shards, merged by TensorFlow
        exp, saves = {}, []
        for i in range(7):
            array = rng.standard_normal([i + 1, 2])
            saves.append(save('shard_%d' % i, [('s/%d' % i, tf.constant(array))], 2))
            exp['s/%d' % i] = ['float64', list(array.shape), plain(array)]
        run(saves)
        run(v1.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=[os.path.join(folder, 'shard_%d' % i) for i in range(7)],
            destination_prefix=os.path.join(folder, 'merged')))
        expected['merged'] = exp
    for prefix, tensors in expected.items():  # values as TensorFlow's reader returns them
        reader = tf.train.load_checkpoint(os.path.join(folder, prefix))
        names = reader.get_variable_to_shape_map()
        assert set(names) == set(tensors), (prefix, names)
        for name, (_, shape, _) in tensors.items():
            assert names[name] == shape, (prefix, name)
        if prefix == 'all_v2':
            for name in ('large', 'rank/8', 'type/string'):
                assert plain(reader.get_tensor(name)) == tensors[name][2], name
    with open(os.path.join(folder, 'expected.json'), 'w', encoding='utf-8') as f:
        json.dump(expected, f)


# ---- here ---------------------------------------------------------------------------------------
def spelled(x):
    """Returns a value as the program shows it."""
    if isinstance(x, list):
        return '(%s,%s)' % (spelled(x[0]), spelled(x[1]))
    if isinstance(x, bool):
        return str(int(x))
    if isinstance(x, str):
        return "'%s'" % x
    if isinstance(x, int):
        return '%d' % x
    return '%.2f' % float('%.6g' % x)


def text(shape, values):
    """Returns the text of a tensor, by recursion over its dimensions."""
    out, at = [''], [0]

    def level(d):
        out[0] += '['
        for _ in range(shape[d] if shape else 1):
            if d >= len(shape) - 1:
                out[0] += spelled(values[at[0]]) + ' '
                at[0] += 1
            else:
                level(d + 1)
        raw = out[0].encode()
        out[0] = (raw[:10000] if len(raw) > 10000 else raw).decode('utf-8', 'ignore') + '],\n'
    level(0)
    return out[0] + ('...omitted from display\n\n' if len(out[0].encode()) >= 10000 else '')


def compare(folder, prefix, tensors):
    """Returns what is wrong with the program's answer on one checkpoint."""
    path = os.path.join(folder, prefix)
    bad = []

    def program(*words):
        p = subprocess.run([ARGS.program] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')
    status, out, err = program('checkpoint', path, '--verify')
    if status:
        bad.append('%s --verify: %s' % (prefix, err))
    status, out, err = program('checkpoint', path, '-output', 'json')
    rows = json.loads(out)['rows'] if not status else []
    found = {r['name']: [r['dtype'], [int(x) for x in r['shape'].split('x') if x]] for r in rows}
    wanted = {n: [t[0], t[1]] for n, t in tensors.items()}
    if found != wanted:
        bad.append('%s: %s%r is not %r' % (prefix, err, found, wanted))
    graph = os.path.join(folder, 'graph.pbtxt')
    for name, (_, shape, values) in tensors.items():
        with open(graph, 'w', encoding='utf-8') as f:
            f.write('node { name: "%s" op: "V" }\n' % name)
        status, out, err = program('--graph_path=' + graph, '--checkpoint_path=' + path, 'graph', '-select',
                                   'tensor_value', '-account_type_regexes', '_checkpoint_variables')
        exp = ('  %s ()\n' % name + text(shape, values)).encode()
        got = out.split(b'_TFProfRoot ()\n', 1)[-1]
        if err or got != exp:
            bad.append('%s: %s: %s%r is not %r' % (prefix, name, err, got[:200], exp[:200]))
    return bad


def main():
    python = os.environ.get('TFPROF_ORACLE', sys.executable)
    try:
        has = subprocess.run([python, '-c', 'import importlib.util as u, sys; '
                              'sys.exit(not u.find_spec("tensorflow"))'],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        has = False
    if not has:
        print('skipped: no TensorFlow: TFPROF_ORACLE names no Python that has it\n0 passed, 0 failed, 1 skipped')
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix='tfprof-oracle-') as folder:
        p = subprocess.run([python, os.path.abspath(__file__), '--write', folder], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        if p.returncode:
            print(p.stdout.decode('utf-8', 'replace')[-3000:] + '\n0 passed, 1 failed, 0 skipped')
            return 1
        with open(os.path.join(folder, 'expected.json'), encoding='utf-8') as f:
            expected = json.load(f)
        for prefix, tensors in expected.items():
            bad = compare(folder, prefix, tensors)
            failed += len(bad)
            passed += max(0, len(tensors) - len(bad))
            for what in bad:
                print('FAILED ' + what)
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    a.add_argument('--write', help=argparse.SUPPRESS)
    ARGS = a.parse_args()
    if ARGS.write:
        write(ARGS.write)
        sys.exit(0)
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
