#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tfprof with key_averages() of torch.profiler, on traces of a small model that the installed PyTorch trains.

    tests/frameworks/torch_made.py --bin build/check [NAME...]      needs a Python with torch
"""
import json
import os
import re
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import compare_printed, dump, equal, host_ops, main, make, program  # noqa: E402

ACTIVE = 3  # recorded steps


def train(folder, stacks):
    """Writes trace.json, and the rows of key_averages() as averages.json. With 'handler', writes two traces with
    tensorboard_trace_handler() instead."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
    warnings.simplefilter('ignore')
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 6 * 6, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=.1)
    x, y = torch.randn(4, 3, 8, 8), torch.randint(0, 10, (4,))
    more = {'with_stack': True, 'with_modules': True} if stacks == 'stacks' else {}
    times = 1
    if stacks == 'handler':
        more, times = {'on_trace_ready': tensorboard_trace_handler(folder)}, 2
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_flops=True,
                 schedule=schedule(wait=1, warmup=1, active=ACTIVE, repeat=times), **more) as p:
        for _ in range(times * (2 + ACTIVE)):
            with record_function('forward'):
                loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            p.step()
    if stacks == 'handler':
        return
    p.export_chrome_trace(os.path.join(folder, 'trace.json'))
    rows = [{'key': e.key, 'count': e.count, 'self_ns': round(e.self_cpu_time_total * 1000), 'total_ns': round(e.cpu_time_total * 1000),
             'flops': e.flops, 'annotation': e.is_user_annotation} for e in p.key_averages()]
    with open(os.path.join(folder, 'averages.json'), 'w') as f:
        json.dump(rows, f)


def count(folder):
    """Writes a trace for each model, and the numbers of PyTorch's counter for the same passes as counts.json."""
    import torch
    from flop_models import MODELS, run
    from torch.profiler import ProfilerActivity, profile
    from torch.utils.flop_counter import FlopCounterMode
    warnings.simplefilter('ignore')
    torch.manual_seed(0)
    torch.set_num_threads(1)
    counts = {}
    for name, (make_model, make_input, groups) in MODELS.items():
        model, x = make_model(), make_input()
        counter = FlopCounterMode(display=False)
        with counter:
            run(model, x)
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
            run(model, x)
        p.export_chrome_trace(os.path.join(folder, name + '.pt.trace.json'))
        of = {str(op).split('.')[-1]: n for op, n in counter.get_flop_counts().get('Global', {}).items()}
        counts[name] = {'total': sum(of.values()), 'gradients': of.get('convolution_backward', 0), 'groups': groups}
    with open(os.path.join(folder, 'counts.json'), 'w') as f:
        json.dump(counts, f)


# Models that torch.onnx.export accepts without further packages, and that take less than a second each.
EXPORTED = 'resnet18', 'mobilenet_v2', 'groups', 'perceptron', 'attention', 'decoder', 'encoder', 'vit', 'lstm'


def export(folder):
    """Writes a trace of a forward pass and an ONNX file for each of these models, and the counts of fvcore as
    multiplies.json."""
    sys.path[:] = [p for p in sys.path if not os.path.exists(os.path.join(p, 'onnx.py'))]  # not the package
    import torch
    from flop_models import MODELS
    from fvcore.nn import FlopCountAnalysis
    from torch.profiler import ProfilerActivity, profile
    warnings.simplefilter('ignore')
    torch.manual_seed(0)
    torch.set_num_threads(1)
    multiplies = {}
    for name in EXPORTED:
        make_model, make_input, _ = MODELS[name]
        model, x = make_model().eval(), make_input()
        with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
            model(x)
        p.export_chrome_trace(os.path.join(folder, name + '.pt.trace.json'))
        torch.onnx.export(model, (x,), os.path.join(folder, name + '.onnx'), dynamo=True, verbose=False)
        multiplies[name] = FlopCountAnalysis(model, x).unsupported_ops_warnings(False).by_operator()
    with open(os.path.join(folder, 'multiplies.json'), 'w') as f:
        json.dump(multiplies, f)


def made(stacks):
    """Returns (path of the trace, {name: row of key_averages()})."""
    folder = make('train', stacks)
    with open(os.path.join(folder, 'averages.json')) as f:
        return os.path.join(folder, 'trace.json'), {r['key']: r for r in json.load(f)}


def by_name(path, by='none'):
    """Adds up tfprof's ops by the last level of their paths. Returns {name: [executions, total, self]}, ns."""
    found = {}
    for name, (_, runs, total, own) in host_ops(path, by).items():
        sums = found.setdefault(name.rsplit('/', 1)[-1], [0, 0, 0])
        for i, v in enumerate((runs, total, own)):
            sums[i] += v
    return found


def is_step(name):
    return name.startswith('ProfilerStep')


def nested(path):
    """Returns the events of all threads from the JSON text, in ns. Adds to each event its enclosing event ('in') and
    its length for self times ('own')."""
    with open(path) as f:
        events = [e for e in json.load(f)['traceEvents'] if e.get('ph') == 'X' and e['cat'] in ('cpu_op', 'user_annotation', 'python_function')]
    for e in events:
        e['start'], e['length'] = round(e['ts'] * 1000), round(e['dur'] * 1000)
        e['own'], e['in'] = e['length'], None
        e['frame'] = e['cat'] == 'python_function' and not e['name'].startswith('nn.Module: ')
    for thread in {(e['pid'], e['tid']) for e in events}:
        stack = []
        for e in sorted((e for e in events if (e['pid'], e['tid']) == thread), key=lambda e: (e['start'], -e['length'])):
            while stack and stack[-1]['start'] + stack[-1]['length'] < e['start'] + e['length']:
                stack.pop()
            e['in'] = stack[-1] if stack else None
            stack.append(e)
    return events


def around(e, wanted):
    """Returns the innermost wanted event that contains e, or None."""
    e = e['in']
    while e and not wanted(e):
        e = e['in']
    return e


def python_self(path):
    """Returns {annotation: self time of the Python functions directly inside it, ns}, without the modules and ops in
    them."""
    events, found = nested(path), {}
    for e in events:
        if e['in'] and e['in']['cat'] == 'python_function':
            e['in']['own'] -= e['length']
    for e in events:
        at = around(e, lambda x: not x['frame']) if e['frame'] else None
        if at and at['cat'] == 'user_annotation':
            found[at['name']] = found.get(at['name'], 0) + e['own']
    return found


def line_of(name):
    """Returns a frame as the view code prints it: file:line:function, with the function truncated to 17 characters. A
    frame without a file is printed in full."""
    m = re.match(r'(?:.*/)?([^/]*)\((\d+)\): (.*)', name)
    return '%s:%s:%s' % (m[1], m[2], m[3] if len(m[3]) < 20 else m[3][:17] + '...') if m else name


def self_by_stack(path):
    """Returns {frames, outermost first: self time of ops, modules and annotations in ns}."""
    events, found = [e for e in nested(path)], {}
    for e in events:
        up = None if e['frame'] else around(e, lambda x: not x['frame'])
        if up and not is_step(up['name']):
            up['own'] -= e['length']
    for e in events:
        if e['frame'] or is_step(e['name']):
            continue
        frames, at = [], around(e, lambda x: x['frame'])
        while at:
            frames.append(line_of(at['name']))
            at = around(at, lambda x: x['frame'])
        if frames:
            stack = ';'.join(reversed(frames))
            found[stack] = found.get(stack, 0) + e['own']
    return found


def counts_and_self_times():
    """Counts, total and self times equal all rows of key_averages() to the nanosecond, including annotations."""
    path, rows = made('plain')
    found = by_name(path)
    for name, r in rows.items():
        if not is_step(name):
            equal(found.pop(name), [r['count'], r['total_ns'], r['self_ns']], name)
    equal(found, {})


def with_stacks():
    """With stacks and modules, counts, total and self times of ops still equal key_averages(). So do counts and totals
    of annotations. Their self time includes the Python functions in them, which key_averages() subtracts, because
    frames are not levels of a path."""
    path, rows = made('stacks')
    found, python = by_name(path), python_self(path)
    for name, r in rows.items():
        if is_step(name):
            continue
        own = r['self_ns'] + python.get(name, 0) if r['annotation'] else r['self_ns']
        equal(found.pop(name), [r['count'], r['total_ns'], own], name)
    equal([name for name in found if not name.startswith('nn.Module: ')], [])
    equal(sorted(found), ['nn.Module: %s_0' % m for m in ('Conv2d', 'Flatten', 'Linear', 'ReLU', 'Sequential')])
    equal({runs for runs, _, _ in found.values()}, {ACTIVE})


def steps():
    """The steps are the annotations ProfilerStep#N; their durations add up to the row ProfilerStep* of
    key_averages()."""
    for stacks in ('plain', 'stacks'):
        path, rows = made(stacks)
        found = json.loads(program('steps', path, '-output', 'json')[0])['steps']
        equal([(r['step'], r['name']) for r in found], [(i, 'ProfilerStep#%d' % i) for i in range(2, 2 + ACTIVE)])
        row, = [r for name, r in rows.items() if is_step(name)]
        equal((row['count'], row['total_ns']), (ACTIVE, sum(r['duration_ns'] for r in found)))


def stacks():
    """The view code adds the self times of ops, modules and annotations to the Python stack of each call. Times
    are whole nanoseconds."""
    path, _ = made('stacks')
    expected, found = self_by_stack(path), {}
    for step in range(2, 2 + ACTIVE):
        for line in program('code', path, '-step', str(step), '-select', 'self_micros', '-output', 'folded')[0].splitlines():
            stack, ns = line.rsplit(' ', 1)
            if ns.isdigit() and stack:
                found[stack] = found.get(stack, 0) + int(ns)
    assert len(expected) > 10, expected
    for stack, ns in expected.items():
        equal(found.pop(stack, 0), ns, stack)
    equal({k for k in found if ':' in k}, set())


def printed():
    """The command op prints the same counts and times per step, rounded to microseconds per node."""
    for stacks in ('plain', 'stacks'):
        path, rows = made(stacks)
        compare_printed(path, {name: (r['count'], r['self_ns']) for name, r in rows.items() if not r['annotation']}, 1000)


def float_operations():
    """The float operations of matrix products equal key_averages(). tfprof counts the operations of conv2d at the
    innermost op."""
    path, rows = made('plain')
    flops = {}
    for o in dump(path)['ops']:
        name = o['name'].rsplit('/', 1)[-1]
        flops[name] = flops.get(name, 0) + o['flops']
    for name in ('aten::mm', 'aten::addmm'):
        assert rows[name]['flops'], name
        equal(flops[name], rows[name]['flops'], name)
    assert rows['aten::conv2d']['flops'] and not flops['aten::conv2d']
    equal(sum(n for name, n in flops.items() if 'conv' in name and 'backward' not in name), rows['aten::conv2d']['flops'], 'convolution')


def models():
    """Products, convolutions and attention of thirty models have the float operations that PyTorch counts. PyTorch counts
    gradients of grouped convolutions too often; for these models, all other numbers are equal, and each gradient has at most
    two convolutions. PyTorch does not count the LSTM of oneDNN."""
    folder = make('count')
    with open(os.path.join(folder, 'counts.json')) as f:
        counts = json.load(f)
    equal(len(counts), 30)
    for name, theirs in counts.items():
        rows = json.loads(program('flops', os.path.join(folder, name + '.pt.trace.json'), '--top=0', '-output', 'json')[0])['ops']
        ours = sum(r['flops'] for r in rows if r['family'] in ('matrix products', 'convolutions', 'attention'))
        gradients = sum(r['flops'] for r in rows if r['op'] == 'aten::convolution_backward')
        if name == 'lstm':
            forward = 2 * 5 * 3 * 4 * 32 * (16 + 32)
            equal([r['flops'] for r in rows if r['family'] == 'recurrent cells'], [2 * forward, forward])
        if theirs['groups']:
            forward = sum(r['flops'] for r in rows if r['family'] == 'convolutions') - gradients
            equal(ours - gradients, theirs['total'] - theirs['gradients'], name)
            equal(forward <= gradients <= 2 * forward, True, name)
        else:
            equal(ours, theirs['total'], name)


def exported_models():
    """An exported model has the products, convolutions, attention and recurrent cells of its trace; a perceptron and a
    convolution have all of its float operations."""
    folder = make('export')
    for name in EXPORTED:
        found = []
        for ending in '.pt.trace.json', '.onnx':
            d = json.loads(program('flops', os.path.join(folder, name + ending), '-output', 'json')[0])
            found.append((sum(r['flops'] for r in d['families']
                              if r['family'] in ('matrix products', 'convolutions', 'attention', 'recurrent cells')), d['flops']))
        (trace, all_of_trace), (model, all_of_model) = found
        assert trace, name
        equal(model, trace, name)
        if name in ('groups', 'perceptron'):
            equal(all_of_model, all_of_trace, name)


def fvcore():
    """Convolutions and matrix products have twice the multiply-adds that fvcore counts. fvcore does not count attention and
    LSTMs."""
    folder = make('export')
    with open(os.path.join(folder, 'multiplies.json')) as f:
        counts = json.load(f)
    for name in EXPORTED:
        d = json.loads(program('flops', os.path.join(folder, name + '.pt.trace.json'), '-output', 'json')[0])
        ours = {r['family']: r['flops'] for r in d['families']}
        theirs = counts[name]
        equal(ours.get('convolutions', 0), 2 * theirs.get('conv', 0), name)
        if name not in ('encoder', 'vit'):
            equal(ours.get('matrix products', 0), 2 * sum(theirs.get(op, 0) for op in ('linear', 'addmm', 'matmul', 'bmm')), name)


# The inputs that the places in op.def refer to, by formula: their names in the schemas.
FACTOR, KERNEL = 'self input mat mat1 batch1 X', 'weight W'
ROLES = {
    'PRODUCT': [FACTOR], 'PRODUCT_T': [FACTOR, 'W'], 'GROUPED': ['self'], 'DISTANCE': ['x1'],
    'OUTER': ['self vec1'], 'SPARSE': ['mat1 weight', 'mat2 input'], 'COMPRESSED': ['compressed_A', 'dense_B'],
    'COPY': ['self src', 'self'], 'EMBEDDING': ['weight', 'indices'], 'PACKED': ['self inp', 'qScaleAndZeros out_features'],
    'CONVOLUTION': [FACTOR, KERNEL, 'stride', 'padding', 'dilation', 'transposed'],
    'CONVOLUTION_GRADIENT': ['grad_output', 'input', 'weight', 'transposed', 'output_mask'],
    'ATTENTION': ['query', 'is_causal custom_mask_type', None, 'cum_seq_q cu_seqlens_q', 'window_size_left'],
    'ATTENTION_GRADIENT': ['query', 'is_causal custom_mask_type', None, 'cum_seq_q cu_seqlens_q', 'window_size_left'],
    'RECURRENT': ['input', 'weight weight0', 'weight1'], 'RECURRENT_GRADIENT': ['input', 'weight weight1', 'weight2'],
    'FFT': ['dim', None, 'last_dim_size'], 'BAG': ['weight'], 'POOLING': ['kernel_size', 'stride', 'padding', 'dilation', 'ceil_mode'],
}


def op_rows():
    """Returns (name, formula, places) for each op of op.def that PyTorch defines."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../src/flops/op.def')) as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    for names, formula, places in re.findall(r'OP\(((?:\s*"[^"]*")+)\s*,\s*(\w+), ([^)]*)\)', text):
        for name in ' '.join(re.findall('"([^"]*)"', names)).split():
            if re.match('mkldnn::|[^:A-Z]*$', name):
                yield name if ':' in name else 'aten::' + name, formula, [int(n) for n in places.split(',')]


def places_of_inputs():
    """Each op of op.def exists, and its places match the inputs that the formula reads."""
    import torch
    schemas, old = {}, re.compile('aten::((cudnn|miopen|mkldnn)_convolution_backward|cholesky$|_cholesky_helper)')
    for s in torch._C._jit_get_all_schemas():
        schemas.setdefault(s.name, []).append([a.name for a in s.arguments])
    checked = 0
    for op, formula, places in op_rows():
        overloads = schemas.get(op) or schemas.get(op + '_')
        if old.match(op):
            continue
        assert overloads, op
        for place, role in zip(places, ROLES.get(formula, [])):
            if role and place >= 0:
                assert any(place < len(names) and names[place] in role.split() for names in overloads), (op, place, role)
                checked += 1
    assert checked > 200, checked


def folder_of_traces():
    """If a folder of tensorboard_trace_handler() has several traces of a process, the newest one is read and a note
    says so."""
    folder = make('train', 'handler')
    older, newer = sorted(os.listdir(folder), key=lambda name: int(name.split('.')[1]))
    for words in (('op', '-select', 'self_micros,occurrence'), ('steps', '-output', 'csv')):
        out, err = program(words[0], folder, *words[1:])
        equal(out, program(words[0], os.path.join(folder, newer), *words[1:])[0], words[0])
        assert older in err and 'older' in err, err
    found = json.loads(program('steps', os.path.join(folder, older), '-output', 'json')[0])['steps']
    equal(len(found), ACTIVE)


def no_device():
    """A trace of the CPU has no device work: kernels and devices report this, and accelerator time is 0."""
    path, _ = made('plain')
    d = dump(path)
    equal((d['devices'], sum(o['device_total'] for o in d['ops'])), ([], 0))
    for command in ('kernels', 'devices'):
        equal(json.loads(program(command, path, '-output', 'json')[0])[command], [], command)


if __name__ == '__main__':
    sys.exit(main(__doc__, {'train': train, 'count': count, 'export': export}, [counts_and_self_times, with_stacks, stacks, steps, printed, float_operations, models, exported_models, fvcore,
                                                                   places_of_inputs, folder_of_traces, no_device]))
