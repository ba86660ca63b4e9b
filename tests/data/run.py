#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what other tools read: -output csv, json, ndjson, md, and of -stats and lists of steps.

    tests/data/run.py --program build/tfprof [names]

Documents are judged by a public validator (Python's jsonschema) against docs/schema; rows of the
four kinds have to agree with each other and with the text of the view; CSV and ndjson have to load
unchanged into SQLite and, where they are installed, DuckDB and pandas. Statistics are computed once
more from the answers of single steps, and as the well-known notebook does it (notebook.py).
"""
import argparse
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'models'))
import notebook
import spreadsheet
from answers import test_peek_nodes, test_peek_trace, test_summary, test_top, test_top_lines  # noqa: F401
from rig import ALL, ROOT, VIEWS, Count, number, parse, recorded, split_md
from schemas import SCHEMAS, validators
from wire import num, sub, varint

STATS = 'mean,cv,median,min,max,std,p95,p99,n'


# ---- schemas ------------------------------------------------------------------------------------
OPTIONS = [[], ['-select', ALL + ',percent,device,op_types,input_shapes,num_hidden_ops', '-max_depth', '100',
                '-stats', STATS],
           ['-select', 'bytes', '-min_bytes', '100', '-show_name_regexes', '.*a.*', '-trim_name_regexes', '.*fc.*',
            '-start_name_regexes', '.*o.*', '-order_by', 'bytes', '-account_displayed_op_only']]


def test_version(t):
    judge = validators()
    if not judge:
        return t.skip('no jsonschema for this Python: documents are not validated')
    doc = json.loads(t.run(['--version', '-output', 'json']).decode('ascii'))
    bad = judge['version.json'](doc)
    t.check(not bad, 'version: %s' % bad[:3])
    names = [x['name'] for x in doc['libraries']]
    t.check(names == ['protobuf-c', 'pcre2', 'zlib', 'snappy', 'sqlite', 'demangler', 'page', 'libedit', 'ncurses', 'libevent', 'cupti'], str(names))
    for x in doc['libraries'][:3]:
        t.check(x['available'] and x['version'][:1].isdigit(), x)
    text = t.run(['--version']).decode().splitlines()
    t.check(text[0] == 'tfprof ' + doc['tool']['version'], text[0])
    for x, line in zip(doc['libraries'], text[1:]):
        want = ', '.join(filter(None, ['yes' if x['available'] else 'no', x['version'], x['feature']]))
        t.check(line.split(None, 1) == [x['name'], want], line)
    t.check(len(text) == 1 + len(names), text)


def test_schemas(t):
    judge = validators()
    if not judge:
        return t.skip('no jsonschema for this Python: documents are not validated')
    with open(os.path.join(SCHEMAS, 'view.json')) as f:
        known = set(json.load(f)['properties'])
    for i, (name, load) in enumerate(t.some(list(recorded()), 7)):
        for view in VIEWS:
            words = load + [view] + OPTIONS[i % len(OPTIONS)]
            out = t.run(words + ['-output', 'json'])
            if out is None:
                continue
            doc = json.loads(out.decode('ascii'))
            bad = judge['view.json'](dict(doc, rows=t.some(doc['rows'])))
            t.check(not bad, '%s %s: %s' % (name, view, bad[:3]))
            t.check(set(doc) == known, '%s %s: members %s' % (name, view, set(doc) ^ known))
            hidden = doc['truncation']
            t.check(hidden['entries'] == hidden['shown'] + sum(hidden['hidden_by'].values())
                    and hidden['shown'] == len(doc['rows']), '%s %s: %s' % (name, view, hidden))
            t.check(all(list(r) == [c['name'] for c in doc['columns']] for r in doc['rows']),
                    '%s %s: rows are not as the columns say' % (name, view))
            for row in t.some(parse(t.run(words + ['-output', 'ndjson']), 'ndjson')):
                bad = judge['row.json'](row)
                if not t.check(not bad, '%s %s: %s' % (name, view, bad[:3])):
                    break
        bad = judge['advice.json'](json.loads(t.run(load + ['advise', '-output', 'json'])))
        t.check(not bad, '%s advise: %s' % (name, bad[:3]))


def test_schema_of_recordings(t):
    judge = validators()
    if not judge:
        return t.skip('no jsonschema for this Python')
    doc = json.loads(t.run(['devices', os.path.join(ROOT, 'testdata', 'small', 'train.tfspool'), '--output=json']))
    bad = judge['devices.json'](doc)
    t.check(not bad and doc['gpus'] and doc['kernels'], 'devices: %s' % bad[:3])
    for change in ({'gpus': [dict(doc['gpus'][0], shared_ns='1us')]}, {'kernels': [{'name': 'k'}]}, {'surprise': 1}):
        t.check(judge['devices.json'](dict(doc, **change)), 'devices.json takes %s' % change)


def test_schema_of_traces(t):
    """Tables of traces; use of memory of a trace and of steps."""
    judge = validators()
    trace = os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb')
    calls = os.path.join(ROOT, 'testdata', 'traces', 'calls.pt.trace.json')
    with tempfile.TemporaryDirectory(prefix='tfprof-data-') as home:
        memory = os.path.join(home, 'a.pt.trace.json')
        with open(memory, 'w') as f:
            json.dump({'traceEvents': [
                {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 9, 'args': {'Input Dims': [[2, 3], [3, 4]]}},
                {'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 1, 'tid': 1, 'ts': 5,
                 'args': {'Addr': 7, 'Bytes': 64, 'Device Type': 0, 'Device Id': -1}}]}, f)
        for command, path in (('devices', trace), ('kernels', trace), ('steps', trace), ('roofline', memory), ('memory', memory),
                              ('critical', calls), ('flops', memory), ('what-if', trace), ('why', trace), ('idle', trace)):
            changes = ['kernel:.*0.5', 'sync=0'] if command == 'what-if' else []
            doc = json.loads(t.run([command, path, '-output', 'json'] + changes))
            bad = judge[command + '.json'](doc) if judge else []
            t.check(not bad and (path == trace or doc.get(command) or doc['rows']), '%s: %s' % (command, bad[:3]))
        doc = json.loads(t.run(['collectives', os.path.join(ROOT, 'testdata', 'flight'), '-output', 'json']))
        bad = judge['collectives.json'](doc) if judge else []
        t.check(not bad and doc['problems'] and doc['running'], 'collectives: %s' % bad[:3])
        both = shutil.copy(memory, os.path.join(home, 'b.pt.trace.json'))
        doc = json.loads(t.run(['flops', memory, both, '-output', 'json']))
        bad = judge['flops-ranks.json'](doc) if judge else []
        t.check(not bad and len(doc['ranks']) == 2, 'flops of ranks: %s' % bad[:3])
        again = shutil.copy(trace, os.path.join(home, 'again.xplane.pb'))
        doc = json.loads(t.run(['why', trace, again, '-output', 'json']))
        bad = judge['why-runs.json'](doc) if judge else []
        t.check(not bad and doc['parts'] and not doc['difference_ns'], 'why of two runs: %s' % bad[:3])
        for each in ('kernel', 'op', 'line'):
            doc = json.loads(t.run(['what-if', trace, '--each', each, '-output', 'json']))
            bad = judge['what-if.json'](doc) if judge else []
            t.check(not bad and (doc['savings'] or each == 'line'), 'what-if --each %s: %s' % (each, bad[:3]))


def test_workers(t):
    """Rows by worker match the schema, and the rows of each worker equal those of its file alone."""
    judge = validators()
    load = dict(recorded())['mlp_0']
    with tempfile.TemporaryDirectory(prefix='tfprof-data-') as home:
        paths = [os.path.join(home, w + '.pb') for w in ('a', 'b')]
        shutil.copy(os.path.join(ROOT, 'testdata', 'recorded', 'mlp_0', 'profile.pb'), paths[0])
        t.run([load[0], load[1].split(',')[0], 'convert', '-output', 'profile:outfile=' + paths[1]])
        for view in ('scope', 'graph', 'op'):
            words = [view, '-max_depth', '100', '-select', 'micros,bytes,occurrence']
            every = ['--profile_path=' + home + '/*.pb'] + words + ['-by', 'worker', '-output']
            doc = json.loads(t.run(every + ['json']))
            bad = judge['view.json'](dict(doc, rows=t.some(doc['rows']))) if judge else []
            t.check(not bad, 'by worker, %s: %s' % (view, bad[:3]))
            t.check(doc['workers'] == ['a.pb', 'b.pb'], 'workers are %s' % doc['workers'])
            db = sqlite3.connect(':memory:')
            db.execute('create table t (worker text, path text, micros integer, bytes integer)')
            for row in parse(t.run(every + ['ndjson']), 'ndjson'):
                db.execute('insert into t values (?, ?, ?, ?)', (row['worker'], row['path'], row['total_micros'],
                                                                 row['total_bytes']))
            for path in paths:
                alone = {r['path']: (r['total_micros'], r['total_bytes'])
                         for r in t.rows(['--profile_path=' + path] + words)}
                among = {p: (m or 0, b or 0) for p, m, b in db.execute(
                    'select path, micros, bytes from t where worker = ?', (os.path.basename(path),))}
                bad = [p for p in among if alone.get(p, (0, 0)) != among[p] and view != 'op']
                t.check(not bad and set(alone) <= set(among), '%s of %s: %s' % (view, path, bad[:3]))


def test_schemas_judge(t):
    """The checks of this script detect wrong documents."""
    judge = validators()
    if not judge:
        return t.skip('no jsonschema for this Python')
    doc = json.loads(t.run(next(recorded())[1] + ['scope', '-output', 'json']))
    row = doc['rows'][0]
    for change in ({'depth': 1.5}, {'own_micros': '1us'}, {'path': None}, {'surprise': 1}):
        t.check(judge['row.json'](dict(row, **change)), 'row.json takes %s' % change)
        t.check(judge['view.json'](dict(doc, rows=[dict(row, **change)])), 'view.json takes %s' % change)
    t.check(judge['view.json']({k: v for k, v in doc.items() if k != 'truncation'}), 'no truncation')


# ---- the kinds among each other -----------------------------------------------------------------
def test_kinds_agree(t):
    for i, (name, load) in enumerate(t.some(list(recorded()), 5)):
        view = VIEWS[i % 4] if i % 4 != 3 or 'op_log' in ' '.join(load) else 'scope'
        words = load + [view] + OPTIONS[1]
        out = t.run(words + ['-output', 'json'])
        if out is None:
            continue
        doc = json.loads(out)
        rows, types = doc['rows'], {c['name']: c['type'] for c in doc['columns']}
        t.check(parse(t.run(words + ['-output', 'ndjson']), 'ndjson') == rows, name + ': ndjson')
        found = parse(t.run(words + ['-output', 'csv']), 'csv')
        want = [{k: '' if v is None else v for k, v in r.items()} for r in rows]
        t.check([{k: number(v, types[k]) for k, v in r.items()} for r in found] == want, name + ': csv')
        lines = t.run(words + ['-output', 'md']).decode().splitlines()
        t.check(split_md(lines[0]) == list(types) and len(lines) == 2 + len(rows), name + ': head of md')
        cells = [dict(zip(types, split_md(x))) for x in lines[2:]]
        t.check([{k: number(v, types[k]) for k, v in r.items()} for r in cells] == want, name + ': md')


def spell(v, units):
    """Returns a number as the views print it."""
    if v < 1000:
        return '%d%s' % (v, units[0])
    for i, u in enumerate(units[1:], 1):
        if v < 1000 ** (i + 1) or i == len(units) - 1:
            return '%.2f%s' % (v / 1000 ** i, u)


def test_text_says_the_same(t):
    for name, load in recorded():
        words = load + ['scope', '-select', 'bytes,micros', '-max_depth', '100', '-order_by', 'micros']
        text = t.run(words).decode('utf-8', 'backslashreplace').split('node name | ')[1].splitlines()[1:]
        rows = t.rows(words)
        same = len(text) == len(rows)
        for line, r in zip(text, rows):
            pairs = ['%s/%s' % (spell(r['own_' + m], u) if r['accounted'] else '--', spell(r['total_' + m], u))
                     for m, u in (('bytes', ['B', 'KB', 'MB']), ('micros', ['us', 'ms', 'sec']))]
            same &= line.startswith('  ' * r['depth'] + r['path'] + ' (' + ', '.join(pairs) + ', ')
        t.check(same, name + ': the rows are not those of the text')


def test_sums(t):
    """Own numbers and those of the rows below add up if nothing is hidden."""
    for name, load in recorded():
        for view in ('scope', 'graph', 'code'):
            rows = t.rows(load + [view, '-select', ALL, '-max_depth', '100000'])
            if rows is None:
                continue
            if any(r['path'] == rows[0]['path'] for r in rows[1:]):
                continue  # a node has the name of the root, so its children look like the root's
            left = {r['path']: dict(r) for r in rows}
            t.check(len(left) == len(rows), '%s %s: paths are not unique' % (name, view))
            metrics = [k[4:] for k in rows[0] if k.startswith('own_') and k != 'own_definitions']
            for r in rows[1:]:
                for m in metrics:
                    left[r['parent']]['total_' + m] -= r['total_' + m]
            bad = [(p, m) for p, r in left.items() for m in metrics if r['total_' + m] != r['own_' + m]]
            t.check(not bad, '%s %s: %s' % (name, view, bad[:3]))


# ---- odd names ----------------------------------------------------------------------------------
ODD = [b'plain', b'say "hi"', b'a,b', b'two\nlines', b'cr\r\nlf', b'pipe|pipe', b'back\\slash', b'tab\there',
       b'esc\x1b[31mred', b'nul\x00nul', b'del\x7f', 'grün/\u2713'.encode(), '\U0001f600'.encode(), b' blank ', b'=1+1',
       b'<b>`x`</b> *y* _z_', b'{"json": [1]}', b"it's", b'-- ;DROP TABLE rows', b'\xe2\x80\xa8line', b'']
NOT_UTF8 = [b'\xff', b'a\xc3', b'\xed\xa0\x80', b'\xf5\x80\x80\x80', b'\xc0\xaf']


def odd_profile(names):
    """Returns a ProfileProto whose nodes have these names; its names must be UTF-8."""
    def node(i, name):
        ran = num(1, 1) + num(2, 1000 + i) + num(3, 2000) + sub(5, sub(1, '/cpu:0') + sub(2, sub(
            1, sub(1, varint(1000) + varint(10 + i)))))
        return sub(1, name) + sub(9, 'Op') + sub(12, num(1, 0) + sub(2, ran)) + num(13, i)
    out = b''.join(sub(1, num(1, i) + sub(2, node(i, n))) for i, n in enumerate(names))
    return out + sub(3, varint(0))


def readable(name):
    """Returns bytes as tfprof writes them: invalid UTF-8 as \\xNN."""
    return name.decode('utf-8', 'backslashreplace')


def escaped(name, kind):
    text = readable(name)
    if kind in ('json', 'ndjson'):
        return text
    keep = '\t\r\n' if kind == 'csv' else '\t'
    return ''.join(c if c in keep or (c >= ' ' and c != '\x7f') else '\\x%02x' % ord(c) for c in text)


def test_odd_names(t):
    with tempfile.TemporaryDirectory(prefix='tfprof-data-') as home:
        path = os.path.join(home, 'profile "x",\n|.pb')
        with open(path, 'wb') as f:
            f.write(odd_profile(ODD))
        load = ['--profile_path=' + path, 'graph', '-select', 'micros', '-max_depth', '9']
        for kind in ('json', 'ndjson', 'csv'):
            rows = t.rows(load, kind)
            found = sorted(r['path'] for r in rows[1:])
            t.check(found == sorted(escaped(n, kind) for n in ODD), '%s: %r' % (kind, found))
        lines = t.run(load + ['-output', 'md']).decode().split('\n')[2:-1]
        found = sorted(split_md(x)[0] for x in lines[1:])
        want = sorted(escaped(n, 'md').strip(' ') for n in ODD)
        t.check(found == want, 'md: %r' % found)
        t.check(len({len(split_md(x)) for x in lines}) == 1, 'md: cells leave their place')
        doc = json.loads(t.run(load + ['-output', 'json']))
        t.check(doc['sources'] == [{'kind': 'profile', 'path': path}], 'sources: %s' % doc['sources'])


def test_spreadsheet(t):
    spreadsheet.check_all(t, odd_profile)


def test_bytes_that_are_no_text(t):
    """Patterns on the command line may be any bytes; they come back in the options."""
    name, load = next(recorded())
    for raw in NOT_UTF8:
        p = subprocess.run([t.program] + load + ['scope', b'-hide_name_regexes', b'\\Q' + raw + b'\\E|', '-output', 'json'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode == 2:  # not a pattern: reported
            t.check(b'-hide' in p.stderr or b'pattern' in p.stderr, '%r: %r' % (raw, p.stderr))
            continue
        doc = json.loads(p.stdout.decode('ascii'))
        want = '\\Q' + readable(raw) + '\\E|'
        t.check(doc['options']['hide_name_regexes'] == [want], '%s is not %s' % (
            doc['options']['hide_name_regexes'], want))


# ---- other tools --------------------------------------------------------------------------------
def facts(rows):
    return len(rows), sum(r['total_micros'] for r in rows), sorted(r['path'] for r in rows)


def loads(t, what, home, name, words):
    """CSV and ndjson of a command load into SQLite, DuckDB and pandas."""
    want = facts(t.rows(words))
    for kind in ('csv', 'ndjson'):
        path = os.path.join(home, '%s.%s' % (name, kind))
        with open(path, 'wb') as f:
            f.write(t.run(words + ['-output', kind]))
        for tool in (in_sqlite, in_duckdb, in_pandas):
            found = tool(path, kind)
            if found is not None:
                t.check(found == want, '%s: %s in %s: %s, not %s' % (what, kind, tool.__name__, found[:2], want[:2]))


def in_sqlite(path, kind):
    if kind == 'csv':
        if not shutil.which('sqlite3'):
            return None
        sql = 'select count(*), sum(total_micros) from t; select hex(path) from t;'
        p = subprocess.run(['sqlite3', '-batch', ':memory:', '.import --csv "%s" t' % path, sql],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        if p.stderr:
            return p.stderr, None, None
        lines = p.stdout.decode().split()
        n, total = map(int, lines[0].split('|'))
        return n, total, sorted(bytes.fromhex(x).decode() for x in lines[1:])
    db = sqlite3.connect(':memory:')
    db.execute('create table t (row text)')
    with open(path) as f:
        db.executemany('insert into t values (?)', ((line,) for line in f))
    rows = db.execute("select json_extract(row, '$.path'), json_extract(row, '$.total_micros') from t").fetchall()
    return len(rows), sum(r[1] for r in rows), sorted(r[0] for r in rows)


def in_duckdb(path, kind):
    try:
        import duckdb
    except ImportError:
        return None
    read = "read_csv('%s', header=true)" if kind == 'csv' else "read_json_auto('%s', format='newline_delimited')"
    rows = duckdb.sql('select path, total_micros from ' + read % path).fetchall()
    return len(rows), sum(r[1] for r in rows), sorted(r[0] for r in rows)


def in_pandas(path, kind):
    try:
        import pandas
    except ImportError:
        return None
    frame = pandas.read_csv(path, keep_default_na=False) if kind == 'csv' else pandas.read_json(path, lines=True)
    return len(frame), int(frame['total_micros'].sum()), sorted(frame['path'])


def test_other_tools(t):
    for tool in ('duckdb', 'pandas'):
        try:
            __import__(tool)
        except ImportError:
            t.skip('no %s for this Python: it loads nothing' % tool)
    if not shutil.which('sqlite3'):
        t.skip('no sqlite3: its .import is not tried')
    with tempfile.TemporaryDirectory(prefix='tfprof-data-') as home:
        for i, (name, load) in enumerate(recorded()):
            loads(t, name, home, name, load + [['scope', 'op'][i % 2], '-max_depth', '100', '-stats', 'mean,n'])
        path = os.path.join(home, 'odd.pb')
        with open(path, 'wb') as f:  # .import ends a text at a NUL, JSON keeps it
            f.write(odd_profile([n for n in ODD if n and b'\x00' not in n and b'\x1b' not in n and b'\x7f' not in n]))
        loads(t, 'odd names', home, 'odd', ['--profile_path=' + path, 'graph', '-max_depth', '9'])


# ---- statistics ---------------------------------------------------------------------------------
def rank(values, percent):
    return sorted(values)[max(math.ceil(len(values) * percent / 100), 1) - 1]


def statistics(values):
    mean = math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))
    return {'mean': mean, 'std': std, 'cv': 100 * std / mean if mean else 0, 'min': min(values), 'max': max(values),
            'median': rank(values, 50), 'p95': rank(values, 95), 'p99': rank(values, 99)}


def several_steps(least=2):
    for name, load in recorded():
        n = sum(len(w.split(',')) for w in load if w.startswith('--run_meta_path='))
        if n >= least:
            yield name, load, n


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-9)


def test_stats_of_single_steps(t):
    for name, load, n in t.some(list(several_steps()), 4):
        for view in VIEWS:
            words = load + [view, '-select', 'bytes,micros,occurrence', '-max_depth', '100000', '-order_by', 'name']
            found = t.rows(words + ['-stats', STATS])
            if found is None:
                continue
            steps = [t.rows(words + ['-step', str(s)]) for s in range(n)]
            same = all([r['path'] for r in s] == [r['path'] for r in found] for s in steps)
            t.check(same, '%s %s: the rows of the steps differ' % (name, view))
            bad = []
            for i, row in enumerate(found if same else []):
                for key in [k for k in row if k.startswith(('own_', 'total_', 'cumulative_')) and k in steps[0][0]]:
                    if 'definitions' in key:
                        continue
                    for stat, v in statistics([s[i][key] for s in steps]).items():
                        if not close(row['%s_%s' % (key, stat)], v):
                            bad.append((row['path'], key, stat, row['%s_%s' % (key, stat)], v))
                for key in ('own', 'total'):
                    ran = sum(s[i][key + '_occurrence'] > 0 for s in steps)
                    if row[key + '_n'] != ran:
                        bad.append((row['path'], 'n', row[key + '_n'], ran))
            t.check(not bad, '%s %s: %s' % (name, view, bad[:3]))


def test_one_step_is_itself(t):
    for name, load, n in several_steps():
        for step in (str(n - 1), '%d..%d' % (n - 1, n - 1)):
            words = load + ['scope', '-max_depth', '100', '-order_by', 'name', '-step', step]
            bad = []
            for r in t.rows(words + ['-stats', STATS]):
                for key in [k for k in r if k + '_mean' in r]:
                    bad += [(r['path'], key, s) for s in ('mean', 'median', 'min', 'max', 'p95', 'p99')
                            if r['%s_%s' % (key, s)] != r[key]]
                    bad += [(r['path'], key, s) for s in ('cv', 'std') if r['%s_%s' % (key, s)] != 0]
            t.check(not bad, '%s %s: %s' % (name, step, bad[:3]))


KNOWN_GRAPHS = {'mlp_0', 'multi_0'}


def test_lists_of_steps(t):
    for name, load, n in several_steps(3):
        words = load + ['scope', '-max_depth', '100', '-select', ALL]
        every = t.run(words)
        t.check(t.run(words + ['-step', '0..%d' % (n - 1)]) == every, name + ': all of them are not the average')
        t.check(t.run(words + ['-step', '0..99999999999']) == every, name + ': an open range')
        t.check(t.run(words + ['-step', '1..1']) == t.run(words + ['-step', '1']), name + ': a range of one')
        t.check(t.run(words + ['-step', '2,0']) == t.run(words + ['-step', '0,2']), name + ': order matters')
        if name in KNOWN_GRAPHS:  # in other profiles, only the step in between has some of the nodes
            lazy = t.run(words + ['-step', '0,2', '--lazy-steps']).split(b'Doc:')[1]
            t.check(lazy == t.run(words + ['-step', '0,2']).split(b'Doc:')[1], name + ': lazy')
        two = t.rows(words + ['-step', '0,2', '-stats', 'max'])
        used = json.loads(t.run(words + ['-step', '0,2', '-output', 'json']))['steps']
        t.check(used['used'] == [0, 2] and used['asked'] == '0,2', '%s: %s' % (name, used))
        one, other = (t.rows(words + ['-step', s]) for s in '02')
        bad = [r['path'] for r, x, y in zip(two, one, other)
               if r['total_micros_max'] != max(x['total_micros'], y['total_micros'])]
        t.check(not bad, '%s: %s' % (name, bad[:3]))


def test_same_bytes_twice(t):
    """The order of commands in a session does not matter."""
    name, load = next(recorded())
    line = b'scope -output json -stats mean -select bytes\n'
    one = t.run(load, stdin=line)
    t.check(t.run(load, stdin=b'op -output csv\n' + line).endswith(one.split(b'coverage')[-1].split(b'\n', 1)[1]),
            'an answer depends on the one before it')


TESTS = [v for k, v in sorted(globals().items()) if k.startswith('test_')] + [
    notebook.test_notebook, notebook.test_golden]


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--all', action='store_true', help='every row and profile, where else some will do')
    p.add_argument('--accept', action='store_true', help='writes the golden of the notebook')
    p.add_argument('names', nargs='*')
    a = p.parse_args()
    t = Count(a.program)
    t.accept, t.all = a.accept, a.all
    for test in TESTS:
        if not a.names or any(n in test.__name__ for n in a.names):
            test(t)
    print('%d passed, %d failed, %d skipped' % (t.passed, t.failed, t.skipped))
    return 1 if t.failed else 0


if __name__ == '__main__':
    sys.exit(main())
