#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that all answers about an input have the same totals, and that these equal the totals computed from the bytes of the
input.

    tests/consistency/run.py --bin build/check [--realdata DIR] [NAME...]

NAME is a check (`views`), a file (`steps.sqlite`) or both (`views:steps.sqlite`). Inputs are the samples of samples.py, the traces
of testdata, and with --realdata all traces of that folder. Times are compared in nanoseconds: a printed number may be off by
half a unit of its last digit, and a sum of printed numbers by as much for each of them.
"""
import argparse
import base64
import collections
import ctypes
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), 'check'), os.path.join(os.path.dirname(HERE), 'trace'), HERE]
import built  # noqa: E402
import cases  # noqa: E402
import samples  # noqa: E402
import truth  # noqa: E402
import words  # noqa: E402
from damage import fields, packed  # noqa: E402

TIMES = ['micros', 'accelerator_micros', 'cpu_micros']
COUNTS = ['occurrence', 'float_ops', 'bytes', 'kernels', 'bytes_accessed']
NUMBERS = TIMES + COUNTS + ['uncounted']  # the list of uncounted calls comes with the float operations
VIEWS = ['scope', 'graph', 'op', 'code']
GROUPINGS = ['module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function', 'phase']
ALL = '-max_depth 1000000 -order_by name -select %s' % ','.join(TIMES + COUNTS)
UNITS = {'nanoseconds': 1, 'microseconds': 1000, 'ns': 1, 'us': 1000}  # units of sample types that are times
HALF = Fraction(1, 2)
TEXTSUM = os.path.join(cases.TESTDATA, 'models', 'textsum', 'profile_100.gz')  # its shapes contradict each other


class Nothing(Exception):
    """The check has nothing to compare in this input; it is not counted."""


def number(v):
    return Fraction(v if v is not None else 0)


def near(found, expected, numbers, what):
    """Asserts that the sums are equal within half a nanosecond per number."""
    if abs(Fraction(found) - Fraction(expected)) > numbers * HALF:
        raise AssertionError('%s: %.3f, expected %.3f' % (what, found, expected))


class View:
    """A document of scope, graph, op or code; times in nanoseconds."""

    def __init__(self, doc):
        self.doc, self.rows = doc, doc['rows']
        self.scale = {c['name']: 1000 if c.get('unit') == 'us' else 1 for c in doc['columns']}

    def value(self, row, column):
        return number(row.get(column)) * self.scale.get(column, 1)

    def total(self, metric):
        return number(self.doc['total'].get(metric)) * (1000 if metric.endswith('micros') else 1)

    def own(self, metric):
        """Returns {path: own number}."""
        out = collections.Counter()
        for r in self.rows:
            out[r['path']] += self.value(r, 'own_' + metric)
        return out

    @property
    def steps(self):
        return self.doc['steps']['used'] or [None]


def parse(text):
    return json.loads(text, parse_float=Decimal)


class Input:
    """A file and the program's answers about it. Each process answers many commands."""
    seen = {}

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        self.made = tempfile.mkdtemp(dir=SCRATCH)
        self._views = self._tables = self._steps = None

    @classmethod
    def of(cls, path):
        return cls.seen.setdefault(path, cls(path)) if path not in cls.seen else cls.seen[path]

    def ask(self, *lines):
        """Runs a script; the answers are files in self.made. Returns standard error."""
        p = subprocess.run([PROGRAM, self.path, '-quiet'], input='\n'.join(lines).encode() + b'\n', capture_output=True, cwd=self.made)
        assert p.returncode in (0, 1), '%s: status %d: %s' % (self.name, p.returncode, p.stderr.decode()[-800:])
        return p.stderr.decode()

    def answer(self, name):
        """Returns the JSON text of that name, or None."""
        path = os.path.join(self.made, name)
        if not os.path.exists(path) or not os.path.getsize(path):
            return None
        with open(path) as f:
            return parse(f.read())

    def load(self):
        if self._views is not None:
            return
        lines = ['%s %s -output json:outfile=%s.json' % (v, ALL, v) for v in VIEWS]
        lines += ['%s -max_depth 1000000 -select micros -output %s:outfile=%s.%s' % (v, o, v, o) for v in VIEWS for o in ('folded', 'pprof')]
        lines += ['%s --top=0 -output json:outfile=%s.json' % (t, t) for t in ('devices', 'kernels', 'steps')]
        lines += ['summary -output json:outfile=summary.json', 'top -n 0 -output json:outfile=top.json']
        self.said = self.ask(*lines)
        self._views = {v: View(d) for v in VIEWS for d in [self.answer(v + '.json')] if d and d['rows']}
        self._tables = {t: self.answer(t + '.json') for t in ('devices', 'kernels', 'steps', 'summary', 'top')}
        assert 'scope' in self._views and 'op' in self._views, '%s: no views: %s' % (self.name, self.said)

    @property
    def views(self):
        """Returns {name: View} of the views that have an answer."""
        self.load()
        return self._views

    @property
    def tables(self):
        self.load()
        return self._tables

    @property
    def single(self):
        """Returns {step: View of scope}."""
        if self._steps is None:
            steps = self.views['scope'].steps
            self.ask(*['scope %s -step %d -output json:outfile=step_%d.json' % (ALL, s, s) for s in steps])
            self._steps = {s: View(self.answer('step_%d.json' % s)) for s in steps}
        return self._steps

    @property
    def truth(self):
        read = truth.of(self.path)
        if not read:
            raise Nothing('no other reader of this format')
        return read(self.path)

    @property
    def original(self):
        """True for a TensorFlow profile, in which averages are over the steps in which a node ran, and the code view contains
        only nodes with stacks."""
        return self.name.startswith('profile')

    Nothing = Nothing

    @property
    def program(self):
        return PROGRAM

    @property
    def truncated(self):
        """True if a note says that the file is truncated."""
        self.load()
        return 'truncated' in self.said or 'damaged' in self.said

    @property
    def is_trace(self):
        return self.tables['devices'] is not None


# ---- checks ----

def views(x):
    """Every view has the same totals; its rows add up to them; the time of both sides is their sum."""
    scope = x.views['scope']
    for name, view in x.views.items():
        left_out = re.search(r'([\d.]+) of [\d.]+ us have no call stack', x.said) if name == 'code' else None
        if left_out:
            near(view.total('micros') + 1000 * Fraction(left_out.group(1)), scope.total('micros'), 2000, 'code and what it leaves out')
        for m in [] if left_out or name == 'code' and x.original else NUMBERS:
            exact = 1000 if m == 'occurrence' else 1  # means of steps are not whole numbers
            near(exact * view.total(m), exact * scope.total(m), 1, '%s: total of %s' % (name, m))
            own = [v for v in view.own(m).values() if v]
            near(exact * sum(own), exact * view.total(m), len(own) + 1, '%s: sum of own %s' % (name, m))
        if not x.original:
            near(view.total('accelerator_micros') + view.total('cpu_micros'), view.total('micros'), 3, name + ': both sides')


def groupings(x):
    """Every way to group has the totals of the scopes, and its rows add up to them. (Annotations may have host time without ops.)"""
    if not x.is_trace:
        raise Nothing('no trace')
    scope = x.views['scope']
    x.ask(*['scope %s -by %s -output json:outfile=by_%s.json' % (ALL, by, by) for by in GROUPINGS])
    for by in GROUPINGS:
        doc = x.answer('by_%s.json' % by)
        for m in TIMES[1:] + ['float_ops', 'uncounted', 'kernels', 'bytes_accessed'] if doc else []:
            view = View(doc)
            if m != 'cpu_micros' or by != 'annotation':
                near(view.total(m), scope.total(m), 1, '-by %s: total of %s' % (by, m))
            own = [v for v in view.own(m).values() if v]
            near(sum(own), view.total(m), len(own) + 1, '-by %s: sum of own %s' % (by, m))


def unknown(x):
    """A number of float operations is null exactly where no part of it is known; calls that flops lists as uncounted exist."""
    for name, view in x.views.items():
        for r in view.rows:
            for side in ('own', 'total'):
                n, missing = r[side + '_float_ops'], r[side + '_uncounted']
                cases.equal(n is None, bool(missing) and not n, '%s: %s of %s' % (name, side, r['path']))
    p = subprocess.run([PROGRAM, 'flops', x.path, '-output', 'json'], capture_output=True)
    if p.returncode or 'uncounted' not in json.loads(p.stdout):
        raise Nothing('nothing is counted in it')
    # the cells of a ProfileProto have the numbers of its op log, including operations that tfprof does not count
    if json.loads(p.stdout)['uncounted'] and x.is_trace:
        assert x.views['scope'].total('uncounted') > 0, 'no cell shows what is not counted'


def float_operations(x):
    """flops, summary and scope have the same float operations: the numbers stated in the file, otherwise the numbers computed
    from the shapes."""
    p = subprocess.run([PROGRAM, 'flops', x.path, '--top=0', '-output', 'json'], capture_output=True)
    if p.returncode or 'ops' not in json.loads(p.stdout):
        raise Nothing('nothing is counted in it')
    flops, scope = json.loads(p.stdout), x.views['scope'].total('float_ops')
    cases.equal(sum(r['flops'] for r in flops['ops']), flops['flops'], 'sum of the ops')
    shown = sum(r['flops'] if r['stated_flops'] is None else r['stated_flops'] for r in flops['ops'])
    if not x.is_trace:  # an op log has numbers for some operations only
        shown = flops.get('stated_flops', flops['flops'])
    shown += flops.get('not_run_flops', 0)
    near(scope * flops['steps'], shown, 2 * flops['steps'] * len(flops['ops']), 'float operations of %d steps' % flops['steps'])
    near(number(x.tables['summary']['float_ops']), scope, 1, 'float operations in summary')


def flops_of(view, op):
    """Returns the float operations of the nodes of an op."""
    return sum(v for path, v in view.own('float_ops').items() if path.rsplit('/', 1)[-1] == op)


def raw(x):
    """Totals times the number of steps are the device time, the host time and the float operations in the file."""
    sums, scope = x.truth, x.views['scope']
    n, all_ = len(scope.steps), x.tables
    inside = [v for k, v in sums.items() if k is not None]
    near(scope.total('accelerator_micros') * n, sum(v.device for v in inside), n, 'device time of %d steps' % n)
    if all(v.host is not None for v in inside):
        near(scope.total('cpu_micros') * n, sum(v.host for v in inside), n, 'host time of %d steps' % n)
    if any(v.flops for v in inside):
        near(scope.total('float_ops') * n, sum(v.flops for v in inside), n, 'float operations of %d steps' % n)
    for op in {op for v in inside for op in v.flops_of}:
        near(flops_of(scope, op) * n, sum(v.flops_of[op] for v in inside), n, 'float operations of %s' % op)
    if all_['kernels'] and sum(v.work for v in sums.values()):
        rows = all_['kernels']['kernels']
        near(sum(r['total_ns'] for r in rows), sum(v.device for v in sums.values()), 2 * len(rows), 'kernels')  # cut to nanoseconds
        cases.equal(sum(r['count'] for r in rows), sum(v.work for v in sums.values()), 'number of kernels')


def raw_steps(x):
    """Each single step has the times that the file contains for it."""
    sums, single = x.truth, x.single
    if len(single) != len([k for k in sums if k is not None]):
        raise Nothing('its steps have no line of their own')
    for (step, view), (_, s) in zip(sorted(single.items()), sorted((k, v) for k, v in sums.items() if k is not None)):
        near(view.total('accelerator_micros'), s.device, 1, 'device time of step %s' % step)
        if s.host is not None:
            near(view.total('cpu_micros'), s.host, 1, 'host time of step %s' % step)
        if s.flops:
            near(view.total('float_ops'), s.flops, 0, 'float operations of step %s' % step)
        for op, n in s.flops_of.items():
            near(flops_of(view, op), n, 0, 'float operations of %s in step %s' % (op, step))


def steps(x):
    """The answers of the single steps, added up and divided by their number, are the answer of all steps, node by node."""
    scope, n = x.views['scope'], len(x.views['scope'].steps)
    if n < 2 or x.original:
        raise Nothing('one step')
    for m in NUMBERS:
        sums = collections.Counter()
        for view in x.single.values():
            for path, v in view.own(m).items():
                sums[path] += v
        for path, v in scope.own(m).items():
            near(v * n, sums[path], 2 * n, '%s of %s over %d steps' % (m, path, n))
        near(scope.total(m) * n, sum(v.total(m) for v in x.single.values()), 2 * n, 'total of %s over %d steps' % (m, n))


def same_steps(x):
    """The table of steps has the steps of the views. For recordings, they have two sources: the records, and the trace made
    from them."""
    if not x.tables['steps']:
        raise Nothing('it has no table of steps')
    cases.equal(sorted(s['step'] for s in x.tables['steps']['steps']), sorted(s or 0 for s in x.views['scope'].steps), 'steps')


def tables(x):
    """devices, kernels, summary and top have the totals of the views."""
    scope, t = x.views['scope'], x.tables
    if t['top']:
        # For a trace, device time and host time each have a total; the rows are sorted by one of them.
        top, rows = t['top'], t['top']['nodes']
        totals = {top['metric']: top['total'], **{k[6:]: v for k, v in top.items() if k.startswith('total_')}}
        cases.equal(set(totals) - {'accelerator_micros', 'self_micros'}, set() if t['summary']['step_time'] else {'micros'}, 'top: metrics')
        for m, total in totals.items():
            whole = scope.total(m.replace('self', 'cpu'))
            near(number(total) * 1000, whole, 1, 'top: total of ' + m)
            near(sum(number(r['own_' + m]) for r in rows) * 1000, whole, len(rows) + 1, 'top: sum of the rows of ' + m)
        key = [tuple(number(r['own_' + m]) for m in totals) for r in rows]
        cases.equal(key, sorted(key, reverse=True), 'top: order')
    if t['summary']:
        s = t['summary']
        near(number(s['device_op_micros']) * 1000, scope.total('accelerator_micros'), 1, 'summary: device time')
        near(number(s['host_op_micros']) * 1000, scope.total('cpu_micros'), 1, 'summary: host time')
    if t['devices'] and t['kernels']:
        by = collections.Counter()
        for r in t['kernels']['kernels']:
            by[r['device']] += r['total_ns']
        cases.equal({r['device'] for r in t['devices']['devices'] if r['sum_ns']}, {k for k, v in by.items() if v}, 'devices')
        for r in t['devices']['devices']:
            near(by[r['device']], r['sum_ns'], len(t['kernels']['kernels']) + 1, 'kernels of ' + r['device'])
            parts = [r[k] for k in ('compute_busy_ns', 'exposed_communication_ns', 'exposed_copy_ns')]
            cases.equal([r['busy_ns'] + r['idle_ns'], sum(parts) + r['idle_ns']], [r['window_ns']] * 2, 'window of ' + r['device'])
            assert r['busy_ns'] <= r['sum_ns'] or not r['sum_ns'], r


def samples_of(path):
    """Returns (sum of the values in nanoseconds, number of samples) of a pprof file."""
    with open(path, 'rb') as f:
        top = fields(gzip.decompress(f.read()))
    texts = [v.decode() for f, v in top if f == 6]
    scales = [UNITS.get(texts[truth.first(fields(v), 2)]) for f, v in top if f == 1]
    at = next(i for i, s in enumerate(scales) if s)
    values = [packed(fields(v), 2)[at] for f, v in top if f == 2]
    return sum(values) * scales[at], len(values)


def exports(x):
    """Folded stacks and pprof files of every view add up to its total. (In pprof, the original omits the own time of inner lines.)"""
    for name, view in x.views.items():
        total = view.total('micros')
        path = os.path.join(x.made, name + '.pprof')
        if os.path.exists(path):
            found, n = samples_of(path)
            inner = {r['parent'] for r in view.rows} if name == 'code' and x.original else set()
            omitted = sum(own for row, own in view.own('micros').items() if row in inner)
            near(found, total - omitted, n + 1, 'pprof of %s' % name)
        path = os.path.join(x.made, name + '.folded')
        if os.path.exists(path):
            with open(path) as f:
                rows = [Fraction(line.rpartition(' ')[2]) for line in f.read().splitlines()]
            # Folded stacks state no unit: values are microseconds or nanoseconds.
            scale = min((1, 1000), key=lambda s: abs(sum(rows) * s - total))
            near(sum(rows) * scale, total, len(rows) + 1, 'folded stacks of %s' % name)
        else:
            assert not total, 'no folded stacks of ' + name
    if 'code' in x.views and (ARGS.realdata or x.name == 'stacks.pt.trace.json'):
        found = top_total(os.path.join(x.made, 'code.pprof'), x.made)
        if found is not None:
            near(found, x.views['code'].total('micros'), 1000, 'go tool pprof -top of code')


def top_total(path, folder):
    """Returns the total that `go tool pprof -top` prints, in nanoseconds, exact to the microsecond; None without Go."""
    go = shutil.which('go') or next(filter(os.path.exists, ['/usr/local/go/bin/go']), None)
    if not go:
        return None
    home = {} if os.access(os.environ.get('HOME', ''), os.W_OK) else {'HOME': folder, 'GOCACHE': os.path.join(folder, 'go')}
    p = subprocess.run([go, 'tool', 'pprof', '-top', '-nodecount=1', '-unit=microseconds', path], capture_output=True,
                       env=dict(os.environ, PPROF_TMPDIR=folder, **home))
    assert p.returncode == 0, p.stderr.decode()
    return Fraction(re.search(r' of (-?[0-9.]+)\w* total', p.stdout.decode()).group(1)) * 1000


def column(doc, name):
    """Returns the values of a column in a document with parallel arrays, which have four forms (docs/schema/arrays.json)."""
    packed_as = doc['arrays'][[c['name'] for c in doc['columns']].index(name)]
    if isinstance(packed_as, list):
        return packed_as
    if not isinstance(packed_as, dict):
        return [packed_as] * doc['count']
    if 'base' in packed_as:
        values, row = list(column(doc, doc['columns'][packed_as['base']]['name'])), 0
        for step, v in zip(packed_as['rows'], packed_as['values']):
            row += step
            values[row] = v
        return values
    values, at = [], 0
    for step in packed_as['steps']:
        at += step or 0
        values.append(None if step is None else at)
    return values


def page(x):
    """The documents in the page have the totals of the commands, and their rows add up."""
    p = subprocess.run([PROGRAM, 'report', x.path, '-o', 'r.html'], capture_output=True, cwd=x.made)
    if b'without' in p.stderr and p.returncode == 1:
        raise cases.Skip('built without the page')
    assert p.returncode == 0, p.stderr
    with open(os.path.join(x.made, 'r.html')) as f:
        text = re.search(r'<script id="data"[^>]*>\s*([A-Za-z0-9+/=\s]+)</script>', f.read()).group(1)
    found = {d['name']: d['document'] for d in parse(gzip.decompress(base64.b64decode(text)))['documents']}
    for name, view in x.views.items():
        if name not in found:
            continue
        doc = found[name]
        for m in TIMES + ['float_ops', 'kernels']:
            if m in doc['total']:
                near(number(doc['total'][m]), number(view.doc['total'][m]), 0, 'page: %s: total of %s' % (name, m))
        for m in TIMES:
            values = [number(v) for v in column(doc, 'own_' + m) if v]
            near(sum(values) * 1000, view.total(m), len(values) + 1, 'page: %s: own %s' % (name, m))
    for name in ('devices', 'kernels', 'steps'):
        if name in found and x.tables[name]:
            cases.equal(found[name].get(name), x.tables[name][name], 'page: ' + name)


# ---- Python and Arrow ----

class ArrowArray(ctypes.Structure):
    pass


ArrowArray._fields_ = [('length', ctypes.c_int64), ('null_count', ctypes.c_int64), ('offset', ctypes.c_int64), ('n_buffers', ctypes.c_int64),
                       ('n_children', ctypes.c_int64), ('buffers', ctypes.POINTER(ctypes.c_void_p)),
                       ('children', ctypes.POINTER(ctypes.POINTER(ArrowArray))), ('dictionary', ctypes.POINTER(ArrowArray)),
                       ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))), ('private_data', ctypes.c_void_p)]


class ArrowSchema(ctypes.Structure):
    pass


ArrowSchema._fields_ = [('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', ctypes.c_void_p), ('flags', ctypes.c_int64),
                        ('n_children', ctypes.c_int64), ('children', ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
                        ('dictionary', ctypes.c_void_p), ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))),
                        ('private_data', ctypes.c_void_p)]


class ArrowStream(ctypes.Structure):
    _fields_ = [('get_schema', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ArrowSchema))),
                ('get_next', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ArrowArray))),
                ('get_last_error', ctypes.c_void_p), ('release', ctypes.c_void_p), ('private_data', ctypes.c_void_p)]


FORMATS = {b'i': 'text', b'l': 'int64', b'g': 'float64'}  # formats of columns in Arrow's C interface; texts are dictionaries


def cells(array, kind):
    """Returns the values of a column of a batch, by the format in its schema; None where null."""
    n, at = array.length, array.offset
    bits = ctypes.cast(array.buffers[0], ctypes.POINTER(ctypes.c_uint8)) if array.buffers[0] else None
    there = [not bits or bits[(at + i) // 8] >> (at + i) % 8 & 1 for i in range(n)]
    values = ctypes.cast(array.buffers[1], ctypes.POINTER({b'i': ctypes.c_int32, b'l': ctypes.c_int64, b'g': ctypes.c_double}[kind]))
    if kind != b'i':
        return [values[at + i] if there[i] else None for i in range(n)]
    d = array.dictionary.contents
    offsets = ctypes.cast(d.buffers[1], ctypes.POINTER(ctypes.c_int32))
    texts = [ctypes.string_at(d.buffers[2] + offsets[i], offsets[i + 1] - offsets[i]).decode() for i in range(d.length)]
    return [texts[values[at + i]] if there[i] else None for i in range(n)]


def arrow_rows(table, types):
    """Returns the rows of an Arrow stream as dictionaries. The columns must have the types in the package's schemas."""
    capsule = table.__arrow_c_stream__()
    api = ctypes.PyDLL(None)
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, b'arrow_array_stream')
    stream, schema, out = ArrowStream.from_address(address), ArrowSchema(), []
    assert stream.get_schema(address, ctypes.byref(schema)) == 0
    columns = [(schema.children[i].contents.name.decode(), schema.children[i].contents.format) for i in range(schema.n_children)]
    schema.release(ctypes.byref(schema))
    cases.equal([(name, FORMATS[kind]) for name, kind in columns], types, 'columns of the stream and of schemas()')
    while True:
        batch = ArrowArray()
        assert stream.get_next(address, ctypes.byref(batch)) == 0
        if not batch.release:
            return out
        found = {name: cells(batch.children[i].contents, kind) for i, (name, kind) in enumerate(columns)}
        out += [dict(zip(found, row)) for row in zip(*found.values())]
        batch.release(ctypes.byref(batch))


def tfprof():
    """Returns the Python package, using the built library."""
    os.environ['TFPROF_LIBRARY'] = os.path.join(BIN, 'libtfprof.so')
    sys.path.insert(0, os.path.join(cases.ROOT, 'python'))
    import tfprof
    return tfprof


def python(x):
    """Documents, records and trees of Python have the totals of the program."""
    profile = tfprof().open(x.path)
    for name, view in x.views.items():
        doc = profile.document(name, max_depth=1000000, select=TIMES + COUNTS)
        for m in NUMBERS:
            found, expected = Fraction(str(doc['total'].get(m) or 0)), number(view.doc['total'].get(m))
            near(found, expected, Fraction(1, 1000) if m in TIMES else 0, 'document of %s: total of %s' % (name, m))
        tree = getattr(profile, name)(max_depth=1000000)
        for m in TIMES:
            rows = tree.children if name == 'op' else [r for _, r in tree.walk()]
            own = [Fraction(str(getattr(r.own, m))) * 1000 for r in rows]
            near(sum(own), view.total(m), 1000 * len(own) + 1, 'Python tree of %s: own %s' % (name, m))  # whole microseconds


def arrow(x):
    """The Arrow tables of nodes, steps, kernels, devices and slices have the totals of the commands."""
    if x.original:
        raise Nothing('other averages')
    profile, scope = tfprof().open(x.path), x.views['scope']
    types = {s.table: [(c.name, c.type) for c in s.columns] for s in tfprof().schemas()}
    rows = {t: arrow_rows(profile.table(t), types[t]) for t in ('nodes', 'steps', 'kernels', 'devices', 'slices')}
    n = len(scope.steps)

    def time(row, column):
        """Returns a time of a row in nanoseconds, whatever its unit."""
        return row[column + '_ns'] or 0 if column + '_ns' in row else 1000 * Fraction(str(row[column + '_us'] or 0))
    for column, m in (('self', 'micros'), ('self_accelerator', 'accelerator_micros'), ('self_cpu', 'cpu_micros')):
        values = [time(r, column) for r in rows['nodes']]
        near(sum(values), scope.total(m) * n, len([v for v in values if v]) + n, 'table nodes: ' + column)
    for column, m in (('accelerator', 'accelerator_micros'), ('cpu', 'cpu_micros')):
        near(sum(time(r, column) for r in rows['steps']), scope.total(m) * n, 2 * n, 'table steps: ' + column)
    for m in ('float_ops', 'uncounted'):
        near(sum(r['self_' + m] or 0 for r in rows['nodes']), scope.total(m) * n, n, 'table nodes: ' + m)
    if x.tables['kernels']:
        kernels = [sum(r['total_ns'] for r in table) for table in (rows['kernels'], x.tables['kernels']['kernels'])]
        cases.equal(*kernels, 'table kernels')
        keys = ('device', 'window_ns', 'span_ns', 'busy_ns', 'idle_ns', 'slices', 'host_late_ns', 'after_last_ns')
        same = [[[r[k] for k in keys] for r in table] for table in (rows['devices'], x.tables['devices']['devices'])]
        cases.equal(*same, 'table devices')
        work = sum(r['duration_ns'] for r in rows['slices'] if r['device'] is not None and not r['derived'] and r['category'] in
                   ('kernel', 'copy', 'set', 'communication', 'op'))
        near(work, sum(r['sum_ns'] for r in x.tables['devices']['devices']), len(rows['slices']), 'table slices')


# ---- an input compared with itself, compressed, converted, saved ----

EVERYTHING = '-select micros,accelerator_micros,occurrence --delta 0% --min_size 0 -output json'


def differences(doc):
    return [r for r in doc['rows'] if any(r.get(k) for k in r if k.startswith('difference_'))]


def itself(x):
    """Compared with itself, with its baseline and with its compressed copy, no input has a difference."""
    with open(x.path, 'rb') as f:
        content = f.read()
    other = os.path.join(x.made, 'again.' + x.name.removesuffix('.gz') + '.gz')
    with open(other, 'wb') as f:
        f.write(content if x.name.endswith('.gz') else gzip.compress(content, 1))
    captures = os.path.join(os.path.dirname(x.path), 'capture_traces')
    if os.path.isdir(captures) and not os.path.exists(os.path.join(x.made, 'capture_traces')):
        os.symlink(captures, os.path.join(x.made, 'capture_traces'))
    sides = [x.path] if x.name.endswith('.tfspool') else [x.path, other]
    p = subprocess.run([PROGRAM, 'baseline', 'save', 'kept', x.path], capture_output=True, cwd=x.made)
    assert p.returncode == 0, p.stderr
    for side in sides + ['baseline:kept']:
        p = subprocess.run([PROGRAM, 'diff', side, x.path, *EVERYTHING.split(), '-quiet'], capture_output=True, cwd=x.made)
        assert p.returncode == 0, p.stderr
        doc = parse(p.stdout)
        cases.equal(differences(doc), [], 'differences from %s' % side)


def idle(x):
    """The places of idle time add up to its causes, these to the idle time of each device; devices has the same places."""
    if not x.is_trace:
        raise Nothing('no trace')
    x.ask('idle -output json:outfile=idle.json')
    doc, devices = x.answer('idle.json'), x.tables['devices']
    if doc is None:
        raise Nothing('several traces')
    for d in doc['devices']:
        for c in d['causes']:
            cases.equal(sum(p['ns'] for p in c['places']), c['ns'], 'places of %s on %s' % (c['cause'], d['device']))
        cases.equal(sum(c['ns'] for c in d['causes']), d['idle_ns'], 'causes of ' + d['device'])
    cases.equal([(d['window_ns'], d['idle_ns']) for d in doc['devices']], [(r['window_ns'], r['idle_ns']) for r in devices['devices']], 'idle time')
    if devices.get('idle_places'):
        found = sorted((p['cause'], p['kind'], p['name'], p['waits_for'] or '', p['ns']) for p in devices['idle_places'])
        cases.equal(found, sorted((c['cause'], p['kind'], p['name'], p.get('waits_for', ''), p['ns'])
                                  for d in doc['devices'] for c in d['causes'] for p in c['places']), 'places')


def path(x):
    """The segments of each step's critical path cover it without gaps; the times of nodes on the path, and the time outside of
    nodes, add up to it."""
    if not x.is_trace or not x.tables['steps']:
        raise Nothing('no trace')
    metric, steps = 'critical_micros', x.views['scope'].steps
    lines = ['%s -max_depth 1000000 -order_by name -select %s -output json:outfile=path_%s.json' % (v, metric, v) for v in ('scope', 'op', 'code')]
    for s in steps:
        one = '-step %d' % s if len(x.tables['steps']['steps']) > 1 else ''
        lines += ['critical %s -output json:outfile=path_%d.json' % (one, s), 'scope -max_depth 1000000 %s -select %s -output json:outfile=on_%d.json' % (one, metric, s)]
    x.ask(*lines)
    windows = 0
    for s in steps:
        doc, view = x.answer('path_%d.json' % s), View(x.answer('on_%d.json' % s))
        if doc is None:
            raise Nothing('several traces')
        at = doc['from_ns']
        for part in doc['segments']:
            cases.equal(part['start_ns'], at, 'start of a segment')
            at += part['duration_ns']
        cases.equal(at, doc['from_ns'] + doc['window_ns'], 'end of the path of step %d' % s)
        near(sum(k['ns'] for k in doc['kinds']), doc['window_ns'], 2 * len(doc['kinds']), 'kinds of step %d' % s)
        near(view.total(metric), doc['window_ns'], 2, 'path of step %d' % s)
        own = [v for v in view.own(metric).values() if v]
        near(sum(own), view.total(metric), len(own) + 1, 'nodes on the path of step %d' % s)
        nowhere = sum(part['duration_ns'] for part in doc['segments'] if part['slice'] is None)
        texts = {'(%s)' % k['text'] for k in doc['kinds']}
        unnamed = sum(v for name, v in view.own(metric).items() if name in texts)
        assert unnamed >= nowhere - len(doc['segments']), '%d ns in no node, %d in no slice' % (unnamed, nowhere)
        windows += view.total(metric)
    scope, op = (View(x.answer('path_%s.json' % v)) for v in ('scope', 'op'))
    near(scope.total(metric) * len(steps), windows, 2 * len(steps), 'paths of all steps')
    near(op.total(metric), scope.total(metric), 1, 'op: total of ' + metric)
    near(sum(op.own(metric).values()), op.total(metric), len(op.rows) + 1, 'op: sum of own ' + metric)
    code = x.answer('path_code.json')
    assert not code or View(code).total(metric) <= scope.total(metric) + 1, 'code: %s of %s' % (View(code).total(metric), scope.total(metric))


def step_time(x):
    """why, what-if, critical, summary, steps and gates have one step time, and the parts of each device add up to it. Without marks it
    is the length of the whole trace. Steps without device work do not count, unless no step has any."""
    walls = (x.tables['summary'] or {}).get('step_time', [])
    if not x.is_trace or len(walls) != 1 or not x.tables['steps']:
        raise Nothing('no trace, or several')
    wall, rows = walls[0], x.tables['steps']['steps']
    words = {'why': '', 'what-if': 'host*1', 'critical': '-step %d' % rows[0]['step'] if wall['marked'] else ''}
    x.ask(*['%s %s -output json:outfile=wall_%s.json' % (command, words[command], command) for command in words])
    found = {command: x.answer('wall_%s.json' % command) for command in words}
    working = [r['duration_ns'] for r in rows if r['busy_ns']]
    counted = working if wall['marked'] and 0 < len(working) < len(rows) else [r['duration_ns'] for r in rows]
    cases.equal((wall['steps'], wall['steps_left_out']), (len(counted), len(rows) - len(counted)), 'number of steps')
    near(wall['mean_ns'], sum(counted) // len(counted), 2, 'mean of the steps')
    cases.equal((wall['min_ns'], wall['max_ns']), (min(counted), max(counted)), 'shortest and longest step')
    steps = x.tables['summary']['steps']
    cases.equal((steps['marked'], steps['slowest_ns']), (wall['marked'], max(counted)), 'steps of summary')
    cases.equal({c: doc['step_ns'] for c, doc in found.items() if doc},
                {c: rows[0]['duration_ns'] if c == 'critical' else wall['mean_ns'] for c, doc in found.items() if doc}, 'step time')
    for r in x.tables['steps']['step_time'] + x.tables['devices'].get('step_time', []):
        parts = sum(r[k] for k in ('compute_ns', 'exposed_communication_ns', 'exposed_copy_ns', 'idle_ns'))
        cases.equal((r['steps'], r['steps_left_out'], r['step_ns'], parts),
                    (wall['steps'], wall['steps_left_out'], wall['mean_ns'], wall['mean_ns']), 'step time of ' + r['device'])
    for d in x.tables['summary']['devices']:
        assert 'step' not in d or d['step']['step_ns'] == wall['mean_ns'], (d, wall)


RANKS = ('slowest', 'median', 'fastest')


def first_time(text, begins):
    """Returns the time after a text, and one unit of its last digit; ns."""
    found = re.search(begins + r'(\d+)(?:\.(\d+))?(ns|us|ms|s)\b', text)
    unit = {'ns': 1, 'us': 1000, 'ms': 10**6, 's': 10**9}[found[3]]
    digits = len(found[2] or '')
    return Fraction(int(found[1] + (found[2] or '')) * unit, 10**digits), Fraction(unit, 10**digits)


def ranked_profile_steps(x):
    """Checks the ranks of the steps of a file without a trace, and the report of advise."""
    rows = x.tables['steps']['steps'] if x.tables['steps'] else []
    if x.is_trace or len(rows) < 2 or any('duration_ns' not in r for r in rows):
        raise Nothing('no steps, or several traces')
    x.ask(*['steps -step %s -output json:outfile=%s_steps.json' % (rank, rank) for rank in RANKS], 'advise -output json:outfile=advise.json')
    times = sorted((r['duration_ns'] for r in rows), reverse=True)
    for rank, ns in zip(RANKS, (times[0], times[len(times) // 2], times[-1])):
        cases.equal([r['duration_ns'] for r in x.answer(rank + '_steps.json')['steps']], [ns], '%s step of steps' % rank)
    reports = json.dumps(x.answer('advise.json'), default=str)
    for begins, ns in ((r'slowest of %d steps: -?\d+, ' % len(rows), times[0]), (r'median: step -?\d+, ', times[len(times) // 2])):
        found, digit = first_time(reports, begins)
        assert abs(found - ns) <= digit, 'advise: %s%d, the step takes %d ns' % (begins, found, ns)


def ranked_steps(x):
    """The slowest, the median and the fastest step are the same steps in all answers, by their step time, which the text of
    critical and why begins with; critical without -step chooses the median."""
    walls, ranks = (x.tables['summary'] or {}).get('step_time', []), RANKS
    if not x.is_trace or len(walls) != 1 or not walls[0]['marked'] or not x.tables['steps']:
        return ranked_profile_steps(x)
    commands = {'steps': 'steps', 'critical': 'critical', 'why': 'why', 'what-if': 'what-if host*1'}
    lines = ['%s -step %s -output json:outfile=%s_%s.json' % (line, rank, rank, c) for rank in ranks for c, line in commands.items()]
    lines += ['%s -step %s -output file:outfile=%s_%s.txt' % (c, rank, rank, c) for rank in ranks for c in ('critical', 'why')]
    x.ask(*lines, 'critical -output json:outfile=default.json')
    times = [walls[0][k] for k in ('max_ns', 'median_ns', 'min_ns')]
    assert times == sorted(times, reverse=True), times
    for rank, ns in zip(ranks, times):
        steps, path, why, change = (x.answer('%s_%s.json' % (rank, c)) for c in commands)
        cases.equal([r['duration_ns'] for r in steps['steps']], [ns], '%s step of steps' % rank)
        cases.equal((path['step'], path['step_ns']), ('step %d' % steps['steps'][0]['step'], ns), '%s step of critical' % rank)
        cases.equal((why['step_ns'], change['step_ns']), (ns, ns), '%s step of why and what-if' % rank)
        for command in ('critical', 'why'):
            with open(os.path.join(x.made, '%s_%s.txt' % (rank, command))) as f:
                found, digit = first_time(' '.join(f.read().split()), r'step -?\d+: ')
            assert abs(found - ns) <= digit, '%s: %s begins with %d ns, the step takes %d ns' % (rank, command, found, ns)
    cases.equal(x.answer('default.json')['step_ns'], walls[0]['median_ns'], 'step of critical')


def timeline(x):
    """The timeline of a trace, when read again, has the same devices and kernels."""
    if not x.is_trace or not x.tables['devices']['devices']:
        raise Nothing('no devices')
    x.ask('scope -output timeline:outfile=t.json')
    path = next((p for p in glob.glob(os.path.join(x.made, 't.json*'))), None)
    assert path, 'no timeline'
    again = Input(path)
    keys = ('sum_ns', 'busy_ns', 'span_ns', 'slices')
    rows = [[sorted(tuple(r[k] for k in keys) for r in t.tables['devices']['devices'] if r['slices'])] for t in (again, x)]
    cases.equal(rows[0], rows[1], 'devices of the timeline')
    rows = [sorted((r['name'], r['count'], r['total_ns']) for r in t.tables['kernels']['kernels']) for t in (again, x)]
    cases.equal(rows[0], rows[1], 'kernels of the timeline')


def converted(x):
    """Converted into a TensorFlow profile, each step keeps its times, exact to a microsecond per node."""
    p = subprocess.run([PROGRAM, 'convert', x.path, '-output', 'profile:outfile=p.pb'], capture_output=True, cwd=x.made)
    assert p.returncode == 0, p.stderr
    again = Input(os.path.join(x.made, 'p.pb'))
    cases.equal(again.views['scope'].steps, x.views['scope'].steps, 'steps')
    for step, view in x.single.items():
        for m in ('accelerator_micros', 'cpu_micros'):
            own = [v for v in view.own(m).values() if v]
            near(again.single[step].total(m), view.total(m), 2000 * len(own) + 1, '%s of step %s' % (m, step))


CHECKS = [views, groupings, unknown, float_operations, raw, raw_steps, steps, same_steps, tables, exports, page, python, arrow, itself, idle, path, step_time, ranked_steps, timeline, converted, *words.CHECKS]


# ---- inputs ----

def inputs(folder):
    """Returns the paths of all inputs."""
    made = [os.path.join(folder, n) for n in samples.write_all(folder, os.path.join(BIN, 'spool_make')) if not n.endswith('.txt')]
    traces = sorted(glob.glob(os.path.join(cases.TESTDATA, 'traces', '*')))
    made.append(os.path.join(cases.TESTDATA, 'example', 'profile_100'))
    made.append(os.path.join(cases.TESTDATA, 'graphs', 'replay.pt.trace.json'))
    made.append(os.path.join(cases.TESTDATA, 'small', 'train.tfspool'))
    made += [p for p in traces if os.path.basename(p) not in ('README.md', 'calls.json', 'tensorrt_layers.json')]
    if ARGS.realdata:
        made = []
        for pattern in ('xplane/*.xplane.pb', 'kineto/*.json.gz', 'kineto_graphs/**/*.json.gz', 'nsys/*.sqlite', 'onnxruntime/*.json'):
            made += sorted(glob.glob(os.path.join(ARGS.realdata, pattern), recursive=True))
        made = [p for p in made if 'corrupt' not in p]
        return [p for p in made if built.has(PROGRAM, 'sqlite') or not p.endswith('.sqlite')]
    made.append(TEXTSUM)
    return [p for p in made if built.has(PROGRAM, 'sqlite') or not p.endswith('.sqlite')]


def outcome(check, path):
    """Returns 'passed', 'failed', 'skipped', or '' if there is nothing to compare. Prints the reason."""
    name = '%s:%s' % (check.__name__, os.path.basename(path))
    try:
        check(Input.of(path))
        return 'passed'
    except Nothing:
        return ''
    except cases.Skip as e:
        print('%s: skipped: %s' % (name, e))
        return 'skipped'
    except (AssertionError, subprocess.SubprocessError, OSError, ValueError) as e:
        print('%s: %s %s' % (name, check.__doc__, e))
    except (KeyError, TypeError, IndexError, StopIteration) as e:
        print('%s: an answer has another form: %r' % (name, e))
    return 'failed'


def main():
    global SCRATCH
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as SCRATCH:
        folder = os.path.join(SCRATCH, 'inputs')
        os.mkdir(folder)
        for path in inputs(folder):
            for check in CHECKS:
                if check is not float_operations and path == TEXTSUM:
                    continue
                if not ARGS.names or any(n in '%s:%s' % (check.__name__, os.path.basename(path)) for n in ARGS.names):
                    found[outcome(check, path)] += 1
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % collections.defaultdict(int, found))
    return 1 if found['failed'] or not found['passed'] else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default=os.path.join(cases.ROOT, 'build', 'check'), type=os.path.abspath)
    p.add_argument('--realdata', default='', type=lambda d: d and os.path.abspath(d))
    p.add_argument('names', nargs='*')
    ARGS = p.parse_args()
    BIN = ARGS.bin
    PROGRAM = os.path.join(BIN, 'tfprof')
    sys.exit(main())
