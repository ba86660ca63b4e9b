# SPDX-License-Identifier: Apache-2.0
"""Nodes of recordings, and the node of an operation: names, ranges, calls, graphs, memory."""
import json

from rig import same
from script import T0, Spool


def check_names(t):
    """Names of kernels lose templates, parameters and characters that names of nodes cannot contain."""
    long = 'x' * 10000
    cases = {
        '_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_6detail5ArrayIPcLi1EEEEEviT0_T1_':
            'at/native/vectorized_elementwise_kernel',
        '_ZN12_GLOBAL__N_19my_kernelIfEEvPT_': 'anonymous/my_kernel',
        '_Z6vecaddPKfS0_Pfi': 'vecadd',
        'void odd:name/with': 'void odd.name.with',
        'MEMCPY': 'MEMCPY',
        'größe': 'größe',
        '_ZZN2ns1fEiENKUliE_clEi': 'ns/f/lambda#1/operator()',
    }
    s = Spool()
    for i, name in enumerate(list(cases) + [long, '\x01\x1b[31m']):
        s.launch(i * 20000, name)
    found = t.runs('scope', t.write(s.end()))
    for name in cases.values():
        assert found.pop(name) == 1, (name, found)
    assert found.pop('__[31m') == 1, found
    (rest, n), = found.items()
    assert n == 1 and rest.startswith('x' * 200) and len(rest) == 209, rest


def check_no_utf8(t):
    """Names that are not UTF-8 are converted to names that the original can read."""
    s = Spool().push(0, 'range\udcff').launch(1000, '_Z5gr\udcfc\udc80nv').pop(90000)
    path = t.write(s.end())
    same(t.runs('scope', path), {'range_/gr__n': 1})
    t.run('convert', path, '-output', 'profile:outfile=p.pb')
    same(t.runs('scope', '--profile_path=p.pb'), {'range_/gr__n': 1})
    t.run('code', '--profile_path=p.pb')


def check_ranges(t):
    """Ranges of frameworks become the paths of nodes."""
    cases = [
        (['aten::linear, seq = 5, op_id = 12, sizes = [[1, 2]], input_op_ids = []'], 'aten.linear'),
        (['XlaModule:#prefix=,hlo_module=jit_f,program_id=3#', 'Thunk:#name=jit(f)/jit(main)/dot_general,hlo_op=fusion.6#'],
         'jit_f/jit(f)/jit(main)/dot_general/fusion.6'),
        (['model/dense/MatMul:MatMul'], 'model/dense/MatMul'),
        (['model/dense/Add:AddV2'], 'model/dense/Add'),
        (['model/dense/Old:Op_2'], 'model/dense/Old'),
        (['model/dense:Call(f)'], 'model/dense.Call(f)'),
        (['model/dense:call'], 'model/dense.call'),
        (['ProfilerStep#17', 'Optimizer.step#SGD.step'], 'ProfilerStep/Optimizer.step#SGD.step'),
        (['ncclAllReduce: 5'], 'ncclAllReduce. 5'),
        (['a/b//c/'], 'a/b/c'),
    ]
    s, at = Spool(), 0
    for names, _ in cases:
        for name in names:
            s.push(at, name)
        s.launch(at + 1000, 'gemm')
        for name in names:
            s.pop(at + 5000)
        at += 100000
    found = t.runs('scope', t.write(s.end()))
    same(found, {path + '/gemm': 1 for _, path in cases})


def check_join(t):
    """An operation belongs to the innermost range of its call's thread, in all domains, at that time."""
    s = Spool()
    s.push(0, 'a').push(100, 'b', domain='lib').push(200, 'other', tid=2)
    s.launch(300, 'k1').launch(350, 'k2', tid=2).launch(400, 'k3', tid=3)
    s.pop(500)                       # a ends; b, in the other domain, stays open
    s.launch(600, 'k4').pop(700, domain='lib').launch(800, 'k5')
    s.pop(900).pop(901).pop(950, tid=2)  # more pops than open ranges
    s.push(1000, 'late').launch(1100, 'k6')
    same(t.runs('scope', t.write(s.end())), {'a/b/k1': 1, 'other/k2': 1, 'k3': 1, 'b/k4': 1, 'k5': 1, 'late/k6': 1})


def check_order(t):
    """Calls may come before or after their operations, and ranges after both."""
    s, kernels, calls = Spool(), [], []
    for i in range(3000):
        one = Spool()
        one.correlation = i
        one.launch(i * 20000, 'k%d' % (i % 3))
        calls.append(one.lines[-2])
        kernels.append(one.lines[-1])
    s.lines += list(reversed(kernels)) + calls
    s.push(-5, 'all').pop(3000 * 20000).end()
    same(t.times('scope', t.write(s)), {'all/k%d' % i: (5000, 2000) for i in range(3)})
    same(t.notes.count('no record of the call'), 0)


def check_wrap(t):
    """Correlation ids wrap at 2^32."""
    s = Spool()
    for i, c in enumerate([4294967294, 4294967295, 0, 1, 2, 3]):
        s.push(i * 20000, 'r%d' % i)
        s.launch(i * 20000 + 10, 'k', correlation=c)
        s.pop(i * 20000 + 5000)
    found = t.runs('scope', t.write(s.end()))
    same(found, {'k' if i == 2 else 'r%d/k' % i: 1 for i in range(6)})  # 0 is not a correlation id


def check_unlaunched(t):
    """Operations without a call are counted, without CPU time, and reported."""
    s = Spool().launch(0, 'k')
    s.add('kernel', start=T0 + 50000, length=7000, correlation=99, name='orphan', stream=7)
    s.add('kernel', start=0, length=0, correlation=98, name='untimed', stream=7)
    same(t.times('scope', t.write(s.end())), {'k': (5, 2), 'orphan': (7, 0)})
    assert '1 operation has no record of the call that launched it' in t.notes, t.notes
    assert '1 operation has no time' in t.notes, t.notes


def check_twice(t):
    """The driver's and the runtime's record of one call are one launch; two operations of a call share its time."""
    s = Spool()
    s.add('api', start=T0 + 10, length=500, correlation=1, name='cuLaunchKernel', tid=1)
    s.add('api', start=T0, length=2000, correlation=1, name='cudaLaunchKernel', tid=1)
    s.add('kernel', start=T0 + 5000, length=3000, correlation=1, name='k', stream=7)
    s.add('kernel', start=T0 + 9000, length=3000, correlation=1, name='k', stream=7)
    s.add('api', start=T0 + 10, length=500, correlation=1, name='cuLaunchKernel', tid=1)
    path = t.write(s.end())
    same(t.times('scope', path), {'k': (6, 2)})
    same(t.runs('scope', path), {'k': 2})


def check_graphs(t):
    """The launch of a graph is a node, which its kernels share. Whole graphs are separate nodes."""
    s = Spool().push(0, 'step')
    s.add('api', start=T0 + 10, length=9000, correlation=5, name='cudaGraphLaunch', tid=1)
    for i in range(10):
        s.add('kernel', start=T0 + 20000 + i * 1000, length=500, correlation=5, name='k%d' % (i % 2), stream=7, graph=3, node=i)
    s.launch(200000, word='graph', api='cudaGraphLaunch', graph=8, length=40000)
    path = t.write(s.end())
    same(t.times('scope', path), {'step/GraphLaunch': (0, 9), 'step/k0': (2.5, 0), 'step/k1': (2.5, 0), 'step/CudaGraph_8': (40, 2)})
    same(t.runs('scope', path), {'step/GraphLaunch': 1, 'step/k0': 5, 'step/k1': 5, 'step/CudaGraph_8': 1})


def check_leaf_op(t):
    """--leaf=op: each range is a node, with its CPU self time and the number of times it was entered."""
    s = Spool()
    for i in range(3):
        at = i * 100000
        s.push(at, 'forward').push(at + 1000, 'aten::mm').launch(at + 1500, 'k1', length=4000)
        s.launch(at + 3000, 'k2', length=6000).pop(at + 9000).pop(at + 10000)
    path = t.write(s.end())
    same(t.times('scope', path, '--leaf=op'), {'forward/aten.mm': (30, 24)})
    same(t.runs('op', path, '--leaf=op'), {'aten::mm': 3})


def on_path(t, path, *words):
    """Returns the nanoseconds on the critical path by node, which add up to the path."""
    rows = t.rows('scope', path, *words, select='critical_micros')
    found = {k: round(1000 * float(r['own_critical_micros'])) for k, r in rows.items() if float(r['own_critical_micros'] or 0)}
    same(sum(found.values()), json.loads(t.run('critical', path, *words, '-output', 'json'))['window_ns'])
    assert 'critical_micros' not in t.notes, t.notes
    return found


def check_critical_path(t):
    """critical_micros: work and the calls that launched it are on the path, and ranges if they are nodes; other time has its own nodes."""
    s = Spool().push(0, 'forward').launch(1000, 'k1', length=4000)
    s.add('api', start=T0 + 3000, length=13000, correlation=99, name='cudaStreamSynchronize', tid=1)
    s.launch(20000, 'k2', length=1000, stream=8).launch(22000, 'k3', length=9000, stream=9).pop(45000)
    path = t.write(s.end())
    found = on_path(t, path)
    same({k: v for k, v in found.items() if k[0] != '('}, {'forward/k1': 4000, 'forward/k2': 2000, 'forward/k3': 9000})  # the call of k2
    same((found['(host: inside annotations)'], found['(host: calls of the driver)']), (5000, 1000))
    ranges = on_path(t, path, '--leaf=op')
    same(ranges['forward'], sum(found[k] for k in ('forward/k1', 'forward/k2', 'forward/k3', '(host: inside annotations)')))
    graph = Spool().add('api', start=T0, length=9000, correlation=5, name='cudaGraphLaunch', tid=1)
    for i in range(10):
        graph.add('kernel', start=T0 + 8000 + i * 1000, length=500, correlation=5, name='k%d' % (i % 2), stream=7, graph=3, node=i)
    found = on_path(t, t.write(graph.end()))
    same([found[k] for k in ('k0', 'k1')], [2500, 2500])
    for rank in range(2):
        two = Spool(pid=1 + rank, env_RANK=rank).add('gpu', id=0, uuid='GPU-%d' % rank)
        t.write(two.launch(0, 'k', length=5000 + 9000 * rank).end(), folder='two')
    same(on_path(t, 'two')['rank1/k'], 14000)


def check_memory(t):
    """Allocations are requested, peak and residual bytes of their range; freed memory is not residual."""
    s = Spool()
    for i, (at, freed, address, size) in enumerate(
            [(0, 0, 16, 1000), (100, 0, 32, 500), (200, 1, 16, 1000), (300, 0, 48, 200), (400, 1, 99, 5)]):
        s.push(at, 'net')
        s.launch(at + 1, word='memory', api='cudaFree' if freed else 'cudaMalloc', freed=freed, address=address,
                 bytes=size, late=0)
        s.pop(at + 50)
    row = t.rows('scope', t.write(s.end()), select='bytes,peak_bytes,residual_bytes,occurrence')['net/DeviceMemory']
    same([row['own_' + x] for x in ('bytes', 'peak_bytes', 'residual_bytes', 'occurrence')], ['1700', '1500', '700', '3'])
