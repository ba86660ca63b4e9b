#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests diff on generated pairs of models: matching, sums, gates and their statistical test, reports that other tools read.
Standard library only.

    tests/diffs/run.py --program build/tfprof [--seeds 20] [--filter NAME]
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'models'))
import wire  # noqa: E402

CPU = '/job:localhost/replica:0/task:0/device:CPU:0'
OPS = ('Conv2D', 'MatMul', 'Add', 'Mul', 'Relu', 'Sub', 'Mean', 'Sum', 'Cast', 'Reshape', 'Concat',
       'Transpose', 'Softmax', 'Tanh', 'Sigmoid', 'Pad', 'Slice', 'Tile', 'Pack', 'Exp')
failed, skipped, passed = [], [], 0


def check(ok, *what):
    global passed
    if ok:
        passed += 1
    else:
        failed.append(' '.join(map(str, what)))
    return ok


def diff(*words, status=0):
    p = subprocess.run([ARGS.program, 'diff'] + [str(w) for w in words], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FOLDER)
    err = p.stderr.decode('utf-8', 'replace')
    check(p.returncode == status, 'status', p.returncode, 'not', status, words, err)
    return p.stdout.decode('utf-8', 'replace'), err


def rows_of(*words, **more):
    out, _ = diff(*words, '-output', 'json', **more)
    return json.loads(out)['rows'] if out else []


# ---- pairs of models ----------------------------------------------------------------------------
class Pair:
    """A model and its changed copy. truth: name on the left -> name on the right."""
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.left, self.truth = [], {}
        self.build()
        names = self.change()
        self.right = names

    def recipe(self, word):
        """Returns names and types of the nodes of one kind of layer."""
        r = self.r
        nodes = [('%s_%s' % (word, op.lower()), op) for op in r.sample(OPS, r.randint(5, 9))]
        for v in r.sample(('weights', 'bias', 'gamma', 'beta'), r.randint(1, 2)):
            nodes += [(v, 'VariableV2'), (v + '/read', 'Identity'), (v + '/Assign', 'Assign'),
                      (v + '/init/zeros', 'Const')]
        return nodes

    def build(self):
        r = self.r
        kinds = {w: self.recipe(w) for w in ('conv', 'dense', 'norm', 'attention')}
        for top in r.sample(('tower_0', 'tower_1', 'tower_2', 'encoder', 'decoder', 'head'), r.randint(2, 4)):
            for i in range(r.randint(2, 5)):
                kind = r.choice(sorted(kinds))
                for name, op in kinds[kind]:
                    self.left.append(('%s/%s_%d/%s' % (top, kind, i, name), op))
                    if r.random() < 0.6:
                        self.left.append(('gradients/%s/%s_%d/%s_grad/mul' % (top, kind, i, name), 'Mul'))
        self.left += [('loss/' + o.lower(), o) for o in r.sample(OPS, 4)] + [('global_step', 'VariableV2')]

    def change(self):
        r = self.r
        tops = sorted({n.split('/')[0] for n, _ in self.left} - {'gradients', 'loss', 'global_step'})
        parts = {}
        for t in r.sample(tops, r.randint(1, len(tops))):
            parts[t] = {'tower': 'replica', 'encoder': 'enc', 'decoder': 'dec', 'head': 'top'}[t.split('_')[0]] \
                + t[len(t.split('_')[0]):]
        layers = sorted({n.split('/')[1] for n, _ in self.left if n.count('/') > 1 and n[0] != 'g'})
        for l in r.sample(layers, min(len(layers), r.randint(0, 2))):
            parts[l] = 'renamed_' + l
        gone = {n for n, _ in self.left if r.random() < 0.02}
        out = []
        for name, op in self.left:
            if name in gone:
                continue
            new = '/'.join(parts.get(p, p) for p in name.split('/'))
            self.truth[name] = new
            out.append((new, op))
        # New nodes do not resemble removed ones.
        for i in range(r.randint(1, 3)):
            top = r.choice(sorted({n.split('/')[0] for n, _ in out}))
            for k in range(r.randint(3, 8)):
                out.append(('%s/brand_new_%d/step_%d' % (top, i, k), 'New%d' % k))
        for i in range(r.randint(0, 6)):
            scope = r.choice(out)[0].rsplit('/', 1)[0]
            out.append(('%s/extra_%d' % (scope, i), 'Extra'))
        return out

    def write(self, folder):
        paths = []
        for i, nodes in enumerate((self.left, self.right)):
            m = wire.Model()
            names = dict.fromkeys(n for n, _ in nodes)
            assert len(names) == len(nodes)
            before = []
            for k, (name, op) in enumerate(sorted(nodes)):
                m.add(name, op, before, device=CPU, micros=2 * (100 + k) + i, size=1000 * (k + 1))
                before = [name]
            path = os.path.join(folder, 'side_%d.pb' % i)
            with open(path, 'wb') as f:
                f.write(wire.profile(m))
            paths.append(path)
        return paths


def names_of(row):
    """(left name, right name)"""
    return (row['path'] if row['state'] != 'new' else None,
            (row['renamed'] or row['path']) if row['state'] != 'gone' else None)


def judge_matches(pair, rows, what):
    left, right = dict(pair.left), dict(pair.right)
    found = [names_of(x) for x in rows if x['state'] == 'both']
    found = [(a, b) for a, b in found if a in left and b in right]
    wrong = [(a, b) for a, b in found if pair.truth.get(a) != b]
    share = len(found) / len(pair.truth)
    check(not wrong, what, 'false matches:', wrong[:3])
    check(share >= 0.95, what, 'matched %.3f' % share)
    return share


# ---- what has to add up -------------------------------------------------------------------------
def judge_sums(rows, what):
    by_place, below = [], {}
    for i, x in enumerate(rows):
        del by_place[x['depth']:]
        if by_place:
            below.setdefault(by_place[-1], []).append(i)
        by_place.append(i)
    bad = []
    for i, x in enumerate(rows):
        own = (x['own_micros_right'] or 0) - (x['own_micros_left'] or 0)
        if own + sum(rows[k]['difference_micros'] for k in below.get(i, ())) != x['difference_micros']:
            bad.append(x['path'])
    check(not bad, what, 'does not add up:', bad[:3])


def listed(rows, mirror=False):
    """Returns the contents of rows in a fixed order; mirrored: with the sides exchanged."""
    out = []
    for x in rows:
        names, totals = names_of(x), (x['total_micros_left'], x['total_micros_right'])
        step = -1 if mirror else 1
        out.append((names[::step], totals[::step], step * x['difference_micros']))
    return sorted(out, key=repr)


def pairs():
    """Renamed scopes are found; differences add up, are zero for equal sides, and change sign when the sides are exchanged."""
    shares = []
    for seed in range(1, ARGS.seeds + 1):
        pair = Pair(seed)
        a, b = pair.write(FOLDER)
        rows = rows_of(a, b, '-all')
        shares.append(judge_matches(pair, rows, 'pair %d:' % seed))
        for view in ('scope', 'op', 'graph'):
            what = 'pair %d, %s:' % (seed, view)
            x = rows if view == 'scope' else rows_of(view, a, b, '-all')
            judge_sums(x, what)
            if view == 'graph':
                judge_matches(pair, x, what)
            y = rows_of(view, b, a, '-all')
            check(listed(x) == listed(y, True), what, 'is not mirrored')
        swapped = rows_of(a, b, '-all', '--swap')
        check([(x['path'], -x['difference_micros']) for x in swapped] ==
              [(x['path'], x['difference_micros']) for x in rows], 'pair', seed, 'swapped')
        check(rows_of(a, a, '-all') == [], 'pair', seed, 'differs from itself')
        weights = [abs(x['difference_micros']) for x in rows if x['depth'] == 1]
        check(weights == sorted(weights, reverse=True), 'pair', seed, 'is not sorted')
    if ARGS.verbose:
        print('matched: least %.3f, mean %.3f' % (min(shares), sum(shares) / len(shares)))


# ---- gates --------------------------------------------------------------------------------------
def tail(t, df):
    """Returns P(T > t) of Student's distribution, by Simpson's rule."""
    c = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)

    def density(x):
        return c * (1 + x * x / df) ** (-(df + 1) / 2)
    n, h = 20000, abs(t) / 20000
    s = density(0) + density(abs(t)) + sum((4 if i % 2 else 2) * density(i * h) for i in range(1, n))
    half = s * h / 3
    return 0.5 - half if t > 0 else 0.5 + half


def welch(a, b):
    def about(v):
        m = sum(v) / len(v)
        return m, sum((x - m) ** 2 for x in v) / (len(v) - 1) / len(v)
    (ma, ea), (mb, eb) = about(a), about(b)
    df = (ea + eb) ** 2 / (ea ** 2 / (len(a) - 1) + eb ** 2 / (len(b) - 1))
    return tail((mb - ma) / math.sqrt(ea + eb), df)


def write_steps(name, micros):
    """Writes a model of one busy node whose step k takes micros[k]. Returns the list of its files."""
    m = wire.Model()
    m.add('loss/work', 'MatMul', device=CPU, micros=0, size=64)
    m.add('loss/rest', 'Add', ['loss/work'], device=CPU, micros=7, size=64)
    files = [os.path.join(FOLDER, name + '.pbtxt')]
    with open(files[0], 'wb') as f:
        f.write(wire.graph_text(m))
    for k, v in enumerate(micros):
        files.append(os.path.join(FOLDER, '%s_%d.pb' % (name, k)))
        with open(files[-1], 'wb') as f:
            f.write(wire.run_meta(m, scale=lambda n, x, v=v: v if n == 'loss/work' else x))
    return ','.join(files)


def gates():
    """A change within the spread of the steps does not fail a gate; p equals that of an independent Welch's test."""
    r = random.Random(7)
    base = [r.randint(900, 1100) for _ in range(8)]
    near = [r.randint(930, 1130) for _ in range(6)]
    far = [r.randint(1500, 1700) for _ in range(6)]
    a, b, c = write_steps('base', base), write_steps('near', near), write_steps('far', far)
    mean = [sum(v) / len(v) for v in (base, near)]
    assert mean[1] > mean[0]
    _, err = diff(a, b, '--gate', 'total.micros<=+0', '-output', 'none')
    told = float(err.split('p = ')[1].split(',')[0])
    exact = welch([x + 7 for x in base], [x + 7 for x in near])
    check(abs(told - exact) < 0.05 * exact, 'p is', told, 'not', exact)
    check('within the spread' in err and 'level 0.05' in err, err)
    _, err = diff(a, b, '--gate', 'total.micros<=+0', '--level', '0.999', '-output', 'none', status=1)
    check(err.count('fails') == 2, err)
    _, err = diff(a, c, '--gate', 'total.micros<+5%', '--gate', 'scope:loss/.*.micros<+1us', '-output',
                  'none', status=1)
    check(err.count('loss/work') >= 2 and err.count('\n') == 3, err)
    p = float(err.split('p = ')[1].split(',')[0])
    exact = welch(base, far)
    check(abs(math.log10(p) - math.log10(exact)) < 0.05, 'p is', p, 'not', exact)
    # One step on one side: its value against the spread of the other.
    one = write_steps('one', [sorted(base)[4]])
    diff(a, one, '--gate', 'total.micros<=+0', '-output', 'none')
    diff(a, write_steps('odd', [9000]), '--gate', 'total.micros<+5%', '-output', 'none', status=1)
    # Without variation every change counts.
    same = write_steps('same', [500] * 4)
    diff(same, write_steps('more', [501] * 4), '--gate', 'total.micros<=+0', '-output', 'none', status=1)
    # Noise does not pass a gate that requires an improvement.
    diff(same, same, '--gate', 'total.micros<-1%', '-output', 'none', status=1)


def noise():
    """With several steps, differences within their spread have no row; they are counted and added up."""
    r = random.Random(11)
    base = [r.randint(900, 1100) for _ in range(8)]
    near, far = base[::-1], [x + 600 for x in base]
    a, b, c = write_steps('base', base), write_steps('shuffled', near[:7]), write_steps('far', far)
    for sides, level, shown in (((a, b), '0.05', False), ((a, c), '0.05', True), ((b, a), '0.05', False)):
        out, _ = diff(*sides, '--delta', '0', '--level', level, '-output', 'json')
        out = json.loads(out)
        check(out['noise']['test'] == 'welch', out['noise'])
        check(any(x['path'] == 'loss/work' for x in out['rows']) == shown, sides, out['rows'])
        check(out['noise']['differences'] == (not shown), out['noise'])
    every = rows_of(a, b, '-all')
    own = [x['difference_micros'] for x in every if x['path'] == 'loss/work']
    told = json.loads(diff(a, b, '--delta', '0', '-output', 'json')[0])['noise']['difference_micros']
    check(own == [told] and told, 'sum of noise', told, own)
    # Without steps to compare, less than 10 us or 1 % is noise; new and removed nodes never are.
    for x, y, shown in ((1000, 1009, False), (1000, 1012, True), (100000, 100900, False), (5, 14, False)):
        rows = rows_of(write_steps('x', [x]), write_steps('y', [y]), '--delta', '0')
        check(bool(rows) == shown, x, y, rows)


def steps():
    """Steps of one file can be sides, by number and by their time."""
    a = write_steps('ranked', [300, 900, 100, 500, 700])

    def work(*sides):
        row, = (x for x in rows_of(*sides, '-all') if x['path'] == 'loss/work')
        return row['difference_micros']
    check(work(a + '@0', a + '@1') == 600, 'by number')
    check(work(a + '@fastest', a + '@slowest') == 800, 'by time')
    check(work(a + '@median', a + '@2') == -400, 'median')
    check(work(a + '@1', a + '@0..2') == (300 + 900 + 100) // 3 - 900, 'range')
    diff(a + '@7', a, status=1)
    diff(a + '@7x', a, status=2)


def reports():
    """JUnit output is XML with one case per gate; annotations take one line each."""
    a, b = write_steps('a', [100]), write_steps('b', [200])
    odd = 'scope:loss/[<>&"]?work.micros<+1us'
    out, _ = diff(a, b, '--gate', odd, '--gate', 'total.bytes<=+0', '-output', 'junit', status=1)
    top = xml.fromstring(out)
    cases = top.findall('./testsuite/testcase')
    check(top.tag == 'testsuites' and top.get('failures') == '1' and len(cases) == 2, out)
    check(cases[0].get('name') == odd and cases[0].find('failure') is not None, out)
    check(cases[1].find('failure') is None, out)
    out, _ = diff(a, b, '--gate', odd, '--gate', 'scope:a,b%.micros<1', '-output', 'github', status=1)
    lines = out.splitlines()
    check(len(lines) == 2 and all(l.startswith('::error title=tfprof gate ') for l in lines), out)
    check('scope%3Aa%2Cb%25.micros<1::' in lines[1], lines[1])
    path = os.path.join(FOLDER, 'report.xml')
    diff(a, b, '--gate', 'total.micros<+500%', '-output', 'junit:outfile=' + path)
    check(xml.parse(path).getroot().get('failures') == '0', 'report')


def timeline():
    """The timeline has one process per side, and equal entries begin at the same place."""
    pair = Pair(3)
    a, b = pair.write(FOLDER)
    path = os.path.join(FOLDER, 'trace.json')
    diff(a, b, 'old', 'new', '-all', '-output', 'timeline:outfile=' + path)
    with open(path) as f:
        events = json.load(f)['traceEvents']
    check([e['args']['name'] for e in events if e['ph'] == 'M'] == ['old', 'new'], 'processes')
    at = {}
    for e in events:
        if e['ph'] == 'X':
            at.setdefault((e['tid'], e['name']), set()).add(e['ts'])
    check(all(len(v) == 1 for v in at.values()), 'places')


def schema():
    """Documents match docs/schema/diff.json, if its validator is installed."""
    try:
        import jsonschema
    except ImportError:
        return skipped.append('skipped: no jsonschema for this Python: documents are not validated')
    with open(os.path.join(ROOT, 'docs', 'schema', 'diff.json')) as f:
        judge = jsonschema.Draft202012Validator(json.load(f))
    a, b = Pair(2).write(FOLDER)
    for words in ((a, b), ('op', a, b, a, '-select', 'micros,bytes'), (a, b, '--gate', 'total.micros<+500%')):
        out, _ = diff(*words, '--delta', '0', '-output', 'json')
        bad = [e.message[:200] for e in judge.iter_errors(json.loads(out))]
        check(not bad, words, bad[:2])


def many():
    """More than two sides, -per_run and -rename work."""
    pair = Pair(5)
    a, b = pair.write(FOLDER)
    rows = rows_of(a, b, a, '-all', '--names', 'x,y,z')
    check(rows and all(x['difference_micros'] == 0 for x in rows), 'first and last are the same')
    check(any(x['state'] == 'between' for x in rows), 'what only the middle has')
    judge = rows_of(a, b, '-all', '--match', 'path')
    rules = sorted({(x.split('/')[0], y.split('/')[0]) for x, y in pair.truth.items()
                    if x.split('/')[0] != y.split('/')[0]})
    words = [w for x, y in rules for w in ('--rename', 's,(^|/)%s(/|$),${1}%s$2,' % (x, y))]
    words = [w.replace('${1}', '\\1').replace('$2', '\\2') for w in words]
    named = rows_of(a, b, '-all', '--match', 'path', *words)

    def both(rows):
        return sum(x['state'] == 'both' for x in rows)
    check(both(named) > both(judge), 'renaming by hand', both(named), both(judge), words)


def main():
    global ARGS, FOLDER
    p = argparse.ArgumentParser()
    p.add_argument('--program', required=True)
    p.add_argument('--seeds', type=int, default=20)
    p.add_argument('--filter', default='')
    p.add_argument('--verbose', action='store_true')
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    with tempfile.TemporaryDirectory() as FOLDER:
        for f in (pairs, gates, noise, steps, reports, timeline, schema, many):
            if ARGS.filter in f.__name__:
                f()
    print('\n'.join(failed + skipped))
    print('%d passed, %d failed, %d skipped' % (passed, len(failed), len(skipped)))
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
