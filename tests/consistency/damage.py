#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flips single bits in inputs of every format and truncates them: there must be no silently wrong answer, no crash and no hang.

    tests/consistency/damage.py --program build/check/tfprof --make build/check/spool_make [--times 200] [NAME...]

NAME is a sample, `steps.sqlite`, or a sample and its damage, `steps.sqlite/cut`. Every format is damaged as a plain file and
compressed with gzip, --times times each way, always at the same places.

An answer is silently wrong if it differs from the answer about the intact file, but the status is 0 and standard error is the
same. Not every damage can be detected. These rules define which damage counts:

- gzip files, recordings and baselines have checksums: everything counts.
- JSON counts if Python's parser refuses the damaged text. A digit that is replaced by another digit, or a letter by another
letter, does not count. - Messages of protobuf count if their bytes are no longer a message of that type (an end within a field,
a length beyond the end,
  a wire type that does not exist), and in pprof if a number names no text, function or place.
- SQLite counts if the file has not the size that its header states or if SQLite finds its pages damaged.
"""
import argparse
import collections
import gzip
import io
import json
import os
import pickle
import random
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), 'check'), os.path.join(os.path.dirname(HERE), 'trace'), HERE]
import built  # noqa: E402
import cases  # noqa: E402
import onnx  # noqa: E402
import samples  # noqa: E402

LIMIT = 20  # seconds, after which a command hangs
COLUMNS = 'micros,accelerator_micros,cpu_micros,occurrence,float_ops,bytes,params'
VIEW = 'scope -max_depth 1000 -select %s -order_by name -output json\n' % COLUMNS
TABLES = VIEW + 'devices -output json --top=0\nsteps -output json --top=0\n'
SNAPSHOT = VIEW + 'memory -output json --top=0\n'
Sample = collections.namedtuple('Sample', 'name content valid script words')


# ---- which damage counts ----

def json_is_valid(content):
    try:
        json.loads(content.decode())
        return True
    except (ValueError, RecursionError):
        return False


def fields(data):
    """Returns [(field, value)] of a message, in order; None if the bytes are not a message. A value of 4 or 8 bytes is a
    number: as the value of a field that is a message, it is an unknown field, not damage."""
    out, at = [], 0

    def varint():
        nonlocal at
        v = 0
        for shift in range(0, 70, 7):
            if at >= len(data):
                return None
            at += 1
            v |= (data[at - 1] & 127) << shift
            if data[at - 1] < 128:
                return v
        return None

    while at < len(data):
        tag = varint()
        if not tag or not tag >> 3 or tag & 7 in (3, 4, 6, 7):
            return None
        size = {1: 8, 5: 4}.get(tag & 7)
        v = varint() if size is None else int.from_bytes(data[at:at + size], 'little')
        if v is None or size and at + size > len(data):
            return None
        if size:
            at += size
        elif tag & 7 == 2:
            v, at = data[at:at + v], at + v
            if at > len(data):
                return None
        out.append((tag >> 3, v))
    return out


# Fields whose values are messages, for each message that tfprof reads.
STATS = {4: {}}
XSPACE = {1: {3: {4: STATS}, 4: {2: {5: {}}}, 5: {2: {}}, 6: {}}}
PERFETTO = {1: {6: {1: {}}, 11: {4: {}}, 12: {}, 60: {3: {}, 4: {}}}}
PPROF = {1: {}, 2: {3: {}}, 4: {4: {}}, 5: {}}
GRAPH = {1: {5: {2: {}}}}
STEP = {1: {1: {2: {6: {2: {}}, 7: {}}}}}
PROFILE = {1: {2: {}}, 5: {}}
ONNX = {7: {1: {5: {}}, 5: {}, 11: {2: {1: {2: {}}}}}}


def message_is_valid(data, kind):
    found = fields(data)
    return found is not None and all(message_is_valid(v, kind[f]) for f, v in found if f in kind and isinstance(v, bytes))


def packed(rows, field):
    """Returns the numbers of a repeated field, packed or not."""
    out = []
    for f, v in rows:
        if f == field and isinstance(v, int):
            out.append(v)
        elif f == field:
            at, number = 0, 0
            for byte in v:
                number |= (byte & 127) << at
                at += 7
                if byte < 128:
                    out.append(number)
                    at = number = 0
    return out


def pprof_is_valid(data):
    if not message_is_valid(data, PPROF):
        return False
    top = fields(data)
    parts = {f: [fields(v) for g, v in top if g == f and isinstance(v, bytes)] for f in (1, 2, 4, 5)}
    texts = sum(f == 6 for f, _ in top)
    places = {n for row in parts[4] for n in packed(row, 1)}
    functions = {n for row in parts[5] for n in packed(row, 1)}
    named = [n for part, of in ((1, (1, 2)), (5, (2, 4))) for row in parts[part] for k in of for n in packed(row, k)]
    called = [n for row in parts[4] for f, v in row if f == 4 and isinstance(v, bytes) for n in packed(fields(v), 1)]
    return (max(named, default=0) < texts and set(called) <= functions and
            {n for row in parts[2] for n in packed(row, 1)} <= places)


def sqlite_is_valid(content):
    if len(content) < 100 or len(content) != int.from_bytes(content[16:18], 'big') * int.from_bytes(content[28:32], 'big'):
        return False
    with tempfile.NamedTemporaryFile(suffix='.sqlite') as f:
        f.write(content)
        f.flush()
        try:
            db = sqlite3.connect('file:%s?mode=ro&immutable=1' % f.name, uri=True)
            db.text_factory = bytes  # SQLite does not check text values
            whole = db.execute('PRAGMA quick_check').fetchall() == [(b'ok',)]
            for name, in db.execute('SELECT name FROM sqlite_master WHERE type = "table"').fetchall():
                db.execute('SELECT * FROM "%s"' % name.decode()).fetchall()
            return whole
        except (sqlite3.Error, UnicodeDecodeError):
            return False
        finally:
            db.close()


class Plain(pickle.Unpickler):
    """Loads only plain data."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(name)


def pickle_is_valid(content):
    try:
        Plain(io.BytesIO(content)).load()
        return True
    except Exception:  # damaged pickles may raise any exception
        return False


def never(content):
    return False


# ---- samples ----

def read(*path):
    with open(os.path.join(cases.TESTDATA, *path), 'rb') as f:
        return f.read()


def message(kind):
    return lambda content: message_is_valid(content, kind)


def all_samples(folder, make):
    """Returns [Sample]: one for each format."""
    made = {}
    for name in samples.write_all(folder, make):
        with open(os.path.join(folder, name), 'rb') as f:
            made[name] = f.read()
    out = [Sample(n, made[n], json_is_valid, TABLES, ()) for n in
           ('steps.pt.trace.json', 'run_results.json', 'steps.onnxruntime.json', 'plain.json')]
    out += [Sample('steps.xplane.pb', made['steps.xplane.pb'], message(XSPACE), TABLES, ()),
            Sample('tpu.xplane.pb', made['tpu.xplane.pb'], message(XSPACE), TABLES, ()),
            Sample('steps.pftrace', made['steps.pftrace'], message(PERFETTO), TABLES, ()),
            Sample('steps.pb', gzip.decompress(made['steps.pb.gz']), pprof_is_valid, VIEW, ()),
            Sample('times.json', made['times.json'], json_is_valid, VIEW, ()),
            Sample('layers.json', read('traces', 'tensorrt_layers.json'), json_is_valid, VIEW, ()),
            Sample('calls.json', read('traces', 'calls.json'), json_is_valid, VIEW, ()),
            Sample('snapshot.pickle', read('memory', 'snapshot.pickle'), pickle_is_valid, SNAPSHOT, ()),
            Sample('model.onnx', onnx.model(), message(ONNX), VIEW, ()),
            Sample('profile_100', read('recorded', 'mlp_0', 'profile.pb'), message(PROFILE), VIEW, ()),
            Sample('run_meta', read('recorded', 'mlp_0', 'run_meta_0.pb'), message(STEP), VIEW,
                   ('--graph_path=' + os.path.join(cases.TESTDATA, 'recorded', 'mlp_0', 'graph.pb'), '--run_meta_path=run_meta')),
            Sample('graph.pb', read('recorded', 'mlp_0', 'graph.pb'), message(GRAPH), VIEW, ('--graph_path=graph.pb',))]
    if make:
        out.append(Sample('steps.tfspool', made['steps.tfspool'], never, TABLES, ()))
    if built.has(ARGS.program, 'sqlite'):
        out.append(Sample('steps.sqlite', made['steps.sqlite'], sqlite_is_valid, TABLES, ()))
    return out + [baseline(made)]


EVERYTHING = '-select micros,occurrence --delta 0% --min_size 0 -output json'.split()
BASELINE = os.path.join('.tfprof', 'baselines', 'kept')


def baseline(made):
    """Saves a baseline of a trace in the current folder. Returns it as a sample that diff compares with the trace."""
    with open('kept.json', 'wb') as f:
        f.write(made['steps.pt.trace.json'])
    subprocess.run([ARGS.program, 'baseline', 'save', 'kept', 'kept.json'], check=True, capture_output=True)
    with open(BASELINE, 'rb') as f:
        return Sample(BASELINE, f.read(), never, '', ('diff', 'baseline:kept', 'kept.json', *EVERYTHING))


# ---- damage ----

def flips(content, chance, times):
    """Returns [(place, damaged content)] with one flipped bit each."""
    for _ in range(times):
        at, bit = chance.randrange(len(content)), chance.randrange(8)
        yield 'bit %d of byte %d' % (bit, at), content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1:]


def cuts(content, chance, times):
    """Returns [(place, truncated content)]; up to a tenth of them lack only the last bytes."""
    last = max(2, times // 10)
    for i in range(times):
        size = len(content) - 1 - i if i < last else chance.randrange(1, len(content))
        yield 'cut after %d of %d bytes' % (size, len(content)), content[:size]


def answer(sample):
    """Returns (output without notes, standard error), or a str that describes the fault."""
    words = [ARGS.program, *(sample.words or [sample.name]), '-quiet']
    try:
        p = subprocess.run(words, input=sample.script.encode(), capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return 'no end after %d s' % LIMIT
    if p.returncode not in (0, 1, 2, 3):
        return 'status %d: %s' % (p.returncode, p.stderr.decode(errors='replace')[-1500:])
    lines = [line for line in p.stdout.split(b'\n') if not line.startswith(b'"warnings":')]
    return p.returncode, lines, p.stderr


def wrong(sample, whole):
    """Returns the fault of the answer about a damaged file; '' if there is none."""
    found = answer(sample)
    if isinstance(found, str):
        return found
    status, lines, said = found
    if status or said != whole[2] or lines == whole[1]:
        return ''
    first = next(i for i, (a, b) in enumerate(zip(lines + [b''], whole[1] + [b''])) if a != b)
    return 'not a word, but line %d is %.200r' % (first + 1, (lines + [b''])[first])


def damaged(sample, packed, way, found):
    """Counts the files that were damaged in one way, and prints the files with a wrong answer. Returns the number of these."""
    content = gzip.compress(sample.content, mtime=0) if packed else sample.content
    name = '%s%s/%s' % (sample.name, '.gz' if packed else '', way.__name__)
    with open(sample.name, 'wb') as f:
        f.write(content)
    whole = answer(sample)
    if isinstance(whole, str) or whole[0] or not whole[1]:
        print('%s: the intact file has no answer: %s' % (name, whole))
        return 1
    bad = 0
    for place, content in way(content, random.Random(name), ARGS.times):
        with open(sample.name, 'wb') as f:
            f.write(content)
        text = wrong(sample, whole)
        if text.startswith('not a word') and not packed and sample.valid(content):
            continue
        if text:
            print('%s: %s: %s' % (name, place, text))
            if ARGS.keep:
                with open(os.path.join(ARGS.keep, '%s.%s' % (place.replace(' ', '_'), name.replace('/', '.'))), 'wb') as f:
                    f.write(content)
        bad += bool(text)
    found[bool(bad)] += 1
    if bad:
        print('%s: %d of %d' % (name, bad, ARGS.times))
    return bad


def main():
    found, bad = [0, 0], 0
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, 'made')
        os.mkdir(made)
        os.chdir(folder)
        everything = all_samples(made, ARGS.make)
        for sample in everything:
            assert sample.valid is never or sample.valid(sample.content), sample.name
            for packed in (False, True)[:1 if sample.name == BASELINE else 2]:
                for way in (flips, cuts):
                    name = '%s%s/%s' % (sample.name, '.gz' if packed else '', way.__name__)
                    if not ARGS.names or any(n in name for n in ARGS.names):
                        bad += damaged(sample, packed, way, found)
        os.chdir(cases.ROOT)
    print('%d passed, %d failed, 0 skipped' % tuple(found))
    return 1 if found[1] or bad or not found[0] else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(cases.ROOT, 'build/check/tfprof'), type=os.path.abspath)
    p.add_argument('--make', default='', type=lambda x: x and os.path.abspath(x), help='spool_make, which makes recordings')
    p.add_argument('--times', type=int, default=200)
    p.add_argument('--keep', default='', type=lambda x: x and os.path.abspath(x), help='keep the files with wrong answers in this folder')
    p.add_argument('names', nargs='*')
    ARGS = p.parse_args()
    sys.exit(main())
