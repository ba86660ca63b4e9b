# SPDX-License-Identifier: Apache-2.0
"""Writes a run of the simulator as profilers write it."""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'trace'))
import kineto  # noqa: E402

CATEGORY = {'compute': 'kernel', 'communication': 'kernel', 'copy': 'gpu_memcpy'}


def micros(ns):
    """A number that JSON writes with all its digits."""
    return ns / 1000 if ns % 1000 else ns // 1000


def kineto_events(run, process, sync=True):
    """The events of a process as PyTorch writes them; sync: with events of synchronisation (`enable_cuda_sync_events`)."""
    pid, out = 4000 + process, []

    def add(cat, name, start, end, where, tid, **args):
        out.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': where, 'tid': tid, 'ts': micros(start), 'dur': micros(end - start),
                    'args': args})

    for (p, tid), thread in run.threads.items():
        for s in thread.slices if p == process else ():
            add(s.category, s.name, s.start, s.end, pid, tid, **({'correlation': s.correlation} if s.call else {}))
            if s.call and sync:
                out += sync_events(s, pid, add)
    for w in run.works:
        if w.process == process:
            add(CATEGORY[w.kind], w.name, w.start, w.end, w.device, w.stream, device=w.device, context=1, stream=w.stream,
                correlation=w.launch.correlation, **dict(w.more))
            for ph, where, tid, at in (('s', pid, w.thread.tid, w.launch.start), ('f', w.device, w.stream, w.start)):
                out.append(dict({'ph': ph, 'id': w.launch.correlation, 'pid': where, 'tid': tid, 'ts': micros(at), 'cat': 'ac2g',
                                 'name': 'ac2g'}, **({'bp': 'e'} if ph == 'f' else {})))
    return out


def sync_events(s, pid, add):
    """The events of synchronisation of a call, in the time of the call."""
    call, args = s.call, {'correlation': s.correlation, 'context': 1}
    times = (s.start + 1, s.end - 1)
    if call.block == 'device':
        add('cuda_sync', 'Context Sync', *times, call.on, -1, cuda_sync_kind='Context Sync', stream=-1, device=call.on, **args)
    elif call.block == 'stream':
        device, stream = call.on
        add('cuda_sync', 'Stream Sync', *times, device, stream, cuda_sync_kind='Stream Sync', stream=stream, device=device, **args)
    elif call.block == 'event' or call.wait:
        event, device, stream = call.wait or (call.on, 0, -1)
        _, recorded, _, of = s.event
        kind = 'Stream Wait Event' if call.wait else 'Event Sync'
        add('cuda_sync', kind, *times, device, stream, cuda_sync_kind=kind, wait_on_stream=of,
            wait_on_cuda_event_record_corr_id=recorded, wait_on_cuda_event_id=event, stream=stream, device=device, **args)
    return []


def write_kineto(run, folder, shuffle=None, sync=True):
    """Writes a file for each process; shuffle: a seed for another order of the events. Returns the paths."""
    paths = []
    for process in sorted({p for p, _ in run.threads}):
        events = kineto_events(run, process, sync)
        if shuffle is not None:
            random.Random(shuffle).shuffle(events)
        paths.append(os.path.join(folder, 'rank%d.pt.trace.json' % process))
        with open(paths[-1], 'wb') as f:
            f.write(kineto.trace(events, process if len({p for p, _ in run.threads}) > 1 else None))
    return paths
