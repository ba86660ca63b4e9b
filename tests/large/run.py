#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests inputs that are too large for the original: files of more than 2 GiB and graphs of 10,000 levels.

    tests/large/run.py --program build/tfprof           sparse files and deep models: a second or two
    tests/large/run.py --program build/tfprof whole     files of 2.2 GiB of which every byte is read
    tests/large/run.py --program build/tfprof threads   only steps that are loaded in parallel

Little disk space is used: large parts are holes in files, or come through pipes. Texts of a deep tree are limited to a few
levels, because their indentation grows with the square of the depth.
"""
import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'models')]
import cases  # noqa: E402
from wire import Model, num, profile, run_meta, sub, varint, op_log  # noqa: E402

GIB = 1 << 30
LEVELS = 10000
CPU = '/job:localhost/replica:0/task:0/device:CPU:0'
PADDING = 1 << 20  # size of a skipped field, bytes
RECORDS = 2300     # records of that size make more than 2 GiB
FEW = '--max-memory=64M'
ALL = ['-max_depth', '100', '-select', 'micros,occurrence', '-order_by', 'name']


def tell(*words):
    """Returns the standard output of the program."""
    p = subprocess.run([ARGS.program] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       stdin=subprocess.DEVNULL)
    if p.returncode:
        raise AssertionError('%s ended with %d\n%s' % (
            ' '.join(words)[:300], p.returncode, p.stderr.decode('utf-8', 'replace')[-2000:]))
    return p.stdout.decode()


def answer(*words):
    """Returns the lines of an answer that name entries."""
    return [x for x in tell(*words).splitlines() if re.match(r' *\S.* \([-0-9].*\)$', x) or re.match(r'\S+ +\d.*\|\d+$', x)]


def expect(got, want):
    if got != want:
        raise AssertionError('%r\ninstead of\n%r' % (str(got)[:2000], str(want)[:2000]))


def save(name, *parts):
    with open(name, 'wb') as f:
        for part in parts:
            f.write(part)
    return name


def head(field, n):
    """Returns tag and length before n bytes of a field."""
    return varint(field << 3 | 2) + varint(n)


def small_model(n=3):
    m = Model()
    for i in range(n):
        m.add('layer/n%d' % i, 'Op%d' % i, ['layer/n%d' % (i - 1)] if i else [], device=CPU, micros=100 + i)
    return m


def graph(model):
    return b''.join(sub(1, sub(1, n.name) + sub(2, n.op) + b''.join(sub(3, i) for i in n.inputs))
                    for n in model.nodes)


# ---- more than 2 GiB ----------------------------------------------------------------------------
def with_holes(name, data, field):
    """Writes data after three fields of 1 GiB each, which are holes of the file."""
    with open(name, 'wb') as f:
        for _ in range(3):
            f.write(head(field, GIB))
            f.seek(GIB, os.SEEK_CUR)
        f.write(data)
    assert os.path.getsize(name) > 3 * GIB
    if os.stat(name).st_blocks * 512 > GIB:
        raise AssertionError('%s is not sparse: this file system cannot hold such a test' % name)
    return name


def sparse_run_meta():
    """Data after 3 GiB of costs is read."""
    model = small_model()
    g = '--graph_path=' + save('graph.pb', graph(model))
    data = run_meta(model)
    want = answer(g, '--run_meta_path=' + save('run.pb', data), 'scope', *ALL)
    expect(len(want), 5)
    big = with_holes('big_run.pb', data, 2)
    expect(answer(g, '--run_meta_path=' + big, 'scope', *ALL, FEW), want)


def sparse_profile():
    model = small_model()
    data = profile(model)
    want = answer('--profile_path=' + save('profile.pb', data), 'scope', *ALL)
    expect(len(want), 5)
    big = with_holes('big_profile.pb', data, 100)
    expect(answer('--profile_path=' + big, 'scope', *ALL, FEW), want)


def through_pipe(parts, before, *words):
    """Returns the answer about a file that comes through a pipe."""
    os.mkfifo('pipe')

    def write():
        with open('pipe', 'wb') as f:
            for part in parts:
                f.write(part)
    t = threading.Thread(target=write, daemon=True)
    t.start()
    try:
        return answer(*before, *words, FEW)
    finally:
        os.unlink('pipe')
        t.join(10)


def record(padding):
    """Returns an execution of 1000 us; its label is read but has no effect."""
    return sub(2, sub(1, 'layer/n0') + num(2, 1500000000000000) + num(4, 1000) + sub(8, padding))


def run_parts(padding):
    """Yields RunMetadata of RECORDS executions: one step_stats, one device."""
    device, one = sub(1, CPU), record(padding)
    stats = len(device) + RECORDS * len(one)
    yield head(1, len(head(1, stats)) + stats) + head(1, stats) + device
    for _ in range(RECORDS):
        yield one


def whole_run_meta():
    """One step of 2.2 GiB is read completely; its lengths need more than 31 bits."""
    g = ['--graph_path=' + save('graph.pb', graph(small_model(1)))]
    small = save('run.pb', *run_parts(b'x'))
    want = answer(*g, '--run_meta_path=' + small, 'op', *ALL)
    expect(re.findall('^Op0 +(\\S+) .* (\\S+)$', want[0]), [('2.30sec', '2300|1')])
    got = through_pipe(run_parts(b'x' * PADDING), g + ['--run_meta_path=pipe'], 'op', *ALL)
    expect(got, want)


def profile_parts(padding):
    """Returns a ProfileProto of RECORDS nodes with one attribute of that many bytes each: the bytes before and after each attribute."""
    time = sub(1, CPU) + sub(2, sub(1, num(1, 1500000000000000) + num(1, 1000)))
    step = num(1, 1) + num(2, 1500000000000000) + num(3, 1500000000001000) + sub(6, CPU) + sub(5, time)
    step = sub(12, num(1, 0) + sub(2, step))
    attr = head(2, padding)
    attr = sub(1, 'value') + head(2, len(attr) + padding) + attr
    for i in range(RECORDS):
        node = sub(1, 'n%d' % i) + sub(9, 'Op') + num(13, i) + sub(5, 'Op') + sub(6, CPU.lower())
        node += head(11, len(attr) + padding) + attr
        key = num(1, i) + head(2, len(node) + padding + len(step)) + node
        yield head(1, len(key) + padding + len(step)) + key, step
    yield num(3, 0), b''


def save_profile(name, padding):
    with open(name, 'wb') as f:
        for before, after in profile_parts(padding):
            f.write(before)
            if after:
                f.seek(padding, os.SEEK_CUR)
            f.write(after)
    return '--profile_path=' + name


def whole_profile():
    """A profile of 2.2 GiB is read; its attributes, holes in the file, are skipped."""
    want = answer(save_profile('profile.pb', 1), 'op', *ALL)
    expect(re.findall('^Op +(\\S+) .* (\\S+)$', want[0]), [('2.30sec', '2300|2300')])
    big = save_profile('big.pb', PADDING)
    assert os.path.getsize('big.pb') > 2 * GIB
    expect(answer(big, 'op', *ALL, FEW), want)


# ---- 10,000 levels ------------------------------------------------------------------------------
def deep_model():
    """Writes a chain of nodes; the last one has a name of as many parts and a stack of as many frames."""
    m = Model()
    for i in range(LEVELS):
        m.add('n%05d' % i, 'Op', ['n%05d' % (i - 1)] if i else [], device=CPU, micros=1)
    frames = [('deep.py', i + 1, 'f', 1, 'f()') for i in range(LEVELS)]
    m.add('/'.join(['s'] * LEVELS + ['leaf']), 'Deep', ['n%05d' % (LEVELS - 1)], device=CPU, micros=7,
          trace=frames)
    return m


def load_deep():
    m = deep_model()
    files = [('--graph_path=', 'graph.pb', graph(m)), ('--run_meta_path=', 'run.pb', run_meta(m)),
             ('--op_log_path=', 'log.pb', op_log(m))]
    return [option + save(name, data) for option, name, data in files]


FULL = ['-max_depth', str(2 * LEVELS), '-select', 'micros', '-order_by', 'micros', '-step', '0']


def deep_views():
    """Every view answers; in views without indentation, the line of the deepest entry is compared."""
    files = load_deep()
    for view in ('scope', 'graph', 'op', 'code'):
        tell(*files, view, *FULL, '-output', 'none')
    shown = answer(*files, 'graph', *FULL, '-show_name_regexes', 'n00000')
    expect([x.split(' (')[0] for x in shown], ['_TFProfRoot', '  n00000'])
    expect(shown[1].split(' (')[1][:4], '2us/')
    shown = answer(*files, 'scope', *FULL, '-show_name_regexes', '.*/leaf')
    expect([len(x.split(' (')[0]) for x in shown], [len('_TFProfRoot'), 2 * LEVELS + 2 + len('leaf')])
    shown = answer(*files, 'code', *FULL, '-show_name_regexes', 'deep.py:%d:.*' % LEVELS)
    expect(len(shown), 2)


def deep_timeline():
    """The graph timeline contains each box once, whatever its depth."""
    files = load_deep()
    tell(*files, 'graph', *FULL, '-output', 'timeline:outfile=t')
    events = json.load(open('t_0'))['traceEvents']
    boxes = [e for e in events if e['ph'] == 'X']
    expect(len(boxes), LEVELS + 1)
    expect(len({e['name'] for e in boxes}), LEVELS + 1)
    tell(*files, 'scope', *FULL, '-show_name_regexes', '.*/leaf', '-output', 'timeline:outfile=t')
    tell(*files, 'code', *FULL, '-output', 'timeline:outfile=t')
    boxes = [e for e in json.load(open('t_0'))['traceEvents'] if e['ph'] == 'X']
    expect(len(boxes), LEVELS + 1)
    expect({e['pid'] for e in boxes}, set(range(LEVELS + 1)))


def locations(data):
    """Returns how many locations the samples of a pprof profile have."""
    def fields(b):
        at = 0
        while at < len(b):
            tag, at = get(b, at)
            n, at = get(b, at)
            body = None
            if tag & 7 == 2:
                body, at = b[at:at + n], at + n
            yield tag >> 3, body

    def get(b, at):
        v = shift = 0
        while True:
            v |= (b[at] & 127) << shift
            shift += 7
            at += 1
            if b[at - 1] < 128:
                return v, at
    n = 0
    for field, body in fields(data):
        for inner, ids in fields(body) if field == 2 else ():
            if inner == 1 and ids:
                at = 0
                while at < len(ids):
                    at = get(ids, at)[1]
                    n += 1
            elif inner == 1:
                n += 1
    return n


def deep_pprof():
    files = load_deep()
    tell(*files, 'code', *FULL, '-output', 'pprof:outfile=p')
    with gzip.open('p') as f:
        expect(locations(f.read()), LEVELS - 1)  # all lines except the outermost one


def deep_profile():
    """Answers do not change after writing and reading the profile."""
    files = load_deep()
    tell('convert', *files, '-output', 'profile:outfile=deep.profile')
    words = ['graph'] + FULL + ['-show_name_regexes', 'n0000.']
    expect(answer('--profile_path=deep.profile', *words), answer(*files, *words))


# ---- many steps ---------------------------------------------------------------------------------
def names_of_every_step():
    """Files with nodes and devices of their own give the same steps for any number of threads."""
    files = ['--graph_path=' + save('graph.pb', graph(small_model()))]
    paths = []
    for k in range(16):
        m = Model()
        for i in range(200):
            m.add('step%d/n%d' % (k * (k % 3 > 0), i + 50 * k), 'Op', micros=i + k, gpu=3, size=i + 1,
                  device='/job:w/replica:0/task:%d/device:%s:0' % (k % 5, 'GPU' if i % 2 else 'CPU'))
        paths.append(save('run%d.pb' % k, run_meta(m)))
    files.append('--run_meta_path=' + ','.join(paths))
    words = ['scope', '-max_depth', '9', '-select', 'micros,bytes,occurrence,device']
    answers = []
    for threads in ('1', '2', '3', '8'):
        os.environ['TFPROF_THREADS'] = threads
        answers.append(tell(*files, *words))
    expect(len(answers[0].splitlines()) > 1000, True)
    expect(answers[1:], answers[:1] * 3)


CASES = {'quick': [sparse_run_meta, sparse_profile, deep_views, deep_timeline, deep_pprof, deep_profile,
                   names_of_every_step],
         'threads': [names_of_every_step],
         'whole': [whole_run_meta, whole_profile]}


def main():
    return cases.run(CASES[ARGS.kind])


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default='build/tfprof')
    p.add_argument('kind', nargs='?', default='quick', choices=sorted(CASES))
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
