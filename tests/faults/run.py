#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the program on small inputs, with one fault at a time that shim.c injects, and with signals at random times.
Checks that it does not crash, that every output file is either the old or the complete new one, that no temporary file
remains, that the exit status is right, and that an error message names the failure.

    tests/faults/run.py --program build/check/tfprof --shim build/check/faults/shim.so
        --seeds 200        number of randomly selected faults (default)
        --all              all faults, and 500 signals at random times
        --only alloc:7:    only faults whose text begins with this; with --run NAME, of one run
"""
import argparse
import concurrent.futures
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SMALL = os.path.join(ROOT, 'testdata', 'small')
sys.path[:0] = [os.path.join(ROOT, 'tests', 'check'), os.path.join(ROOT, 'tests', 'models')]
import make_checkpoint  # noqa: E402
from built import has  # noqa: E402

MODEL = ['--graph_path=I/views.graph.pbtxt', '--op_log_path=I/views.op_log.pbtxt',
         '--run_meta_path=I/views.run_meta_0.pbtxt,I/views.run_meta_1.pbtxt']
# Words, standard input, the files that are written.
RUNS = {
    'view': (MODEL + ['scope', '-max_depth', '2', '-output', 'file:outfile=out'], '', ['out']),
    'timeline': (['--profile_path=I/profile', 'graph', '-step', '0', '-start_name_regexes', '.*conv.*', '-output',
                  'timeline:outfile=out'], '', ['out_0']),
    'pprof': (['I/profile', 'code', '-max_depth', '5', '-select', 'micros', '-output', 'pprof:outfile=out'], '',
              ['out']),
    'convert': (['--graph_path=I/views.graph.pbtxt', '--run_meta_path=I/views.run_meta_0.pbtxt', 'convert',
                 '-output', 'profile:outfile=out'], '', ['out']),
    'diff': (['diff', 'I/profile', 'I/views.graph.pbtxt,I/views.run_meta_1.pbtxt', '-output', 'csv:outfile=out'], '', ['out']),
    'checkpoint': (['checkpoint', '--verify', 'I/model.ckpt'], '', []),
    'script': (['--profile_path=I/profile.gz'], 'op -max_depth 3 > out\nscope -max_depth 1 -output file:outfile=more\n'
               'scope -max_depth 1\n', ['out', 'more']),
    'recording': (['--spool=I/train.tfspool', 'convert', '-output', 'run_meta:outfile=out'], '', ['out_0', 'out_graph.pb']),
    'baseline': (['baseline', 'save', 'b', 'I/profile'], '', ['.tfprof/baselines/b']),
}
OLD = b'what stood here before\n'
# Faults for each kind of call; calls after whose failure the program must succeed.
HOW = {'open': ['EINTR', 'EACCES', 'EMFILE', 'EIO'], 'read': ['EINTR', 'short', 'EIO'],
       'write': ['EINTR', 'short', 'EIO', 'ENOSPC'], 'close': ['EINTR', 'EIO'], 'rename': ['EIO', 'ENOSPC', 'EACCES'],
       'stat': ['EIO', 'EACCES'], 'alloc': ['ENOMEM'], 'map': ['ENOMEM'], 'thread': ['EMFILE'],
       'other': ['EIO', 'EACCES']}
OVERCOME = re.compile(r'(open|read|write|close):\d+\+?:(EINTR|short)$|thread:\d+\+?:EMFILE$')
SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE', 'SIGKILL']
SENTENCE = re.compile(rb'^tfprof: (line \d+: )?\S.* .*\S$', re.M)
TEMPORARY = re.compile(r'^\..*\.tfprof-')


class Stage:
    """Makes the inputs, and the result of each run without faults."""

    def __init__(self, program, shim, folder):
        self.program, self.shim, self.folder = program, '../shim.so', folder  # LD_PRELOAD splits paths at blanks
        shutil.copy(shim, os.path.join(folder, 'shim.so'))
        self.inputs = os.path.join(folder, 'I')
        os.mkdir(self.inputs)
        for name in os.listdir(SMALL):
            shutil.copy(os.path.join(SMALL, name), self.inputs)
        make_checkpoint.bundle(os.path.join(self.inputs, 'model.ckpt'), make_checkpoint.usual(),
                               snappy=has(program, 'snappy'))
        self.serial = 0
        profile = ['-output', 'profile:outfile=I/profile']
        subprocess.run([program] + MODEL + ['convert'] + profile, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        subprocess.run('gzip -kn I/profile', shell=True, cwd=folder, check=True)
        self.good = {name: self.run(name, None) for name in RUNS}
        self.calls = {name: self.count(name) for name in RUNS}

    def place(self, name):
        self.serial += 1
        place = os.path.join(self.folder, '%s.%d.%d' % (name, self.serial, random.getrandbits(40)))
        os.mkdir(place)
        os.symlink(self.inputs, os.path.join(place, 'I'))
        for f in RUNS[name][2]:
            os.makedirs(os.path.dirname(os.path.join(place, f)), exist_ok=True)
            with open(os.path.join(place, f), 'wb') as out:
                out.write(OLD)
        return place

    def environment(self, **more):
        return dict({'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'TFPROF_THREADS': '2'}, **more)

    def start(self, name, place, env):
        words, lines, _ = RUNS[name]
        p = subprocess.Popen([self.program] + words, cwd=place, env=env, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return p, lines.encode()

    def files(self, name, place):
        """Returns the present files, and the temporary files separately."""
        found, left = {}, []
        for top, _, names in os.walk(place):
            for f in names:
                path = os.path.join(top, f)
                if TEMPORARY.match(f):
                    left.append(f)
                else:
                    with open(path, 'rb') as b:
                        found[os.path.relpath(path, place)] = b.read()
        shutil.rmtree(place)
        return found, left

    def run(self, name, fault):
        """Returns (status, standard output, standard error, files, temporary files)."""
        place = self.place(name)
        env = self.environment(LD_PRELOAD=self.shim, FAULT=fault) if fault else self.environment()
        p, lines = self.start(name, place, env)
        out, err = p.communicate(lines, timeout=600)
        return (p.returncode, out, err) + self.files(name, place)

    def count(self, name):
        place = self.place(name)
        p, lines = self.start(name, place, self.environment(LD_PRELOAD=self.shim, FAULT_COUNT='count'))
        p.communicate(lines, timeout=600)
        with open(os.path.join(place, 'count')) as f:
            calls = {k: int(v) for k, v in (x.split() for x in f)}
        shutil.rmtree(place)
        return calls

    def faults(self, name):
        calls = self.calls[name]
        for kind in HOW:
            for n in range(1, calls[kind] + 1):
                for how in HOW[kind]:
                    yield '%s:%d:%s' % (kind, n, how)
                    if kind == 'alloc' or how in ('short', 'EIO', 'ENOSPC'):
                        yield '%s:%d+:%s' % (kind, n, how)
                for how in SIGNALS if kind not in ('alloc', 'map') else ():
                    yield '%s:%d:%s' % (kind, n, how)
        for n in range(calls['bytes']):
            yield 'full:%d' % n

    def judge(self, name, fault):
        """Returns the fault of a run, or None."""
        status, out, err, files, left = self.run(name, fault)
        return self.verdict(name, fault.rsplit(':', 1)[1], bool(OVERCOME.match(fault)), status, out, err, files, left)

    def verdict(self, name, how, overcome, status, out, err, files, left):
        good = self.good[name]
        number = getattr(signal, how) if how.startswith('SIG') else None
        whole = all(files.get(f) in (OLD, good[3][f]) for f in RUNS[name][2])
        if not whole or set(files) != set(good[3]):
            return 'files are damaged: %s' % {f: len(b) for f, b in files.items()}
        if left and number != signal.SIGKILL:
            return 'left behind: %s' % left
        if status == 0:
            if files != good[3] or out != good[1]:
                return 'status 0, but not everything was written'
        elif number:
            if status not in (-number, 1):  # SIGPIPE can end the process only before the program changes its disposition
                return 'status %d' % status
        elif status not in (1, 3) or not SENTENCE.search(err):
            return 'status %d: %s' % (status, err.decode('utf-8', 'replace'))
        if overcome and status:
            return 'not overcome: status %d: %s' % (status, err.decode('utf-8', 'replace'))
        return None


def random_signal(stage, seed):
    """Sends a signal to one run at a random time while it writes."""
    rng = random.Random(seed)
    name, how = rng.choice(['view', 'timeline', 'convert', 'script', 'recording', 'baseline']), rng.choice(SIGNALS)
    place = stage.place(name)
    p, lines = stage.start(name, place, stage.environment())
    if lines:
        p.stdin.write(lines)
        p.stdin.flush()
    time.sleep(rng.random() * stage.seconds[name])
    p.send_signal(getattr(signal, how))
    out, err = p.communicate(timeout=600)
    return name, how, stage.verdict(name, how, False, p.returncode, out, err, *stage.files(name, place))


def closed(stage):
    """Standard descriptors that are closed at the start are not reused for files."""
    for shut in ('<&-', '>&-', '2>&-', '<&- >&-', '<&- >&- 2>&-'):
        place = stage.place('view')
        words = [stage.program] + RUNS['view'][0]
        status = subprocess.run(['sh', '-c', '"$@" ' + shut, 'sh'] + words, cwd=place, env=stage.environment(),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        files, left = stage.files('view', place)
        if files not in (stage.good['view'][3], {'out': OLD}) or left or status not in (0, 1) or (
                status == 0 and '>&-' in shut.split()):
            yield '%s: status %d, %s' % (shut, status, {f: len(b) for f, b in files.items()})


def unread(stage):
    """Standard output without a reader is an error only if the parent ignores SIGPIPE; the output files are complete."""
    for name, more, deaf in (('view', [], False), ('script', [], False), ('checkpoint', [], False),
                             ('script', ['--color=always'], False), ('view', [], True), ('script', [], True)):
        place = stage.place(name)
        words, lines, _ = RUNS[name]
        reads, writes = os.pipe()
        os.close(reads)
        p = subprocess.run([stage.program] + words + more, cwd=place, env=stage.environment(), stdout=writes,
                           input=lines.encode(), stderr=subprocess.PIPE, restore_signals=not deaf)
        os.close(writes)
        files, left = stage.files(name, place)
        said = b"cannot write 'standard output': Broken pipe" in p.stderr
        if p.returncode != (1 if deaf else -signal.SIGPIPE) or said != deaf or left or files != stage.good[name][3]:
            yield 'unread, %s %s: status %d, %s' % (name, more, p.returncode, p.stderr.decode())


def ended(stage):
    """After a signal the program cleans up and ends by the same signal."""
    for name in RUNS:
        status = stage.run(name, 'write:1:SIGTERM')[0]
        if status != -signal.SIGTERM:
            yield '%s with SIGTERM: status %d' % (name, status)


def measure(stage, name):
    best = 1.0
    for _ in range(3):
        t = time.monotonic()
        stage.run(name, None)
        best = min(best, time.monotonic() - t)
    return best


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(ROOT, 'build/check/tfprof'))
    p.add_argument('--shim', default=os.path.join(ROOT, 'build/check/faults/shim.so'))
    p.add_argument('--seeds', type=int, default=200)
    p.add_argument('--all', action='store_true')
    p.add_argument('--only', default='')
    p.add_argument('--run', default='')
    a = p.parse_args()
    bad, done = [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        stage = Stage(os.path.abspath(a.program), os.path.abspath(a.shim), folder)
        for name, good in stage.good.items():
            if good[0] or set(good[3]) != set(RUNS[name][2]) or OLD in good[3].values():
                bad.append('%s: without a fault: %s' % (name, good[:3]))
        jobs = [(n, f) for n in RUNS for f in stage.faults(n) if f.startswith(a.only) and n.startswith(a.run)]
        if not a.all and not a.only and not a.run:
            jobs = random.Random(11).sample(jobs, min(len(jobs), a.seeds))
        for (name, fault), wrong in zip(jobs, pool.map(lambda j: stage.judge(*j), jobs)):
            done += 1
            if wrong:
                bad.append('%s with %s: %s' % (name, fault, wrong))
        if not a.only and not a.run:
            stage.seconds = {n: measure(stage, n) for n in RUNS}
            seeds = range(500 if a.all else 20)
            for name, how, wrong in pool.map(lambda s: random_signal(stage, s), seeds):
                done += 1
                if wrong:
                    bad.append('%s with %s at some time: %s' % (name, how, wrong))
        bad += list(closed(stage)) + list(unread(stage)) + list(ended(stage))
        done += 11 + len(RUNS)
        for name in RUNS if a.all else ():
            print('%-10s %s' % (name, ' '.join('%s %d' % x for x in stage.calls[name].items() if x[1])))
    print('\n'.join(bad[:200]))
    print('%d passed, %d failed, 0 skipped' % (done - min(done, len(bad)), len(bad)))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
