# SPDX-License-Identifier: Apache-2.0
"""Shared by the checks of recordings: a folder of recordings, commands of the program, a sample."""
import csv
import io
import os
import subprocess

from script import T0, Spool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Bench:
    def __init__(self, args, where):
        self.args, self.where, self.n = args, where, 0

    def path(self, name):
        return os.path.join(self.where, name)

    def write(self, spool, name=None, folder=''):
        self.n += 1
        path = self.path(os.path.join(folder, name or 's%d.tfspool' % self.n))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return spool.make(self.args.make, path)

    def run(self, *words, status=0):
        p = subprocess.run([self.args.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, cwd=self.where)
        assert p.returncode == status, (p.returncode, words, p.stderr.decode())
        self.notes = p.stderr.decode()
        return p.stdout.decode()

    def rows(self, view, *words, select='micros,occurrence', key='path'):
        """Returns own numbers by name."""
        text = self.run(view, *words, '-max_depth', '1000', '-select', select, '-output', 'csv')
        return {r[key]: r for r in csv.DictReader(io.StringIO(text))}

    def runs(self, view, *words):
        return {k: float(r['own_occurrence']) for k, r in self.rows(view, *words).items() if float(r['own_occurrence'] or 0)}

    def times(self, view, *words):
        """Returns (accelerator, cpu) microseconds by name."""
        return {k: (float(r['own_accelerator_micros'] or 0), float(r['own_cpu_micros'] or 0))
                for k, r in self.rows(view, *words).items()
                if float(r['own_micros'] or 0) or float(r['own_occurrence'] or 0)}


def same(found, expected):
    assert found == expected, 'found %r\nexpected %r' % (found, expected)


def steps_of(t, path, *words):
    """Returns the number of executions by step."""
    found = []
    for step in range(20):
        p = subprocess.run([t.args.program, 'scope', path, *words, '-step', str(step), '-select', 'occurrence',
                            '-output', 'csv'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=t.where)
        if p.returncode:
            break
        rows = list(csv.DictReader(io.StringIO(p.stdout.decode())))
        found.append(int(rows[0]['total_occurrence']))
    return found


def sample():
    s = Spool(env_RANK=0).add('gpu', id=0, uuid='GPU-A')
    for i in range(4):
        at = i * 1000000
        s.push(at, 'ProfilerStep#%d' % i).push(at + 10, 'layer1')
        for k in range(5):
            s.launch(at + 1000 + k * 20000, '_ZN3net4convIfEEvPT_', length=4321 + k, call=2345)
        s.pop(at + 900).launch(at + 300000, word='copy', api='cudaMemcpyAsync', kind=2, bytes=100, length=7654)
        s.launch(at + 400000, word='memory', api='cudaMalloc', address=4096 + i, bytes=1024, late=0).pop(at + 500000)
    s.add('kernel', start=T0 + 3500000, length=1500, correlation=9999, name='orphan', stream=9)
    return s.end()
