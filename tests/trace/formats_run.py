#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sources of different formats together: kernels by function, differences across formats, workers of two formats.

    tests/trace/formats_run.py --bin build/check [NAME...]
"""
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS, os.path.join(os.path.dirname(TESTS), 'models')]
import chakra  # noqa: E402
import kineto  # noqa: E402
import make_checkpoint  # noqa: E402
import nsys  # noqa: E402
import onnx  # noqa: E402
import pprof  # noqa: E402
import rocprof  # noqa: E402
from pprof import number, sub  # noqa: E402
from xspace import Plane, space  # noqa: E402
import trace_case  # noqa: E402
from trace_case import equal, judge, program, write  # noqa: E402

EXAMPLE = os.path.join(os.path.dirname(os.path.dirname(TESTS)), 'testdata', 'example')

# A kernel as PyTorch, as Nsight Systems and as an AMD GPU name it, and its function.
SPELLINGS = [
    ('void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, std::array<char*, 3ul> >(int, float)',
     'void at::native::vectorized_elementwise_kernel<(int)4, at::native::AddFunctor<float>, std::array<char *, (unsigned long)3>>'
     '(int, T2)', 'vectorized_elementwise_kernel'),
    ('void (anonymous namespace)::softmax_warp_forward<float, 10, false>(float*)',
     'void <unnamed>::softmax_warp_forward<float, (int)10, (bool)0>(float *)', 'softmax_warp_forward'),
    ('void f<at::copy(at::Iter&)::{lambda()#2}::operator()() const::{lambda(float)#1}>(int)',
     'void f<at::copy(at::Iter &)::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)]>(int)', 'f'),
    ('ampere_sgemm_128x64_tn', 'ampere_sgemm_128x64_tn', 'ampere_sgemm_128x64_tn'),
    ('_ZN2at6native6kernelIfEEvPT_.kd', 'void at::native::kernel<float>(float *)', 'kernel'),
    ('CUDA graph 7', 'CUDA graph 7', 'CUDA graph 7'),
]


def rows(*words):
    out, _ = program(*words, '-output', 'json')
    return json.loads(out[out.index('{'):])['rows']


def of_pytorch(name='a.json', length=10):
    out = []
    for i, (torch, _, _) in enumerate(SPELLINGS):
        out += [kineto.event('cpu_op', 'aten::op', 100 * i, 20)]
        out += kineto.launch(100 * i + 5, i + 1, 100 * i + 10, length * (i + 1), torch)
    out += kineto.launch(5000, 99, 5001, 70, 'Memcpy HtoD (Pageable -> Device)', 'gpu_memcpy')
    return write(kineto.trace(out), name)


def of_nsight(name='b.sqlite', length=20000):
    x = nsys.Export()
    x.range(70, 'aten::op', 0, 90)
    for i, (_, nsight, _) in enumerate(SPELLINGS):
        at = 100000 * i
        x.launch(70, i + 1, at + 5, at + 10, at + 10 + length * (i + 1), 'x%d' % i)
        x.tables['CUPTI_ACTIVITY_KIND_KERNEL'][1][-1][7] = x.string(nsight)
    x.copy(70, 99, 5000000, 5140000)
    return x.save(name)


def functions():
    """Every spelling of a kernel has the same function; copies have one name; nothing is lost."""
    for path, unit in ((of_pytorch(), 10), (of_nsight(), 20)):
        found = {r['path']: r['own_accelerator_micros'] for r in rows(path, 'op', '-by', 'function', '-select', 'accelerator_micros')}
        expected = {f: unit * (i + 1) for i, (_, _, f) in enumerate(SPELLINGS)}
        expected['Memcpy HtoD'] = unit * 7
        equal({k: v for k, v in found.items() if v and k != '_TFProfRoot'}, expected, path)
        assert found['(host)'] == 0, found


def difference():
    """diff of two formats matches kernels by function in the views scope and op, and notes this."""
    sides = of_nsight(), of_pytorch()
    for view in 'op', 'scope':
        out, err = program('diff', *sides, '-view', view, '-select', 'accelerator_micros', '-output', 'json')
        assert 'kernels are matched by function' in err, err
        found = {r['path']: [r['own_accelerator_micros_%s' % s] for s in ('left', 'right')] for r in json.loads(out)['rows']}
        for i, (_, _, f) in enumerate(SPELLINGS):
            equal(found[f], [20 * (i + 1), 10 * (i + 1)], f)
        equal(found['Memcpy HtoD'], [140, 70])
    _, err = program('diff', *sides, '-view', 'op', '--match=path', '-select', 'accelerator_micros')
    assert 'by function' not in err, err
    _, err = program('diff', sides[1], of_pytorch('c.json', 11), '-view', 'op', '-select', 'accelerator_micros')
    assert 'by function' not in err, err


def workers():
    """Files of two formats are workers, with shared and separate ops."""
    files = of_nsight(), of_pytorch()
    for paths in (files, files[::-1]):
        all_ = rows(*paths, 'scope', '-by', 'worker', '-select', 'accelerator_micros', '-max_depth', '9')
        totals = [r['total_accelerator_micros'] for r in all_ if r['path'] == '_TFProfRoot']
        equal(sorted(t for t in totals if t)[:2], [280, 560], totals)


def run_metadata():
    """Run metadata and an XSpace of one model are workers of one model, matched by the names of nodes."""
    os.mkdir('old')
    for name in ('graph.pbtxt', 'run_meta_0'):
        shutil.copy(os.path.join(EXAMPLE, name), 'old')
    node = max((r for r in rows('--graph_path=old/graph.pbtxt', '--run_meta_path=old/run_meta_0', 'scope', '-select', 'micros',
                                '-max_depth', '9') if r['own_micros']), key=lambda r: r['own_micros'])
    host = Plane('/host:CPU')
    host.line(1, 'thread', [(host.meta('%s:%s' % (node['path'], node['type'])), 0, 123000000)])
    write(space(host), 'new.xplane.pb')
    all_ = rows('old', 'new.xplane.pb', 'scope', '-by', 'worker', '-select', 'micros', '-max_depth', '9')
    own = [r['own_micros'] for r in all_ if r['path'] == node['path']]
    assert {123, node['own_micros']} <= set(own), own
    out, _ = program('diff', 'old', 'new.xplane.pb', '-select', 'micros', '-output', 'json')
    found = {r['path']: r for r in json.loads(out)['rows']}[node['path']]
    equal([found['own_micros_left'], found['own_micros_right']], [node['own_micros'], 123])


# ---- execution traces ----

LINEAR = 'forward/aten::linear'


def chakra_alone():
    """Calls are nodes with types, shapes and float operations, and edges from the calls whose outputs they read. Steps
    are not levels of paths."""
    for schema in ('1.1.1-chakra.0.0.4', '1.0.1'):
        path = write(chakra.two_layers(schema).bytes(), 'et.json')
        found = {r['path']: r for r in rows(path, 'scope', '-select', 'float_ops,op_types', '-max_depth', '9')}
        names = ['forward', LINEAR, LINEAR + '#2', LINEAR + '#2/aten::addmm', LINEAR + '/aten::addmm', 'forward/aten::cat']
        equal(sorted(k for k in found if k != '_TFProfRoot'), sorted(names), schema)
        equal([found[n]['own_float_ops'] for n in (LINEAR + '/aten::addmm', LINEAR + '#2/aten::addmm')], [2 * 2 * 3 * 4, 2 * 2 * 4 * 5])
        equal(found['forward']['types'], ['annotation'])
        graph = {r['path']: r['parent'] for r in rows(path, 'graph', '-select', 'params', '-max_depth', '9')}
        equal([graph[LINEAR + '#2/aten::addmm'], graph['forward/aten::cat']], ['forward/aten::cat', '_TFProfRoot'])
        equal(graph[LINEAR + '/aten::addmm'] in (LINEAR + '#2', LINEAR + '#2/aten::addmm'), True, graph)
        op = {r['path']: r['own_definitions'] for r in rows(path, 'op', '-select', 'occurrence')}
        equal([op[k] for k in ('aten::addmm', 'aten::linear', 'aten::cat')], [2, 2, 1])


def chakra_joined():
    """Beside the trace of the run, calls are joined by record function id: shapes, float operations and edges are added,
    whatever the paths."""
    t = chakra.two_layers()
    et, trace = write(t.bytes(), 'et.json'), write(chakra.of_kineto(t), 'a.pt.trace.json')
    alone = {r['path']: r for r in rows(trace, 'scope', '-select', 'micros,float_ops', '-max_depth', '9')}
    for words in ([trace, et], [et, trace], ['--graph_path=' + et, trace]):
        out, err = program(*words, 'scope', '-select', 'micros,float_ops', '-max_depth', '9', '-output', 'json')
        found = {r['path']: r for r in json.loads(out)['rows'] if r['own_micros']}
        assert ': 6 of its events are among the ' in err, err
        equal({k: r['own_micros'] for k, r in found.items()}, {k: r['own_micros'] for k, r in alone.items() if r['own_micros']})
        ops = [r['own_float_ops'] for k, r in found.items() if k.endswith('aten::addmm')]
        equal(ops, [2 * 2 * 3 * 4 + 2 * 2 * 4 * 5])
        equal([x['path'] for x in json.loads(out)['sources']], [trace, et])
    graph = {r['path']: r['parent'] for r in rows(trace, et, 'graph', '-select', 'micros', '-max_depth', '9')}
    cat = next(k for k in graph if k.endswith('aten::cat'))
    add = next(k for k in graph if k.endswith('aten::addmm'))
    assert 'nn.Module: Net_0' in add and graph[add] == cat, graph
    _, err = program(trace, 'graph', status=1)
    assert 'has no graph' in err, err
    _, err = program(trace, write(t.bytes()[:-400], 'cut.json'), 'op', status=3)
    assert 'cut.json: bad JSON' in err and 'execution trace' in err, err


def chakra_of_old_traces():
    """Without record function ids, the External id joins a trace with an execution trace; calls of other names are not joined."""
    t = chakra.two_layers()
    et = write(t.bytes(), 'et.json')
    doc = json.loads(chakra.of_kineto(t))
    for e in doc['traceEvents']:
        if 'Record function id' in e['args']:
            e['args']['External id'] = e['args'].pop('Record function id')
    want = rows(write(chakra.of_kineto(t), 'new.pt.trace.json'), et, 'scope', '-select', 'micros,float_ops', '-max_depth', '9')
    out, err = program(write(json.dumps(doc).encode(), 'a.pt.trace.json'), et, 'scope', '-select', 'micros,float_ops', '-max_depth', '9', '-output', 'json')
    assert ': 6 of its events are among the ' in err, err
    equal([(r['path'], r['own_float_ops']) for r in json.loads(out)['rows']], [(r['path'], r['own_float_ops']) for r in want])
    for e in doc['traceEvents']:
        e['name'] = 'other' if e['name'] == 'aten::cat' else e['name']
    _, err = program(write(json.dumps(doc).encode(), 'a.pt.trace.json'), et, 'scope')
    assert ': 5 of its events are among the ' in err, err


def chakra_ranks():
    """Each execution trace is joined to the trace of the same rank and process. An execution trace that matches no
    trace or several is not used."""
    sizes = {0: (4, 5), 1: (40, 50)}
    flops = {r: 2 * 2 * 3 * a + 2 * 2 * a * b for r, (a, b) in sizes.items()}
    run = {r: chakra.two_layers(sizes=s) for r, s in sizes.items()}

    def traces(name, pids, ranks=(None, None)):
        return [write(chakra.of_kineto(run[r], ranks[r], r, pid=pids[r]), name % r) for r in run]

    def calls(name, pids):
        return [write(run[r].bytes(pids[r]), name % r) for r in run]

    def joined(*words):
        """Returns the float operations of the matrix products in the module of each rank, and the notes."""
        out, err = program(*words, 'scope', '-select', 'micros,float_ops', '-max_depth', '9', '-output', 'json')
        products = [x for x in json.loads(out)['rows'] if x['path'].endswith('aten::addmm')]
        return [sum(2 * (x['own_float_ops'] or 0) for x in products if 'Inner_%d' % r in x['path']) for r in run], err  # the mean of two ranks
    both = [flops[0], flops[1]]
    by_pid, et_by_pid = traces('p%d.pt.trace.json', (11, 12)), calls('et%d.json', (11, 12))
    same_pid, et_rank = traces('q%d.pt.trace.json', (5, 5), (0, 1)), calls('et_rank-%d.json', (5, 5))
    named = traces('rank_%d.pt.trace.json', (5, 5))
    for t, e in ((by_pid, et_by_pid), (same_pid, et_rank), (named, et_rank)):
        for given in (e, e[::-1]):
            found, err = joined(*t, *given)
            equal(found, both, t)
            assert 'not used' not in err, err
    found, err = joined(*same_pid, et_rank[1])
    equal(found, [0, flops[1]])
    for t, e, count in ((same_pid, calls('a%d.json', (5, 5)), '2 of 2'),     # equal process ids on two hosts
                        (same_pid, calls('b%d.json', (5, 6))[:1], '1 of 1'),  # matches both
                        (by_pid, calls('rank%d.json', (12, 11)), None),       # the other side has no ranks
                        (traces('r%d.pt.trace.json', (11, 12), (0, 1)), calls('rank%d.x.json', (12, 11)), '2 of 2'),  # the ranks differ
                        (by_pid, et_by_pid[:1] + [write(run[1].bytes(99), 'other.json')], '1 of 2')):
        found, err = joined(*t, *e)
        if count:
            assert 'note: %s execution traces are not used' % count in err, err
            equal(found, [flops[0] if count == '1 of 2' else 0, 0], e)
        else:
            equal('not used' in err, False, err)
    one = traces('s%d.pt.trace.json', (1, 1), (0, 1))[0]
    _, err = program(one, et_rank[0], 'op')
    assert '%s: 6 of its events are among the ' % one in err and et_rank[0] in err, err
    _, err = program(one, et_rank[1], 'op')
    assert '1 of 1 execution traces are not used' in err and '6 of its events' not in err, err
    _, err = program(one, *et_by_pid, 'op')
    assert '2 of 2 execution traces are not used' in err, err
    out, err = program(*by_pid, *et_by_pid, 'op', '-output', 'json')
    equal([x['path'] for x in json.loads(out)['sources']], by_pid + et_by_pid)
    _, err = program(*et_by_pid, 'op', status=2)
    assert 'are both graphs: only one is allowed' in err, err


def chakra_folder():
    """A folder gives its traces and the execution traces beside them, joined by process; other files are not read."""
    runs = {r: chakra.two_layers(sizes=(4 + r, 5)) for r in (0, 1)}
    flops = [2 * 2 * 3 * (4 + r) + 2 * 2 * (4 + r) * 5 for r in runs]

    def filled(name, trace, calls):
        os.mkdir(name)
        for r in runs:
            write(chakra.of_kineto(runs[r], None, r, pid=11 + r), os.path.join(name, trace % r))
            write(runs[r].bytes(11 + r), os.path.join(name, calls % r))
        write(b'{"nodes": 3}', os.path.join(name, 'model_et.json'))
        write(b'{}', os.path.join(name, 'budget.json'))
        return name
    for name, trace, calls in (('torch', 'host%d_1.5.pt.trace.json', 'pytorch_et_%d.json'),
                               ('chakra', 'kineto_trace_%d.json', 'chakra_host_et_%d.json'),
                               ('suffix', 'r%d.pt.trace.json', 'x%d.et.json')):
        out, err = program(filled(name, trace, calls), 'scope', '-select', 'float_ops', '-max_depth', '9', '-output', 'json')
        rows = [x for x in json.loads(out)['rows'] if x['path'].endswith('aten::addmm')]
        equal([sum(2 * x['own_float_ops'] for x in rows if 'Inner_%d' % r in x['path']) for r in runs], flops, name)  # the mean of two ranks
        for r in runs:
            assert 'note: %s/%s: 6 of its events are among the ' % (name, trace % r) in err and calls % r in err, err
        assert 'model_et' not in err, err


def chakra_hostile():
    """Deep nesting, cycles, too large numbers, and texts in the place of lists do not prevent an answer."""
    t = chakra.Trace()
    for i in range(3, 5000):
        t.add(i, 'aten::f', i - 1 if i % 1000 else i, i, 0, [], [])
    found = rows(write(t.bytes(), 'deep.json'), 'op', '-select', 'occurrence')
    equal([r['own_definitions'] for r in found if r['path'] == 'aten::f'], [4997])
    t = chakra.two_layers()
    for n in t.nodes[2:]:
        n['inputs'] = {'values': 'values', 'shapes': [[[[9] * 40]]], 'types': [7, None, {'a': []}]}
        n['outputs'] = {'values': [[10 ** 30, [[[]]]], 'x', [[[5]]]], 'shapes': [[10 ** 30, 10 ** 18, 10 ** 18]], 'types': ['Tensor(', '"']}
    t.nodes[3]['name'] = 'a/b\"\u0001\n' + 'x' * 100000
    path = write(t.bytes(), 'bad.json')
    for view in ('scope', 'graph', 'op'):
        program(path, view)
    good, chance = chakra.two_layers().bytes(), random.Random(5)
    for i in range(40):
        bad = bytearray(good)
        for _ in range(1 + i % 5):
            bad[chance.randrange(60, len(bad))] = chance.choice(b'[]{},"0123x\\')
        judge('tfprof', write(bytes(bad), 'bad.json'), 'graph', allowed=(0, 1, 3))


# ---- formats, and unused parts ----

def summary(*words):
    """Returns (formats, {kind: count} of unused parts), and checks that the page shows the same."""
    d = json.loads(program(*words, 'summary', '-output', 'json')[0])
    text, _ = program(*words, 'summary')
    for u in d['unused']:
        line = [x for x in text.split('\n') if x.startswith('not used')][0]
        words = u['kind'].split(' ')
        if u['count'] == 1 and ',' not in u['kind']:
            first = next(i for i, w in enumerate(words) if w.endswith('s'))
            words[first] = re.sub('ies$', 'ys', words[first])[:-1]
            assert '1 ' + ' '.join(words) in line, (u, line)
            continue
        assert u['kind'] in line and u['format'] in line, (u, line)
    assert all(f in text for f in d['formats']), (d['formats'], text)
    return d['formats'], {u['kind']: u['count'] for u in d['unused']}


def append(source, content, name):
    with open(os.path.join(EXAMPLE, source), 'rb') as f:
        return write(f.read() + content, name)


def counts_of_tensorflow():
    """Graphs, run metadata, op logs and profiles: versions, and parts that no answer shows."""
    graph, run, log = (os.path.join(EXAMPLE, n) for n in ('graph.pbtxt', 'run_meta_0', 'tfprof_log'))
    formats, unused = summary('--graph_path=' + graph, '--run_meta_path=' + run, '--op_log_path=' + log)
    equal([f.partition(' by ')[0] for f in formats], ['graph', 'op log', 'run metadata'])
    more = append('run_meta_0', sub(2, b'') + 2 * sub(3, b'') + 3 * sub(4, b''), 'run')
    equal(summary('--graph_path=' + graph, '--run_meta_path=' + more)[1],
          {'cost graphs': 1, 'partition graphs': 2, 'function graphs': 3})
    nodes = sub(1, sub(1, b'a') + sub(2, b'NoOp'))
    plain = write(nodes + sub(2, b'') + sub(4, number(1, 1882)), 'g.pb')
    equal(summary('--graph_path=' + plain), (['graph by TensorFlow, graph version 1882'], {'libraries of functions': 1}))
    meta = sub(1, sub(4, b'serve') + sub(5, b'2.21.0')) + sub(2, nodes + sub(2, sub(1, sub(3, b'')))) + 2 * sub(5, b'') + sub(6, b'')
    saved = write(number(1, 1) + sub(2, meta) + sub(2, meta), 's.pb')
    equal(summary('--graph_path=' + saved),
          (['graph by TensorFlow 2.21.0'], {'further graphs': 1, 'functions': 1, 'signatures': 2, 'assets': 1}))
    equal(summary(os.path.join(EXAMPLE, 'profile_100')), (['TensorFlow profile'], {}))
    more = append('tfprof_log', sub(1, sub(1, b'nowhere')) + 2 * sub(7, b''), 'log')
    equal(summary('--graph_path=' + graph, '--op_log_path=' + more)[1],
          {'entries for nodes that the graph lacks': 1, 'unknown fields': 2})


def counts_of_profiles():
    """A profile with duplicate keys and names of nodes, inputs from missing nodes, and times without a
    duration."""
    def node(key, name, *more):
        return sub(1, number(1, key) + sub(2, sub(1, name) + b''.join(more)))
    content = node(0, b'a', sub(2, number(1, 0) + number(2, 77))) + node(1, b'a') + node(2, b'b') + node(2, b'c')
    half = sub(4, sub(1, b'/job:w/task:0/cpu:0') + sub(2, sub(1, sub(1, b'\5'))))
    content += node(3, b'd', sub(12, number(1, 0) + sub(2, number(1, 1) + half)))
    found = summary('--profile_path=' + write(content + number(3, 0) + number(5, 1) + sub(9, b''), 'p.profile'))
    equal(found, (['TensorFlow profile'],
                  {'unknown fields': 1, 'inputs from missing nodes': 1, 'execution times without a start and a duration': 1,
                   'nodes with a duplicate key or name': 2}))


def counts_of_checkpoints():
    """Tensors without a node in the graph, in both versions of checkpoints."""
    graph = write(sub(1, sub(1, b'w') + sub(2, b'VariableV2')), 'w.pb')
    tensors = [make_checkpoint.Tensor(n, 'float32', [1], [0]) for n in ('_CHECKPOINTABLE_OBJECT_GRAPH', 'step', 'w')]
    for make, name in ((make_checkpoint.bundle, 'bundle'), (make_checkpoint.version1, 'slice table')):
        make('c', tensors)
        formats, unused = summary('--graph_path=' + graph, '--checkpoint_path=c')
        equal(formats, ['checkpoint by TensorFlow, %s version 1' % name, 'graph'])
        equal(unused, {'tensors without a node': 2})
        for part in os.listdir('.'):
            if part == 'c' or part.startswith('c.'):
                os.remove(part)


def counts_of_recordings():
    """Versions of the recorder, operations outside of steps, and a truncated file."""
    maker = os.path.join(trace_case.BIN, 'spool_make')
    folder = os.path.dirname(os.path.dirname(TESTS))
    with open(os.path.join(folder, 'testdata', 'small', 'train.spool.txt')) as f:
        script = f.read()

    def made(name, facts):
        lines = ''.join('info key=%s value=%s\n' % x for x in facts.items())
        subprocess.run([maker, name], input=(lines + script).encode(), check=True)
        return name
    now = made('now.tfspool', {'tfprof': '0.1.0', 'cupti': '130001', 'driver': '13020'})
    equal(summary(now)[0], ['GPU recording by tfprof 0.1.0, CUPTI 13.0.1, driver for CUDA 13.2'])
    equal(summary(made('old.tfspool', {'cupti': '26', 'driver': 'x'}))[0], ['GPU recording by tfprof, CUPTI 26'])
    equal(summary(made('none.tfspool', {'cupti': '-1', 'driver': '13020'}))[0], ['GPU recording'])
    equal(summary('--step-nvtx=aten::relu', now)[1], {'operations outside of steps': 1})
    os.mkdir('both')
    for name in ('now.tfspool', 'old.tfspool'):
        os.rename(name, os.path.join('both', name))
    with open(os.path.join('both', 'now.tfspool'), 'ab') as f:
        f.write(bytes(30))
    formats, unused = summary('both')
    assert len(formats) == 1 and formats[0].endswith(' and others'), formats
    equal(unused, {'bytes after the last complete block': 30})


def counts_of_traces():
    """XSpace, PyTorch, Chrome JSON and ONNX Runtime: flows, objects, unknown phases."""
    host = Plane('/host:CPU')
    host.line(1, 'thread', [(host.meta('a:Add'), 0, 1000)])
    equal(summary(write(space(host) + sub(9, b''), 'a.xplane.pb')), (['XSpace trace'], {'unknown fields': 1}))
    events = kineto.steps()
    events += [{'ph': p, 'name': 'x', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 1} for p in 'stfNODvVPc?']
    events += [{'ph': 'X', 'name': 'x', 'pid': 1, 'tid': 1}]
    expected = {'flow events': 3, 'events of objects': 3, 'memory dumps': 2, 'samples': 1, 'clock synchronizations': 1,
                'events of unknown phases': 1, 'events without a time': 1}
    equal(summary(write(kineto.trace(events), 'a.json')), (['PyTorch trace by Kineto, schema 1'], expected))
    plain = [{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 5}, {'ph': 's', 'name': 'x', 'ts': 1, 'id': 2}]
    equal(summary(write(json.dumps(plain).encode(), 'b.json')), (['JSON trace'], {'flow events': 1}))
    equal(summary(write(onnx.text(onnx.load() + onnx.run(1000)), 'ort.json')), (['ONNX Runtime trace'], {}))


def counts_of_others():
    """ONNX models, Nsight Systems exports, TensorRT, pprof, recordings, execution traces."""
    equal(summary(write(onnx.model() + sub(20, b'') + 2 * sub(25, b''), 'a.onnx')),
          (['ONNX model by tests'], {'training graphs': 1, 'functions': 2}))
    folder = os.path.join(os.path.dirname(os.path.dirname(TESTS)), 'testdata')
    rt = [os.path.join(folder, 'traces', 'tensorrt_%s.json' % n) for n in ('layers', 'times')]
    equal(summary(*rt), (['TensorRT layers', 'TensorRT timings'],
                           {'other fields of layers and tensors': 1, 'median times': 1}))
    layers = [{'Name': 'a', 'Outputs': [{'Name': 'x', 'Dimensions': [1] * 18, 'Location': 'Device'}]}, {'Name': 'a', 'Metadata': []}]
    times = [{'count': 2}, {'name': 'a', 'timeMs': 1, 'averageMs': 0.5, 'percentage': 100, 'more': 1}, {'timeMs': 1, 'averageMs': 1}]
    bad = [write(json.dumps(x).encode(), n) for x, n in (({'Layers': layers, 'Bindings': []}, 'l.json'), (times, 't.json'))]
    equal(summary(*bad)[1], {'layers with a duplicate name': 1, 'other fields of layers and tensors': 2,
                             'dimensions over the limit': 2, 'other fields of layers': 1, 'times without a layer': 1})
    heap = write(pprof.heap().bytes(), 'heap.pb')
    equal(summary(heap), (['pprof profile, alloc_objects/count, alloc_space/bytes, inuse_objects/count, inuse_space/bytes'],
                          {'values of inuse_objects/count': 2}))
    equal(summary(os.path.join(folder, 'small', 'train.tfspool'))[0], ['GPU recording'])
    calls, trace = (os.path.join(folder, 'traces', n) for n in ('calls.json', 'calls.pt.trace.json'))
    equal(summary(calls), (['PyTorch execution trace, schema 1.1.1-chakra.0.0.4'], {'nodes of processes, threads and steps': 3}))
    equal(summary(trace, calls)[0], ['PyTorch trace by Kineto, schema 1', 'PyTorch execution trace'])
    for files in [trace], [trace, calls]:  # an execution trace completes the trace: advise is why
        equal(*[program(command, *files)[0].replace('Reading Files...\n', '') for command in ('advise', 'why')])


def counts_of_nsight():
    """Tables whose rows no answer shows, views, and rows without times; workers of two formats have separate counts."""
    x = nsys.steps()
    x.table('SCHED_EVENTS', 'start cpu')
    for i in range(3):
        x.row('SCHED_EVENTS', start=i)
    path = x.save('a.sqlite', more=['CREATE VIEW v AS SELECT 1', 'UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = NULL'])
    expected = {'rows of SCHED_EVENTS': 3, 'views, triggers and virtual tables': 1, 'rows without a start': 1}
    equal(summary(path), (['Nsight Systems trace by Nsight Systems 2026.2.1, schema 3.25.0'], expected))
    other = write(kineto.trace(kineto.steps() + [{'ph': 's', 'name': 'x', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 1}]), 'b.json')
    formats, unused = summary(path, other)
    equal([f.partition(' ')[0] for f in formats], ['Nsight', 'PyTorch'])
    equal(unused, dict(expected, **{'flow events': 1}))


# ---- folders ----

def folder_of_ranks():
    """The profiles of one format in a folder are workers, whatever their names; other formats are named."""
    def of_ranks(content, *names):
        shutil.rmtree('job', ignore_errors=True)
        os.makedirs('job')
        for name in names:
            write(gzip.compress(content) if name.endswith('.gz') else content, 'job/' + name)
        write(b'{"hidden_size": 7}', 'job/config.json')
        write(b'notes', 'job/README')
        write(content, 'job/.hidden.json')
    trace, pb = kineto.trace(kineto.steps()), pprof.cpu().bytes()
    kinds = [(trace, 'rank-0.json.gz', 'rank-1.json.gz', 'rank-10.json.gz'), (trace, 'a_1.12.pt.trace.json', 'rank1.json'),
             (trace, 'a.pt.trace.json', 'b.pt.trace.json.gz'), (rocprof.text(rocprof.steps()), '11_results.json', '12_results.json'),
             (pb, 'cpu0.pb.gz', 'cpu1.pb.gz', 'cpu2'), (onnx.text(onnx.load() + onnx.run(1000)), 'ort_a.json', 'ort_b.json')]
    for content, *names in kinds:
        of_ranks(content, *names)
        out, err = program('job', 'op', '-by', 'worker', '-select', 'micros', '-output', 'json')
        doc = json.loads(out[out.index('{'):])
        equal(doc['workers'], names)
        assert 'left out' not in err, err
        files = program(*['job/' + n for n in names], 'op', '-select', 'micros')[0]
        equal(program('job', 'op', '-select', 'micros')[0], files)
    write(space(Plane('/host:CPU').line(1, 't', [(1, 0, 5)])), 'job/host.xplane.pb')
    _, err = program('job', 'op')
    assert "in the folder 'job' profiles of other formats are left out: ort_a.json (ONNX Runtime profile), ort_b.json" in err, err
    os.unlink('job/ort_b.json')
    os.unlink('job/host.xplane.pb')
    for name in ('a.pb', 'b.pb'):
        write(pb, 'job/' + name)
    _, err = program('job', 'op')
    assert "in the folder 'job' a profile of another format is left out: ort_a.json (ONNX Runtime profile)" in err, err


def folder_of_exports():
    """Nsight Systems exports in a folder are workers, and so are execution traces of traces with any name."""
    os.makedirs('job')
    for name in ('r0.sqlite', 'r1.sqlite'):
        nsys.steps().save('job/' + name)
    out, err = program('job', 'kernels', '-output', 'json')
    equal(sorted({r['worker'] for r in json.loads(out)['kernels']}), ['r0.sqlite', 'r1.sqlite'])
    shutil.rmtree('job')
    os.makedirs('job')
    calls = chakra.two_layers()
    write(chakra.of_kineto(calls), 'job/one.json')
    write(calls.bytes(), 'job/two.json')
    _, err = program('job', 'op')
    assert "6 of its events are among the 6 calls of the execution trace 'job/two.json'" in err, err


def folder_of_tensorflow():
    """Beside a profile of TensorFlow, traces are left out and named; nothing is noted if there are none."""
    shutil.copytree(EXAMPLE, 'job')
    assert 'left out' not in program('job', 'op')[1]
    write(kineto.trace(kineto.steps()), 'job/rank-0.json')
    assert "a profile of another format is left out: rank-0.json (JSON trace)" in program('job', 'op')[1]


def empty_tables():
    """Tables without rows say why: the file has no device work, or the chosen steps have none."""
    traces = os.path.join(os.path.dirname(EXAMPLE), 'traces')
    for command in 'kernels', 'devices':
        _, err = program(command, os.path.join(traces, 'calls.pt.trace.json'))
        assert 'no device work is in the file' in err, err
        assert 'no device work' not in program(command, os.path.join(traces, 'training.pt.trace.json.gz'))[1]
    _, err = program('kernels', os.path.join(traces, 'calls.pt.trace.json'), '-step', '3')
    assert 'no device work is in the chosen steps' in err, err


CASES = [folder_of_ranks, empty_tables, folder_of_exports, folder_of_tensorflow, functions, difference, workers, run_metadata, chakra_alone, chakra_joined, chakra_of_old_traces, chakra_ranks, chakra_folder, chakra_hostile,
         counts_of_tensorflow, counts_of_profiles, counts_of_checkpoints, counts_of_recordings,
         counts_of_traces, counts_of_others, counts_of_nsight]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, sqlite=[folder_of_exports, functions, difference, workers, counts_of_nsight]))
