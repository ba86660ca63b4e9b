# SPDX-License-Identifier: Apache-2.0
"""Compares a computation that a notebook does on the profiler's text with the one command that replaces it.

The arithmetic of the notebook is reimplemented here. For each of ten steps, it reads the text of the scope view with
four metrics, from the line after the root, and takes the total of each pair. It converts to KB and us, with 1024 KB per
MB and 1024 B per KB. (The profiler's units are multiples of 1000, so numbers within one unit are right up to a factor,
and numbers in different units are not comparable.) Then it computes the mean over the steps, and the population
standard deviation as a percentage of the mean.
"""
import csv
import io
import math
import os
import tempfile

import tower_profile

HERE = os.path.dirname(os.path.abspath(__file__))
METRICS = ['bytes', 'micros', 'accelerator_micros', 'cpu_micros']
STEPS = tower_profile.STEPS
PATTERNS = [r'v/tower_0/cg/(strided_slice|spatial_mean|Relu).+',
            r'v/tower_0/cg/.*(FusedBatchNorm|Conv2D|MaxPool|MatMul|Relu|add)$',
            r'v/tower_0/xentropy/sparse_softmax_cross_entropy_loss',
            r'v/tower_0/gradients/.*(StridedSliceGrad|FusedBatchNormGrad|spatial_mean\d+_grad|Conv2DBackpropFilter'
            r'|Conv2DBackpropInput|MaxPoolGrad|ReluGrad|BiasAddGrad)$']
WORDS = ['scope', '-select', ','.join(METRICS), '-order_by', 'occurrence', '-max_depth', '50', '-min_bytes', '0',
         '-account_type_regexes', '.*', '-start_name_regexes', '.*', '-show_name_regexes', ','.join(PATTERNS)]
HEAD = 13  # lines up to that of the root; the notebook skips 15, because its version of the profiler printed more

# Per unit: the notebook's factor, the true factor, and the rounding error of two decimals.
UNITS = {'B': (1 / 1024, 1, 0), 'KB': (1, 1e3, 0.005), 'MB': (1024, 1e6, 0.005),
         'us': (1, 1, 0), 'ms': (1000, 1e3, 0.005)}


def parse_value(text):
    """Returns (the notebook's number, the quantity in base units, its uncertainty, the unit) of a total."""
    number = text.rstrip('BKMusm')
    unit = text[len(number):]
    theirs, base, off = UNITS[unit]
    return float(number) * theirs, float(number) * base, off * base, unit


def parse_text(text):
    """Returns {name: the four totals} of one step."""
    lines = text.split('\n')
    assert lines[HEAD - 1].startswith('_TFProfRoot ('), lines[HEAD - 1]
    out = {}
    for line in filter(None, lines[HEAD:]):
        name, cells = line.strip().split(' (')
        out[name] = [parse_value(c.split('/')[-1]) for c in cells.replace(')', '').split(', ')]
    return out


def moments(values):
    mean = math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))
    return mean, 100 * std / mean if mean else 0.0


def varied_profile():
    """Returns the towers with memory that grows from step to step, in some nodes into the next unit, and times from
    microseconds to many milliseconds."""
    original, at = tower_profile.exec_profile, {'step': 0}
    saved = tower_profile.size, tower_profile.times

    def exec_profile(i, step):
        at['step'] = step
        return original(i, step)
    tower_profile.exec_profile = exec_profile
    tower_profile.size = lambda i: [300, 70000, 5000000, 950, 998877][i % 5] + 1237 * i % 91 + (
        (31 * i + 17 * at['step']) % 101) * [1, 13, 3001, 7, 401][i % 5]
    tower_profile.times = lambda i, step: ([20, 900, 4321, 0][i % 4] * (1 + (i * 31 + step * 17) % 5),
                                           5 + (i + step) % 4 * [1, 1000][i % 2])
    try:
        return tower_profile.profile(9)
    finally:
        tower_profile.exec_profile = original
        tower_profile.size, tower_profile.times = saved


def compare(t, row, name, i, metric, steps):
    """Compares one metric of one node. Returns False if its unit changes, so that the notebook's number has no unit."""
    values = [s[name][i] for s in steps]
    units = {v[3] for v in values}
    mean, cv = row['total_%s_mean' % metric], row['total_%s_cv' % metric]
    off = max(v[2] for v in values) + 1e-9
    want, want_cv = moments([v[1] for v in values])
    slack = 100 * off * (1 + want_cv / 100) / max(want - off, off) + 1e-9
    t.check(abs(mean - want) <= off, '%s %s: mean %r, text says %r' % (name, metric, mean, want))
    t.check(abs(cv - want_cv) <= slack, '%s %s: cv %r, text says %r' % (name, metric, cv, want_cv))
    if len(units) > 1 and not units <= {'us', 'ms'}:
        return False
    theirs, their_cv = moments([v[0] for v in values])
    if units <= {'us', 'ms'}:
        t.check(abs(mean - theirs) <= off, '%s %s: mean %r, notebook %r' % (name, metric, mean, theirs))
    else:
        factor, base, _ = UNITS[units.pop()]
        t.check(abs(mean / base - theirs / factor) <= 0.005 + 1e-9, '%s %s: mean %r, notebook %r' % (
            name, metric, mean / base, theirs / factor))
    t.check(abs(cv - their_cv) <= slack, '%s %s: cv %r, notebook %r' % (name, metric, cv, their_cv))
    return True


def test_notebook(t):
    for profile in (tower_profile.profile(), varied_profile()):
        with tempfile.TemporaryDirectory(prefix='tfprof-notebook-') as home:
            path = os.path.join(home, 'resnet_log')
            with open(path, 'wb') as f:
                f.write(profile)
            load, steps = ['--profile_path=' + path], []
            for s in range(STEPS):
                out = os.path.join(home, 'out')
                t.run(load + WORDS + ['-step', str(s), '-output', 'file:outfile=' + out])
                with open(out) as f:
                    steps.append(parse_text(f.read()))
            rows = t.rows(load + WORDS + ['-stats', 'mean,cv'])[1:]
            t.check([r['path'] for r in rows] == list(steps[0]), 'not the same operations')
            t.check(len(rows) > 20, 'only %d operations' % len(rows))
            compared = [compare(t, r, r['path'], i, m, steps) for r in rows for i, m in enumerate(METRICS)]
            t.check(sum(compared) > len(compared) * 0.8, 'few comparable: %d of %d' % (sum(compared), len(compared)))


def test_golden(t):
    """One command gives the CSV."""
    golden = os.path.join(HERE, 'notebook.csv')
    with tempfile.TemporaryDirectory(prefix='tfprof-notebook-') as home:
        path = os.path.join(home, 'resnet_log')
        with open(path, 'wb') as f:
            f.write(tower_profile.profile())
        out = t.run(['--profile_path=' + path] + WORDS + ['-stats', 'mean,cv', '-output', 'csv'])
    if t.accept:
        with open(golden, 'wb') as f:
            f.write(out)
    with open(golden, 'rb') as f:
        want = f.read()
    t.check(out == want, 'the CSV is not tests/data/notebook.csv')
    rows = list(csv.DictReader(io.StringIO(want.decode())))
    t.check(len(rows) == 1 + len([n for n, _ in tower_profile.nodes(4) if not n.endswith('strided_slice')]),
            '%d rows' % len(rows))
