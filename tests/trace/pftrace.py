# SPDX-License-Identifier: Apache-2.0
"""Encodes Perfetto traces for tests: packets as lists of (field, value), into protobuf bytes."""
import struct
import zlib

from xspace import data, varint

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
BOOTTIME, MONOTONIC, REALTIME = 6, 3, 1


def message(fields):
    """Encodes fields: numbers are varints, floats are doubles, texts and lists of fields have a length."""
    out = b''
    for field, v in fields:
        if isinstance(v, float):
            out += varint(field << 3 | 1) + struct.pack('<d', v)
        elif isinstance(v, int):
            out += varint(field << 3) + varint(v)
        else:
            out += data(field, message(v) if isinstance(v, list) else v)
    return out


def trace(*packets):
    return b''.join(data(1, message(p)) for p in packets)


def event(time, kind, name=None, track=None, sequence=1, more=(), packet=()):
    """Encodes a packet with a track event."""
    body = [(9, kind)] + ([(11, track)] if track else []) + ([(23, name)] if name else []) + list(more)
    return [(8, time), (10, sequence), (11, body)] + list(packet)


def process(uuid, pid, name):
    return [(10, 1), (60, [(1, uuid), (3, [(1, pid), (6, name), (2, '/bin/' + name), (2, '--password=hidden')])])]


def thread(uuid, pid, tid, name='', parent=0):
    return [(10, 1), (60, [(1, uuid), (5, parent), (4, [(1, pid), (2, tid), (5, name)])])]


def track(uuid, name, parent=0, counter=None):
    return [(10, 1), (60, [(1, uuid), (5, parent), (2, name)] + ([(8, counter)] if counter is not None else []))]


def clocks(*times, sequence=1, primary=None):
    """Encodes a clock snapshot of (clock, time) or (clock, time, incremental, unit)."""
    return [(10, sequence), (6, [(1, [(i + 1, v) for i, v in enumerate(t)]) for t in times] + ([(2, primary)] if primary else []))]


def packed(*packets):
    return [(50, zlib.compress(trace(*packets)))]


def interned(kind, iid, text):
    return (12, [(kind, [(1, iid), (2, text)])])


def annotation(name, v):
    field = 6 if isinstance(v, str) else 5 if isinstance(v, float) else 4
    return (4, [(10, name), (field, v)])


def kernel(start, length, name, call, track):
    """Encodes a kernel as rocprofv3 writes it, with the call that launched it on thread 2."""
    of = [annotation('corr_id', call)]
    return [event(start - 50, BEGIN, 'hipLaunchKernel', 2, more=[(22, 'hip_api')] + of), event(start - 40, END, track=2),
            event(start, BEGIN, name, track, more=[(22, 'kernel_dispatch')] + of), event(start + length, END, track=track)]


def switch(time, previous, state, following):
    """Encodes a scheduling event: a CPU switches from one thread to another."""
    return (2, [(1, time), (2, previous), (4, [(1, 'a'), (2, previous), (3, 120), (4, state), (5, 'b'), (6, following), (7, 120)])])


def waking(time, tid):
    return (2, [(1, time), (2, 0), (20, [(1, 'a'), (2, tid), (3, 120), (5, 0)])])


def compact(switches, wakings):
    """Encodes packed scheduling events. switches: [(time, state of the thread before, next thread)] of one CPU; wakings:
    [(time, thread)]."""
    def numbers(values):
        return b''.join(varint(v) for v in values)

    def times(values):
        return numbers(b - a for a, b in zip([0] + values, values))
    return (4, [(1, times([s[0] for s in switches])), (2, numbers(s[1] for s in switches)), (3, numbers(s[2] for s in switches)),
                (4, numbers(120 for _ in switches)), (5, 'comm'), (6, numbers(0 for _ in switches)), (7, times([w[0] for w in wakings])),
                (8, numbers(w[1] for w in wakings))])


def write_large(path, slices, threads=8):
    """Writes a trace as the SDK does: interned names, times as differences, an annotation for every second slice."""
    with open(path, 'wb') as f:
        for q in range(1, threads + 1):
            names = (12, [(2, [(1, i + 1), (2, 'namespace::operation_%d' % i)]) for i in range(200)] +
                     [(1, [(1, 1), (2, 'app')]), (3, [(1, 1), (2, 'size')])])
            f.write(trace(thread(q, 7, q, 'worker %d' % q),
                          [(10, q), (13, 1), (59, [(58, 64), (11, [(11, q)])]), names,
                           (6, [(1, [(1, 64), (2, 1000), (3, 1)]), (1, [(1, BOOTTIME), (2, 1000)])])]))
        part = []
        for i in range(2000):  # of one thread; repeated for all
            note = [(4, [(1, 1), (4, i * 7919)])] if i % 2 else []
            begin, end = [(8, 300 + i % 50), (13, 2)], [(8, 900 + i % 70), (13, 2)]
            part.append((begin + [(11, [(9, BEGIN), (10, i % 200 + 1), (3, 1)] + note)], end + [(11, [(9, END)])]))
        blocks = [b''.join(trace([(10, q)] + b, [(10, q)] + e) for b, e in part) for q in range(1, threads + 1)]
        for i in range(slices // len(part)):
            f.write(blocks[i % threads])


def small():
    """Returns the file of testdata/traces: two phases with work on a GPU."""
    gpu = 'COMPUTE AGENT [1] STREAM [0] (GPU)'
    out = [[(10, 1), (45, [(4, 'Perfetto v49.0')])], clocks((BOOTTIME, 1000), (REALTIME, 1750000000000001000)),
           process(1, 40, 'train'), thread(2, 40, 41, 'main'), track(3, gpu, 1), track(4, 'queue', 1),
           track(5, 'memory', 1, [(4, 1024)])]
    for step in range(2):
        t = 10000 + 5000 * step
        out += [event(t, BEGIN, 'step', 2), event(t + 100, BEGIN, 'forward', 2)]
        out += kernel(t + 200, 1000, 'void gemm<float>(float*)', 2 * step + 1, 3)
        out += [event(t + 1300, END, track=2), event(t + 1400, BEGIN, 'backward', 2)]
        out += kernel(t + 1500, 2000, 'void gemm<float>(float*)', 2 * step + 2, 3)
        out += [event(t + 4000, END, track=2), event(t + 4500, END, track=2),
                event(t + 4000, COUNTER, track=5, more=[(30, 10 + step)])]
    out += [event(10000, BEGIN, 'load', 4), event(13000, END, track=4), [(9, [(2, 7)])]]
    return trace(*out)
