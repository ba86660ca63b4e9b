# SPDX-License-Identifier: Apache-2.0
"""Random profiles and commands from a seed, as plain lists and dictionaries, and their files.

A specification is {"nodes", "steps", "log"}; see make(). A specification stays valid if elements of any list in it are removed;
differences are reduced in this way.
"""
import copy
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'models'))
from wire import num, sub, varint  # noqa: E402

# ---- protobuf ----------------------------------------------------------------------------------


def shape(dims):
    """Returns a TensorShapeProto; None is a shape of unknown rank."""
    return num(3, 1) if dims is None else b''.join(sub(2, num(1, d)) for d in dims)


def attr(a, field=5):
    kind, value = a
    if kind == 'shape':
        key, body = 'shape', sub(7, shape(value))
    elif kind == 'outputs':
        key, body = '_output_shapes', sub(1, b''.join(sub(7, shape(d)) for d in value))
    elif kind == 'format':
        key, body = 'data_format', sub(2, value)
    else:  # a number under a key with another meaning
        key, body = value, num(3, 3)
    return sub(field, sub(1, key) + sub(2, body))


def node(n):
    return sub(1, sub(1, n['name']) + sub(2, n['op']) + b''.join(sub(3, i) for i in n['inputs'])
               + b''.join(attr(a) for a in n['attrs']))


def record(r):
    """Returns NodeExecStats; a key of r that is 0 or missing is not written."""
    out = sub(1, r['name'])
    for field, key in ((2, 'start'), (3, 'op_start'), (4, 'end'), (5, 'all_end')):
        if r.get(key):
            out += num(field, r[key])
    for name, total, peak, live, in_use, allocations in r['memory']:
        out += sub(6, sub(1, name) + num(2, total) + num(3, peak) + num(4, live) + num(5, in_use)
                   + b''.join(sub(6, num(1, t) + num(2, b)) for t, b in allocations))
    for slot, requested, allocated, ptr in r['outputs']:
        out += sub(7, num(1, slot) + sub(3, sub(4, num(1, requested) + num(2, allocated) + num(6, ptr))))
    if r.get('persistent') or r.get('temp'):
        out += sub(12, num(1, r.get('temp', 0)) + num(3, r.get('persistent', 0)))
    return out


def step(devices):
    return sub(1, b''.join(sub(1, sub(1, d['device']) + b''.join(sub(2, record(r)) for r in d['records']))
                           for d in devices))


def code(traces):
    """Encodes a CodeDef."""
    return b''.join(sub(1, num(2, line) + num(5, start) + num(6, f) + num(7, fn) + num(8, source))
                    for f, fn, source, line, start in traces)


def log(spec):
    out = b''
    for e in spec['entries']:
        body = sub(1, e['name']) + b''.join(sub(3, t) for t in e['types'])
        if e['float_ops']:
            body += num(2, e['float_ops'])
        if e['code'] is not None:
            body += sub(4, code(e['code']))
        out += sub(1, body)
    return out + b''.join(sub(2, num(1, k) + sub(2, v)) for k, v in spec['strings'])


def tuple_of(numbers):
    return sub(1, b''.join(map(varint, numbers)))


def profile_exec(x):
    """Encodes an ExecProfile."""
    out = num(1, x['runs']) + num(2, x['start']) + num(3, x['end'])
    for field, key in ((4, 'accelerator'), (5, 'cpu')):
        for device, times in x[key]:
            if not times:  # see make_times; lists get shorter when a difference is reduced
                continue
            out += sub(field, sub(1, device) + sub(2, b''.join(sub(1, tuple_of(t)) for t in times)))
    out += b''.join(sub(6, d) for d in x['devices'])
    for m in x['memory']:
        out += sub(7, b''.join(num(i + 1, v) for i, v in enumerate(m['numbers'])) + b''.join(
            sub(11, num(1, slot) + sub(2, num(1, size) + num(2, ptr))) for slot, size, ptr in m['outputs']))
    return out + b''.join(sub(11, num(1, t) + num(2, n)) for t, n in x['allocations'])


def profile_node(n):
    out = sub(1, n['name']) + sub(9, n['op']) + num(13, n['id']) + num(8, n['float_ops'])
    out += b''.join(sub(2, num(1, i) + num(2, source)) for i, source in n['inputs'])
    out += sub(4, b''.join(map(varint, n['shape']))) + b''.join(sub(5, t) for t in n['types'])
    out += sub(6, n['device']) + sub(7, n['host']) + b''.join(attr(a, 11) for a in n['attrs'])
    if n['code'] is not None:
        out += sub(10, code(n['code']))
    out += b''.join(sub(12, num(1, k) + sub(2, profile_exec(x))) for k, x in n['execs'])
    out += b''.join(sub(14, num(1, source) + num(2, slot)) for source, slot in n['sources'])
    out += b''.join(sub(15, num(1, slot) + sub(2, tuple_of(d))) for slot, d in n['outputs'])
    return sub(1, num(1, n['id']) + sub(2, out))


def profile(p):
    """A ProfileProto. Steps with records are always in the list of steps; otherwise the original counts them in averages but
    reports them as missing."""
    steps = sorted(set(p['steps']) | {k for n in p['nodes'] for k, _ in n['execs']})
    known = {n['id'] for n in p['nodes']}  # the original crashes if an input has no node
    nodes = [dict(n, inputs=[i for i in n['inputs'] if i[1] in known],
                  sources=[i for i in n['sources'] if i[0] in known]) for n in p['nodes']]
    return (b''.join(map(profile_node, nodes)) + num(2, p['traces']) + b''.join(num(3, k) for k in steps)
            + b''.join(sub(4, num(1, k) + sub(2, v)) for k, v in p['strings']) + num(5, p['misses']))


def write(spec, where):
    """Writes the files of a specification; returns how to load them."""
    def put(name, body):
        path = os.path.join(where, name)
        with open(path, 'wb') as f:
            f.write(body)
        return path
    if 'profile' in spec:
        return {'profile': put('profile.pb', profile(spec['profile']))}
    load = {'graph': put('graph.pb', b''.join(map(node, spec['nodes']))) if spec['nodes'] else None,
            'steps': [put('run_meta_%d.pb' % i, step(s)) for i, s in enumerate(spec['steps'])],
            'log': put('op_log.pb', log(spec['log'])) if spec['log']['entries'] else None}
    return load


# ---- inputs from a seed ------------------------------------------------------------------------

PARTS = ['a', 'b', 'c', 'layer', 'conv_1', 'gradients', 'x_grad', 'a_grad', 'BatchNorm', 'w', 'MatMul']
ODD = ['', ' ', 'sp ace', "q'uote", 'dq"', 'b\\s', 'a%sb', 'a%', '\u00e9', '\u4e2d\u6587', '\U0001f600', 'x' * 70,
       'a\tb', 'line\nbreak', '\x01', 'a.b+c*(d)', '[x]', '{y}', '_TFProfRoot', '-', 'A', 'RecvTensor', '_SOURCE']
OPS = ['Const', 'MatMul', 'Conv2D', 'Add', 'VariableV2', 'Identity', 'NoOp', 'FusedBatchNorm', 'Placeholder']
ODD_OPS = ['', 'With Space', '\u00e9op', 'O' * 40, 'gpu', 'a|b', '_TFProfRoot', '_kTFScopeParent', '_TFGraphParent']
DEVICES = ['/job:localhost/replica:0/task:0/device:GPU:0', '/job:localhost/replica:0/task:0/device:GPU:1',
           '/job:localhost/replica:0/task:0/device:CPU:0', '/device:GPU:0/stream:all', '/gpu:0', '/cpu:0',
           '/job:localhost/replica:0/task:0/device:GPU:0/stream:all', '/gpu:0/stream:all', '/gpu:1/stream:all',
           '/gpu:0/stream:14', '/gpu:0/memcpy', '/device:TPU:0', '/host:CPU', '/device:XLA_GPU:0', '',
           '/job:w/task:1/gpu:12', '/Cpu:1', 'cpu:0', '/odd"dev\n/cpu:0', '/d\u00e9/gpu:3']
SELECT = ['bytes', 'peak_bytes', 'residual_bytes', 'output_bytes', 'micros', 'accelerator_micros', 'cpu_micros',
          'params', 'float_ops', 'occurrence', 'device', 'op_types', 'input_shapes']
ORDER = ['name', 'bytes', 'peak_bytes', 'residual_bytes', 'output_bytes', 'micros', 'accelerator_micros',
         'cpu_micros', 'params', 'float_ops', 'occurrence', '', 'depth']
MIN = ['min_bytes', 'min_peak_bytes', 'min_residual_bytes', 'min_output_bytes', 'min_micros',
       'min_accelerator_micros', 'min_cpu_micros', 'min_params', 'min_float_ops', 'min_occurrence']
FILES = ['train.py', '/usr/lib/python3/site-packages/net.v2.py', 'a/b/', 'h\u00e9.py', '', 'x.py', '/x.py', '<stdin>']
FUNCTIONS = ['<module>', 'main', 'f' * 19, 'g' * 20, 'h' * 21, 'build', '\u00e9' * 9, '\u4e2d' * 7, 'f (gradient)', 'a b']
LIMIT = 1 << 52  # sums of such numbers do not overflow


class Random(random.Random):
    def chance(self, p):
        return self.random() < p

    def size(self):
        """Returns a number of bytes or microseconds: mostly small, sometimes extreme."""
        return self.choice([0, 1, 2, 7, 99, 999, 1000, 1001, 12345, 999999, 1000000, self.randrange(10 ** 7),
                            self.randrange(10 ** 10), self.randrange(3000), self.randrange(3000),
                            -1, -5000, LIMIT - 1] if self.chance(.3) else [self.randrange(200), self.randrange(5000)])


def make_name(r, names):
    if names and r.chance(.25):
        return r.choice(names) + '/' + r.choice(PARTS)
    parts = [r.choice(ODD) if r.chance(.07) else r.choice(PARTS) for _ in range(r.randrange(1, 5))]
    name = '/'.join(parts) + (str(r.randrange(30)) if r.chance(.7) else '')
    if r.chance(.05):
        name = 'gradients/%s_grad/%s' % (r.choice(names or ['a']), r.choice(PARTS))
    return name if r.chance(.02) else name.lstrip('/')  # a name that begins with '/' crashes the original


def make_dims(r):
    return None if r.chance(.08) else [r.choice([1, 2, 3, 7, 64, 0, -1, 1 << 20]) for _ in range(r.randrange(4))]


def make_nodes(r):
    nodes, names = [], []
    many = r.choice([0, 1, 2, 5, 10, 20, 30, 50, 50, 1500]) if r.chance(.1) else r.choice([2, 5, 10, 20, 30])
    for _ in range(many):
        names.append(r.choice(names) if names and r.chance(.02) else make_name(r, names))
    for i, name in enumerate(names):
        attrs = []
        if r.chance(.35):
            attrs.append(['shape', make_dims(r)])
        if r.chance(.5):
            attrs.append(['outputs', [make_dims(r) for _ in range(r.randrange(3))]])
        if r.chance(.15):
            attrs.append(['format', r.choice(['NHWC', 'NCHW', ''])])
        if r.chance(.1):
            attrs.append(['number', r.choice(['T', 'shape', '_output_shapes', 'data_format'])])
        sources = names if r.chance(.1) else names[:i] or names  # backward edges make cycles
        edges = []
        for _ in range(r.choice([0, 1, 1, 2, 2, 3, 6])):
            source = r.choice(sources)
            edges.append(r.choice([source, source, source, source + ':1', source + ':0', '^' + source, 'unknown']))
        nodes.append({'name': name, 'op': r.choice(ODD_OPS) if r.chance(.06) else r.choice(OPS),
                      'inputs': edges, 'attrs': attrs})
    return nodes, names


def make_record(r, names, now):
    name = r.choice(names) if names and not r.chance(.1) else make_name(r, names)
    name += r.choice([':MatMul', ':0:x', ':', ' = MatMul(a, b)', 'MEMCPYHtoD']) if r.chance(.12) else ''
    x = {'name': name, 'start': now + r.randrange(1000), 'end': r.size(), 'memory': [], 'outputs': []}
    if r.chance(.06):
        x['start'] = r.choice([0, -1, 1, LIMIT])
    if r.chance(.3):
        x['op_start'], x['all_end'] = r.randrange(9), r.randrange(100)
    for _ in range(r.choice([0, 0, 1, 1, 2])):
        x['memory'].append([r.choice(['cpu', 'GPU_0_bfc', 'gpu_host_bfc', 'GPU_1_bfc']), r.size(), r.size(),
                            r.size(), r.size(), [[now + r.randrange(2000), r.size()] for _ in range(r.randrange(3))]])
    for slot in range(r.choice([0, 0, 1, 2])):
        x['outputs'].append([r.choice([slot, slot, 0]), r.size(), r.size(), r.randrange(1 << 40)])
    if r.chance(.2):
        x['temp'], x['persistent'] = r.size(), r.size()
    return x


def make_steps(r, names):
    steps, now = [], r.choice([1000, 10 ** 6, 1500000000000000])
    devices = r.sample(DEVICES, r.randrange(1, 7))
    for _ in range(r.choice([0, 1, 1, 2, 3])):
        many = r.choice([0, 3, 10, 30] if r.chance(.95) else [3000])
        steps.append([{'device': d, 'records': [make_record(r, names, now) for _ in range(r.randrange(many + 1))]}
                      for d in devices])
        now += r.choice([100, 5000, 10 ** 6])
    return steps


def make_log(r, names):
    entries, strings = [], []
    stacks = []
    if r.chance(.2) or not names:
        return {'entries': [], 'strings': []}
    texts = FILES + FUNCTIONS
    strings = [[i + 1, t] for i, t in enumerate(texts)] + [[0, 'none']]
    codes = r.chance(.8)
    for name in names + ['unknown', r.choice(names)]:
        if r.chance(.2):
            continue
        code = None
        if codes and r.chance(.9):
            base = list(r.choice(stacks))[:r.randrange(1, 5)] if stacks and r.chance(.7) else []
            for _ in range(r.randrange(4)):
                base.append([1 + r.randrange(len(FILES)), 1 + len(FILES) + r.randrange(len(FUNCTIONS)), 0,
                             r.choice([1, 2, 3, 17, -1, 100000]), r.choice([0, 1, -1, 5])])
            code = base
            if code:
                stacks.append(code)
        entries.append({'name': name, 'float_ops': r.choice([0, 0, 1, 5, 1000, 12345678, -3, 1 << 45]),
                        'types': r.sample(['_trainable_variables', 'mine', 'Conv2D', 'gpu', '\u00e9'], r.choice([0, 0, 1, 2])),
                        'code': code})
    return {'entries': entries, 'strings': strings}


def make_times(r, devices, now):
    """Returns records of a step. A device always has times: in timelines, the original writes an empty lane for a device
    without times, and tfprof writes none."""
    return [[d, [[now + r.randrange(1000), r.size()] for _ in range(r.randrange(1, 5))]]
            for d in r.sample(devices, r.randrange(min(3, len(devices)) + 1))]


def make_exec(r, devices, now):
    return {'runs': r.choice([0, 1, 1, 2, 7, -1, 999, 1000, 54321]), 'start': r.choice([now, now + 5, 0]), 'end': now + r.size(),
            'accelerator': make_times(r, devices, now), 'cpu': make_times(r, devices, now),
            'devices': r.sample(devices, r.randrange(len(devices))),
            'memory': [{'numbers': [now + r.randrange(99)] + [r.size() for _ in range(9)],
                        'outputs': [[s, r.size(), r.randrange(99)] for s in range(r.randrange(3))]}
                       for _ in range(r.choice([0, 1, 1, 2]))],
            'allocations': [[now + r.randrange(2000), r.size()] for _ in range(r.choice([0, 0, 1, 3]))]}


def make_profile(r):
    """Returns a ProfileProto that the original never writes: ids with gaps, types and devices that do not match."""
    plain, names = make_nodes(r)
    entries = make_log(r, names)
    codes = {e['name']: e['code'] for e in entries['entries']}
    devices = [d.lower() for d in r.sample(DEVICES, 5)]
    ids, nodes = {}, []
    for n in plain:
        if n['name'] not in ids:
            ids[n['name']] = r.choice([len(ids), 1000 + len(ids), 3 * len(ids) + 7777777])
    for n in plain:
        if any(n['name'] == x['name'] for x in nodes):
            continue
        sources = [ids[i.lstrip('^').split(':')[0]] for i in n['inputs'] if i.lstrip('^').split(':')[0] in ids]
        now = r.choice([1000, 10 ** 15])
        nodes.append({
            'name': n['name'], 'op': n['op'], 'id': ids[n['name']], 'attrs': n['attrs'],
            'inputs': [[i * r.choice([1, 1, 2]) + r.choice([0, 0, 3]), x] for i, x in enumerate(sources)],
            'sources': [[x, r.choice([0, 1, 2])] for x in sources], 'float_ops': r.choice([0, 5, 10 ** 9, -2]),
            'shape': make_dims(r) or [], 'types': sorted(set(r.sample(OPS + devices + ['mine'], r.randrange(4)))),
            'device': r.choice(devices + ['', '']), 'host': r.choice(devices + ['']),
            'code': codes.get(n['name']) if r.chance(.9) else None,
            'execs': [[k, make_exec(r, devices, now + 5000 * k)] for k in r.sample([0, 1, 2, 9], r.choice([0, 1, 1, 2]))],
            'outputs': [[slot, make_dims(r) or []] for slot in range(r.randrange(3))]})
        if len({i for i, _ in nodes[-1]['inputs']}) < len(nodes[-1]['inputs']):
            nodes[-1]['inputs'] = nodes[-1]['inputs'][:1]
        if len({i for i, _ in nodes[-1]['sources']}) < len(nodes[-1]['sources']):
            nodes[-1]['sources'] = nodes[-1]['sources'][:1]
    steps = {k for n in nodes for k, _ in n['execs']} | set(r.sample([0, 1, 2, 9], r.randrange(3)))
    return {'nodes': nodes, 'traces': int(r.chance(.8)), 'steps': sorted(steps),
            'strings': entries['strings'] or [[0, 'none']], 'misses': int(r.chance(.2))}


def pattern(r, words):
    word = r.choice(words) if words and r.chance(.8) else r.choice(PARTS)
    safe = ''.join('.' if not c.isalnum() and c not in '/_' else c for c in word)
    return r.choice(['.*', '.*' + safe + '.*', safe, safe + '.*', '.*' + safe[-3:], '(%s|a.*)' % safe[:4],
                     '.*[0-9]', '.+', 'n[^/]*', '(?i).*' + safe[:2] + '.*', safe[:2] + '.?.?', '_.*', ''])


def patterns(r, words, preset):
    if r.chance(.6):
        return list(preset)
    if r.chance(.03):
        return []
    return [p for p in (pattern(r, words) for _ in range(r.choice([1, 1, 2, 3]))) if p]


def make_case(r, spec, names):
    command = r.choice(['scope', 'graph', 'graph', 'op', 'op', 'op', 'code', 'code', 'code', 'code'])
    if r.chance(.04):
        return {'command': 'advise', 'options': {}}
    types = OPS + ODD_OPS + ['/job.*gpu:0', '.*cpu.*', '_trainable_variables', 'mine', '_kTFScopeParent', '_TFGraphParent']
    words = {'op': OPS + [n['op'] for n in spec['nodes']],
             'code': ['train.py', 'net', 'main', 'gradient', '_TFProfRoot', 'x.py:1:.*']}.get(command, names)
    o = {'max_depth': r.choice([0, 1, 2, 3, 5, 10, 10000, 10000, 10000, -1])}
    for name in MIN:
        o[name] = r.choice([1, 2, 100, 1000, 10 ** 6, -1, r.size()]) if r.chance(.05) else 0
    o['step'] = r.choice([-1, -1, -1, 0, 0, 1, 2, 7, -5])
    o['order_by'] = r.choice(ORDER)
    o['account_type_regexes'] = patterns(r, types, ['.*'])
    o['start_name_regexes'] = patterns(r, words, ['.*'])
    o['trim_name_regexes'] = patterns(r, words, [])
    o['show_name_regexes'] = patterns(r, words, ['.*'])
    o['hide_name_regexes'] = patterns(r, words, [])
    o['account_displayed_op_only'] = r.chance(.2)
    o['select'] = sorted(r.sample(SELECT, r.choice([0, 1, 1, 2, 4, len(SELECT)])))
    if command == 'code' and r.chance(.02):
        o['select'].append('tensor_value')
    kinds = ['file:outfile=%OUT%'] * 8 + ['stdout', 'none', 'timeline:outfile=%OUT%', 'pprof:outfile=%OUT%']
    o['output'] = r.choice(kinds + (['pprof:outfile=%OUT%'] * 3 if command == 'code' else []))
    if o['output'].startswith('pprof') and r.chance(.8):
        o['select'] = [r.choice(SELECT[:9])]
    return {'command': command, 'options': o}


def make(seed):
    """Returns (specification, cases) of a seed."""
    r = Random(seed)
    if seed % 4 == 1:
        spec = {'nodes': [], 'steps': [], 'log': {'entries': [], 'strings': []}, 'profile': make_profile(r)}
        names = [n['name'] for n in spec['profile']['nodes']]
        return spec, [make_case(r, spec, names) for _ in range(22)]
    nodes, names = make_nodes(r)
    spec = {'nodes': nodes, 'steps': make_steps(r, names), 'log': make_log(r, names)}
    return spec, [make_case(r, spec, names) for _ in range(22)]


def kind(case):
    return case['command'] + ('' if case['command'] == 'advise' else '.' + case['options']['output'].split(':')[0])


def text(spec):
    """Formats a specification for people: a line for each node, device of a step, and entry of the op log."""
    lines = ['node %s' % json.dumps(n) for n in spec['nodes'] or spec.get('profile', {}).get('nodes', [])]
    if 'profile' in spec:
        lines.append(json.dumps(dict(spec['profile'], nodes='above')))
    for i, devices in enumerate(spec['steps']):
        lines += ['step %d' % i] + ['  %s' % json.dumps(d) for d in devices]
    return '\n'.join(lines + ['log %s' % json.dumps(e) for e in spec['log']['entries']]
                     + ['strings %s' % json.dumps(spec['log']['strings'])])


# ---- intended differences ----------------------------------------------------------------

STOP = 'sums beyond 64 bits: they stop'
PPROF = 'pprof: the original writes it for code alone'
ADVICE = (b'note: no variable has the type _trainable_variables', b'note: a graph has no float operations')
STOPPED = b'note: some numbers are 2^63 - 1 or -2^63, where sums stop: the true numbers may be larger\n'


def known_difference(case, a, b):
    """Returns the reason for an intended difference, or None. a is the original's answer."""
    if b'note: a box of the timeline is wider than its time' in b['stderr']:
        return 'times beyond 64 bits: boxes end at the last number'
    if STOPPED in b['stderr']:
        return STOP
    if b"Only 'code' view supports pprof" in a['stderr'] and a['stderr'] != b['stderr']:
        return PPROF
    lines = [x for x in b['stderr'].splitlines(True) if not x.startswith(ADVICE)]
    if len(lines) < len(b['stderr'].splitlines()) and dict(a, status=0) == dict(b, stderr=b''.join(lines), status=0):
        return 'a note of ours says what is missing'
    return None


# ---- reducing ----------------------------------------------------------------------------------

def lists_in(x, path=()):
    """Yields the paths of all lists that may lose elements."""
    if isinstance(x, dict):
        for k, v in x.items():
            yield from lists_in(v, path + (k,))
    elif isinstance(x, list) and (not x or isinstance(x[0], dict) or
                                  path[-1] in ('inputs', 'attrs', 'types', 'code', 'memory', 'outputs', 'steps', 'strings', 'execs', 'cpu', 'accelerator', 'devices',
                                               'allocations', 'sources')):
        yield path
        for i, v in enumerate(x):
            if isinstance(v, (dict, list)):
                yield from lists_in(v, path + (i,))


def at(x, path):
    for k in path:
        x = x[k]
    return x


PRESETS = dict({m: 0 for m in MIN}, max_depth=10000, step=-1, order_by='name', account_type_regexes=['.*'],
               start_name_regexes=['.*'], trim_name_regexes=[], show_name_regexes=['.*'], hide_name_regexes=[],
               account_displayed_op_only=False)


def smaller(spec, case):
    """Yields specifications and cases with a part removed, the largest parts first."""
    for path in sorted(lists_in(spec), key=lambda p: -len(at(spec, p))):
        n = len(at(spec, path))
        size = n
        while size:
            for i in range(0, n, size):
                s = copy.deepcopy(spec)
                del at(s, path)[i:i + size]
                yield s, case
            size //= 2
    for name, preset in PRESETS.items():
        if case['options'].get(name, preset) != preset:
            c = copy.deepcopy(case)
            c['options'][name] = preset
            yield spec, c
    for i in range(len(case['options'].get('select', []))):
        c = copy.deepcopy(case)
        del c['options']['select'][i]
        yield spec, c
