#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the limits of the program on generated inputs: memory, patterns, counts, depths, lengths of names.

    tests/limits/run.py --program build/check/tfprof --shim build/check/faults/shim.so --make build/check/spool_make [NAME ...]
"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'models')]
import cases  # noqa: E402
import make_checkpoint  # noqa: E402
from wire import num, sub, varint  # noqa: E402

MB = 1 << 20
OVERHEAD = 3 * MB  # not counted: stacks, library pages that are used later, memory that the C library keeps
WORST = 176         # bytes of memory for one unpacked byte of input; see worst()


def write(path, *parts):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'wb') as f:
        for p in parts:
            f.write(p)
    return path


def node(name, op='Op', inputs=()):
    return sub(1, sub(1, name) + sub(2, op) + b''.join(sub(3, i) for i in inputs))


def execs(records, device='/job:a/replica:0/task:0/device:CPU:0'):
    return sub(1, sub(1, sub(1, device) + b''.join(records)))


def record(name, micros=5, size=0):
    return sub(2, sub(1, name) + num(2, 1000) + num(4, micros) + (
        sub(6, sub(1, 'cpu') + num(2, size)) if size else b''))


class Result:
    def __init__(self, status, out, err, peak):
        self.status, self.out, self.err, self.peak = status, out, err, peak


def run(program, words, lines=None, keep=True):
    """Runs the program. Returns its status, its output, and its peak of memory as the preloaded shim reports it."""
    count = os.path.abspath('count')
    env = dict(os.environ, LC_ALL='C', FAULT_COUNT=count, LD_PRELOAD='./shim.so')  # LD_PRELOAD splits paths at blanks
    p = subprocess.run([program] + words, input=lines, stdin=None if lines else subprocess.DEVNULL, env=env,
                       stdout=subprocess.PIPE if keep else subprocess.DEVNULL, stderr=subprocess.PIPE)
    with open(count) as f:
        peak = int(re.search(r'peak (\d+)', f.read()).group(1)) * 1024
    return Result(p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace'), peak)


def need(truth, what):
    if not truth:
        raise AssertionError(what)


# ---- memory -------------------------------------------------------------------------------------
def spool(path, *lines):
    """Makes a recording of one process from a script."""
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    subprocess.run([MAKE, path], input='\n'.join(lines + ('end start=9000000',)).encode(), check=True)
    return path


def launches(n, word='kernel', name='k'):
    return ['%s start=%d length=1 correlation=%d name=%s' % (word, 1000000 + i, 1 + i, name) for i in range(n)]


def memory_limit(program):
    """--max-memory is never exceeded and ends with an error message, for every input and command."""
    names = ['scope/layer_%d/weights_%d' % (i % 100, i) for i in range(100000)]
    write('g', *[node(n, inputs=[names[i - 1]] if i else []) for i, n in enumerate(names)])
    write('r', execs([record(n) for n in names]))
    write('wide', node('abcdefgh' * 25000 + '!'))
    for i in range(4):
        write('folder/profile_%d' % i, *[sub(1, num(1, k) + sub(2, sub(1, n) + sub(9, 'Op'))) for k, n in enumerate(names[:50000])])
        spool('session/n-%d-1.tfspool' % i, *['push start=1 name=r%d tid=%d' % (k % 4000, k % 50) for k in range(50000)],
              *launches(50000))
    asks = [['--graph_path=g', 'scope'], ['--graph_path=g', 'graph', '-max_depth', '5'],
            ['--graph_path=g', 'op', '-select', 'occurrence'], ['--graph_path=g', '--run_meta_path=r', 'scope'],
            ['folder', 'scope'], ['session', 'scope'], ['--spool=session/n-1-1.tfspool', 'op'], ['gpu', 'session'],
            ['diff', 'folder/profile_1', 'folder/profile_2'], ['baseline', 'save', 'b', 'folder/profile_1'],
            ['--graph_path=wide', 'scope', '-rename', 's/^(?:%s)*$/x/' % '|'.join('(%c)' % c for c in range(97, 123))],
            ['--graph_path=wide', 'scope', '-show_name_regexes', '(?:%s)*z' % '|'.join('(%c)' % c for c in range(97, 123))]]
    told, least = {}, run(program, ['help', 'scope']).peak
    for limit in (2, 4, 8, 16, 32, 64, 128, 256):
        for words in asks:
            r = run(program, ['--max-memory=%dMi' % limit] + words, keep=False)
            need(r.peak <= max(limit * MB, least) + OVERHEAD, '%d MB at a limit of %d: %s' % (r.peak // MB, limit, words))
            need(r.status in (0, 1, 3), 'status %d: %s: %s' % (r.status, words, r.err))
            if r.status:
                need(re.search(r'the memory limit of \d+ bytes is reached|gave up matching', r.err), '%s: %s' % (words, r.err[-300:]))
            told.setdefault(' '.join(words), []).append(r.status)
    for words, found in told.items():
        need((found[-1] == 0 or 'wide' in words) and (found[0] or words.startswith('gpu')), '%s: %s' % (words, found))


def hungry():
    """Yields the worst known file of each format in memory per byte: (flag, function that makes it)."""
    letters = [bytes([c]) for c in range(33, 127)]
    names = [a + b + c for a in letters for b in letters for c in letters][:200000]
    yield 'graph', ['--graph_path=' + write('graph', *[b'\x0a\x05\x0a\x03' + n for n in names])]
    yield 'graph as text', ['--graph_path=' + write('text', *[b"node{name:'%s'}" % n for n in names
                                                              if not set(n) & set(b"'\\")])]
    yield 'run metadata', ['--run_meta_path=' + write('run', execs([b'\x12\x09\x0a\x03' + n + b'\x10\x01\x20\x01'
                                                                    for n in names])), '--graph_path=' + write('none')]
    yield 'records of nothing', ['--run_meta_path=' + write('run0', execs([b'\x12\x00'] * 200000)), '--graph_path=none']
    yield 'run metadata as text', ['--run_meta_path=' + write('runtext', b"step_stats{dev_stats{device:'/device:CPU:0'", *[
        b"node_stats{node_name:'%s'op_end_rel_micros:1}" % n for n in names if not set(n) & set(b"'\\")], b'}}'), '--graph_path=none']
    yield 'op log', ['--op_log_path=' + write('log', *[b'\x0a\x05\x0a\x03' + n for n in names]), '--graph_path=graph']
    yield 'profile', ['--profile_path=' + write('profile', *[sub(1, num(1, i) + b'\x12\x05\x0a\x03' + n)
                                                             for i, n in enumerate(names)])]
    yield 'steps', ['--profile_path=' + write('steps', sub(3, b''.join(map(varint, range(200000)))))]
    yield 'steps of a node', ['--profile_path=' + write('stepped', sub(1, num(1, 1) + sub(2, sub(1, 'x') + b''.join(
        sub(12, num(1, i)) for i in range(200000)))))]
    yield 'spool of calls', ['--spool=' + spool('calls', *launches(200000, 'api', 'cudaLaunchKernel'))]
    yield 'spool of threads', ['--spool=' + spool('threads', *['push start=%d name=r tid=%d' % (1000000 + i, i + 1)
                                                               for i in range(200000)])]
    base = [b'tfprof baseline 1\n', *[b'node\t%s\t\t-\t0\t\t\n' % n for n in names if b'\\' not in n], b'end\n']
    yield 'baseline', ['diff', '-max_depth', '1', write('base', *base), write('base2', *base)]
    yield 'profiles compared', ['diff', '-max_depth', '1', 'profile', 'profile']
    tensors = [make_checkpoint.Tensor(n.decode(), 'int8', [], [1]) for n in names[:20000]]
    make_checkpoint.bundle('ckpt', tensors)
    yield 'checkpoint', ['checkpoint', 'ckpt']
    make_checkpoint.version1('ckpt1', tensors)
    yield 'checkpoint, version 1', ['checkpoint', 'ckpt1']
    os.mkdir('session')
    os.rename('calls', 'session/n-1-1.tfspool')
    yield 'gpu', ['gpu', 'session']


def worst(program):
    """Memory per byte of input is bounded in every format."""
    base = run(program, ['help', 'scope']).peak
    told = []
    for what, words in hungry():
        size = sum(os.path.getsize(f) for f in [w.split('=')[-1] for w in words] if os.path.isfile(f))
        size = size or os.path.getsize('ckpt.index' if what == 'checkpoint' else 'session/n-1-1.tfspool')
        for view in ('scope', 'graph', 'op') if words[0].startswith('--') else ('',):
            r = run(program, words + ([view, '-max_depth', '1'] if view else []), keep=False)
            told.append(((r.peak - base) / size, what, view))
            need(r.status == 0, '%s: %s' % (words, r.err[-300:]))
    told.sort(reverse=True)
    print('memory for a byte of input: %s' % ', '.join('%.0f (%s %s)' % x for x in told))
    need(told[0][0] <= WORST, 'more than %d bytes for a byte: %s' % (WORST, told[0]))


# ---- patterns -----------------------------------------------------------------------------------
def patterns(program):
    """Patterns on which other engines hang give an answer or an error message for names of 1 MB."""
    write('g', node('a' * MB + '!'), node('b' * MB), node('ab' * (MB // 2)), node('a/' * 5000))
    for pattern in ('(a+)+$', '(a|a)*b', '(a|aa)+$', '(.*)*x', '(a*)*b', '([a-z]+)*1', '(.*a){25}x', '(x+x+)+y',
                    '((a+)?)*!!', '(?:a?){64}a{64}b', r'(\w+)\1+x', '(ab*)*c', '.*.*.*.*.*x', '(?=(a+))a*b'):
        for option in ('-show_name_regexes', '-start_name_regexes', '-account_type_regexes'):
            r = run(program, ['--graph_path=g', 'scope', option, pattern], keep=False)
            need(r.status == 0 or (r.status in (1, 2) and 'tfprof: ' in r.err), '%s: %d %s' % (pattern, r.status, r.err[:300]))


# ---- counts and depths --------------------------------------------------------------------------
def steps(program):
    """10,000 steps are loaded and selected quickly."""
    write('g', node('a'), node('b'))
    write('r', execs([record('a', 5, 7)]))
    files = '--run_meta_path=' + ','.join(['r'] * 10000)
    r = run(program, ['--graph_path=g', files, 'scope', '-select', 'micros,bytes'])
    need(r.status == 0 and b'a (7B/7B, 5us/5us' in r.out, r.out[-300:])
    r = run(program, ['--graph_path=g', files, 'op', '-step', '9999', '-select', 'micros'])
    need(r.status == 0 and b'5us' in r.out, r.out[-300:] + r.err.encode())
    r = run(program, ['--graph_path=g', files, 'scope', '-step', '10000'])
    need(r.status == 1, r.err[-300:])
    # In any order: insertion sort would take an hour here.
    write('p', sub(3, b''.join(varint(i) for i in range(1000000, 0, -1))))
    r = run(program, ['--profile_path=p', 'scope'])
    need(r.status == 0, r.err[-300:])
    # A list of as many numbers: it would take minutes to search each from the beginning.
    write('p', sub(3, b''.join(varint(i) for i in range(300000))))
    r = run(program, ['--profile_path=p'], b'scope -step ' + b','.join(b'%d' % i for i in range(300000)))
    need(r.status == 0, r.err[-300:])


def step_statistics(program):
    """Percentiles of 5,000 nodes over 20,000 sparse steps need memory for the nodes, not for the steps."""
    ran = [sub(12, num(1, i) + sub(2, num(1, 1) + sub(5, sub(1, 'c') + sub(2, sub(1, sub(1, varint(0) + varint(i + 1)))))))
           for i in range(20000)]
    write('p', sub(1, num(1, 1) + sub(2, sub(1, 'x') + b''.join(ran))),
          *[sub(1, num(1, i + 2) + sub(2, sub(1, 'n%d' % i) + ran[i])) for i in range(5000)],
          sub(3, b''.join(map(varint, range(20000)))))
    words = ['--profile_path=p', 'scope', '-select', 'micros', '-output', 'csv']
    plain = run(program, words, keep=False)
    r = run(program, words + ['-stats', 'mean,median,p95,p99'])
    need(r.status == 0 and b',10625.625,0,10000,0,19000,0,19800\n' in r.out, r.err[-300:] + r.out.split(b'\n')[1].decode())
    need(r.peak - plain.peak <= 12 * MB + 5001 * (200 + 4 * 16), '%d bytes more than without' % (r.peak - plain.peak))


def workers(program):
    """1,000 workers of 1,000 steps are answered quickly: minutes if all steps are listed for each worker."""
    for i in range(1000):
        write('w/%d.profile' % i, sub(1, num(1, 1) + sub(2, sub(1, 'n') + sub(9, 'Op'))),
              sub(3, b''.join(varint(k + i % 3) for k in range(1000))))
    r = run(program, ['w/*', 'scope', '-step', '1001'])
    need(r.status == 0, r.err[-300:])
    r = run(program, ['w/*', 'scope', '-step', '1002'])
    need(r.status == 1 and re.search(r'Available steps: 0 1 2 [0-9 ]* 1000 1001$', r.err.strip()), r.err[-300:])


def levels(program):
    """10,000 levels of scopes, inputs and call stacks are answered."""
    n = 10000
    write('g', node('/'.join(['s'] * n)))
    write('chain', *[node('n%d' % i, inputs=['n%d' % (i - 1)] if i else []) for i in range(n)])
    stack = sub(4, b''.join(sub(1, num(2, i + 1) + num(6, 1) + num(7, 1) + num(8, 1)) for i in range(n)))
    write('log', sub(1, sub(1, 'n0') + stack), sub(2, num(1, 1) + sub(2, 'f')))
    deep = ['-max_depth', str(n + 10)]
    for words in (['--graph_path=g', 'scope'], ['--graph_path=chain', 'graph'],
                  ['--graph_path=chain', '--op_log_path=log', 'code'],
                  ['--graph_path=g', 'scope', '-output', 'timeline:outfile=t'],
                  ['--graph_path=chain', '--op_log_path=log', 'code', '-output', 'pprof:outfile=p']):
        r = run(program, words + deep)
        need(r.status == 0 and not r.err.startswith('tfprof'), '%s: %s' % (words, r.err[-300:]))
        need('-output' in words or len(r.out.splitlines()) >= n, '%s: %d lines' % (words, len(r.out.splitlines())))


def long_names(program):
    """Names of 1 MB work in every view and output."""
    names = ['x' * MB, 'y' * MB, 'scope/' + 'z' * MB]
    write('g', *[node(n, 'O' * MB, names[:i]) for i, n in enumerate(names)])
    write('r', execs([record(n, 5, 7) for n in names], '/job:' + 'd' * MB + '/device:CPU:0'))
    for words in (['scope'], ['graph'], ['op', '-select', 'micros,device'], ['scope', '-select', 'micros,device,op_types'],
                  ['graph', '-step', '0', '-output', 'timeline:outfile=t'], ['scope', '-output', 'timeline:outfile=t'],
                  ['convert', '-output', 'profile:outfile=p'], ['advise']):
        r = run(program, ['--graph_path=g', '--run_meta_path=r'] + words)
        need(r.status == 0, '%s: %s' % (words, r.err[-300:]))
    need(run(program, ['--profile_path=p', 'scope']).out.count(b'x' * MB) == 1, 'the name is lost')


def devices(program):
    """60,000 devices in a step are read; more than 65,535 give an error message."""
    write('g', *[node('n%d' % i) for i in range(10)])
    for n, fits in ((60000, True), (65535, True), (65536, False), (70000, False)):
        write('r', sub(1, b''.join(sub(1, sub(1, '/job:w/task:%d/device:GPU:0' % i) + record('n%d' % (i % 10)))
                                   for i in range(n))))
        r = run(program, ['--graph_path=g', '--run_meta_path=r', 'scope', '-select', 'micros'])
        if fits:
            need(r.status == 0, '%d devices: %s' % (n, r.err[-300:]))
        else:
            need(r.status == 3 and 'devices' in r.err and '65535' in r.err, '%d devices: status %d %s' % (n, r.status, r.err[-300:]))


def huge(program):
    """10,000,000 nodes are loaded and answered."""
    with open('g', 'wb') as f:
        for i in range(0, 10000000, 100000):
            f.write(b''.join([b'\x0a\x13\x0a\x0ds%03d/n%07d\x12\x02Op' % (k % 1000, k) for k in range(i, i + 100000)]))
    r = run(program, ['--graph_path=g', 'scope', '-max_depth', '2', '-select', 'occurrence'])
    need(r.status == 0 and r.out.count(b'\n  s') == 1000, r.err[-300:] + r.out[-300:].decode())
    print('10,000,000 nodes: %d MB held for a file of %d MB' % (r.peak // MB, os.path.getsize('g') // MB))
    os.unlink('g')


def soak(program):
    """One session answers 100,000 commands without growing."""
    small = os.path.join(ROOT, 'testdata', 'small') + '/views.'
    words = ['--graph_path=%sgraph.pbtxt' % small, '--op_log_path=%sop_log.pbtxt' % small,
             '--run_meta_path=%srun_meta_0.pbtxt,%srun_meta_1.pbtxt' % (small, small)]
    lines = ['scope -max_depth 3', 'op -order_by occurrence', 'graph -step 1', 'code -max_depth 4', 'set -max_depth 2',
             'reset', 'nonsense', 'scope -max_depth x', 'scope -show_name_regexes .*conv.*,(a|b)+', 'scope -step 77',
             'graph -account_type_regexes [', 'help scope', '', 'advise', 'op -output file:outfile=out',
             'graph -step 0 -output timeline:outfile=t', 'scope > out', 'set -select micros,bytes', 'code -output pprof:outfile=p']
    p = subprocess.Popen([program] + words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    held = []
    for done in range(0, 100000, 10000):
        p.stdin.write('\n'.join(lines[i % len(lines)] for i in range(done, done + 10000)).encode() + b'\n')
        p.stdin.flush()
        with open('/proc/%d/status' % p.pid) as f:
            held.append(int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1)))
    p.stdin.close()
    status = p.wait()
    print('held after each 10,000 commands: %s kB' % ' '.join(map(str, held)))
    need(status == 1, 'status %d' % status)
    need(held[-1] <= held[1] + 1024, 'it grows')


TESTS = [memory_limit, worst, patterns, devices, levels, steps, step_statistics, workers, long_names, soak]
BY_NAME = [huge]  # takes gigabytes


def main():
    a = cases.arguments(__doc__, shim='faults/shim.so', make='spool_make')
    global SHIM, MAKE
    SHIM, MAKE = a.shim, a.make
    tests = [t for t in TESTS + BY_NAME if t.__name__ in a.names or (not a.names and t in TESTS)]
    return cases.run(tests, a.program, prepare=lambda: shutil.copy(SHIM, 'shim.so'))


if __name__ == '__main__':
    sys.exit(main())
