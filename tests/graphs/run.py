#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs that are captured and replayed, and the steps of servers, in generated PyTorch traces.

    tests/graphs/run.py --bin build/check [NAME...]
"""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, 'check'), os.path.join(ROOT, 'trace'), os.path.join(ROOT, 'spool')]
import kineto  # noqa: E402
import nsys  # noqa: E402
import trace_case  # noqa: E402
import script  # noqa: E402
from trace_case import check_schema, equal, program, rows  # noqa: E402

MODULE = 'nn.Module: Model_0'


def replay(ts, correlation, names, start, dur=2.0, streams=(7,), call='cudaGraphLaunch'):
    """Returns a launch of a graph at ts, whose kernels begin at start, one after the other, in turn on the streams."""
    out = [kineto.event('cuda_runtime', call, ts, 1.5, correlation=correlation)]
    for i, name in enumerate(names):
        out.append(kineto.event('kernel', name, start + 3 * i, dur, 0, streams[i % len(streams)], device=0, stream=streams[i % len(streams)],
                                correlation=correlation))
    return out


def write(events, name='replay.pt.trace.json'):
    return trace_case.write(kineto.trace(events), name)


def without_capture():
    """Launches that run the same kernels are one graph, below the module that launches it, with its kernels by name; no time is lost."""
    events = [kineto.event('python_function', MODULE, 1000, 900), kineto.event('python_function', 'torch/cuda/graphs.py(88): replay', 1001, 800)]
    for i in range(4):
        names = ['gemm', 'norm', 'gemm'] if i % 2 == 0 else ['gemm', 'copy']
        events += replay(1010 + 20 * i, 10 + i, names, 2000 + 100 * i)
    events += kineto.launch(1100, 50, 2500, 7.0, 'eager')
    write(events)
    select = ['-select', 'accelerator_micros,occurrence']
    scope = rows('replay.pt.trace.json', 'scope', *select)
    graphs = {k: (r['own_accelerator_micros'], r['own_occurrence']) for k, r in scope.items() if 'graph ' in k}
    equal(graphs, {MODULE + '/graph 1 (3 kernels)': (12, 2), MODULE + '/graph 2 (2 kernels)': (8, 2)})
    op = rows('replay.pt.trace.json', 'op', *select)
    equal(op['graph 1 (3 kernels)']['own_accelerator_micros'], 12)
    equal([k for k in op if k == 'frame'], ['frame'])  # the kernel that was not launched by a graph
    kernels = rows('replay.pt.trace.json', 'scope', '-by', 'kernel', *select)
    equal(kernels[MODULE + '/graph 1 (3 kernels)/gemm']['own_accelerator_micros'], 8)
    out, err = program('replay.pt.trace.json', 'devices', '-output', 'json')
    equal([(g['graph'], g['launches'], g['nodes'], g['ns'], g['mean_ns']) for g in json.loads(out)['graphs']],
          [(1, 2, 6, 12000, 6000), (2, 2, 4, 8000, 4000)])
    check_schema('devices', json.loads(out))
    assert '20.0us of device work in 4 launches of 2 graphs' in program('replay.pt.trace.json', 'op')[1]


def nested_launch():
    """A call of the driver inside a call of the runtime is the same launch."""
    events = replay(1010, 10, ['a', 'b'], 2000) + [kineto.event('cuda_driver', 'cuGraphLaunch', 1010.2, 1.0, correlation=10)]
    write(events)
    out, _ = program('replay.pt.trace.json', 'devices', '-output', 'json')
    equal([(g['launches'], g['nodes']) for g in json.loads(out)['graphs']], [(1, 2)])
    equal(rows('replay.pt.trace.json', 'scope', '-select', 'accelerator_micros')['graph 1 (2 kernels)']['own_accelerator_micros'], 4)


def steps_of_servers():
    """Annotations of a server are steps, the outer of nested ones. The time of a step is that of the device work launched inside it,
    or of the annotation if it launched none. Numbered steps of the profiler come first."""
    names = ['execute_24_context_1(sq20sk20sqsq400sqsk400)_generation_4(sq4sk90sqsq4sqsk90)', 'step[DECODE bs=4 toks=4]', 'decode[bs=3/4 x=1]']
    events = []
    for i, name in enumerate(names):
        events += [kineto.event('user_annotation', name, 1000 + 100 * i, 50), kineto.event('user_annotation', 'step[DECODE bs=4]', 1001 + 100 * i, 40)]
        if i < 2:
            events += replay(1010 + 100 * i, 10 + i, ['a', 'b'], 1200 + 100 * i)
    write(events)
    steps = json.loads(program('replay.pt.trace.json', 'steps', '-output', 'json')[0])['steps']
    equal([(s['step'], s['name'], s['duration_ns']) for s in steps], [(i, names[k], d) for i, (k, d) in enumerate([(0, 5000), (2, 50000), (1, 5000)])])
    scope = rows('replay.pt.trace.json', 'scope', '-select', 'accelerator_micros,occurrence')
    equal(sorted(scope), ['_TFProfRoot', 'graph 1 (2 kernels)'])
    write(events + [kineto.event('user_annotation', 'ProfilerStep#7', 990, 400)])
    steps = json.loads(program('replay.pt.trace.json', 'steps', '-output', 'json')[0])['steps']
    equal([(s['step'], s['name']) for s in steps], [(7, 'ProfilerStep#7')])
    for other in ('step[3]', 'execute_graph', 'execute_context_1', 'decode', 'step[Decode bs=1]', 'execute_4_context_0(sq1)_generation_1(sq1)'):
        write([kineto.event('user_annotation', other, 1000, 50)] + replay(1010, 10, ['a'], 1200))
        equal(json.loads(program('replay.pt.trace.json', 'steps', '-output', 'json')[0])['steps'][0]['name'], 'steps: unknown', other)


def gaps_of_steps():
    """The gap before a graph counts in the step that launched it; graphs launched between steps count in none."""
    write([kineto.event('user_annotation', 'decode[bs=4]', 1000, 50), *replay(1005, 1, ['a'], 1100), *replay(1010, 2, ['a'], 1110),
           *replay(1200, 3, ['a'], 1300)])
    phase, = json.loads(program('replay.pt.trace.json', 'phases', '-output', 'json')[0])['phases']
    equal([phase[k] for k in ('graph_launches', 'graph_gap_ns', 'busy_ns')], [2, 8000, 4000])


def example():
    """Returns (replay, capture) of a small model: a prefill step without graphs, and two decode steps, padded from 3 to 4 requests."""
    layer = [('aten::mm', 'gemm_qkv', [[4, 64], [64, 192]]), ('vllm::unified_attention', 'paged_attention', [[4, 8, 8], [4, 2, 8], [4, 2, 8]]),
             ('aten::mm', 'gemm_out', [[4, 64], [64, 64]]), ('aten::silu', 'silu_kernel', [[4, 64]])]

    def body(t, launch):
        out = [kineto.event('python_function', MODULE, t, 100), kineto.event('python_function', 'nn.Module: Layer_0', t + 1, 98)]
        for i, (op, kernel, dims) in enumerate(layer):
            out.append(kineto.event('cpu_op', op, t + 5 + 20 * i, 15, **{'Input Dims': dims, 'Input type': ['c10::BFloat16'] * len(dims)}))
            out += launch(t + 8 + 20 * i, kernel, i)
        return out

    def captured(ts, kernel, i):
        return [kineto.event('cuda_runtime', 'hipLaunchKernel', ts, 2, correlation=i + 2, kernel=kernel)]

    capture = [kineto.event('user_annotation', 'capture_4_FULL', 90, 130), kineto.event('cuda_runtime', 'hipStreamBeginCapture', 95, 1, correlation=1),
               *body(100, captured), kineto.event('cuda_runtime', 'hipStreamEndCapture', 210, 1, correlation=9)]
    events = [kineto.event('user_annotation', 'execute_20_context_2(sq20sk20sqsq200sqsk200)_generation_0(sq0sk0sqsq0sqsk0)', 1000, 120)]
    events += body(1005, lambda ts, kernel, i: kineto.launch(ts, 1 + i, 1050 + 40 * i, 35 - 5 * i, kernel))
    for step in range(2):
        t, k = 1300 + 100 * step, 10 + 2 * step
        events.append(kineto.event('user_annotation', 'execute_3_context_0(sq0sk0sqsq0sqsk0)_generation_3(sq3sk%dsqsq3sqsk%d)' % (k, k), t, 30))
        events += replay(t + 5, 20 + step, [kernel for _, kernel, _ in layer], t + 20, 2.5, call='hipGraphLaunch')
    return kineto.trace(events), kineto.trace(capture)


def write_example(folder):
    os.makedirs(os.path.join(folder, 'capture_traces'), exist_ok=True)
    replayed, capture = example()
    for name, content in (('replay.pt.trace.json', replayed), ('capture_traces/graph_capture_rank_0.json', capture)):
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(content + b'\n')


def with_capture():
    """The kernels of graphs have the ops of the capture, which count once per launch; the host time of the capture does not
    count."""
    write_example('.')
    select = ['-select', 'accelerator_micros,cpu_micros,occurrence,float_ops', '-step', '1']
    found = rows('replay.pt.trace.json', 'scope', *select)
    layer = MODULE + '/nn.Module: Layer_0/'
    equal(sorted(found), ['_TFProfRoot', MODULE, layer[:-1], layer + 'aten::mm', layer + 'aten::silu', layer + 'vllm::unified_attention'])
    row = found[layer + 'aten::mm']
    equal([row['own_' + k] for k in ('accelerator_micros', 'cpu_micros', 'occurrence', 'float_ops')], [5, 0, 2, 2 * 4 * 64 * (192 + 64)])
    equal(found[layer + 'vllm::unified_attention']['own_float_ops'], 2 * 8 * (8 + 8) * 10)  # 8 heads of 8, 10 pairs of tokens
    equal([found[k]['own_occurrence'] for k in (MODULE, layer[:-1])], [1, 1])
    out, _ = program('replay.pt.trace.json', 'phases', '-output', 'json')
    check_schema('phases', json.loads(out))
    prefill, decode = json.loads(out)['phases']
    equal([decode[k] for k in ('phase', 'steps', 'requests', 'tokens', 'step_mean_ns', 'host_mean_ns', 'busy_ns', 'graph_launches', 'padding')],
          ['decode', 2, 6, 6, 11500, 30000, 20000, 2, 25])
    equal([prefill[k] for k in ('phase', 'steps', 'requests', 'tokens', 'graph_launches', 'padding')], ['prefill', 1, 2, 20, 0, None])
    equal([decode[k] for k in ('attention_ns', 'matrix_ns', 'sampling_ns', 'communication_ns')], [5000, 10000, 0, 0])
    equal(json.loads(out)['eager_steps'], 1)
    kernels = json.loads(program('replay.pt.trace.json', 'kernels', '-output', 'json')[0])['kernels']
    equal({k['name']: k['op'] for k in kernels}['gemm_out'], layer + 'aten::mm')


def in_all_commands():
    """The work of graphs is in the ops of the capture in what-if, idle and the converted profile, too."""
    write_example('.')
    write(replay(1000, 20, ['gemm_qkv', 'paged_attention', 'gemm_out', 'silu_kernel'], 1010, 2.5, call='hipGraphLaunch'), 'one.pt.trace.json')
    for op, saved in (('aten::mm', 5000), ('vllm::unified_attention', 2500), ('nn.Module: Layer_0', 10000)):
        found = json.loads(program('one.pt.trace.json', 'what-if', 'op:%s=0' % op, '-output', 'json')[0])
        equal(found['before_ns'] - found['after_ns'], saved, op)
    device, = json.loads(program('replay.pt.trace.json', 'idle', '-output', 'json')[0])['devices']
    places = {p['name']: c['cause'] for c in device['causes'] for p in c['places']}
    assert places['aten::silu'] in ('kernel_gap', 'unknown_wait'), places
    assert not [p for p in places if p.startswith('graph ')], places
    program('replay.pt.trace.json', 'convert', '-output', 'profile:outfile=all.pb')
    select = ['op', '-select', 'accelerator_micros,occurrence,float_ops']
    converted = rows('all.pb', *select)
    for name, row in rows('replay.pt.trace.json', *select).items():
        equal(converted[name]['own_accelerator_micros'], int(row['own_accelerator_micros']), name)
        equal(converted[name]['own_float_ops'], round(row['own_float_ops']), name)


def causes():
    """why finds the losses of serving: graphs that start late, padding, and steps of a phase that fall back to single
    launches."""
    def found(*steps):
        """Each step is (tokens, eager, pause before its second graph): 500 us of work in two graphs, or 700 us of single kernels."""
        events, at = [], 10000
        for i, (tokens, eager, pause) in enumerate(steps):
            t = 1000 * i
            events.append(kineto.event('user_annotation', 'decode[bs=%d/16 toks=%d]' % (tokens, tokens), t, 300))
            if eager:
                for k in range(4):
                    events += kineto.launch(t + 10 + 60 * k, 10 * i + k, at + 175 * k, 175, 'gemm')
                at += 700
                continue
            events += replay(t + 10, 10 * i + 8, ['gemm'], at, 400) + replay(t + 20, 10 * i + 9, ['norm'], at + 400 + pause, 100)
            at += 500 + pause
        write(events)
        document = json.loads(program('replay.pt.trace.json', 'why', '--top', '0', '-output', 'json')[0])
        check_schema('why', document)
        return {c['id']: c['saved_ns'] for c in document['causes']}

    same = (16, False, 0)
    assert not {'graph_starts', 'graph_padding', 'eager_steps'} & set(found(*[same] * 4))
    late = found(*[(16, False, 200)] * 4)
    equal(late['graph_starts'], 200000, late)
    found(*[(8, False, 0)] * 4)  # all work waits in the queue, so the replay is too wrong for a verdict
    padded = json.loads(program('replay.pt.trace.json', 'what-if', 'cause:graph_padding', '-output', 'json')[0])
    equal(padded['before_ns'] - padded['after_ns'], 250000, padded)
    eager = found(same, same, (16, True, 0), same)
    equal(eager['eager_steps'], 50000, eager)
    alone = json.loads(program('replay.pt.trace.json', 'why', '-step', '2', '-output', 'json')[0])  # compared with steps that are not chosen
    equal({c['id']: c['saved_ns'] for c in alone['causes']}.get('eager_steps'), 200000, alone)
    found(same, same, same, (8, False, 0))
    for step, saved in ((2, 0), (3, 250000)):  # a single step; its number is not its index among the selected steps
        padded = json.loads(program('replay.pt.trace.json', 'what-if', 'cause:graph_padding', '-step', str(step), '-output', 'json')[0])
        equal(padded['before_ns'] - padded['after_ns'], saved, step)


def server(name, decode, prefill=True):
    """Returns a trace of 8 steps that generate tokens, `decode` us each, and 4 steps that read prompts."""
    events, at = [], 1000
    for i in range(12):
        mode, tokens, length = (('DECODE', 4, decode), ('EXTEND', 64, 700))[i % 3 == 2]
        if prefill or mode == 'DECODE':
            events.append(kineto.event('user_annotation', 'step[%s bs=4 toks=%d]' % (mode, tokens), 900 + 20 * i, 18))
            events += kineto.launch(905 + 20 * i, i + 1, at, length + i % 4, 'gemm')
            at += length + 10
    write(events, name)


def phases_are_compared():
    """diff --by=phase has the step time, tokens per second and busy time of each phase of two runs, and their differences."""
    server('a.pt.trace.json', 100)
    server('b.pt.trace.json', 130, prefill=False)
    both = ['diff', 'a.pt.trace.json', 'b.pt.trace.json', '--by=phase']
    document = json.loads(program(*both, '-output', 'json')[0])
    check_schema('diff-phases', document)
    equal([(r['phase'], r['left_steps'], r['right_steps']) for r in document['step_time']], [('prefill', 4, 0), ('decode', 8, 8)])
    runs = [{p['phase']: p for p in json.loads(program(n, 'phases', '-output', 'json')[0])['phases']} for n in both[1:3]]
    for key, of in (('step_time', lambda p: p['step_mean_ns']), ('tokens', lambda p: p['tokens_per_second']), ('busy', lambda p: p['busy_ns'] // p['steps'])):
        unit = '_per_second' if key == 'tokens' else '_ns'
        prefill, decode = document[key]
        equal([prefill[k + unit] for k in ('left', 'right', 'difference')], [of(runs[0]['prefill']), None, None], key)
        left, right = (of(r['decode']) for r in runs)
        equal([decode[k + unit] for k in ('left', 'right')], [left, right], key)
        assert abs(decode['difference' + unit] - (right - left)) < .011 and abs(decode['change'] - 100 * (right - left) / left) < .006, decode
    assert document['step_time'][1]['difference_ns'] >= 30000, document
    swapped = json.loads(program(*both, '--swap', '-output', 'json')[0])
    equal(swapped['step_time'][1]['difference_ns'], -document['step_time'][1]['difference_ns'])
    text, _ = program(*both)
    assert text.startswith('Mean time of a step:') and 'Tokens per second:' in text and 'Busy time of a step' in text and '-8.99k' in text, text
    assert max(map(len, text.split('\n'))) <= 80, text
    program(*both, '--gate', 'phase:decode.step_time<+5%', status=1)
    trace_case.write(kineto.trace(kineto.steps()), 'plain.json')
    assert 'no steps of an LLM server' in program('diff', 'a.pt.trace.json', 'plain.json', '--by=phase', status=1)[1]
    assert 'two sides expected' in program(*both[:3], 'a.pt.trace.json', '--by=phase', status=2)[1]
    assert '-step does not apply' in program(*both, '-step', '1', status=2)[1]


def gates():
    """Gates about the steps of a phase use these steps alone."""
    server('a.pt.trace.json', 100)
    server('b.pt.trace.json', 130)

    def gate(rule, status=0):
        out, _ = program('diff', 'a.pt.trace.json', 'b.pt.trace.json', '--gate', rule, '-output', 'json', status=status)
        return json.loads(out)['gates'][0]
    found = gate('phase:decode.step_time<+5%', 1)
    assert found['result'] == 'fails' and '102us -> 132us (+30us, +29' in found['text'], found
    equal(found['test']['steps'], [8, 8])
    equal(gate('phase:prefill.step_time<+5%')['result'], 'holds')
    equal(gate('phase:decode.step_time<=140us')['result'], 'holds')
    equal(gate('phase:decode.kernels<=1')['result'], 'holds')
    mixed = gate('phase:mixed.step_time<+5%', 1)
    assert mixed['result'] == 'inconclusive' and 'no step is of this phase' in mixed['text'], mixed


def nodes_of_nsight():
    """With node tracing, kernels are in the ranges in which their nodes were created; nodes of executable graphs are copies of these.
    A node without a row stays in its graph."""
    x = nsys.Export()
    thread = nsys.pid(70) | 1
    x.table('CUPTI_ACTIVITY_KIND_RUNTIME', nsys.RUNTIME)
    x.table('CUDA_GRAPH_NODE_EVENTS', 'start end nameId eventClass globalTid graphNodeId originalGraphNodeId')

    def call(name, start, end, correlation):
        x.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=start, end=end, globalTid=thread, correlationId=correlation, nameId=x.string(name))

    call('cudaStreamBeginCapture_v10000', 1010, 1020, 1)
    x.range(70, 'capture', 1000, 2000)
    for i, name in enumerate(('norm', 'mlp', 'mlp')):
        x.range(70, name, 1100 + 100 * i, 1190 + 100 * i)
        call('cudaLaunchKernel_v7000', 1110 + 100 * i, 1130 + 100 * i, 10 + i)
        x.row('CUDA_GRAPH_NODE_EVENTS', start=1115 + 100 * i, end=1116 + 100 * i, globalTid=thread, graphNodeId=20 + i)
    call('cudaStreamEndCapture_v10000', 1900, 1910, 2)
    for i, (copy, original) in enumerate(((30, 20), (31, 21), (41, 31), (32, 22), (50, 51), (51, 50))):  # ends in a cycle
        x.row('CUDA_GRAPH_NODE_EVENTS', start=2100 + i, end=2101 + i, globalTid=thread, graphNodeId=copy, originalGraphNodeId=original)
    x.range(70, 'step', 3000, 9000)
    for launch in range(2):
        call('cudaGraphLaunch_v10000', 3010 + 1000 * launch, 3030 + 1000 * launch, 100 + launch)
        for i, node in enumerate((30, 41, 32, 50, 60)):
            x.launch(70, 100 + launch, None, 3100 + 1000 * launch + 100 * i, 3100 + 1000 * launch + 100 * i + 10 * (i + 1), 'k%d' % i, node=node)
    x.save('nodes.sqlite')
    found = rows('nodes.sqlite', 'scope', '-select', 'accelerator_micros,occurrence', '-max_depth', '10')
    equal({k: round(1000 * v['own_accelerator_micros']) for k, v in found.items() if v['own_accelerator_micros']},
          {'step/capture/norm/k0': 20, 'step/capture/mlp/k1': 40, 'step/capture/mlp/k2': 60, 'step/graph 1 (5 kernels)/k3': 80,
           'step/graph 1 (5 kernels)/k4': 100})
    equal([found['step/capture/' + k]['own_occurrence'] for k in ('norm', 'mlp')], [2, 4])
    err = program('nodes.sqlite', 'summary')[1]
    assert '6 kernels of graphs (120ns): shown in the ranges in which their nodes were created' in err, err


def regions_of_pytorch():
    """Kernels of graphs are in the regions that torch.cuda.graph_annotations wrote to them, unless their captured calls are known."""
    def annotated(more=()):
        events = replay(1010, 10, ['gemm_qkv', 'paged_attention', 'gemm_out', 'silu_kernel'], 2000, 2.0)
        for i, e in enumerate(events[1:]):
            e['args'].update({'graph node id': 7 + i, 'name': 'phase_%s' % 'AAB'[i]} if i < 3 else {'name': 'no node'})
        return events
    write(annotated())
    found = rows('replay.pt.trace.json', 'scope', '-select', 'accelerator_micros')
    equal({k: v['own_accelerator_micros'] for k, v in found.items() if v['own_accelerator_micros']},
          {'phase_A': 4, 'phase_B': 2, 'graph 1 (4 kernels)': 2})
    assert '3 kernels of graphs (6.00us): shown in the regions that the program named' in program('replay.pt.trace.json', 'summary')[1]
    write_example('.')
    write(annotated())
    found = rows('replay.pt.trace.json', 'op', '-select', 'accelerator_micros')
    equal(found['aten::mm']['own_accelerator_micros'], 4)
    assert 'phase_A' not in found


def by_phase():
    """-by phase puts each op below the phase of its step, and no time is lost. Without steps of a server there is one group."""
    write_example('.')
    select = ['-by', 'phase', '-select', 'accelerator_micros,occurrence']
    plain, found = (rows('replay.pt.trace.json', 'scope', *s) for s in (select[2:], select))
    equal(found['_TFProfRoot']['total_accelerator_micros'], plain['_TFProfRoot']['total_accelerator_micros'])
    layer = '/' + MODULE + '/nn.Module: Layer_0/'
    equal([(k, round(3 * found[k]['own_accelerator_micros']), round(3 * found[k]['own_occurrence'])) for k in sorted(found) if k.endswith('aten::mm')],
          [('decode' + layer + 'aten::mm', 10, 4), ('prefill' + layer + 'aten::mm', 60, 2)])
    op = rows('replay.pt.trace.json', 'op', *select)
    equal(sorted(k for k in op if 'silu' in k), ['decode/aten::silu', 'prefill/aten::silu'])
    document = json.loads(program('replay.pt.trace.json', 'kernels', '-by', 'phase', '-output', 'json')[0])
    check_schema('kernels', document)
    equal([(k['phase'], k['name'], k['total_ns'], k['count']) for k in document['kernels'] if 'gemm' in k['name']],
          [('prefill', 'gemm_qkv', 35000, 1), ('prefill', 'gemm_out', 25000, 1), ('decode', 'gemm_out', 5000, 2), ('decode', 'gemm_qkv', 5000, 2)])
    equal({k['op'] for k in document['kernels']}, {MODULE + '/nn.Module: Layer_0/' + op for op in ('aten::mm', 'aten::silu', 'vllm::unified_attention')})
    trace_case.write(kineto.trace(kineto.steps()), 'plain.json')
    assert '(no phase)/aten::copy_' in rows('plain.json', 'op', *select)
    kernels = json.loads(program('plain.json', 'kernels', '-by', 'phase', '-output', 'json')[0])['kernels']
    equal({k['phase'] for k in kernels}, {'(no phase)'})


def named_capture():
    """--graph-capture names a file or a folder. A folder without traces, or a file that cannot be read, is an error; what is found
    beside the trace is not."""
    write_example('.')
    os.rename('capture_traces', 'elsewhere')
    ops = ['op', '-select', 'occurrence']
    assert 'graph 1 (4 kernels)' in rows('replay.pt.trace.json', *ops)
    for path in ('elsewhere', 'elsewhere/graph_capture_rank_0.json'):
        assert 'aten::mm' in rows('replay.pt.trace.json', *ops, '--graph-capture=' + path), path
    os.mkdir('empty')
    assert "'empty' has no traces" in program('replay.pt.trace.json', 'op', '--graph-capture=empty', status=3)[1]
    program('replay.pt.trace.json', 'op', '--graph-capture=absent.json', status=3)
    os.mkdir('capture_traces')
    trace_case.write(b'not JSON', 'capture_traces/x.json')
    out, err = program('replay.pt.trace.json', 'op')
    assert 'graph 1' in out and 'capture_traces/x.json' in err, err
    trace_case.write(kineto.trace(kineto.steps()), 'plain.json')
    assert 'no graph is launched' in program('plain.json', 'op', '--graph-capture=elsewhere')[1]


def capture_as_worker():
    """A trace of a capture is not a worker; the error names the option that reads it."""
    write_example('.')
    err = program('phases', 'replay.pt.trace.json', 'capture_traces/graph_capture_rank_0.json', status=1)[1]
    assert ' is a trace of the capture of CUDA graphs, not of a worker\nhint: --graph-capture=FILE reads it with the trace of the server' in err, err


def other_ranks():
    """Captures of the rank of the trace are used, if the names of files have ranks."""
    write_example('.')
    replayed, capture = example()
    trace_case.write(capture.replace(b'Layer_0', b'Layer_9'), 'capture_traces/graph_capture_rank_1.json')
    for rank, layer in ((0, 'Layer_0'), (1, 'Layer_9')):
        content = json.loads(replayed)
        content['distributedInfo'] = {'backend': 'nccl', 'rank': rank, 'world_size': 2}
        trace_case.write(json.dumps(content).encode(), 'replay.pt.trace.json')
        found = rows('replay.pt.trace.json', 'op', '-by', 'module', '-step', '1', '-select', 'accelerator_micros')
        equal(found['nn.Module: %s' % layer]['own_accelerator_micros'] if 'nn.Module: %s' % layer in found else
              [k for k in found if layer in k], 10 if 'nn.Module: %s' % layer in found else [MODULE + '/nn.Module: ' + layer])


def sizes_in_requests():
    """SGLang names the files of captures by requests, in a folder of its own. Padding counts requests, and so does the refusal."""
    def capture(module):
        return [kineto.event('cuda_runtime', 'hipStreamBeginCapture', 95, 1, correlation=1), kineto.event('python_function', module, 100, 100),
                kineto.event('cpu_op', 'aten::mm', 105, 15), kineto.event('cuda_runtime', 'hipLaunchKernel', 108, 2, correlation=2, kernel='gemm'),
                kineto.event('cuda_runtime', 'hipStreamEndCapture', 210, 1, correlation=9)]
    os.mkdir('graph_capture_profile')
    for size in (4, 8):
        for rank in (0, 1):
            trace_case.write(kineto.trace(capture('nn.Module: B%d_R%d' % (size, rank))),
                             'graph_capture_profile/DecodeCudaGraphRunner_bs_%d_rank%d.json' % (size, rank))

    def steps(requests):
        return [kineto.event('user_annotation', 'step[VERIFY bs=%d g_sq=%d g_sqsq=8 g_sqsk=8 g_sk=8]' % (requests, 4 * requests), 1000, 100),
                *replay(1010, 10, ['gemm'], 1200, call='hipGraphLaunch')]
    for requests, size, padding in ((3, 4, 25), (5, 8, 37.5), (8, 8, 0)):
        write(steps(requests), '7-TP-1.trace.json')
        assert 'nn.Module: B%d_R1/aten::mm' % size in rows('7-TP-1.trace.json', 'scope', '-select', 'accelerator_micros')
        phase, = json.loads(program('7-TP-1.trace.json', 'phases', '-output', 'json')[0])['phases']
        equal([phase[k] for k in ('phase', 'requests', 'tokens', 'padding')], ['speculative', requests, 4 * requests, padding])
    write(steps(9), '7-TP-1.trace.json')
    assert 'a step has 9 requests, more than every capture' in program('7-TP-1.trace.json', 'op')[1]


def listed_captures():
    """execution_details.json beside the trace names the captures, if there is no folder for them."""
    write_example('.')
    os.rename('capture_traces/graph_capture_rank_0.json', 'graph_capture_rank_0.json')
    os.rmdir('capture_traces')
    assert 'graph 1 (4 kernels)' in rows('replay.pt.trace.json', 'op', '-select', 'occurrence')
    trace_case.write(b'[{"file": "graph_capture_rank_0.json", "batch_size": 4, "mode": "FULL"}]', 'execution_details.json')
    found = rows('replay.pt.trace.json', 'op', '-select', 'occurrence')
    assert 'aten::mm' in found and 'graph 1 (4 kernels)' not in found, sorted(found)


def sizes_without_steps():
    """Without annotations of steps, the order of the launches does not decide between captures of different sizes."""
    def capture(size):
        return [kineto.event('user_annotation', 'capture_%d_FULL' % size, 90, 130),
                kineto.event('cuda_runtime', 'hipStreamBeginCapture', 95, 1, correlation=1), kineto.event('cpu_op', 'size_%d' % size, 105, 15),
                kineto.event('cuda_runtime', 'hipLaunchKernel', 108, 2, correlation=2, kernel='gemm'),
                kineto.event('cuda_runtime', 'hipStreamEndCapture', 210, 1, correlation=9)]
    os.mkdir('capture_traces')
    for size in (4, 8):
        trace_case.write(kineto.trace(capture(size)), 'capture_traces/graph_capture_rank_0.%d.json' % size)
    write(replay(1010, 10, ['gemm'], 1200) + replay(1100, 11, ['gemm'], 1300))
    notes = program('replay.pt.trace.json', 'op')[1]
    assert '2 kernels (4.00us) are ambiguous' in notes, notes


def captures_of_drafts():
    """Captures without kernel names, of a model and of a draft model for the same size, are told apart by the number of their calls."""
    def capture(module, calls):
        out = [kineto.event('cuda_runtime', 'cudaStreamBeginCapture', 95, 1, correlation=1), kineto.event('python_function', module, 98, 100)]
        for i in range(calls):
            out.append(kineto.event('cuda_runtime', 'cudaLaunchKernel', 105 + 10 * i, 2, correlation=2 + i))
        return out + [kineto.event('cuda_runtime', 'cudaStreamEndCapture', 210, 1, correlation=9)]
    os.mkdir('graph_capture_profile')
    for runner, module, calls in (('DecodeCudaGraphRunner', 'nn.Module: Target_0', 3), ('EAGLEDraftCudaGraphRunner', 'nn.Module: Draft_0', 2)):
        trace_case.write(kineto.trace(capture(module, calls)), 'graph_capture_profile/%s_bs_4_rank0.json' % runner)
    steps = [kineto.event('user_annotation', 'step[%s bs=3]' % name, 1000 + 100 * i, 50) for i, name in enumerate(('DRAFT', 'VERIFY'))]
    write(steps + replay(1010, 1, ['a', 'b'], 1300) + replay(1110, 2, ['a', 'b', 'c'], 1400))
    found = rows('replay.pt.trace.json', 'op', '-by', 'module', '-select', 'accelerator_micros')
    equal([round(2 * found['nn.Module: ' + name]['own_accelerator_micros']) for name in ('Draft_0', 'Target_0')], [4, 6])
    assert '2 launches (5 kernels, 10.0us): unconfirmed' in program('replay.pt.trace.json', 'op')[1]


def captures_of_sizes():
    """Captures of unknown sizes without kernel names, in one file, serve if they have the same ops and modules; otherwise they are refused."""
    def capture(ops):
        out = []
        for size, last in ((8, ops[0]), (4, ops[1])):
            t = 1000 * size
            out.append(kineto.event('cuda_runtime', 'cudaStreamBeginCapture', t, 1, correlation=t))
            out.append(kineto.event('python_function', MODULE, t + 2, 80))
            for i, op in enumerate(('aten::mm', last)):
                out.append(kineto.event('cpu_op', op, t + 10 + 20 * i, 15, **{'Input Dims': [[size, 64], [64, 64]], 'Input type': ['float'] * 2}))
                out.append(kineto.event('cuda_runtime', 'cudaLaunchKernel', t + 12 + 20 * i, 2, correlation=t + i + 1))
            out.append(kineto.event('cuda_runtime', 'cudaStreamEndCapture', t + 90, 1, correlation=t + 9))
        return kineto.trace(out)
    os.mkdir('graph_capture_profile')
    write([kineto.event('user_annotation', 'step[DECODE bs=3]', 1000, 100)] + replay(1010, 1, ['a', 'b'], 1300))
    for ops, used in ((('aten::silu', 'aten::silu'), True), (('aten::silu', 'aten::gelu'), False)):
        trace_case.write(capture(ops), 'graph_capture_profile/cuda_graph_capture-DecodeCudaGraphRunner-TP-0.json')
        assert (MODULE + '/aten::silu' in rows('replay.pt.trace.json', 'scope', '-select', 'accelerator_micros')) == used
        notes = program('replay.pt.trace.json', 'op')[1]
        assert ('2 kernels (4.00us) are ambiguous' in notes and 'unconfirmed' in notes) == used, notes
        assert ('several captures have the 2 kernels of graph 1, but no names' in notes) != used, notes


def interleaved_streams():
    """Launches whose streams start their work in another order are one graph. Ids of graph nodes tell equal names on two streams apart."""
    def launch(ts, correlation, first, node=0):
        """Stream 7 runs a, c; stream 8 runs a, b. The a of stream 8 is captured first."""
        names = [('a', 8, first, 1), ('a', 7, 0, 2), ('c', 7, 20, 3), ('b', 8, 30, 4)]
        out = [kineto.event('cuda_runtime', 'cudaGraphLaunch', ts, 1.5, correlation=correlation)]
        for name, stream, start, n in sorted(names, key=lambda v: v[2]):
            out.append(kineto.event('kernel', name, ts + 100 + start, n, 0, stream, device=0, stream=stream, correlation=correlation,
                                    **({'graph node id': node + n} if node else {})))
        return out
    write(launch(1000, 1, 5) + launch(2000, 2, -5))
    document = json.loads(program('replay.pt.trace.json', 'devices', '-output', 'json')[0])
    equal([(g['launches'], g['nodes']) for g in document['graphs']], [(2, 8)])
    calls = [kineto.event('cuda_runtime', 'cudaStreamBeginCapture', 95, 1, correlation=1)]
    for i, name in enumerate('aacb'):
        calls += [kineto.event('cpu_op', 'op%d' % (i + 1), 100 + 20 * i, 15), kineto.event('cuda_runtime', 'hipLaunchKernel', 105 + 20 * i, 2,
                                                                                      correlation=2 + i, kernel=name)]
    trace_case.write(kineto.trace(calls + [kineto.event('cuda_runtime', 'cudaStreamEndCapture', 210, 1, correlation=9)]), 'capture.json')
    for node in (0, 1 << 32):
        write(launch(1000, 1, 5, node) + launch(2000, 2, -5, node and 2 * node))
        found = rows('replay.pt.trace.json', 'op', '-select', 'accelerator_micros', '--graph-capture=capture.json')
        notes = program('replay.pt.trace.json', 'summary', '--graph-capture=capture.json')[1]
        if node:
            assert 'in the order of their graph nodes' in notes and 'ambiguous' not in notes, notes
            equal([found['op%d' % i]['own_accelerator_micros'] for i in (1, 2, 3, 4)], [2, 4, 6, 8])
        else:
            assert 'ambiguous' in notes, notes


def recordings():
    """Graphs of a GPU recording get the ops of a capture: that of PyTorch, by names, or that in a recording, by the number of calls."""
    r = script.Spool()
    for i, name in enumerate(('cudaStreamBeginCapture', 'cudaLaunchKernel', 'cudaLaunchKernel', 'cudaGraphInstantiate')):
        if i in (1, 2):
            r.push(1000 * i - 100, ('', 'norm', 'mlp')[i])
        r.add('api', start=script.T0 + 1000 * i, length=300, correlation=i + 1, name=name, tid=1)
        if i in (1, 2):
            r.pop(1000 * i + 500)
    r.push(9000, 'serve')
    for launch in range(2):
        at = script.T0 + 10000 + 20000 * launch
        r.add('api', start=at, length=200, correlation=10 + launch, name='cudaGraphLaunch', tid=1)
        for i, name in enumerate(('rms', 'gemm')):
            r.add('kernel', start=at + 1000 + 3000 * i, length=1000 + 1000 * i, correlation=10 + launch, name=name, stream=7, graph=3, node=30 + i)
    os.mkdir('rec')
    r.pop(60000).end().make(os.path.join(trace_case.BIN, 'spool_make'), 'rec/1.tfspool')
    capture = [kineto.event('cuda_runtime', 'cudaStreamBeginCapture', 95, 1, correlation=1), kineto.event('python_function', MODULE, 98, 100)]
    for i, name in enumerate(('rms', 'gemm')):
        capture += [kineto.event('cpu_op', ('aten::rms_norm', 'aten::mm')[i], 100 + 20 * i, 15),
                    kineto.event('cuda_runtime', 'cudaLaunchKernel', 105 + 20 * i, 2, correlation=2 + i, kernel=name)]
    trace_case.write(kineto.trace(capture + [kineto.event('cuda_runtime', 'cudaStreamEndCapture', 210, 1, correlation=9)]), 'capture.json')
    select = ['-select', 'accelerator_micros,occurrence']
    expected = {'capture.json': {MODULE + '/aten::rms_norm/rms': (2, 2), MODULE + '/aten::mm/gemm': (4, 2)}, 'rec': {'norm/rms': (2, 2), 'mlp/gemm': (4, 2)}}
    for path, ops in expected.items():
        found = rows('rec', 'scope', *select, '--graph-capture=' + path)
        got = {k: (v['own_accelerator_micros'], v['own_occurrence']) for k, v in found.items() if v['own_accelerator_micros']}
        equal({k.split('serve/')[-1]: v for k, v in got.items()}, ops, path)
        kernels = json.loads(program('rec', 'kernels', '-output', 'json', '--graph-capture=' + path)[0])['kernels']
        equal([(k['name'], k['count'], k['total_ns']) for k in kernels], [('gemm', 2, 4000), ('rms', 2, 2000)], path)
        for command in ('devices', 'steps', 'critical', 'idle', 'why', 'summary'):
            program('rec', command, '--graph-capture=' + path)
    assert 'unconfirmed' in program('rec', 'op', '--graph-capture=rec')[1]
    assert 'the kernels and their order are equal' in program('rec', 'summary', '--graph-capture=capture.json')[1]
    program('rec', 'op', '--graph-capture=absent.json', status=3)


def steps_of_nsight():
    """NVTX ranges of servers are steps with phases: of TensorRT-LLM, and of vLLM with its CUDA profiler."""
    x = nsys.Export()
    thread = nsys.pid(70) | 1
    x.table('CUPTI_ACTIVITY_KIND_RUNTIME', nsys.RUNTIME)
    names = ['[Executor] _forward_step 7: 2 ctx reqs, 90 ctx tokens, 0 gen reqs', '[Executor] _forward_step 8: 0 ctx reqs, 2 gen reqs',
             'execute_context_0(0)_generation_3(3)']
    for i, name in enumerate(names):
        x.range(70, name, 10000 * i, 10000 * i + 900)
        x.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=10000 * i + 100, end=10000 * i + 200, globalTid=thread, correlationId=i + 1,
              nameId=x.string('cudaLaunchKernel_v7000'))
        x.launch(70, i + 1, None, 10000 * i + 1000, 10000 * i + 3000, 'gemm')
    x.save('served.sqlite')
    document = json.loads(program('served.sqlite', 'phases', '-output', 'json')[0])
    equal([[p[k] for k in ('phase', 'steps', 'requests', 'tokens', 'busy_ns')] for p in document['phases']],
          [['prefill', 1, 2, 90, 2000], ['decode', 2, 5, 5, 4000]])
    stored, sums = (trace_case.dump('served.sqlite', *more) for more in ([], ['--sums']))
    equal([stored['steps_by'], sums['steps_by']], ['annotation', 'unknown'])  # device work, which gives the steps their times, is not kept
    equal(sum(s['device_self'] for s in sums['steps']), 6000)


def windows_of_attention():
    """Calls of paged attention with equal shapes that take two clearly different times are upper bounds: some layers use a window."""
    name = 'execute_20_context_2(sq20sk20sqsq200sqsk200)_generation_0(sq0sk0sqsq0sqsk0)'

    def trace(times):
        events = [kineto.event('user_annotation', name, 1000, 1000)]
        for i, time in enumerate(times):
            events.append(kineto.event('cpu_op', 'vllm::unified_attention', 1010 + 50 * i, 40,
                                       **{'Input Dims': [[20, 8, 8], [20, 2, 8], [20, 2, 8]], 'Input type': ['c10::BFloat16'] * 3}))
            events += kineto.launch(1015 + 50 * i, 1 + i, 3000 + 1000 * i, time, 'paged_attention')
        return write(events, 'w.json')
    flops = 8 * 2 * 8 * 2 * (2 * 200 - 200) // 2  # time of one call
    for times, bound in (([100, 310, 104, 300, 98, 305], True), ([100] * 6, False), ([100, 104, 98, 130, 120, 95], False), ([100, 310], False)):
        document = json.loads(program('flops', trace(times), '-output', 'json')[0])
        equal((document['paged_flops'], document['upper_bound_flops']), (flops * len(times), flops * len(times) * bound), times)
        check_schema('flops', document)
        out, _ = program('flops', trace(times))
        assert 'counted over all previous tokens' in out and ('An upper bound' in out) == bound, out
        equal(out.startswith('Float operations: ~'), bound)
        for words in ('flops',), ('roofline',), ('op', '-select', 'float_ops'), ('summary',):
            marked = [' ~' in line or 'attention~' in line for line in program(*words[:1], trace(times), *words[1:])[0].splitlines()]
            equal(any(marked), bound, words)


def example_is_made():
    """The files in testdata/graphs are those that this script makes."""
    write_example('.')
    for name in ('replay.pt.trace.json', 'capture_traces/graph_capture_rank_0.json'):
        with open(name, 'rb') as a, open(os.path.join(os.path.dirname(ROOT), 'testdata', 'graphs', name), 'rb') as b:
            assert a.read() == b.read(), name


CASES = [with_capture, gaps_of_steps, in_all_commands, causes, phases_are_compared, gates, nodes_of_nsight, regions_of_pytorch, steps_of_nsight, recordings, interleaved_streams, windows_of_attention, by_phase, named_capture, capture_as_worker, other_ranks, sizes_in_requests, captures_of_drafts, captures_of_sizes, sizes_without_steps, listed_captures, example_is_made, without_capture, nested_launch, steps_of_servers]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, write=write_example))
