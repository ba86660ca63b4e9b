#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Idle time by cause and place: places in small traces, and properties of generated and real traces.

    tests/trace/idle_run.py --bin build/check [--realdata DIR]

Causes add up to the idle time of devices and steps, and places to their cause; the order of the events in the file does not
matter; if all times are multiplied by three, so is the answer.
"""
import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

import critical_run
import kineto
import onnx

HOST = ('host_busy', 'host_blocked', 'collective_wait')


def answer(command, path, *words):
    p = subprocess.run([PROGRAM, command, path, '-output', 'json', *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=300)
    if p.returncode:
        raise AssertionError('%s: status %d: %s' % (command, p.returncode, p.stderr.decode()[:300]))
    return json.loads(p.stdout)


def write(doc):
    path = os.path.join(HOME, 'a.pt.trace.json')
    with open(path, 'wb') as f:
        f.write(doc if isinstance(doc, bytes) else json.dumps(doc).encode())
    return path


def equal(found, expected, what):
    if found != expected:
        raise AssertionError('%s: expected %s, found %s' % (what, expected, found))


def places(doc, device=0):
    """Returns {(cause, kind, name): ns} of a device."""
    return {(c['cause'], p['kind'], p['name']): p['ns'] for c in doc['devices'][device]['causes'] for p in c['places']}


# ---- small traces ----

def sync(name, start, length):
    return kineto.event('cuda_runtime', name, start, length)


def op(name, start, length, tid=1):
    return kineto.event('cpu_op', name, start, length, tid=tid)


def places_of_a_thread():
    """Each cause has its places: the loader, an op, a call, a call that blocks, the op of a launch."""
    loader = 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__'
    events = ([op('aten::mm', 100, 12)] + kineto.launch(105, 1, 110, 90) +     # the first work: a latency of 5, the base
              [op('aten::add', 112, 12)] + kineto.launch(120, 2, 202, 98) +    # launched in time: a gap of 2, the base
              [sync('cudaDeviceSynchronize', 130, 175), op(loader, 310, 50), op('aten::stack', 320, 10),
               sync('cudaMalloc', 370, 20), op('aten::relu', 395, 20)] + kineto.launch(400, 3, 405, 15) +
              [op('aten::last', 430, 30)])
    path = write(kineto.trace(events))
    outside = '(outside of all slices)'
    equal(places(answer('idle', path)), {
        ('host_busy', 'op', loader): 50000, ('host_busy', 'outside', outside): 5000 + 10000 + 5000,
        ('host_busy', 'call', 'cudaMalloc'): 20000, ('host_busy', 'op', 'aten::relu'): 5000,
        ('host_blocked', 'call', 'cudaDeviceSynchronize'): 5000, ('launch_latency', 'op', 'aten::relu'): 5000,
        ('kernel_gap', 'op', 'aten::add'): 2000, ('before_first', 'op', 'aten::mm'): 10000,
        ('after_last', 'op', 'aten::last'): 30000, ('after_last', 'outside', outside): 10000}, 'places')
    blocked, = [c for c in answer('idle', path)['devices'][0]['causes'] if c['cause'] == 'host_blocked']
    equal([p['waits_for'] for p in blocked['places']], ['sgemm'], 'work that the call waits for')
    equal(places(answer('idle', path, '-by', 'op'))['host_blocked', 'call', 'cudaDeviceSynchronize'], 5000, 'a call outside of ops')
    missing = answer('idle', path)['missing']
    equal([(m['ns'], m['cure']) for m in missing], [(30000, 'with_stack=True')], 'missing')


def other_threads():
    """While a thread waits for another thread, the places are those of the other thread."""
    events = ([kineto.event('user_annotation', 'ProfilerStep#1', 50, 600), op('aten::mm', 60, 40)] + kineto.launch(90, 1, 100, 100) +
              [op('aten::loss', 210, 80), op('Backward', 300, 150, 2)] +
              [dict(e, tid=2) if e['cat'] == 'cuda_runtime' else e for e in kineto.launch(380, 2, 390, 10)] +
              [op('aten::adam', 480, 40)] + kineto.launch(500, 3, 510, 140))
    found = places(answer('idle', write(kineto.trace(events))))
    step = 'ProfilerStep#1'
    equal(found, {
        ('host_busy', 'op', 'aten::loss'): 80000,                # while the second thread has not begun
        ('host_busy', 'op', 'Backward'): 80000 + 50000,          # on the second thread; the first thread waits from 300 to 450
        ('host_busy', 'op', step): 10000 + 10000 + 30000, ('host_busy', 'op', 'aten::adam'): 20000,
        ('launch_latency', 'op', 'Backward'): 10000, ('launch_latency', 'op', 'aten::adam'): 10000,
        ('before_first', 'op', step): 10000, ('before_first', 'op', 'aten::mm'): 40000}, 'places')


def collectives_lines_and_steps():
    """A call that blocks inside the op of a collective waits for the other members; -by line and -by step name places."""
    events = ([op('aten::mm', 100, 12)] + kineto.launch(105, 1, 110, 40) +
              [kineto.event('python_function', 'train.py(7): main', 90, 500, Python_id=1), op('c10d::barrier', 160, 100),
               sync('cudaStreamSynchronize', 170, 80), op('aten::relu', 280, 40)] + kineto.launch(290, 2, 295, 100) +
              [kineto.event('user_annotation', 'ProfilerStep#%d' % n, 100 * n, 100, tid=9) for n in (1, 2, 3)])
    path = write(kineto.trace(events))
    equal(places(answer('idle', path))['collective_wait', 'call', 'cudaStreamSynchronize'], 80000, 'collective')
    lines = places(answer('idle', path, '-by', 'line'))
    equal(lines['host_busy', 'line', 'train.py(7): main'] + lines['collective_wait', 'line', 'train.py(7): main'], 140000, 'lines')
    steps = places(answer('idle', path, '-by', 'step'))
    equal({k[2]: v for k, v in steps.items() if k[0] == 'host_busy'}, {'step 1': 20000, 'step 2': 40000}, 'steps')
    one = answer('idle', path, '-step', '2')
    equal([(d['window_ns'], d['idle_ns']) for d in one['devices']], [(100000, 95000)], 'a step')


def copies():
    """A call for an asynchronous copy blocks only if it waits for pageable memory; at most 64 KB to a device are staged."""
    for name, size, cause in (('Memcpy DtoH (Device -> Pinned)', 1 << 20, 'host_busy'), ('Memcpy DtoH (Device -> Pageable)', 4, 'host_blocked'),
                              ('Memcpy HtoD (Pageable -> Device)', 1 << 16, 'host_busy'), ('Memcpy HtoD (Pageable -> Device)', 1 << 17, 'host_blocked')):
        copy = kineto.event('gpu_memcpy', name, 120, 10, 0, 7, device=0, stream=7, correlation=2, bytes=size)
        events = kineto.launch(100, 1, 105, 10) + [dict(sync('cudaMemcpyAsync', 110, 30), args={'correlation': 2}), copy] + kineto.launch(145, 3, 150, 5)
        equal(places(answer('idle', write(kineto.trace(events))))[cause, 'call', 'cudaMemcpyAsync'] > 8000, True, name)


# ---- properties ----

def work_without_a_launch():
    """Before the first work, if its launch is not recorded, the places are those of the only thread that may have launched it."""
    step = kineto.event('user_annotation', 'ProfilerStep#1', 0, 600)
    kernel = [e for e in kineto.launch(300, 1, 310, 40) if e['cat'] == 'kernel']
    known = places(answer('idle', write(kineto.trace([step, op('load', 10, 200)] + kernel))))
    equal([known['before_first', 'op', k] for k in ('load', 'ProfilerStep#1')], [200000, 110000], 'one thread')
    several = places(answer('idle', write(kineto.trace([step, op('load', 10, 200), op('other', 10, 200, tid=2)] + kernel))))
    equal({k: v for k, v in several.items() if k[0] == 'before_first'},
          {('before_first', 'outside', '(the launching thread is not known)'): 310000}, 'two threads')
    path = os.path.join(HOME, 'onnxruntime.json')
    with open(path, 'wb') as f:
        f.write(onnx.text(onnx.load() + [onnx.node('conv', 'Conv', 1000, 50, provider='CUDAExecutionProvider')]))
    found = places(answer('idle', path))
    equal([found['before_first', 'op', k] for k in ('model_loading_uri', 'session_initialization')], [500000, 90000], 'ONNX Runtime')


def adds_up(idle, devices):
    """Raises an error if the parts of the answer do not add up to the idle time in the rows of devices."""
    equal([(d['device'], d['idle_ns'], d['window_ns']) for d in idle['devices']],
          [(d['device'], d['idle_ns'], d['window_ns']) for d in devices], 'devices')
    for d, row in zip(idle['devices'], devices):
        equal(sum(c['ns'] for c in d['causes']), d['idle_ns'], 'sum of the causes')
        for c in d['causes']:
            equal(sum(p['ns'] for p in c['places']), c['ns'], 'sum of the places of ' + c['cause'])
        ns = {c['cause']: c['ns'] for c in d['causes']}
        refined = dict({k: v for k, v in ns.items() if k not in HOST}, host_late=sum(ns.get(k, 0) for k in HOST))
        equal({k: v for k, v in refined.items() if v}, {k: row[k + '_ns'] for k in (
            'host_late', 'launch_latency', 'kernel_gap', 'event_wait', 'other_process', 'unknown_wait', 'unknown_launch',
            'before_first', 'after_last') if row[k + '_ns']}, 'causes')


def partitions_add_up(path):
    """The parts of devices, steps and average steps add up to their windows."""
    part = lambda r, a: r[a] + r['exposed_communication_ns'] + r['exposed_copy_ns'] + r['idle_ns']  # noqa: E731
    devices, steps = answer('devices', path), answer('steps', path, '--top=0')
    for d in devices['devices']:
        equal(part(d, 'compute_busy_ns'), d['window_ns'], 'device')
    for s in steps['steps']:
        equal(part(s, 'compute_busy_ns'), s['duration_ns'] * s['devices'], 'step')
    equal(devices['step_time'], steps['step_time'], 'average step')
    lengths = [s['duration_ns'] for s in steps['steps'] if s['busy_ns']] or [s['duration_ns'] for s in steps['steps']]
    for d in steps['step_time']:
        equal(part(d, 'compute_ns'), d['step_ns'], 'average step')
        equal((d['steps'], d['step_ns']), (len(lengths), sum(lengths) // len(lengths)), 'step time')
    return devices['devices'], steps['steps']


def one_step(path, step, idle):
    """With -step, devices has the idle time of `idle` and the times of `steps`, and steps has one row, which is its average step."""
    number = str(step['step'])
    found, rows = answer('devices', path, '-step', number), answer('steps', path, '-step', number, '--top=0')
    adds_up(idle, found['devices'])
    equal(rows['steps'], [step], 'steps -step ' + number)
    equal(found['step_time'], rows['step_time'], 'average of step ' + number)
    for name in ('busy_ns', 'compute_busy_ns', 'exposed_communication_ns', 'exposed_copy_ns', 'idle_ns', 'slices'):
        equal(sum(d[name] for d in found['devices']), step[name], name + ' of step ' + number)
    for d, average in zip(found['devices'], found['step_time']):
        equal([d[k] for k in ('window_ns', 'compute_busy_ns', 'idle_ns')], [average[k] for k in ('step_ns', 'compute_ns', 'idle_ns')], 'device')


def of_trace(doc):
    """Checks all properties of a trace."""
    path = write(doc)
    devices, steps = partitions_add_up(path)
    whole = answer('idle', path)
    adds_up(whole, devices)
    for by in ('op', 'line', 'call', 'step'):
        adds_up(answer('idle', path, '-by', by), devices)
    marked = steps[0]['name'] != 'steps: unknown'
    for s in steps[:3] if marked else []:
        found = answer('idle', path, '-step', str(s['step']))
        equal(sum(d['idle_ns'] for d in found['devices']), s['idle_ns'], 'idle time of step %s' % s['step'])
        equal(sum(c['ns'] for d in found['devices'] for c in d['causes']), s['idle_ns'], 'causes of step %s' % s['step'])
        one_step(path, s, found)
    if marked:
        kernels = [answer('kernels', path, *words, '--top=0')['kernels'] for words in [()] + [('-step', str(s['step'])) for s in steps]]
        equal(sum(k['total_ns'] for k in kernels[0]), sum(k['total_ns'] for of_step in kernels[1:] for k in of_step), 'kernels of all steps')
    return whole


def changed(doc, whole):
    """Compares the answer about a trace with those about the shuffled and the longer trace."""
    mixed = list(doc['traceEvents'])
    random.Random(1).shuffle(mixed)
    equal(answer('idle', write(dict(doc, traceEvents=mixed)))['devices'], whole['devices'], 'another order of the events')
    other = answer('idle', write(critical_run.scaled(doc, 3)))
    for i, d in enumerate(whole['devices']):
        before, after = places(whole, i), places(other, i)
        equal(set(after), set(before), 'places of the longer trace')
        wrong = [(k, v, after[k]) for k, v in before.items() if abs(3 * v - after[k]) > 1000 + v // 100]
        if wrong:
            raise AssertionError('three times the length gives %s' % wrong[:3])


# ---- real traces ----

def known(name, whole):
    """Compares known numbers of two traces: the data loader takes 62 ms of each step, and one call 29.9 s."""
    found = places(whole) if whole['devices'] else {}
    if name.startswith('resnet50_gpu'):
        ns = sum(v for k, v in found.items() if 'DataLoader' in k[2])
        equal(ns > 6 * 55e6, True, 'time of the data loader')
    if name.startswith('alexnet'):
        equal(round(found['before_first', 'call', 'cudaDeviceGetStreamPriorityRange'] / 1e9, 1), 29.9, 'time of the call')


def real(folder):
    for name in sorted(os.listdir(folder)):
        with gzip.open(os.path.join(folder, name)) as f:
            doc = json.loads(f.read().decode('utf-8', 'replace'), strict=False)
        doc = doc if isinstance(doc, dict) else {'traceEvents': doc}
        doc = {k: v for k, v in doc.items() if k in ('schemaVersion', 'deviceProperties', 'traceEvents')}
        doc['traceEvents'] = [e for e in doc['traceEvents'] if e.get('ph') == 'X']
        yield name, lambda doc=doc, name=name: known(name, of_trace(doc))


def main():
    global PROGRAM, HOME
    p = argparse.ArgumentParser()
    p.add_argument('--bin', required=True)
    p.add_argument('--realdata')
    args = p.parse_args()
    PROGRAM = os.path.abspath(os.path.join(args.bin, 'tfprof'))
    if args.realdata:
        cases = list(real(os.path.join(args.realdata, 'kineto')))
    else:
        cases = [(f.__name__, f) for f in (places_of_a_thread, other_threads, collectives_lines_and_steps, copies, work_without_a_launch)]
        for seed in range(8):
            doc = critical_run.generated(seed)
            cases.append(('seed %d' % seed, lambda doc=doc: changed(doc, of_trace(doc))))
    failed = 0
    with tempfile.TemporaryDirectory(prefix='tfprof-idle-') as HOME:
        for name, case in cases:
            try:
                case()
            except AssertionError as e:
                failed += 1
                print('FAILED %s: %s' % (name, e))
    print('%d passed, %d failed, 0 skipped' % (len(cases) - failed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
