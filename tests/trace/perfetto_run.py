#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads generated Perfetto traces: slices, clocks, interned names, omissions.

    tests/trace/perfetto_run.py --bin build/check [NAME...]
    tests/trace/perfetto_run.py --write FOLDER     makes testdata/traces again
"""
import collections
import gzip
import json
import os
import random
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import cases  # noqa: E402
import pftrace as pf  # noqa: E402
from pftrace import BEGIN, BOOTTIME, COUNTER, END, INSTANT, MONOTONIC, REALTIME, event  # noqa: E402
from xspace import data  # noqa: E402
import trace_case  # noqa: E402
from trace_case import dump, equal, judge, program, rows, same_times  # noqa: E402


def write(content, name='a.pftrace'):
    return trace_case.write(content, name)


def notes(path):
    return program(path, 'scope')[1]


def slices(*packets):
    """Returns [(name, start, length)] of the trace, in its order."""
    return [(s['name'], s['start'], s['length']) for s in dump(write(pf.trace(*packets)), '--slices')]


def nesting():
    """Begin and end events of a track are paired by time, whatever their writers and order."""
    equal(slices(event(10, BEGIN, 'a', 5), event(20, BEGIN, 'b', 5), event(30, END, track=5), event(50, END, track=5)),
          [('a', 10, 40), ('b', 20, 10)])
    equal(slices(event(50, END, track=5, sequence=2), event(30, END, track=5, sequence=2), event(10, BEGIN, 'a', 5),
                 event(20, BEGIN, 'b', 5)), [('a', 10, 40), ('b', 20, 10)])
    equal(slices(event(10, BEGIN, 'a', 5), event(20, END, track=6), event(30, BEGIN, 'b', 5), event(60, END, track=5)),
          [('a', 10, 50), ('b', 30, 30)])
    err = notes('a.pftrace')
    assert '1 slice begins and does not end: it ends with its track' in err and '1 end of a slice has no begin: it is' in err, err


def interning():
    """Names belong to a sequence until it clears its state."""
    def named(iid, time, sequence, *packet):
        return event(time, BEGIN, None, 5, sequence, [(10, iid)], packet)
    found = slices(named(1, 1, 1, pf.interned(2, 1, 'one')), named(1, 2, 2, pf.interned(2, 1, 'two')), named(1, 3, 1),
                   named(1, 4, 1, pf.interned(2, 1, 'three'), (13, 1)), named(2, 5, 1, (13, 1)),
                   named(1, 6, 2, (42, 1), (13, 2)))
    equal([s[0] for s in found], ['one', 'two', 'one', 'three', '(unnamed)'])
    assert '1 packet with names that were overwritten is left out' in notes('a.pftrace')


def annotations():
    """Annotations are arguments, with interned names and values too; lists are counted."""
    names = (12, [(3, [(1, 7), (2, 'size')]), (29, [(1, 8), (2, 'big')])])
    write(pf.trace(event(1, BEGIN, 'a', 5, more=[(4, [(1, 7), (4, -5 & (1 << 64) - 1)]), (4, [(10, 'mode'), (17, 8)]),
                                                 pf.annotation('ratio', 0.5), (4, [(10, 'list'), (12, [(4, 1)])])],
                         packet=[names]), event(2, END, track=5, more=[pf.annotation('status', 'good')])))
    args = dump('a.pftrace', '--slices')[0]['args']
    equal({k: v for k, v in args.items() if k}, {'size': -5, 'mode': 'big', 'ratio': 0.5, 'status': 'good'})
    assert '1 annotation with lists or messages is left out' in notes('a.pftrace')


def clocks():
    """Times of other clocks are converted by the last snapshot; those of unknown clocks are left out, and counted."""
    def at(time, clock, sequence=1):
        return event(time, INSTANT, 'c%d' % clock, 5, sequence, packet=[(58, clock)])
    found = slices(pf.clocks((BOOTTIME, 1000), (MONOTONIC, 400), (REALTIME, 1700000000000001000)), at(450, MONOTONIC),
                   pf.clocks((BOOTTIME, 5000), (MONOTONIC, 4000)), at(4100, MONOTONIC), at(410, MONOTONIC),
                   at(9000, BOOTTIME), at(3, 99), at(7, 65, 2))
    equal(found, [('c3', 1010, 0), ('c3', 1050, 0), ('c3', 5100, 0), ('c6', 9000, 0)])
    assert '2 events with times of an unknown clock are left out' in notes('a.pftrace')
    delta = [(59, [(58, 64), (11, [(11, 5)])]), (13, 1)]
    found = slices(pf.clocks((BOOTTIME, 1000)), pf.clocks((BOOTTIME, 2000), (64, 50, 1, 1000), sequence=3),
                   event(1, BEGIN, 'a', sequence=3, packet=delta), event(4, END, sequence=3), event(0, INSTANT, 'b', sequence=3))
    equal(found, [('a', 3000, 4000), ('b', 7000, 0)])


def tracks():
    """Threads and processes are named by descriptors, which may come last; arguments of processes are not read."""
    write(pf.trace(event(1, BEGIN, 'a', 2), event(9, END, track=2), event(3, BEGIN, 'b', 4), event(5, END, track=4),
                   pf.thread(2, 40, 41, 'main', 1), pf.track(4, 'requests', 3), pf.track(3, 'all', 1), pf.process(1, 40, 'app')))
    out, err = program('a.pftrace', 'scope', '-output', 'timeline:outfile=t.json')
    with open('t.json') as f:
        text = f.read()
    assert 'hidden' not in out + err + text
    named = {(e['name'], e['pid'], e['args']['name']) for e in json.loads(text)['traceEvents'] if e['name'].endswith('_name')}
    equal(named, {('process_name', 40, 'app'), ('thread_name', 40, 'main'), ('thread_name', 40, 'requests')})


def counters():
    """Samples have the unit of their track; incremental ones add up."""
    more = [(31, 7), (12, 3)]
    write(pf.trace(pf.track(6, 'mem', 0, [(4, 1024)]), pf.track(7, 'sum', 0, [(5, 1)]),
                   event(1, COUNTER, track=6, more=[(30, 2)]), event(2, COUNTER, track=6, more=[(44, 3.7)]),
                   event(3, BEGIN, 'a', 5, more=more), event(4, END, track=5, more=more)))
    equal([(s['name'], s['start'], s['args']['value']) for s in dump('a.pftrace', '--slices') if s['name'] != 'a'],
          [('mem', 1, 2048), ('mem', 2, 3072), ('sum', 3, 3), ('sum', 4, 6)])
    write(pf.trace(pf.track(6, 'mem', 0, [(4, 1024)]), event(1, COUNTER, track=6, more=[(30, 2)])))
    missing = program('a.pftrace')[0].partition('missing')[2]
    assert missing.split('\n')[0].strip().startswith('times and memory, device work (not in the file)'), missing


def legacy():
    """Events in the form of Chrome's JSON: complete, asynchronous by id, of other threads."""
    def old(time, phase, name=None, *more):
        return event(time, 0, name, 5, more=[(6, [(2, ord(phase))] + list(more)), (22, 'net')])
    found = slices(old(1000, 'X', 'x', (3, 2), (18, 8), (19, 9)), old(100, 'b', 'p', (6, 77)), old(150, 'b', 'q', (6, 78)),
                   old(200, 'e', None, (6, 77)), old(300, 'e', None, (6, 78)), old(400, 'B', 'y'), old(500, 'E'), old(600, 'I', 'i'),
                   old(700, 's', 'flow', (8, 1)))
    equal(sorted(found), [('i', 600, 0), ('p', 100, 100), ('q', 150, 150), ('x', 1000, 2000), ('y', 400, 100)])
    assert '1 event of other types is left out' in notes('a.pftrace')
    micros = [event(0, 0, n, None, 4, more=[(6, [(2, ord(p))]), (1, d)])[1:] for n, p, d in (('a', 'B', 5), (None, 'E', 7))]
    found = slices([(10, 4), (44, [(1, 8), (2, 9), (5, 'old'), (6, 1000)])], *micros)
    equal(found, [('a', 1005000, 7000)])


def devices():
    """Work in rocprofv3's categories and render stages of GPUs are on streams of devices; work is below the op that launched it."""
    write(pf.small())
    out, _ = program('a.pftrace', 'kernels', '-output', 'json')
    equal([(k['name'], k['count'], k['total_ns']) for k in json.loads(out)['kernels']], [('void gemm<float>(float*)', 4, 6000)])
    found = rows('a.pftrace', 'scope', '-select', 'accelerator_micros,occurrence')
    equal({k: found['step/' + k]['total_accelerator_micros'] for k in ('forward', 'backward')}, {'forward': 2, 'backward': 4})
    stage = [(10, 9), (8, 100), (12, [(23, [(1, 3), (2, 40)]), (24, [(1, 1), (2, 'compute')])]),
             (53, [(2, 70), (13, 1), (11, 2), (5, 3), (17, 'conv'), (21, [(1, [(1, 4), (2, 1), (3, 1)]), (2, [(1, 64)])])])]
    old = [(10, 8), (53, [(7, [(2, [(1, 'vertex')]), (3, [(1, 'binning')])])])]
    write(pf.trace(stage, old, [(10, 8), (8, 500), (53, [(2, 30)])]))
    equal([(s['name'], s['start'], s['length']) for s in dump('a.pftrace', '--slices')], [('conv', 100, 70), ('binning', 500, 30)])
    equal([x['device'] for x in dump('a.pftrace')['devices']], ['gpu:0', 'gpu:2'])


def others():
    """Packets of other sources are counted by kind, configurations are not read, and a trace without events is an error."""
    write(pf.trace(event(1, BEGIN, 'a', 5), event(2, END, track=5), [(1, [(1, 3)])], [(1, [(1, 3)])], [(9, [])], [(33, [(1, 1)])],
                   [(777, [])], [(133, 'zstd')]))
    assert 'packets that are not used: ftrace_events (2), process_stats (1), zstd_compressed_packets (1), of unknown kinds (1)' in \
        notes('a.pftrace'), notes('a.pftrace')
    write(pf.trace([(10, 1), (1, [(1, 3)])]))
    _, err = program('a.pftrace', 'scope', status=3)
    assert 'a.pftrace: no track events among 1 packet:' in err, err


def switches():
    """Scheduling events give the time in which a thread could run but had no CPU: after it was preempted, and after it woke up. Threads
    without slices do not count. Single and packed events give the same; events of another clock are not used."""
    base = [pf.clocks((BOOTTIME, 1000), (MONOTONIC, 400)), pf.thread(1, 7, 70), event(1000, BEGIN, 'work', 1), event(9000, END, track=1)]
    events = [(2000, 70, 0, 71), (2500, 71, 1, 70), (4000, 70, 1, 0), (6300, 0, 0, 70), (7000, 70, 256, 72), (7400, 72, 2, 70)]
    wake, other = (6000, 70), (6100, 71)
    preempted = [('(preempted)', 2000, 500), ('(preempted)', 6000, 300), ('(preempted)', 7000, 400)]
    single = [(1, [(1, 0)] + [pf.switch(*e) for e in events] + [pf.waking(*wake), pf.waking(*other)])]
    packed = [(1, [(1, 0), pf.compact([(e[0], e[2], e[3]) for e in [(1500, 0, 0, 70)] + events], [wake, other])])]
    for bundle in (single, packed):
        found = slices(*base, bundle)
        equal([s for s in found if s[0] == '(preempted)'], preempted)
        equal(len(found), 4)
        assert 'not used' not in notes('a.pftrace')
    # the clock of the trace is another one: the times are converted
    found = slices(pf.clocks((BOOTTIME, 1000), (MONOTONIC, 400), primary=MONOTONIC), *base[1:], packed)
    equal([s for s in found if s[0] == '(preempted)'], [(n, at - 600, ns) for n, at, ns in preempted])
    for unused in ([(1, [(5, 2)] + single[0][1])], [(1, [(1, 0), (2, [(1, 5), (2, 70), (9, [(1, 1)])])])]):
        equal(slices(*base, unused), [('work', 1000, 8000)])
        assert 'packets that are not used: ftrace_events (1)' in notes('a.pftrace')
    # threads without a CPU lengthen the step
    launched = [pf.process(1, 7, 'train'), pf.thread(2, 7, 70), pf.track(4, 'COMPUTE AGENT [1] STREAM [0] (GPU)', 1)]
    launched += [e for i in range(4) for e in pf.kernel(2000000 * i + 1000000, 500000, 'k', i + 1, 4)]
    late = [[(1, [pf.switch(2000000 * i + 100000, 70, 0, 71), pf.switch(2000000 * i + 900000, 71, 1, 70)])] for i in range(4)]
    found = json.loads(program('why', write(pf.trace(*launched, *late)), '-output', 'json')[0])
    equal([c['cost_ns'] for c in found['causes'] if c['id'] == 'host_contention'], [4 * 800000])
    found = json.loads(program('why', write(pf.trace(*launched)), '-output', 'json')[0])
    assert 'host_contention' in [g['id'] for g in found['not_judged']], found


def compressed():
    """Compressed packets are read once, bombs and damage are counted."""
    inner = [event(1, BEGIN, 'a', 5), event(2, END, track=5)]
    equal(slices(pf.packed(*inner)), [('a', 1, 1)])
    equal(slices(*inner, pf.packed(pf.packed(*inner)), [(50, b'broken')], [(50, pf.packed(*inner)[0][1][:-9])],
                 [(50, pf.zlib.compress(bytes(80 << 20)))]), [('a', 1, 1)])
    assert '4 compressed packets that are damaged or too large are left out' in notes('a.pftrace'), notes('a.pftrace')


def damaged():
    """A damaged packet is left out; a truncated file is refused, or read up to its end."""
    good = pf.trace(event(1, BEGIN, 'a', 5), event(2, END, track=5))
    write(good + data(1, b'\x40\x01\x5a\x7f') + pf.trace(event(7, INSTANT, 'b', 5)))
    equal([s['name'] for s in dump('a.pftrace', '--slices')], ['a', 'b'])
    assert '1 end of damaged messages is left out' in notes('a.pftrace')
    cut = pf.small()[:-5]
    write(cut)
    _, err = program('a.pftrace', 'scope', status=3)
    assert 'a.pftrace: byte ' in err and 'a Perfetto trace' in err, err
    program('--recover', 'a.pftrace', 'scope')
    random.seed(5)
    for i in range(40):
        bad = bytearray(pf.small())
        for _ in range(1 + i % 7):
            bad[random.randrange(len(bad))] = random.randrange(256)
        judge('tfprof', '--recover', write(bytes(bad)), 'devices', allowed=(0, 1, 2, 3))


def anywhere():
    """Formats are recognised by content: gzip-compressed, in a pipe, under any name. Other files keep their formats."""
    write(gzip.compress(pf.small()), 'x.bin')
    write(pf.small())
    equal(rows('x.bin', 'scope', '-select', 'micros'), rows('a.pftrace', 'scope', '-select', 'micros'))
    assert 'gemm' in program('-', 'kernels', given=pf.small())[0]
    out, _ = program('a.pftrace')
    assert 'Perfetto trace by Perfetto v49.0' in out, out


def round_trip():
    """A timeline of the trace, read again, has the same devices and ops; a profile of it has the same times."""
    write(pf.small())
    program('a.pftrace', 'scope', '-output', 'timeline:outfile=t.json')
    for key in ('devices', 'ops'):
        equal(dump('t.json')[key], dump('a.pftrace')[key], key)
    program('convert', 'a.pftrace', '-output', 'profile:outfile=p.pb')
    same_times('p.pb', 'a.pftrace')
    out, _ = program('diff', 'a.pftrace', 't.json')
    assert 'gemm' not in out, out


# ---- comparison with the protocol's own messages ----

def reference(trace_type, content):
    """Counts {(track, name, start, length)} of a trace with the package's messages, using stacks of sorted begin and end
    events."""
    state, marks = {}, []
    for p in trace_type.FromString(content).packet:
        q = state.setdefault(p.trusted_packet_sequence_id, {'names': {}, 'clock': 6, 'track': 0, 'last': 0})
        if p.sequence_flags & 1:
            q.update(names={}, clock=6, track=0)
        if p.HasField('trace_packet_defaults'):
            q.update(clock=p.trace_packet_defaults.timestamp_clock_id, track=p.trace_packet_defaults.track_event_defaults.track_uuid)
        for n in p.interned_data.event_names:
            q['names'][n.iid] = n.name
        for c in p.clock_snapshot.clocks:
            if c.clock_id == 64:
                q['last'] = p.clock_snapshot.clocks[-1].timestamp
        if not p.HasField('track_event'):
            continue
        e = p.track_event
        clock = p.timestamp_clock_id or q['clock']
        time = q['last'] + p.timestamp if clock == 64 else p.timestamp
        q['last'] = time if clock == 64 else q['last']
        marks.append((time, len(marks), e.track_uuid or q['track'], e.type, e.name or q['names'].get(e.name_iid, '')))
    found, stacks = collections.Counter(), collections.defaultdict(list)
    for time, _, track, kind, name in sorted(marks):
        if kind == BEGIN:
            stacks[track].append((name, time))
        elif kind == END and stacks[track]:
            begun = stacks[track].pop()
            found[(begun[0], begun[1], time - begun[1])] += 1
        elif kind == INSTANT:
            found[(name, time, 0)] += 1
    return found


def against_messages():
    """Random traces, encoded and decoded by the messages of the Python package perfetto, have the same slices."""
    try:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
    except ImportError:
        raise cases.Skip('the Python package perfetto is not installed')
    for seed in range(20):
        content = random_trace(Trace, random.Random(seed))
        write(content)
        found = collections.Counter((s['name'], s['start'], s['length']) for s in dump('a.pftrace', '--slices'))
        expected = reference(Trace, content)
        equal(len((found - expected) + (expected - found)), 0, 'seed %d: slices that differ' % seed)


def random_trace(trace_type, r):
    """Returns four sequences with separate delta clocks, defaults and names, on eight shared tracks."""
    t = trace_type()
    open_slices, time = collections.Counter(), 1000
    for q in range(1, 5):
        p = t.packet.add(trusted_packet_sequence_id=q, sequence_flags=1)
        p.trace_packet_defaults.track_event_defaults.track_uuid = q
        p.trace_packet_defaults.timestamp_clock_id = 64
        p.clock_snapshot.clocks.add(clock_id=64, timestamp=0, is_incremental=True)
        p.clock_snapshot.clocks.add(clock_id=6, timestamp=1000)
        for i in range(10):
            p.interned_data.event_names.add(iid=i + 1, name='name %d of %d' % (i, q))
    last = dict.fromkeys(range(1, 5), 1000)
    for _ in range(3000):
        time += r.randrange(1, 20)
        q, track = r.randrange(1, 5), r.randrange(1, 9)
        p = t.packet.add(trusted_packet_sequence_id=q)
        if r.random() < 0.7:
            p.timestamp, last[q] = time - last[q], time
        else:
            p.timestamp, p.timestamp_clock_id = time, 6
        if track != q:
            p.track_event.track_uuid = track
        kind = r.choice([BEGIN, END, INSTANT]) if open_slices[track] else r.choice([BEGIN, INSTANT])
        p.track_event.type = kind
        open_slices[track] += {BEGIN: 1, END: -1, INSTANT: 0}[kind]
        if kind != END and r.random() < 0.5:
            p.track_event.name_iid = r.randrange(1, 11)
        elif kind != END:
            p.track_event.name = 'x%d' % r.randrange(5)
        if r.random() < 0.2:
            a = p.track_event.debug_annotations.add(name='k', int_value=r.randrange(1 << 40))
            a.int_value = -a.int_value
    for track, n in open_slices.items():
        for _ in range(n):
            time += 5
            p = t.packet.add(trusted_packet_sequence_id=9, timestamp=time)
            p.track_event.type, p.track_event.track_uuid = END, track
    order = list(t.packet)
    body = order[4:]
    by_sequence = collections.defaultdict(list)
    for p in body:
        by_sequence[p.trusted_packet_sequence_id].append(p)
    out = trace_type()
    out.packet.extend(order[:4])
    while any(by_sequence.values()):  # packets of the writers are interleaved at random
        q = r.choice([k for k, v in by_sequence.items() if v])
        n = r.randrange(1, 200)
        out.packet.extend(by_sequence[q][:n])
        by_sequence[q] = by_sequence[q][n:]
    return out.SerializeToString()


def example_is_made():
    """The file in testdata/traces equals the output of this script."""
    with open(os.path.join(cases.TESTDATA, 'traces', 'trace.pftrace'), 'rb') as f:
        equal(f.read(), pf.small())


CASES = [nesting, interning, annotations, clocks, tracks, counters, legacy, devices, others, switches, compressed, damaged, anywhere,
         round_trip, against_messages, example_is_made]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, write=lambda folder: write(pf.small(), os.path.join(folder, 'trace.pftrace'))))
