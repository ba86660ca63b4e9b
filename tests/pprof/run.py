#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens pprof files of the recorded profiles with the Go toolchain's pprof and compares totals, and reads profiles of Go.

    tests/pprof/run.py --program build/tfprof

For each recorded profile with call stacks and a metric in turn (--all: each): `go tool pprof -raw` must read the file,
-top must find the total of the samples, and that total must be the sum of the own numbers of the lines of the code view without
lines below them (nodes of other lines are not in a pprof file). The view rounds, so the totals may differ by as much. For traces
and for the other views, -top must find the total of the view, and the own number of each line.

The other way: a Go program (samples/main.go) writes profiles of every kind that runtime/pprof has, and `go tool pprof -proto`
converts a CPU profile of gperftools. The program must find the totals per function that `go tool pprof -top` finds.
Without Go, the test is skipped with a message.
"""
import argparse
import decimal
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'data'), os.path.join(ROOT, 'tests', 'trace')]
import kineto
from rig import words_of

UNIT = {'us': 1, 'ms': 1e3, 'sec': 1e6, 'B': 1, 'KB': 1e3, 'MB': 1e6, 'GB': 1e9, '': 1, 'k': 1e3, 'm': 1e6,
        'b': 1e9}
METRICS = {'micros': 'us', 'bytes': 'B', 'params': '', 'float_ops': ''}


def go():
    return shutil.which('go') or next(filter(os.path.exists, ['/usr/local/go/bin/go']), None)


def number(text):
    """Returns a rounded number of the view, and its largest rounding error."""
    m = re.match(r'(-?[0-9.]+)(us|ms|sec|KB|MB|GB|B|k|m|b)?', text)
    unit = UNIT[m.group(2) or '']
    return float(m.group(1)) * unit, 0.005001 * unit if '.' in m.group(1) else 0


def leaf_total(text):
    """Returns the sum of own numbers of the lines without lines below them, and its largest rounding error."""
    lines = [x for x in text.split('\n') if re.match(r' *\S.* \(.*/', x)]
    total = off = 0
    for i, x in enumerate(lines):
        depth = len(x) - len(x.lstrip())
        below = i + 1 < len(lines) and len(lines[i + 1]) - len(lines[i + 1].lstrip()) > depth
        if i and not below:
            v, by = number(re.search(r' \(([^()]*)\)$', x).group(1))
            total += v
            off += by
    return total, off


def home_for(folder):
    """Returns variables that give Go a home folder, if the user's home folder is not writable."""
    try:
        with tempfile.TemporaryFile(dir=os.environ['HOME']):
            return {}
    except (KeyError, OSError):
        return {'HOME': folder, 'GOCACHE': os.path.join(folder, 'go')}


def program_of(go, folder):
    """Returns the path of the program that `go tool pprof` runs; go itself needs more time than the program."""
    return subprocess.run([go, 'tool', '-n', 'pprof'], check=True, stdout=subprocess.PIPE, text=True, timeout=600,
                          env=dict(os.environ, **home_for(folder))).stdout.strip()


def pprof(tool, path, *more, index=1):
    p = subprocess.run([tool, '-sample_index=%d' % index] + list(more) + [path],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
                       env=dict(os.environ, PPROF_TMPDIR=os.path.dirname(path), **home_for(os.path.dirname(path))))
    return p.returncode, p.stdout.decode()


def raw_total(text):
    rows = re.findall(r'^ +(\d+) +(-?\d+): ', text, re.M)
    return sum(int(v) for _, v in rows), len(rows)


def top_total(text):
    m = re.search(r' of (-?[0-9.]+)\w* total', text)
    return float(m.group(1)) if m else None


def compare(tool, program, home, metric, folder):
    """Returns None if all numbers agree, otherwise the difference; False if there is nothing to compare."""
    path = os.path.join(folder, 'p.gz')
    line = 'code -max_depth 10000 -step -1 -select %s' % metric
    p = subprocess.run([program] + words_of(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       input=('%s -output pprof:outfile=p.gz\n%s\n' % (line, line)).encode(), cwd=folder)
    if not os.path.exists(path):
        return False
    text = p.stdout.decode('utf-8', 'replace').split('node name |', 1)[1]
    status, raw = pprof(tool, path, '-raw')
    total, samples = raw_total(raw)
    status2, top = pprof(tool, path, '-top', '-nodecount=100000', '-nodefraction=0',
                         '-unit=' + {'us': 'microseconds', 'B': 'bytes'}.get(METRICS[metric], 'count'))
    os.unlink(path)
    if status or status2:
        return 'go tool pprof cannot read it'
    want, off = leaf_total(text)
    if abs(total - want) > off + 0.5:
        return 'samples have %d, lines of the view %.0f (give or take %.0f)' % (total, want, off)
    if samples and total and top_total(top) != total:
        return '-top says %s, samples have %d' % (top_total(top), total)
    return None


def own_numbers(view, rows):
    """Returns {function: microseconds} that a pprof file must have."""
    own = {}
    for r in rows:
        if r['own_micros'] <= 0 or (r['parent'] is None and view != 'op'):
            continue
        name = r['path']
        if view == 'code':
            name = name[len(r['parent']) + 1:] if r['depth'] > 1 else name
            if r['file'] is not None:
                name = '%s:%d:%s' % (os.path.basename(r['file']), r['line'], r['function'])
        own[name] = own.get(name, 0) + r['own_micros']
    return own


def compare_view(tool, program, inputs, view, folder):
    """Returns None if the samples of a view, and its folded stacks, add up to its root and have labels; otherwise the fault."""
    words = [program] + inputs + [view, '-select', 'micros', '-order_by', 'name', '-output']

    def answer(output):
        return subprocess.run(words + [output], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder).stdout
    path = os.path.join(folder, 'v.gz')
    answer('pprof:outfile=v.gz')
    status, raw = pprof(tool, path, '-raw', index=0)
    doc = json.loads(answer('json'))
    folded = answer('folded').decode().splitlines()
    # Profiles of TensorFlow have microseconds; traces have nanoseconds, rounded so that they add up to the total.
    short, parts = ('ns', 1000) if 'nanoseconds' in raw.partition('Samples:\n')[2].partition('\n')[0] else ('us', 1)
    # A half is rounded up, as by the program.
    want = int(decimal.Decimal(repr(doc['total']['micros'])) * parts + decimal.Decimal('0.5'))
    samples = re.findall(r'^ +(\d+): ', raw.partition('Locations')[0], re.M)
    if status:
        return 'go tool pprof cannot read it'
    if sum(map(int, samples)) != want:
        return 'samples have %d, the root %d' % (sum(map(int, samples)), want)
    if sum(int(x.rpartition(' ')[2]) for x in folded) != want or len(folded) != len(samples):
        return 'folded stacks do not add up to %d' % want
    if samples and view != 'code' and 'op_type:[' not in raw:
        return 'samples have no labels'
    status, top = pprof(tool, path, '-top', '-nodecount=100000', '-nodefraction=0',
                        '-unit=nanoseconds' if parts > 1 else '-unit=microseconds', index=0)
    flat = {m[1]: int(float(m[0])) for m in re.findall(r'^ *(\S+?)%s +\S+ +\S+ +\S+ +\S+  (.*)$' % short, top, re.M) if float(m[0])}
    found = re.search(r' ([0-9.]+)%s total$' % short, top, re.M)
    if samples and (not found or float(found.group(1)) != want):
        return '-top has %s, the root %d' % (found and found.group(), want)
    bad = [k for k, v in own_numbers(view, doc['rows']).items() if abs(flat.get(k.strip(), 0) - v * parts) >= (parts > 1) + 0.5]
    return '-top lacks %s' % bad[:3] if bad else None


# ---- profiles of other programs ----

def write_profiles(go, tool, folder):
    """Writes profiles of Go and of gperftools; returns their names."""
    env = dict(os.environ, GOFLAGS='-mod=mod', GOTOOLCHAIN='local', **home_for(folder))
    subprocess.run([go, 'run', os.path.join(ROOT, 'tests', 'pprof', 'samples', 'main.go'), folder], check=True, env=env, cwd=folder,
                   timeout=600)
    # gperftools: 64-bit words. Header: 0, 3 words, version 0, microseconds between samples, 0. Samples: count, depth, addresses.
    words = [0, 3, 0, 10000, 0, 7, 2, 0x4010, 0x4020, 3, 1, 0x4020, 0, 1, 0]
    with open(os.path.join(folder, 'legacy'), 'wb') as f:
        f.write(struct.pack('<%dQ' % len(words), *words) + b'00004000-00005000 r-xp 00000000 00:00 0 /bin/prog\n')
    converted = subprocess.run([tool, '-proto', '-symbolize=none', '-output', 'gperftools', 'legacy'], env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, timeout=600)
    assert not converted.returncode, converted.stderr
    os.unlink(os.path.join(folder, 'legacy'))
    return sorted(x for x in os.listdir(folder) if os.path.isfile(os.path.join(folder, x)))


def sample_types(raw):
    """Returns (name, unit) of the values of a profile, from `go tool pprof -raw`."""
    line = raw.partition('Samples:\n')[2].partition('\n')[0]
    return [tuple(x.replace('[dflt]', '').split('/')) for x in line.split()]


def metric_of(name, unit):
    if unit in ('nanoseconds', 'microseconds'):
        return 'cpu_micros', 1000 if unit == 'nanoseconds' else 1
    if unit == 'bytes':
        return 'residual_bytes' if name.startswith('inuse') else 'bytes', 1
    return 'occurrence', 1


def compare_read(tool, program, folder, name):
    """Returns None if every sample type of a profile has the totals of `go tool pprof`, otherwise the difference."""
    path = os.path.join(folder, name)
    status, raw = pprof(tool, path, '-raw', '-symbolize=none', index=0)
    if status:
        return 'go tool pprof cannot read it'
    types = sample_types(raw)
    rows = re.findall(r'^ +([\d ]+): ', raw.partition('Samples:\n')[2].partition('Locations')[0], re.M)
    for i, (kind, unit) in enumerate(types):
        metric, factor = metric_of(kind, unit)
        want = sum(int(r.split()[i]) for r in rows)
        # In both ways of a user: recognised by content, and with the flag.
        for words in ([path], ['--profile_path=' + path]):
            p = subprocess.run([program, '--sample=' + kind] + words + ['scope', '-select', metric, '-output', 'json'], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
            if p.returncode:
                return p.stderr.decode()
            found = json.loads(p.stdout)['total'][metric]
            if abs(found - want / factor) > len(rows) * (factor > 1):
                return '%s: %d found, %d in the file' % (kind, found, want // factor)
    return None if types else 'no sample types'


def write_stacks(folder):
    """Writes a trace in which outer frames, inner frames and ops outside of all frames have time of their own; returns its path."""
    frame, op = (lambda name, ts, dur: kineto.event('python_function', name, ts, dur)), (lambda name, ts, dur: kineto.event('cpu_op', name, ts, dur))
    events = [frame('net.py(90): main', 0, 1000), op('aten::relu', 5, 4), frame('net.py(5): a_function_with_a_long_name', 10, 90),
              op('aten::mm', 20, 40), frame('net.py(6): inner', 70, 20), op('aten::t', 72, 7), frame('<built-in method mm>', 200, 50),
              op('aten::mm', 210, 30), op('aten::add', 2000, 11)]
    events += kineto.launch(25, 1, 40, 100) + kineto.launch(2002, 2, 2010, 17)
    path = os.path.join(folder, 'stacks.pt.trace.json')
    with open(path, 'wb') as f:
        f.write(kineto.trace(events))
    return path


def has_stacks(program, path):
    return subprocess.run([program, path, 'code'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--all', action='store_true', help='every metric of every profile')
    p.add_argument('traces', nargs='*', help='traces besides those of testdata')
    a = p.parse_args()
    names = list(METRICS)
    count = [0, 0, 0]
    homes = sorted(glob.glob(os.path.join(ROOT, 'testdata', 'recorded', '*', '')))
    if not go():
        print('skipped: no Go here, pprof files are not opened')
        homes, count[2] = [], 1
    else:
        with tempfile.TemporaryDirectory(prefix='tfprof-go-') as folder:
            tool = program_of(go(), folder)
            for name in write_profiles(go(), tool, folder):
                bad = compare_read(tool, os.path.abspath(a.program), folder, name)
                if bad:
                    print('profile %s of Go: %s' % (name, bad))
                count[1 if bad else 0] += 1
    with tempfile.TemporaryDirectory(prefix='tfprof-pprof-') as folder:
        tool = program_of(go(), folder) if go() else None  # without a home folder, its cache is in this folder
        for i, home in enumerate(homes):
            for metric in names if a.all else [names[i % len(names)]]:
                bad = compare(tool, os.path.abspath(a.program), home, metric, folder)
                if bad:
                    print('%s %s: %s' % (os.path.basename(os.path.dirname(home)), metric, bad))
                count[1 if bad else 0] += bad is not False
            if os.path.basename(os.path.dirname(home)).startswith('synthetic') and not a.all:
                continue  # its sums reach the maximum of the type
            for view in ('scope', 'graph', 'op') if a.all else [('scope', 'graph', 'op')[i % 3]]:
                bad = compare_view(tool, os.path.abspath(a.program), words_of(home), view, folder)
                if bad:
                    print('%s %s: %s' % (os.path.basename(os.path.dirname(home)), view, bad))
                count[1 if bad else 0] += 1
        samples = [x for x in sorted(glob.glob(os.path.join(ROOT, 'testdata', 'traces', '*.*'))) if not x.endswith('README.md')]
        for path in [write_stacks(folder)] + samples + a.traces if tool else []:
            for view in 'scope', 'op', 'code':
                if view == 'code' and not has_stacks(os.path.abspath(a.program), path):
                    continue
                bad = compare_view(tool, os.path.abspath(a.program), [os.path.abspath(path)], view, folder)
                if bad:
                    print('%s %s: %s' % (os.path.basename(path), view, bad))
                count[1 if bad else 0] += 1
    if not any(count):
        print('no profile has call stacks')
        count[1] = 1
    print('%d passed, %d failed, %d skipped' % tuple(count))
    return 1 if count[1] else 0


if __name__ == '__main__':
    sys.exit(main())
