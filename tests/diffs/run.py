#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests diff on generated pairs of models: matching, sums, gates and their statistical test, reports that other tools read.
Standard library only.

    tests/diffs/run.py --program build/tfprof [--seeds 20] [--filter NAME]
"""
import argparse
import itertools
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
sys.path.insert(0, os.path.join(ROOT, 'tests', 'trace'))
import kineto  # noqa: E402

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
    """A model and its changed copy. truth: {name on the left: name on the right}."""
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
    """Returns (left name, right name) of a row; None on the side that lacks the node."""
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


# ---- sums -------------------------------------------------------------------------
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
def ranks(a, b):
    """Returns the two-sided probability of Mann and Whitney's test: counts all ways to choose which values are those of a.
    Equal values count for neither side."""
    above = sum(y > x for x in a for y in b)
    below = sum(y < x for x in a for y in b)
    n, m = len(a), len(b)
    sums = [sum(c) - n * (n - 1) // 2 for c in itertools.combinations(range(n + m), n)]
    return min(1, 2 * sum(u >= max(above, below) for u in sums) / len(sums))


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


def judged(*words, status=None):
    """Runs diff with gates. Returns their results, as in the document, by rule."""
    p = subprocess.run([ARGS.program, 'diff'] + [str(w) for w in words] + ['-output', 'json'], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FOLDER)
    if not check(p.returncode == status if status is not None else p.returncode in (0, 1), 'status', p.returncode, words[2:], p.stderr[-300:]):
        return {}
    document = json.loads(p.stdout.decode())
    found = {g['rule']: g for g in document['gates']}
    bad = any(g['result'] == 'fails' or g['result'] == 'inconclusive' and '--allow-inconclusive' not in words for g in found.values())
    check(p.returncode == bad, 'status', p.returncode, 'with', [g['result'] for g in found.values()])
    check(all(g['holds'] == (g['result'] == 'holds') for g in found.values()), found)
    return found


def gates():
    """A gate holds, fails, or is inconclusive; its interval equals the interval computed from all pairs of steps."""
    r = random.Random(7)
    base, far = [r.randint(950, 1050) for _ in range(8)], [r.randint(1500, 1700) for _ in range(6)]
    near = [x + r.randint(-5, 5) for x in base]
    a, b, c = write_steps('base', base), write_steps('near', near), write_steps('far', far)
    rules = ('total.micros<+20%', 'total.micros<+0.1%', 'total.micros<+200us', 'scope:loss/work.micros<+20%')
    found = judged(a, b, *(w for x in rules for w in ('--gate', x)), status=1)
    check([found[x]['result'] for x in rules] == ['holds', 'inconclusive', 'holds', 'holds'], found)
    x1, y1 = [v + 1 for v in base], [v + 1 for v in near]  # run_meta adds a microsecond
    test, limit = found[rules[3]]['test'], [y / x - 1 for x in x1 for y in y1]
    check(test['steps'] == [8, 8] and test['interval'][0] < 0 < test['interval'][1] and
          all(any(abs(v - x) < 1e-9 for x in limit) for v in test['interval']), test)
    # The bounds are the values at which the counted probability crosses half the level.
    for bound in test['interval']:
        for move, within in ((1e-6, bound < 0), (-1e-6, bound > 0)):
            moved = [x * (1 + bound + move) for x in x1]
            check((ranks(moved, y1) > 0.05) == within, 'bound', bound, move)
    check(found[rules[1]]['steps_needed'] > 8 and 'steps on each side would be enough' in found[rules[1]]['text'], found)
    check(found[rules[0]]['steps_needed'] is None and 0 < test['smallest_change'] < 0.2, found)
    judged(a, b, '--gate', rules[1], '--allow-inconclusive', status=0)
    found = judged(a, c, '--gate', 'total.micros<+5%', '--gate', 'scope:loss/.*.micros<+1us', '--allow-inconclusive', status=1)
    check(all(g['result'] == 'fails' and 'loss/work' in g['text'] for g in found.values()), found)
    _, err = diff(a, c, '--gate', 'total.micros<+5%', '--gate', 'total.micros<+55%', '-output', 'none', status=1)
    check('1 of 2 gates fail, 1 inconclusive' in err, err)
    # One outlier among four steps neither hides a change nor creates an apparent one.
    four, more = [100, 101, 99, 102], [141, 142, 140, 300]
    for x, y, expected in ((four, more, 'fails'), (more, four, 'holds'), (four[:3] + [400], more[:3] + [143], 'inconclusive'),
                           (four, four[:3] + [400], 'inconclusive')):
        found = judged(write_steps('x', x), write_steps('y', y), '--gate', 'total.micros<+5%')
        check([g['result'] for g in found.values()] == [expected], x, y, expected, found)
    # A side with one step decides nothing about times, but is enough for numbers that do not vary.
    one = write_steps('one', [sorted(base)[4]])
    for x, y in ((a, one), (one, a), (one, one)):
        found = judged(x, y, '--gate', 'total.micros<+500%', '--gate', 'total.bytes<+5%', '--gate', 'total.micros<9ms', status=1)
        check([g['result'] for g in found.values()] == ['inconclusive', 'holds', 'holds'] and
              found['total.micros<+500%']['steps_needed'] == 4, found)
    # Without variation, every change is significant.
    same = write_steps('same', [500] * 4)
    found = judged(same, write_steps('more', [501] * 4), '--gate', 'total.micros<=+0', '--gate', 'total.micros<=+1', status=1)
    check([g['result'] for g in found.values()] == ['fails', 'holds'], found)
    # A gate that requires an improvement holds only if the steps show one.
    check(judged(same, same, '--gate', 'total.micros<-1%')['total.micros<-1%']['result'] == 'fails', 'no improvement')
    check(judged(a, b, '--gate', 'total.micros<-1%')['total.micros<-1%']['result'] == 'inconclusive', 'no improvement')
    # A saved text report has no steps.
    for x, name in ((a, 'a.txt'), (c, 'c.txt')):
        with open(os.path.join(FOLDER, name), 'wb') as f:
            f.write(subprocess.run([ARGS.program, 'scope', *x.split(','), '-select', 'micros,params', '-max_depth', '9'], stdout=subprocess.PIPE, check=True).stdout)
    found = judged('a.txt', 'c.txt', '--gate', 'total.micros<+5%', '--gate', 'total.micros<5ms', '--gate', 'total.params<+1', status=1)
    check([g['result'] for g in found.values()] == ['inconclusive', 'holds', 'holds'], found)


# ---- simulated pairs ----------------------------------------------------------------------------
def simulated(r, n, change, outliers):
    """Returns the times of n steps: they vary by 1 to 8 percent and are skewed; some steps take several times as long."""
    place, spread = r.uniform(2e4, 2e5), r.choice((0.01, 0.03, 0.08))

    def side(factor):
        return [max(1, round(factor * place * math.exp(r.gauss(0, spread)) * (r.uniform(1.5, 5) if r.random() < outliers else 1)))
                for _ in range(n)]
    return side(1), side(1 + change)


def write_nodes(name, nodes):
    """Writes a model in which node k takes nodes[k][i] in step i."""
    m = wire.Model()
    for k in range(len(nodes)):
        m.add('n%03d' % k, 'MatMul', device=CPU, micros=0, size=64)
    files = [os.path.join(FOLDER, name + '.pbtxt')]
    with open(files[0], 'wb') as f:
        f.write(wire.graph_text(m))
    for i in range(len(nodes[0])):
        files.append(os.path.join(FOLDER, '%s_%d.pb' % (name, i)))
        with open(files[-1], 'wb') as f:
            f.write(wire.run_meta(m, scale=lambda n, x, i=i: nodes[int(n[1:])][i]))
    return ','.join(files)


def one_side():
    """Limits that are not changes can be judged on one side, with the results that the same file on both sides has."""
    a = write_steps('alone', [100, 101, 99, 100])
    for rule in ('total.micros<1us', 'total.micros<90ms', 'scope:loss/.*.micros<30%', 'scope:loss/.*.micros<99.9%', 'step_time<1us'):
        both, _ = diff(a, a, '--gate', rule, '-output', 'json', status=int(rule.endswith(('<1us', '<30%'))))
        out, err = diff(a, '--gate', rule, '-output', 'json', status=int(rule.endswith(('<1us', '<30%'))))
        one, two = json.loads(out), json.loads(both)
        check([g['result'] for g in one['gates']] == [g['result'] for g in two['gates']], rule, one['gates'], two['gates'])
        check('->' not in err and 'gate %s %s' % (rule, one['gates'][0]['result']) in err and not one['rows'], err)
    out, err = diff(a, '--gate', 'total.micros<90ms')
    check(not out and err.startswith('gate total.micros<90ms holds: '), out, err)
    diff(a, '--gate', 'total.micros<+5%', status=2)
    diff(a, status=2)


def gate_errors():
    """Of 1,000 simulated pairs with a change of 0, 5, 10 and 40 percent and outliers, a gate passes at most 5 percent of those
    that break the limit, and fails at most 5 percent of those that keep it; and with many steps it decides most pairs.
    The significance in the table never contradicts a gate."""
    r, each = random.Random(32), 50
    wrong, pairs, decided, clear = {}, {}, 0, 0
    for batch in range(5):
        for change in (0, 0.05, 0.10, 0.40):
            n, outliers = r.choice((2, 3, 4, 6, 8, 12)), (0, 0.1)[batch % 2]
            both = [simulated(r, n, change, outliers) for _ in range(each)]
            a, b = write_nodes('a', [x for x, _ in both]), write_nodes('b', [y for _, y in both])
            limits = (0, 5, 7, 20)
            rules = ['scope:n%03d.micros<=+%d%%' % (k, limit) for k in range(each) for limit in limits]
            found = judged(a, b, '-all', *(w for x in rules for w in ('--gate', x)))
            chance = {x['path']: x['p_micros'] for x in rows_of(a, b, '-all')}
            for k in range(each):
                for limit in limits:
                    got = found['scope:n%03d.micros<=+%d%%' % (k, limit)]['result']
                    keeps = change <= limit / 100
                    pairs[keeps] = pairs.get(keeps, 0) + 1
                    wrong[keeps] = wrong.get(keeps, 0) + (got == ('fails' if keeps else 'holds'))
                    if n >= 8 and abs(change - limit / 100) > 0.15 and not outliers:
                        clear, decided = clear + 1, decided + (got == ('holds' if keeps else 'fails'))
                p, zero = chance.get('n%03d' % k), found['scope:n%03d.micros<=+0%%' % k]['result']
                check(p is None or zero == 'inconclusive' or p <= 0.05, 'p is', p, 'but the gate', zero)
    if ARGS.verbose:
        print('wrong', wrong, 'of', pairs, 'decided', decided, 'of', clear)
    check(pairs[True] + pairs[False] >= 1000, pairs)
    for keeps, what in ((False, 'false pass'), (True, 'false fail')):
        check(wrong[keeps] <= 0.05 * pairs[keeps], what, wrong[keeps], 'of', pairs[keeps])
    check(decided >= 0.8 * clear > 0, 'only', decided, 'of', clear, 'clear pairs are decided')
    # Many nodes without a change do not fail a gate by chance.
    fails = 0
    for _ in range(8):
        both = [simulated(r, 6, 0, 0) for _ in range(60)]
        found = judged(write_nodes('a', [x for x, _ in both]), write_nodes('b', [y for _, y in both]), '--gate', 'scope:n.*.micros<=+0')
        fails += found['scope:n.*.micros<=+0']['result'] == 'fails'
    check(fails <= 1, fails, 'of 8 gates of many equal nodes fail')


def significance():
    """The significance in the table is that of counting all arrangements of the steps."""
    r = random.Random(5)
    for n, m in ((4, 4), (5, 6), (6, 4), (7, 7), (4, 8)):
        both = [simulated(r, n, 0, 0.1)[0] for _ in range(20)], [simulated(r, m, c, 0.1)[1] for c in (0, 0.02, 0.1, 0.4) * 5]
        place = [1e4 / (sum(x) / n) for x in both[0]]
        x = [[round(v * f) for v in side] for side, f in zip(both[0], place)]
        y = [[round(v * f) for v in side] for side, f in zip(both[1], place)]
        chance = {q['path']: q['p_micros'] for q in rows_of(write_nodes('a', x), write_nodes('b', y), '-all')}
        for k in range(20):
            p = chance.get('n%03d' % k)
            check(p is not None and abs(p - ranks(x[k], y[k])) < 1e-6, 'p is', p, 'not', ranks(x[k], y[k]), x[k], y[k])


def missing_steps():
    """A step of a trace in which a node did not run counts as 0, in the average, the test and the gates."""
    def write(name, rare):
        events = []
        for k, micros in enumerate(rare):
            t = 1000 * k
            events += [kineto.event('user_annotation', 'ProfilerStep#%d' % k, t, 990), kineto.event('cpu_op', 'aten::often', t + 1, 300 + k % 3)]
            events += [kineto.event('cpu_op', 'aten::rare', t + 400, micros)] if micros else []
        with open(os.path.join(FOLDER, name), 'wb') as f:
            f.write(kineto.trace(events))
        return name
    few, many = [100, 0, 0, 0, 103, 0, 0, 0], [101, 104, 99, 102, 98, 105, 103, 97]
    a, b = write('few.json', few), write('many.json', many)
    row, = [x for x in rows_of(a, b, '-all') if x['path'] == 'aten::rare']
    check(abs(row['difference_micros'] - (sum(many) - sum(few)) / 8) < 1e-9 and abs(row['p_micros'] - ranks(few, many)) < 1e-6,
          row, ranks(few, many))
    rules = ['scope:aten::rare.micros<=+0%', 'scope:aten::rare.micros<=+0', 'scope:aten::rare.micros<+50%']
    found = judged(a, b, *(w for x in rules for w in ('--gate', x)), status=1)
    check([found[x]['result'] for x in rules] == ['fails', 'fails', 'inconclusive'], found)  # half as many again: 16 of 64 pairs differ
    check(all(g['test']['steps'] == [8, 8] for g in found.values()), found)


def noise():
    """With several steps, differences within their spread have no row; they are counted and added up."""
    r = random.Random(11)
    base = [r.randint(900, 1100) for _ in range(8)]
    near, far = base[::-1], [x + 600 for x in base]
    a, b, c = write_steps('base', base), write_steps('shuffled', near[:7]), write_steps('far', far)
    for sides, level, shown in (((a, b), '0.05', False), ((a, c), '0.05', True), ((b, a), '0.05', False)):
        out, _ = diff(*sides, '--delta', '0', '--level', level, '-output', 'json')
        out = json.loads(out)
        check(out['noise']['test'] == 'ranks', out['noise'])
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
    a, b = write_steps('a', [100, 101, 99, 100]), write_steps('b', [200, 199, 201, 200])
    odd, wide = 'scope:loss/[<>&"]?work.micros<+1us', 'total.micros<+92%'
    gates = ('--gate', odd, '--gate', 'total.bytes<=+0', '--gate', wide)
    for more, counts, kind in (((), '1110', 'error'), (('--allow-inconclusive',), '1101', 'skipped')):
        out, _ = diff(a, b, *gates, *more, '-output', 'junit', status=1)
        top = xml.fromstring(out)
        cases = top.findall('./testsuite/testcase')
        check(top.tag == 'testsuites' and top.get('failures') == '1' and len(cases) == 3, out)
        check(''.join(top[0].get(x) for x in ('failures', 'failures', 'errors', 'skipped')) == counts, out)
        check(cases[0].get('name') == odd and cases[0].find('failure') is not None, out)
        check([x.tag for x in cases[1]] == ['system-out'] and [x.tag for x in cases[2]] == [kind], out)
    for more, kinds in (((), ['error', 'error', 'error']), (('--allow-inconclusive',), ['error', 'error', 'warning'])):
        out, _ = diff(a, b, '--gate', odd, '--gate', 'scope:a,b%.micros<1', '--gate', wide, *more, '-output', 'github', status=1)
        lines = out.splitlines()
        check([l.split(' title=tfprof gate ')[0] for l in lines] == ['::' + k for k in kinds], out)
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
    for words in ((a, b), ('op', a, b, a, '-select', 'micros,bytes'), (a, b, '--gate', 'total.bytes<+500%'), (a, b, '--allow-inconclusive', '--gate', 'total.micros<+500%'),
                  (write_steps('x', [100, 101, 102, 103]), write_steps('y', [100, 101, 102, 103]), '--allow-inconclusive', '--gate', 'total.micros<+50%')):
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
        for f in (pairs, gates, one_side, gate_errors, significance, missing_steps, noise, steps, reports, timeline, schema, many):
            if ARGS.filter in f.__name__:
                f()
    print('\n'.join(failed + skipped))
    print('%d passed, %d failed, %d skipped' % (passed, len(failed), len(skipped)))
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
