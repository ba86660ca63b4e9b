#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiled programs in XSpaces: edges, framework ops, categories, sources and float operations come from the program if the
events lack them. The programs are generated.

    tests/trace/hlo.py --bin build/check [NAME...]
"""
import itertools
import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
from xspace import Plane, data, number, space, varint  # noqa: E402
import trace_case  # noqa: E402
from trace_case import dump, equal, judge, program as run  # noqa: E402


def packed(field, values):
    return data(field, b''.join(varint(v) for v in values)) if values else b''


def shape(dims):
    """Encodes a shape: dimensions, or a list of shapes for a tuple."""
    if dims and isinstance(dims[0], (list, tuple)):
        return number(2, 13) + b''.join(data(4, shape(d)) for d in dims)
    return number(2, 11) + packed(3, dims)


def placed(dims, memory, type_=11):
    """Encodes the shape of a tensor in a memory space: 0 is memory of the device, 5 pinned memory of the host."""
    return number(2, type_) + packed(3, dims) + data(5, packed(1, range(len(dims))) + number(8, memory))


def instruction(id_, name, opcode, dims, operands=(), meta=b'', fusion='', calls=(), more=b''):
    out = data(1, name) + data(2, opcode) + data(3, dims if isinstance(dims, bytes) else shape(dims)) + data(7, meta)
    out += data(11, fusion) if fusion else b''
    return out + number(35, id_) + packed(36, operands) + packed(38, calls) + more


def metadata(op='', file='', line=0, frame=0, type_=''):
    return ((data(1, type_) if type_ else b'') + (data(2, op) if op else b'') + (data(3, file) if file else b'') +
            number(4, line) + number(15, frame))


def stack_index(frames):
    """Encodes frames (file, function, line, parent); their ids count from 1."""
    out = b''
    for f, _, _, _ in frames:
        out += data(1, f)
    for _, f, _, _ in frames:
        out += data(2, f)
    for i, (_, _, line, _) in enumerate(frames):
        out += data(3, number(1, i + 1) + number(2, i + 1) + number(3, line) + number(4, 1))
    return out + b''.join(data(4, number(1, i + 1) + number(2, f[3])) for i, f in enumerate(frames))


def program(name, id_, computations, entry, stacks=b'', schedule=()):
    """Encodes a program; computations are (id, root, instructions); schedule is the order of the entry's instructions."""
    body = data(1, name) + data(2, 'main') + number(5, id_) + number(6, entry)
    for c, root, instructions in computations:
        body += data(3, data(1, 'c%d' % c) + b''.join(data(2, i) for i in instructions) + number(5, c) + number(6, root))
    if schedule:
        body += data(7, data(1, number(1, entry) + data(2, packed(1, schedule))))
    return data(1, body + data(17, stacks))


def metadata_plane(programs):
    """Encodes the plane of metadata. programs: {id: bytes}"""
    p = Plane('/host:metadata')
    stat = p.name_id('Hlo Proto')
    for i, content in programs.items():
        body = number(1, i) + data(2, 'jit_f(%d)' % i) + data(5, number(1, stat) + data(6, content))
        p.metas['%d' % i] = (i, body)
    return p


def gpu(events):
    """Encodes kernels (kernel, compiled op, start, duration)."""
    p = Plane('/device:GPU:0')
    line = [(p.meta(k), at, n, {'hlo_op': op, 'hlo_module': 'jit_f', 'program_id': 7, 'tf_op': 'XlaModule:',
                                'kernel_details': 'regs:1 grid:1,1,1 block:1,1,1'}) for k, op, at, n in events]
    return p.line(7, 'Stream #7', line)


def write(content, name='a.xplane.pb'):
    return trace_case.write(content, name)


def ops(path, by='none'):
    return {o['name']: o for o in dump(path, '--by=' + by)['ops']}


FRAMES = [('main.py', '<module>', 90, 0), ('net.py', 'forward', 12, 1)]


def small():
    """Returns the program dot -> fusion(dot, add), with a loop around another op."""
    where = metadata('jit(f)/dense/dot_general', 'net.py', 12, 2)
    inner = [instruction(20, 'p', 'parameter', [4, 5]), instruction(21, 'q', 'parameter', [5, 6]),
             instruction(22, 'dot.2', 'dot', [4, 6], [20, 21], more=data(30, packed(1, [1]) + packed(2, [0])))]
    loop = [instruction(30, 'carry', 'parameter', [4, 6]),
            instruction(31, 'mul.1', 'multiply', [4, 6], [30, 30], metadata('jit(f)/loop/mul', 'net.py', 20))]
    main = [instruction(1, 'x', 'parameter', [4, 5]), instruction(2, 'w', 'parameter', [5, 6]),
            instruction(3, 'dot.1', 'dot', [4, 6], [1, 2], where, more=data(30, packed(1, [1]))),
            instruction(4, 'fusion.1', 'fusion', [4, 6], [1, 2], metadata('jit(f)/out/add'), 'kLoop', [2]),
            instruction(5, 'while.1', 'while', [4, 6], [3], calls=[3]),
            instruction(6, 'gemm.1', 'custom-call', [[4, 6], [100]], [1, 2], where,
                        more=data(28, '__cublas$gemm') +
                        data(43, '{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}'))]
    return program('jit_f', 7, [(2, 22, inner), (3, 31, loop), (1, 5, main)], 1, stack_index(FRAMES))


def sample():
    events = [('k_dot', 'dot.1', 0, 1000), ('k_help', 'dot.1', 1000, 100), ('k_dot', 'dot.1', 2000, 1000),
              ('k_help', 'dot.1', 3000, 100), ('k_fused', 'fusion.1', 4000, 500), ('k_mul', 'mul.1', 5000, 10),
              ('k_gemm', 'gemm.1', 6000, 10)]
    return write(space(metadata_plane({7: small()}), gpu(events)))


def names_and_flops():
    """Framework ops and float operations count once for each execution, whatever its number of kernels."""
    found = ops(sample())
    equal({n: (o['type'], o['runs'], o['kernels'], o['device_total'], o['flops']) for n, o in found.items()}, {
        'jit(f)/dense/dot_general': ('dot_general', 2, 5, 2210, 3 * 2 * 4 * 5 * 6),
        'jit(f)/out/add': ('add', 1, 1, 500, 2 * 4 * 5 * 6), 'jit(f)/loop/mul': ('mul', 1, 1, 10, 4 * 6)})


def categories():
    """The kinds of fusions and opcodes are categories."""
    types = {}
    for o in ops(sample(), 'hlo_category').values():
        types[o['type']] = types.get(o['type'], 0) + o['device_self']
    equal(types, {'dot': 2200, 'loop fusion': 500, 'multiply': 10, 'custom-call': 10})


def sources():
    """Call stacks come from the index of frames, outermost first; without one, from file and line."""
    out, _ = run(sample(), 'code', '-select', 'accelerator_micros,occurrence', '-max_depth', '9')
    lines = [line.split(' (')[0].strip() for line in out.split('\n') if '.py' in line]
    equal(lines, ['main.py:90:<module> > net.py:12:forward', 'net.py:20:'])


def graph():
    """Edges follow operands, from the last op to the first; a loop has the root of its body as an input."""
    path = sample()
    out, _ = run(path, 'graph', '-max_depth', '9', '-select', 'occurrence')
    tree = [(len(line) - len(line.lstrip()), line.split(' (')[0].strip()) for line in out.split('\n') if ' (' in line and '/' in line]
    found = {name: depth for depth, name in tree}
    assert found['jit_f/while.1'] < found['jit(f)/loop/mul'] < found['jit_f/carry'], tree
    assert found['jit_f/while.1'] < found['jit(f)/dense/dot_general'] and found['jit(f)/out/add'] < found['jit_f/x'], tree
    run(path, 'graph', '-output', 'timeline:outfile=t.json')
    write(space(gpu([('k', 'dot.1', 0, 10)])))
    _, err = run('a.xplane.pb', 'graph', status=1)
    assert 'the trace has no graph, because it contains no compiled program' in err, err
    run('a.xplane.pb', 'graph', '-output', 'timeline:outfile=t.json')


def convolutions():
    """Only taps inside the image count; the number equals the result of a loop over all taps."""
    shapes = [dict(image=7, size=3, stride=1, low=1, high=1), dict(image=9, size=3, stride=2, low=0, high=0),
              dict(image=8, size=2, stride=2, low=1, high=1), dict(image=6, size=3, stride=1, low=2, high=2, dilation=2),
              dict(image=5, size=4, stride=1, low=3, high=3, base=2), dict(image=4, size=3, stride=3, low=5, high=9),
              dict(image=3, size=2, stride=1, low=-1, high=0)]
    for pair in itertools.product(shapes, shapes[:3]):
        pairs, window, out, image = 1, b'', [2, 6], [2, 4]
        for d in pair:
            base, dilation = d.get('base', 1), d.get('dilation', 1)
            wide = (d['image'] - 1) * base + 1 + d['low'] + d['high']
            n = (wide - (d['size'] - 1) * dilation - 1) // d['stride'] + 1
            inside = 0
            for o in range(n):
                for k in range(d['size']):
                    at = o * d['stride'] - d['low'] + k * dilation
                    inside += at >= 0 and at % base == 0 and at // base < d['image']
            pairs *= inside
            out.append(n)
            image.append(d['image'])
            window += data(1, number(1, d['size']) + number(2, d['stride']) + number(3, d['low']) + number(4, d['high']) +
                           number(5, dilation) + number(6, base))
        dims = number(3, 1) + number(8, 1) + number(10, 1) + packed(11, [2, 3]) + packed(12, [2, 3])
        conv = instruction(3, 'conv.1', 'convolution', out, [1, 2], more=data(15, window) + data(16, dims))
        main = [instruction(1, 'x', 'parameter', image),
                instruction(2, 'w', 'parameter', [6, 4] + [d['size'] for d in pair]), conv]
        write(space(metadata_plane({7: program('jit_f', 7, [(1, 3, main)], 1)}), gpu([('k', 'conv.1', 0, 10)])))
        equal(ops('a.xplane.pb')['jit_f/conv.1']['flops'], 2 * 2 * 6 * 4 * pairs)


def answer(path, *words):
    return json.loads(run(path, 'flops', '-output', 'json', *words)[0])


def counted():
    """flops prints numbers by op, the file's own numbers, device time without a formula, and formulas with numbers."""
    events = [('k_dot', 'dot.1', 0, 10 ** 6), ('k_help', 'dot.1', 10 ** 6, 10 ** 5), ('k_fused', 'fusion.1', 4 * 10 ** 6, 5 * 10 ** 5),
              ('k_mul', 'mul.1', 5 * 10 ** 6, 10 ** 4), ('k_lost', 'lost.1', 6 * 10 ** 6, 4 * 10 ** 4)]
    plane = gpu(events)
    path = write(space(metadata_plane({7: small()}), plane))
    d = answer(path)
    equal({r['op']: (r['flops'], r['calls'], r['device_ns'], r['stated_flops']) for r in d['ops']},
          {'dot_general': (240, 1, 1100, None), 'add': (240, 1, 500, None), 'mul': (24, 1, 10, None)})
    equal([(r['op'], r['reason']) for r in d['uncounted']], [('k_lost', 'no shape in the file')])
    equal((d['flops'], d['device_ns'], d['covered_ns'], 'stated_flops' in d), (504, 1650, 1610, False))
    equal(run(path, 'flops', '--explain', 'dot_general')[0],
          'dot_general: 2 * elements of the result * length of the sums\n  1 of 240 = 2 * 24 * 5\n')
    p = Plane('/device:GPU:0')
    p.line(7, 'Stream #7', [(p.meta(k), at, 1000, {'hlo_op': op, 'program_id': 7, 'flops': n}) for k, op, at, n in
                            (('k_dot', 'dot.1', 0, 250), ('k_dot', 'dot.1', 2000, 250), ('k_alone', 'lost.1', 4000, 77))])
    path = write(space(metadata_plane({7: small()}), p))
    d = answer(path)
    equal((d['flops'], d['stated_flops'], d['coverage']), (2 * 240 + 77, 2 * 250, 1))
    equal(sorted((r['family'], r['flops']) for r in d['families'] if r['flops']), [('matrix products', 480), ('stated by the file', 77)])
    equal(ops(path)['jit(f)/dense/dot_general']['flops'], 500)  # views show the number in the file


def communication():
    """Communication has its own device time in flops, counts 0, and --explain shows the number that the file states."""
    main = [instruction(1, 'x', 'parameter', [4, 4]), instruction(2, 'all-reduce.1', 'all-reduce', [4, 4], [1])]
    p = Plane('/device:GPU:0')
    p.line(7, 'Stream #7', [(p.meta('ncclDevKernel_AllReduce'), at, 1000, {'hlo_op': 'all-reduce.1', 'program_id': 7, 'flops': 50}) for at in (0, 2000)])
    path = write(space(metadata_plane({7: program('jit_f', 7, [(1, 2, main)], 1)}), p))
    d = answer(path)
    equal([(r['op'], r['flops'], r['calls'], r['device_ns'], r['stated_flops']) for r in d['ops']], [('all-reduce', 0, 2, 2, 100)])
    equal([(r['family'], r['device_ns']) for r in d['families']], [('no float operations', 2)])
    equal((d['device_ns'], d['covered_ns']), (2, 2))
    equal(run(path, 'flops', '--explain', 'all-reduce')[0],
          'all-reduce: 0: it copies, rearranges, compares or communicates\n  2 of 0; the file states 100 in all\n')


def divided_product():
    """A product that is divided over devices is a product and a reduction of its parts, both named after the product: its family is that of
    the product, although the reduction comes first."""
    where = metadata('jit(f)/dot_general')
    main = [instruction(1, 'x', 'parameter', [4, 4]), instruction(2, 'dot.1', 'dot', [4, 4], [1, 1], where, more=data(30, packed(1, [1]))),
            instruction(3, 'all-reduce.1', 'all-reduce', [4, 4], [2], where)]
    path = write(space(metadata_plane({7: program('jit_f', 7, [(1, 3, main)], 1)}),
                       gpu([('nccl', 'all-reduce.1', 0, 3000), ('k_dot', 'dot.1', 4000, 1000)])))
    d = answer(path)
    equal([(r['op'], r['family'], r['flops'], r['calls']) for r in d['ops']], [('dot_general', 'matrix products', 128, 2)])
    equal([(r['family'], r['flops'], r['device_ns']) for r in d['families']], [('matrix products', 128, 1), ('no float operations', 0, 3)])


def loops():
    """The body of a loop counts as often as it runs."""
    body = [instruction(30, 'c', 'parameter', [4, 4]), instruction(31, 'dot.9', 'dot', [4, 4], [30, 30], more=data(30, packed(1, [1])))]
    main = [instruction(1, 'x', 'parameter', [4, 4]), instruction(2, 'while.1', 'while', [4, 4], [1], calls=[2])]
    events = [('k_dot', 'dot.9', 1000 * i, 500) for i in range(7)]
    path = write(space(metadata_plane({7: program('jit_f', 7, [(2, 31, body), (1, 2, main)], 1)}), gpu(events)))
    equal([(r['op'], r['flops'], r['calls']) for r in answer(path)['ops']], [('dot', 7 * 2 * 4 * 4 * 4, 7)])


def rematerialised():
    """Work that JAX's checkpoint or XLA computes again is part of the float operations, but not of MFU."""
    product = data(30, packed(1, [1]))
    main = [instruction(1, 'x', 'parameter', [4, 4]),
            instruction(2, 'dot.1', 'dot', [4, 4], [1, 1], metadata('jit(f)/jvp(checkpoint)/dot_general'), more=product),
            instruction(3, 'dot.2', 'dot', [4, 4], [1, 1], metadata('jit(f)/transpose(jvp(checkpoint))/rematted_computation/dot_general'), more=product),
            instruction(4, 'dot.3.remat', 'dot', [4, 4], [1, 1], metadata('jit(f)/dot_general'), more=product)]
    events = [('k_dot', op, 10 ** 6 * i, 10 ** 5) for i, op in enumerate(('dot.1', 'dot.2', 'dot.2', 'dot.3.remat'))]
    path = write(space(metadata_plane({7: program('jit_f', 7, [(1, 4, main)], 1)}), gpu(events)))
    d = answer(path, '--peak-flops=1G')
    equal((d['flops'], d['recomputed_flops']), (4 * 128, 3 * 128))
    equal(round(d['hfu'] / d['mfu'], 3), 4)


def library_calls():
    """Calls of cuDNN for gradients count as the convolution whose result they have as an input."""
    window = data(15, b''.join(data(1, number(1, 3) + number(2, 1) + number(3, 1) + number(4, 1) + number(5, 1) + number(6, 1)) for _ in range(2)))
    dims = data(16, number(3, 1) + number(8, 1) + number(10, 1) + packed(11, [2, 3]) + packed(12, [2, 3]))
    image, kernel, out = [2, 4, 8, 8], [6, 4, 3, 3], [2, 6, 8, 8]
    found = []
    for target, a, b, result in (('Forward', image, kernel, out), ('BackwardInput', out, kernel, image), ('BackwardFilter', image, out, kernel)):
        call = instruction(3, 'conv.1', 'custom-call', [result, [9]], [1, 2], more=window + dims + data(28, '__cudnn$conv' + target))
        main = [instruction(1, 'x', 'parameter', a), instruction(2, 'y', 'parameter', b), call]
        path = write(space(metadata_plane({7: program('jit_f', 7, [(1, 3, main)], 1)}), gpu([('k', 'conv.1', 0, 10)])))
        found.append(answer(path)['flops'])
    equal(found, [2 * 2 * 6 * 4 * 22 * 22] * 3)  # 22 of 24 pairs of a position and a tap are inside, by dimension


def transforms():
    """A Fourier transform has 5 operations for each element and level of complex data, and half as many for real data."""
    main = [instruction(1, 'x', 'parameter', [4, 8]), instruction(2, 'fft.1', 'fft', [4, 8], [1], more=packed(32, [8])),
            instruction(3, 'fft.2', 'fft', [4, 5], [1], more=packed(32, [8])), instruction(4, 'fft.3', 'fft', [4, 8], [1], more=packed(32, [4, 8]))]
    path = write(space(metadata_plane({7: program('jit_f', 7, [(1, 4, main)], 1)}), gpu([('k%d' % i, 'fft.%d' % i, i * 10 ** 6, 1000) for i in (1, 2, 3)])))
    d = answer(path)
    equal((d['flops'], d['coverage'], [r['family'] for r in d['families'] if r['flops']]), (5 * 32 * 3 + 5 * 32 * 3 // 2 + 5 * 32 * 5, 1, ['Fourier transforms']))


def shared_computations():
    """Many fusions of one large computation do not need time proportional to the square of the file size; the rest is not
    counted."""
    inner = [instruction(100, 'p', 'parameter', [4, 4])] + [instruction(101 + i, 'a%d' % i, 'add', [4, 4], [100, 100]) for i in range(300)]
    main = [instruction(1 + i, 'fusion.%d' % i, 'fusion', [4, 4], [], calls=[2]) for i in range(90)]
    events = [('k%d' % i, 'fusion.%d' % i, 100 * i, 50) for i in range(90)]
    d = answer(write(space(metadata_plane({7: program('jit_f', 7, [(2, 101, inner), (1, 1, main)], 1)}), gpu(events))))
    counted = sum(r['calls'] for r in d['ops'])
    equal((d['flops'], counted + sum(r['calls'] for r in d['uncounted'])), (300 * 16 * counted, 90))
    assert 10 < counted < 90, counted


def damaged():
    """A damaged program is left out with a note; a file with any changed byte is read or refused."""
    events = [('k_dot', 'dot.1', 0, 1000)]
    write(space(metadata_plane({7: small()[:-40]}), gpu(events)))
    _, err = run('a.xplane.pb', 'op')
    assert 'of the XSpace is damaged' in err or 'of the XSpace are damaged' in err, err
    equal(list(ops('a.xplane.pb')), ['jit_f/dot.1'])
    content = bytearray(space(metadata_plane({7: small()}), gpu(events)))
    for at in range(0, len(content), 5):
        for change in (0x5a, 0xff):
            changed = bytearray(content)
            changed[at] ^= change
            write(bytes(changed), 'b.xplane.pb')
            judge('tfprof', 'b.xplane.pb', 'graph', '--recover', allowed=(0, 1, 3))


def circles():
    """Cycles of computations, frames and operands do not hang the reader."""
    loop = instruction(3, 'while.1', 'while', [4], [4], calls=[1, 2, 9])
    other = instruction(4, 'add.1', 'add', [4], [3, 4, 77], metadata('jit(f)/add', frame=2))
    frames = stack_index([('a.py', 'f', 1, 2), ('b.py', 'g', 2, 1)])
    write(space(metadata_plane({7: program('jit_f', 7, [(1, 4, [loop, other]), (2, 3, [])], 1, frames)}),
                gpu([('k', 'add.1', 0, 10)])))
    run('a.xplane.pb', 'graph')
    run('a.xplane.pb', 'code')


def one_framework_op():
    """Compiled ops of one framework op are one node, even if the graph has a cycle through another node: no view loses time."""
    conv = metadata('jit(f)/conv')
    main = [instruction(1, 'x', 'parameter', [4, 5]),
            instruction(2, 'cudnn-conv.1', 'custom-call', [[4, 5], [0]], [1], conv),
            instruction(3, 'get-tuple-element.1', 'get-tuple-element', [4, 5], [2], metadata('jit(f)/bitcast')),
            instruction(4, 'fusion.1', 'fusion', [4, 5], [3], conv, 'kLoop', [2])]
    path = write(space(metadata_plane({7: program('jit_f', 7, [(2, 22, [instruction(22, 'p', 'parameter', [4, 5])]), (1, 4, main)], 1)}),
                       gpu([('k_conv', 'cudnn-conv.1', 0, 5000000), ('k_get', 'get-tuple-element.1', 5000000, 2000000),
                            ('k_fused', 'fusion.1', 7000000, 1000000)])))
    for view in 'scope', 'graph', 'op':
        out, _ = run(path, view, '-select', 'accelerator_micros', '-output', 'json')
        total = json.loads(out[out.index('{'):])['total']
        equal((view, total['accelerator_micros']), (view, 8))
    out, _ = run(path, 'graph', '-select', 'accelerator_micros')
    assert '  jit(f)/conv (6.00us/6.00us)\n' in out and '    jit_f/x (' in out, out


def transfers():
    """Copies between memory spaces on a TPU have a direction and bytes, and are a cause if one of the spaces is memory of the
    host. The copy counts where it ends. Copies within the device are no such cause."""
    def offload(host, type_=11):
        start = [number(2, 13) + b''.join(data(4, placed([1024, 1024], memory, type_)) for memory in pair) for pair in ((0, host), (host, 0))]
        main = [instruction(1, 'x', 'parameter', [4, 5]), instruction(2, 'copy-start.1', 'copy-start', start[0], [1]),
                instruction(3, 'copy-done.1', 'copy-done', placed([1024, 1024], 0, type_), [2]), instruction(4, 'add.1', 'add', [4, 5], [3, 3]),
                instruction(5, 'copy-start.2', 'copy-start', start[1], [4]), instruction(6, 'copy-done.2', 'copy-done', placed([1024, 1024], host, type_), [5])]
        p = Plane('/device:TPU:0')
        metas = [p.meta('%' + n, n, program_id=7, symbol_id=i + 1, hlo_category='loop fusion' if n[0] == 'a' else n[:-2]) for i, n in enumerate(('copy-start.1', 'copy-done.1', 'add.1', 'copy-start.2', 'copy-done.2'))]
        p.line(2, 'XLA Modules', [(p.meta('jit_f(7)'), 10 ** 9 * k + 500, 99 * 10 ** 7) for k in range(4)])
        p.line(3, 'XLA Ops', [(metas[i], 10 ** 9 * k + at, length) for k in range(4)
                              for i, at, length in ((0, 1000, 1000), (1, 2000, 6 * 10 ** 8), (2, 6 * 10 ** 8 + 3000, 10 ** 8), (3, 7 * 10 ** 8 + 4000, 1000), (4, 7 * 10 ** 8 + 5000, 28 * 10 ** 7))])
        path = write(space(metadata_plane({7: program('jit_f', 7, [(1, 6, main)], 1)}), p))
        found = json.loads(run(path, 'devices', '-output', 'json')[0])['devices'][0]['copy_bytes']
        rows = json.loads(run(path, 'kernels', '-output', 'json')[0])['kernels']
        equal({r['name'] for r in rows if r['category'] == 'copy'}, {'copy-start.1', 'copy-done.1', 'copy-start.2', 'copy-done.2'})
        why = json.loads(run(path, 'why', '-output', 'json')[0])
        return found, [(c['id'], [w['name'] for w in c['where']]) for c in why['causes']], why['verdict']
    size, causes, verdict = offload(5)
    equal((size, causes), (4 * 2 * 4 * 2 ** 20, [('host_copies', ['copy-done.1', 'copy-done.2'])]))
    assert verdict.startswith('Copy-bound: copying between host and device lengthens the window of '), verdict
    equal(offload(5, 16)[0], 4 * 2 * 2 * 2 ** 20)
    equal(offload(5, 99)[0], 0)
    equal(offload(1)[:2], (size, []))


def threads():
    """Compiled ops on CPU threads are ops with host time. The self time of a loop excludes its body. Executions are
    counted as on devices."""
    p = Plane('/host:CPU')

    def event(name, op, at, n, program=7, module='jit_f'):
        return (p.meta(name), at, n, {'hlo_op': ('ref', op), 'hlo_module': ('ref', module), 'program_id': program, 'run_id': -5})
    p.line(1, 'worker/1', [event('dot.1', 'dot.1', 0, 1000), event('gemm.1', 'gemm.1', 1000, 100), event('dot.1', 'dot.1', 2000, 1000),
                           event('while.1', 'while.1', 4000, 900), event('mul.1', 'mul.1', 4100, 300), event('mul.1', 'mul.1', 4500, 300),
                           (p.meta('ThunkExecutor::Execute'), 0, 5000)])
    p.line(2, 'worker/2', [event('fusion.9', 'fusion.9', 0, 40, 8, 'jit_g'), (999, 100, 5, {'hlo_op': 'lost', 'hlo_module': 'jit_g'})])
    path = write(space(metadata_plane({7: small()}), p))
    found = {n: (o['type'], o['host_runs'], o['host_total'], o['host_self'], o['flops']) for n, o in ops(path).items()}
    equal(found, {'jit(f)/dense/dot_general': ('dot_general', 2, 2100, 2100, 3 * 2 * 4 * 5 * 6), 'jit_f/while.1': ('while', 1, 900, 300, 0),
                  'jit(f)/loop/mul': ('mul', 2, 600, 600, 2 * 4 * 6), 'jit_g/fusion.9': ('Unknown', 1, 40, 40, 0), 'jit_g/lost': ('Unknown', 1, 5, 5, 0)})
    by = {b: {n: (o['type'], o['host_self']) for n, o in ops(path, b).items()} for b in ('op', 'module', 'hlo_category', 'kernel', 'function')}
    equal(by['op'], {'jit_f/dot.1': ('dot_general', 2000), 'jit_f/gemm.1': ('dot_general', 100), 'jit_f/while.1': ('while', 300),
                     'jit_f/mul.1': ('mul', 600), 'jit_g/fusion.9': ('Unknown', 40), 'jit_g/lost': ('Unknown', 5)})
    equal(by['module'], {'jit_f': ('jit_f', 3000), 'jit_g': ('jit_g', 45)})
    equal({t: sum(s for u, s in by['hlo_category'].values() if u == t) for t, _ in by['hlo_category'].values()},
          {'dot': 2000, 'custom-call': 100, 'while': 300, 'multiply': 600, 'op': 45})
    for b in ('kernel', 'function'):
        equal({t for t, _ in by[b].values()}, {'(host)'})
        equal(sum(s for _, s in by[b].values()), 3045)
    found = {o['name']: o['host_self'] for o in ops(path, 'source').values()}
    equal((found['net.py(12): forward'], found['net.py:20']), (2100, 600))
    out, _ = run(path, 'graph', '-max_depth', '9', '-output', 'csv')
    assert 'jit(f)/dense/dot_general' in out, out


CASES = [divided_product, transfers, threads, one_framework_op, names_and_flops, categories, sources, graph, convolutions, counted, communication, loops, rematerialised, library_calls, transforms,
         shared_computations, damaged, circles]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES))
