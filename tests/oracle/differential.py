#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the program and a live original on random inputs, and shows where they differ.

A seed gives a graph, run metadata, an op log and commands on them: odd names, cycles, unknown nodes,
many devices, times that are zero, negative or huge. Every third seed is also loaded from a ProfileProto that the original
wrote. The first difference is reduced: parts that it does not need are removed one by one, and the rest is printed.

The original is the package tensorflow-cpu in a Python of its own: TFPROF_ORACLE names that Python; otherwise the running Python
is tried. Without it the test is skipped.

    tests/oracle/differential.py                       seeds 1 to 40
    tests/oracle/differential.py --seeds 100-399       others
    tests/oracle/differential.py --seeds 7 --only op   commands or kinds with that word
"""
import argparse
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import differential_inputs as inputs  # noqa: E402

VIEW_BANNER = '\n==================Model Analysis Report======================\n'
END_BANNER = '\n======================End of Report==========================\n'
TIMEOUT = 600

# Lines on standard error that are not from the profiler.
NOISE = re.compile(rb'^(\[libprotobuf |\d{4}-\d\d-\d\d \d\d:|[IWEF]\d{4} |WARNING: All log)')


# ---- the original --------------------------------------------------------------------------------

class Original:
    """The process that runs the original. It keeps no state between jobs."""

    def __init__(self):
        python = os.environ.get('TFPROF_ORACLE') or sys.executable
        env = dict(os.environ, PYTHONDONTWRITEBYTECODE='1')
        try:
            self.p = subprocess.Popen([python, os.path.join(HERE, 'differential_original.py')], env=env,
                                      text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL)
            self.there = self.p.stdout.readline() == '"ready"\n'
        except OSError:
            self.there = False

    def ask(self, job):
        self.p.stdin.write(json.dumps(job) + '\n')
        self.p.stdin.flush()
        answer = self.p.stdout.readline()
        if not answer:
            raise SystemExit('the original has ended')
        return json.loads(answer)

    def answer(self, where, load, cases, write=None):
        """Loads the inputs. Returns the status; answers are in where/<number of the case>."""
        for i in range(len(cases)):
            os.makedirs(os.path.join(where, str(i)))
        return self.ask({'dir': where, 'load': load, 'cases': cases, 'write': write})


# ---- answers ------------------------------------------------------------------------------------

def slurp(path):
    with open(path, 'rb') as f:
        return f.read()


def files_in(where):
    return {n: slurp(os.path.join(where, n)) for n in os.listdir(where) if n.startswith('out')}


def unzip(data):
    import gzip
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data


def plain(lines):
    """Returns standard error without noise."""
    return b''.join(x for x in lines.splitlines(True) if not NOISE.match(x))


def as_original(text):
    """Returns messages with the control bytes that the program escapes and the original prints."""
    return re.sub(rb'\\x([01][0-9a-f]|7f)', lambda m: bytes([int(m.group(1), 16)]), text)


def theirs(where):
    """Returns the answer of the original: {"status", "stdout", "stderr", "files"}."""
    get = lambda n: slurp(os.path.join(where, n)) if os.path.exists(os.path.join(where, n)) else b''
    out = get('stdout')
    if VIEW_BANNER.encode() in out:
        out = out.split(VIEW_BANNER.encode(), 1)[1]
        if out.endswith(END_BANNER.encode()):
            out = out[:-len(END_BANNER)]
    path = (where + '/out').encode()
    return {'status': int(get('status') or b'0'), 'stdout': out.replace(path, b'%OUT%'),
            'stderr': plain(get('stderr')).replace(path, b'%OUT%'),
            'files': {n: unzip(v) for n, v in files_in(where).items()}}


def flag(name, value):
    if isinstance(value, bool):
        value = 'true' if value else 'false'
    elif isinstance(value, list):
        value = ','.join(value)
    return '--%s=%s' % (name, value)


def load_flags(load):
    if 'profile' in load:
        return ['--profile_path=' + load['profile']]
    words = [flag(n, load[k]) for n, k in (('graph_path', 'graph'), ('op_log_path', 'log')) if load.get(k)]
    return words + (['--run_meta_path=' + ','.join(load['steps'])] if load['steps'] else [])


def run(words, stdin=b''):
    return subprocess.run([ARGS.program] + words, input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT, env=dict(os.environ, LC_ALL='C'))


def start_lines(load, coverage):
    text = 'Reading Files...\n'
    if 'profile' not in load:
        text += 'Try to use a single --profile_path instead of graph_path,op_log_path,run_meta_path\n'
    return (text + ''.join('run graph coverage: %.2f\n' % c for c in coverage)).encode()


def ours(load, case, where, start, loading):
    """Returns the answer of the program; start and loading are its output before the answer."""
    os.makedirs(where)
    words = [flag(n, v) for n, v in case['options'].items()] if case['command'] != 'advise' else []
    words = [w.replace('%OUT%', where + '/out') for w in words]
    p = run([case['command']] + load_flags(load) + words)
    out = p.stdout[len(start):] if p.stdout.startswith(start) else b'(start lines differ)\n' + p.stdout
    err = p.stderr[len(loading):] if p.stderr.startswith(loading) else b'(loading differs)\n' + p.stderr
    path = (where + '/out').encode()
    return {'status': p.returncode, 'stdout': out.replace(path, b'%OUT%'),
            'stderr': plain(err).replace(path, b'%OUT%'),
            'files': {n: unzip(v) for n, v in files_in(where).items()}}


def library_loads():
    """Returns the library beside the program, unless it has a sanitizer, because plain Python cannot load it then."""
    path = os.environ['TFPROF_LIBRARY'] = os.path.join(os.path.dirname(ARGS.program), 'libtfprof.so')
    p = subprocess.run([sys.executable, '-c', 'import ctypes, sys; ctypes.CDLL(sys.argv[1])', path],
                       stderr=subprocess.DEVNULL)
    return p.returncode == 0


def library_session(load):
    sys.path.insert(0, os.path.join(ROOT, 'python'))
    from tfprof import _native as native
    session = native.Session(threads=1)
    if 'profile' in load:
        session.add(native.PROFILE, load['profile'])
        return session
    for kind, key in ((native.GRAPH, 'graph'), (native.OP_LOG, 'log')):
        if load.get(key):
            session.add(kind, load[key])
    session.add_steps(list(enumerate(load['steps'])))
    return session


def checkers(text):
    parts = re.split(rb'\n(\w+Checker):\n', text)
    return sorted(zip(parts[1::2], parts[2::2]))


def same(case, a, b):
    """True if the answers are equal; a is the original's."""
    if case['command'] == 'advise':
        return checkers(a['stdout']) == checkers(b['stdout']) and a['stderr'] == b['stderr']
    return all(a[k] == b[k] for k in ('stdout', 'stderr', 'files'))


def verdict(case, a, b):
    """Returns 'same', 'crashed' (the original crashed, and the program only has to answer), 'differs', or a known reason."""
    if b['status'] < 0 or b['status'] > 1:
        return 'differs'
    if a['status']:
        return 'crashed'
    if same(case, a, b):
        return 'same'
    return inputs.known_difference(case, a, b) or 'differs'


# ---- one profile --------------------------------------------------------------------------------

class Profile:
    """A specification, written to files in a folder of its own and loaded in one way."""

    def __init__(self, original, spec, cases, where, through_profile=False):
        self.spec, self.cases, self.where = spec, cases, where
        self.other = set()  # cases with clamped sums, or without an answer of the original: their messages differ, too
        os.makedirs(where)
        self.load = inputs.write(spec, where)
        if through_profile:
            written = os.path.join(where, 'profile.pb')
            os.makedirs(os.path.join(where, 'first'))
            original.answer(where + '/first', self.load, [], written)
            self.load = {'profile': written}
        self.there = 'profile' not in self.load or os.path.exists(self.load['profile'])
        if not self.there:
            return
        os.makedirs(where + '/o')
        self.status = original.answer(where + '/o', self.load, cases)
        path = where + '/o/load.coverage'
        self.coverage = json.load(open(path)) if os.path.exists(path) else []
        self.start = start_lines(self.load, self.coverage)
        self.loading = run(['scope', '--output=none'] + load_flags(self.load))
        self.loading.stderr = self.loading.stderr.replace(inputs.STOPPED, b'')  # a message of the view

    def loads_alike(self):
        if self.status or not os.path.exists(self.where + '/o/load.coverage'):
            return True  # the original could not load the profile
        a, b = plain(slurp(self.where + '/o/load.stderr')), plain(as_original(self.loading.stderr))
        if self.loading.stdout == self.start and a == b:
            return True
        print('loading differs:\n%s%s' % (show(self.start + a, self.loading.stdout + b), self.where))
        return False

    def judge(self, i):
        self.theirs = theirs('%s/o/%d' % (self.where, i)) if not self.status else {'status': 1}
        self.ours = ours(self.load, self.cases[i], '%s/p%d' % (self.where, i), self.start,
                         self.loading.stderr)
        v = verdict(self.cases[i], self.theirs, self.ours)
        self.other |= {i} if v in (inputs.STOP, inputs.PPROF) else set()
        return v

    def messages_alike(self, original):
        """Compares result messages of the judged cases, through the library in one session. Returns the differences."""
        def ask(i, case, session):
            out = '%s/m%d' % (self.where, i)
            os.makedirs(out)
            session.reset()
            for n, v in case['options'].items():
                values = v if isinstance(v, list) else [flag(n, v).split('=', 1)[1].replace('%OUT%', out + '/out')]
                session.set(n, values, lenient=True)
            a = session.run(case['command'], result=True, may=range(12))
            with open(out + '/result', 'wb') as f:
                f.write(a.result)
        pid = os.fork()
        if pid == 0:
            try:
                session = library_session(self.load)
                for i, case in enumerate(self.cases):
                    ask(i, case, session)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        if os.waitpid(pid, 0)[1]:
            return ['the library failed']
        o = '%s/o/%d/result'
        which = [i for i in range(len(self.cases)) if os.path.exists(o % (self.where, i))]
        pairs = [[self.cases[i]['command'], o % (self.where, i), '%s/m%d/result' % (self.where, i)] for i in which]
        self.messages = len(pairs)
        return ['case %d: %s\n%s' % (i, json.dumps(self.cases[i]), show(*(t.encode() for t in d)))
                for i, d in zip(which, original.ask({'compare': pairs})) if d and i not in self.other]

    def session_alike(self):
        """Runs all cases that write files in one session. Returns the first case whose files differ, or None."""
        lines, places = b'', {}
        for i, case in enumerate(self.cases):
            words, out = [case['command']], '%s/s%d' % (self.where, i)
            for n, v in case['options'].items():
                v = flag(n, v).split('=', 1)[1].replace('%OUT%', out + '/out')
                words += ['-' + n, v or "''"]
                if ' ' in v or v != v.strip('\'"') or '\n' in v:
                    break
            else:
                if case['options'].get('output', '').startswith('file'):
                    os.makedirs(out)
                    places[i] = out
                    lines += ' '.join(words).encode() + b'\n'
        run(load_flags(self.load), lines)
        for i, out in places.items():
            alone = files_in('%s/p%d' % (self.where, i))
            if alone != files_in(out):
                return i
        return None


def show(a, b):
    import difflib
    a, b = (x.decode('utf-8', 'backslashreplace').splitlines(True) for x in (a, b))
    lines = list(difflib.unified_diff(a, b, 'original', 'ours', n=1))[:40]
    return ''.join(x if x.endswith('\n') else x + '\n' for x in lines)


def print_difference(p):
    for what in ('stdout', 'stderr'):
        if p.theirs[what] != p.ours[what]:
            print('%s\n%s' % (what, show(p.theirs[what], p.ours[what])))
    a, b = p.theirs['files'], p.ours['files']
    for n in sorted(set(a) | set(b)):
        if a.get(n) != b.get(n):
            print('file %s\n%s' % (n, show(a.get(n, b'(none)\n'), b.get(n, b'(none)\n'))))
    if p.ours['status'] not in (0, 1):
        print('status %d' % p.ours['status'])


def parts_that_differ(p):
    return [k for k in ('stdout', 'stderr', 'files') if p.theirs[k] != p.ours[k]] + [p.ours['status']]


def reduce(original, p, i, through_profile, scratch):
    """Returns a smaller specification and case that differ in the same parts."""
    spec, case = copy.deepcopy(p.spec), copy.deepcopy(p.cases[i])
    parts, tried = parts_that_differ(p), [0]

    def differs(s, c):
        tried[0] += 1
        where = os.path.join(scratch, 'r%d' % tried[0])
        if not s['nodes'] and not s['steps'] and 'profile' not in s:
            return False
        p = Profile(original, s, [c], where, through_profile)
        bad = p.there and not p.status and p.judge(0) == 'differs' and parts_that_differ(p) == parts
        shutil.rmtree(where)
        return bad

    smaller = True
    while smaller and tried[0] < ARGS.tries:
        smaller = False
        for s, c in inputs.smaller(spec, case):
            if tried[0] >= ARGS.tries:
                break
            if differs(s, c):
                spec, case, smaller = s, c, True
                break
    return spec, case


def main():
    original = Original()
    if not original.there:
        print('skipped: no original here: tensorflow-cpu, in the Python that TFPROF_ORACLE names')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    scratch = tempfile.mkdtemp(prefix='tfprof-differential-')
    counts, commands, messages, different = {}, 0, 0, 0
    end = time.time() + ARGS.seconds
    library = library_loads()
    if not library:
        print('the library cannot be loaded here: no result messages')
    first, last = (ARGS.seeds.split('-') + [ARGS.seeds])[:2]
    for seed in range(int(first), int(last) + 1):
        if time.time() > end:
            print('stopped before seed %d' % seed)
            break
        spec, cases = inputs.make(seed)
        if not spec['nodes'] and not spec['steps'] and 'profile' not in spec:
            continue  # no input
        cases = [c for c in cases if all(w in inputs.kind(c) for w in ARGS.only)]
        for through_profile in (False, True)[:2 if seed % 3 == 0 and 'profile' not in spec else 1]:
            where = os.path.join(scratch, '%d%s' % (seed, 'p' if through_profile else ''))
            p = Profile(original, spec, cases, where, through_profile)
            if not p.there:
                continue  # the original failed to write a profile
            different += not p.loads_alike()
            for i, case in enumerate(cases):
                v = p.judge(i)
                counts.setdefault(inputs.kind(case), {}).setdefault(v, 0)
                counts[inputs.kind(case)][v] += 1
                commands += 1
                if v == 'differs':
                    different += 1
                    if different <= ARGS.first:
                        report(original, p, i, seed, through_profile, scratch)
                    else:
                        print('seed %d, case %d: %s' % (seed, i, inputs.kind(case)))
            if library and p.status == 0:
                wrong = p.messages_alike(original)
                messages += p.messages
                different += len(wrong)
                for text in wrong[:ARGS.first]:
                    print('seed %d%s: result message of %s' % (seed, ' through a profile' * through_profile, text))
            i = p.session_alike()
            if i is not None:
                different += 1
                print('seed %d: in one session, case %d has another answer: %s' % (seed, i, cases[i]))
            shutil.rmtree(where)
    shutil.rmtree(scratch)
    for k in sorted(counts):
        print('  %-16s %s' % (k, ', '.join('%d %s' % (n, v) for v, n in sorted(counts[k].items()))))
    print('%d commands and %d result messages' % (commands, messages))
    print('%d passed, %d failed, 0 skipped' % (commands + messages - different, different))
    return 1 if different else 0


def report(original, p, i, seed, through_profile, scratch):
    print('seed %d%s: %s' % (seed, ' through a profile' if through_profile else '', inputs.kind(p.cases[i])))
    print_difference(p)
    spec, case = reduce(original, p, i, through_profile, scratch)
    where = os.path.join(ARGS.keep or scratch, 'seed%d_%d' % (seed, i))
    shutil.rmtree(where, ignore_errors=True)
    small = Profile(original, spec, [case], where, through_profile)
    v = small.judge(0)
    print('reduced (%s):\n%s\n%s' % (v, inputs.text(spec), json.dumps(case)))
    if v == 'differs':
        print_difference(small)
    sys.stdout.flush()


if __name__ == '__main__':
    P = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    P.add_argument('--seeds', default='1-40')
    P.add_argument('--only', nargs='*', default=[], help='kinds that have these words')
    P.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    P.add_argument('--first', type=int, default=1, help='differences to reduce and show')
    P.add_argument('--tries', type=int, default=400, help='for reducing one')
    P.add_argument('--seconds', type=float, default=1e9, help='begin no seed after so many')
    P.add_argument('--keep', help='folder for the files of reduced differences')
    ARGS = P.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
