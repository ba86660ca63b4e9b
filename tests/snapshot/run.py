#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of PyTorch: every protocol, version and form, compared with the model that made them; damage; files that would
run code if they were unpickled.

    tests/snapshot/run.py --program build/check/tfprof [NAME ...]
"""
import gzip
import json
import os
import pickle
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'snapshot', 'trace')]
import cases  # noqa: E402
import layout  # noqa: E402
import viewer  # noqa: E402
from cases import equal  # noqa: E402

SMALL = dict(steps=200, before=60)


def call(t, *words, status=0):
    r = subprocess.run([t.program, *words], capture_output=True, text=True, timeout=120)
    assert r.returncode == status, '%s: status %d: %s' % (' '.join(words), r.returncode, r.stderr[-600:])
    return r


def memory(t, path, *words):
    return json.loads(call(t, 'memory', path, '-output', 'json', '--top=0', *words).stdout)


def timeline(t, path):
    """Returns the events of a timeline as text."""
    call(t, 'scope', path, '-output', 'timeline:outfile=t.json')
    with open('t.json') as f:
        return json.dumps(json.load(f)['traceEvents'])


def write(path, content):
    with open(path, 'wb') as f:
        f.write(content)
    return path


def entries(traces, *actions):
    return [e for entries in traces for e in entries if e['action'] in actions]


def same_in_every_form(t):
    """Six protocols, gzip and JSON of one snapshot give the same answer."""
    snapshot, _ = layout.make(1, devices=2, private=True, **SMALL)
    paths = [write('p%d.pickle' % p, pickle.dumps(snapshot, p)) for p in range(6)]
    paths.append(write('s.pickle.gz', gzip.compress(pickle.dumps(snapshot))))
    paths.append(write('s.json', json.dumps(snapshot).encode()))
    paths.append(write('indented.json', json.dumps(snapshot, indent=2).encode()))
    answers = [memory(t, path) for path in paths]
    assert answers[0]['memory']
    for path, answer in zip(paths, answers):
        equal(answer['memory'], answers[0]['memory'], path)
        equal(answer['live'], answers[0]['live'], path)
    texts = {timeline(t, path) for path in paths}
    equal(len(texts), 1, 'timelines')


def counts_of_versions(t):
    """The allocations and frees of each version of the layout match its entries."""
    for version in layout.VERSIONS:
        snapshot, _ = layout.make(2, version=version, devices=2, **SMALL)
        rows = memory(t, write('s.pickle', pickle.dumps(snapshot)))['memory']
        traces = snapshot['device_traces']
        equal(sum(r['allocations'] for r in rows), len(entries(traces, 'alloc')), version)
        equal(sum(r['frees'] for r in rows), len(entries(traces, 'free_completed')), version)
        equal(sum(r['allocated_bytes'] for r in rows), sum(e['size'] for e in entries(traces, 'alloc')), version)
        equal({r['device'] for r in rows}, {'gpu:0', 'gpu:1'}, version)


def says_what_it_is(t):
    """The format is recognised by its content, whatever the name."""
    snapshot, _ = layout.make(3, **SMALL)
    for name in 'snapshot.pickle', 'renamed.bin', 'model.pt':
        text = call(t, 'summary', write(name, pickle.dumps(snapshot))).stdout
        assert 'PyTorch memory snapshot' in text, text
    summary = json.loads(call(t, 'summary', 'model.pt', '-output', 'json').stdout)
    equal((summary['formats'], summary['float_ops']), (['PyTorch memory snapshot'], 0))
    text = call(t, 'summary', write('s.json', json.dumps(snapshot).encode())).stdout
    assert 'PyTorch memory snapshot' in text, text


def without_times(t):
    """Entries of PyTorch 2.1 have no times: they are numbered, and a note says so."""
    snapshot, _ = layout.make(4, version='2.1', **SMALL)
    assert 'no times' in call(t, 'memory', write('s.pickle', pickle.dumps(snapshot))).stderr


def annotations(t):
    """External annotations are slices, and metadata are arguments."""
    snapshot, _ = layout.make(5, **SMALL)
    traces = snapshot['device_traces'][0]
    first, last = traces[0]['time_us'], traces[-1]['time_us']
    traces[5]['user_metadata'] = 'phase=load'
    snapshot['external_annotations'] = [{'name': 'forward', 'stage': 'START', 'device': 0, 'time_us': first},
                                        {'name': 'forward', 'stage': 'END', 'device': 0, 'time_us': last}]
    events = json.loads(timeline(t, write('s.pickle', pickle.dumps(snapshot))))
    found = [e for e in events if e.get('name') == 'forward']
    equal([e['dur'] for e in found], [last - first])
    assert any('phase=load' in json.dumps(e) for e in events)


def in_steps(snapshot, parts):
    """Adds annotations that divide the entries of the first device into steps, with an annotation of another kind around them.
    Returns the first and the last time of each step."""
    times = [e['time_us'] for e in snapshot['device_traces'][0]]
    bounds = [(times[len(times) * i // parts + 3], times[len(times) * (i + 1) // parts - 3]) for i in range(parts)]

    def mark(name, stage, at):
        return {'name': name, 'stage': stage, 'device': 0, 'time_us': at}
    snapshot['external_annotations'] = [mark('train', 'START', times[0])]
    for i, (start, end) in enumerate(bounds):
        snapshot['external_annotations'] += [mark('ProfilerStep#%d' % (i + 4), 'START', start), mark('ProfilerStep#%d' % (i + 4), 'END', end)]
    snapshot['external_annotations'] += [mark('train', 'END', times[-1])]
    return bounds


def steps(t):
    """-step lists the live set at the peak of a step or of several, including allocations from before the step."""
    for seed in range(12):
        snapshot, truth = layout.make(300 + seed, steps=150 + 20 * seed, devices=1 + seed % 2, private=seed % 3 == 1)
        bounds = in_steps(snapshot, 5)
        path = write('s.pickle', pickle.dumps(snapshot))
        for chosen in ([0], [3], [4], [1, 2], [0, 4]):
            doc = memory(t, path, '-step', ','.join(str(i + 4) for i in chosen))
            for device, model in enumerate(truth):
                entries = snapshot['device_traces'][device]
                # Indexes of entries at whose end a step runs, and of entries at which a step begins.
                within = [n for n, e in enumerate(entries, 1) for i in chosen if bounds[i][0] <= e['time_us'] <= bounds[i][1]]
                begins = [sum(e['time_us'] < bounds[i][0] for e in entries) for i in chosen]
                use = [model['start']]
                for e in entries:
                    use.append(use[-1] + {'alloc': e['size'], 'free_completed': -e['size']}.get(e['action'], 0))
                peak = max(use[n] for n in within + begins)
                first = min(n for n in within + begins if use[n] == peak)
                row = next(r for r in doc['memory'] if r['device'] == 'gpu:%d' % device)
                what = seed, chosen, device
                equal((row['peak_bytes'], row['live_bytes']), (peak, peak), what)
                equal(row['step'], chosen[0] + 4 if len(chosen) == 1 else None, what)
                made = [entries[n - 1] for n in within if entries[n - 1]['action'] == 'alloc']
                equal((row['allocations'], row['allocated_bytes']), (len(made), sum(e['size'] for e in made)), what)
                live = {}
                for r in doc['live']:
                    if r['device'] == 'gpu:%d' % device:
                        b, k = live.get(r['line'], (0, 0))
                        live[r['line']] = b + r['bytes'], k + r['buffers']
                equal(live, live_by_line(entries, {}, first), what)
        one = memory(t, path, '-step', '5')
        for name in 'scope', 'code', 'op':
            found = view(t, name, path, '-step', '5')['rows']
            equal(sum(r['own_live_bytes'] for r in found), sum(r['bytes'] for r in one['live']), (seed, name))
            for column in 'allocated_bytes', 'allocations':
                devices = {r['device']: r[column] for r in reversed(one['memory'])}
                equal(sum(r['own_' + column] for r in found), sum(devices.values()), (seed, name, column))
    assert 'Available steps: 4 5 6 7 8' in call(t, 'scope', path, '-step', '9', status=1).stderr
    call(t, 'scope', path, '-step', '4,5', status=2)
    assert 'none of the steps' in call(t, 'memory', path, '-step', '9', status=1).stderr
    call(t, 'memory', path, '-step', '4', '--at=end', status=2)


def line_of(frames):
    """Returns the innermost frame of the user's program, as memory prints it; None without a Python frame."""
    python = [f for f in frames if f['filename'].endswith('.py')]
    own = [f for f in python if '/site-packages/' not in f['filename']] or python
    return '%s:%d %s' % (own[0]['filename'], own[0]['line'], own[0]['name']) if own else None


def live_by_line(entries, before, n):
    """Returns bytes and allocations by line after n entries, from the entries and the blocks that were allocated before
    them."""
    held = {a: (size, '(allocated before the first entry)') for a, size in before.items()}
    for e in entries[:n]:
        if e['action'] == 'alloc':
            held[e['addr']] = e['size'], line_of(e['frames'])
        elif e['action'] == 'free_completed':
            held.pop(e['addr'], None)
    out = {}
    for size, line in held.values():
        b, k = out.get(line, (0, 0))
        out[line] = b + size, k + 1
    return out


def first_peak(entries, start):
    """Returns the number of entries up to the first moment of the largest use."""
    use = most = start
    at = 0
    for n, e in enumerate(entries, 1):
        use += {'alloc': e['size'], 'free_completed': -e['size']}.get(e['action'], 0)
        if use > most:
            most, at = use, n
    return at


def random_streams(t):
    """Random streams of allocations: peaks, reserved bytes and live sets are those of the model, to the byte, and the rows add up."""
    for seed in range(24):
        private, expandable = seed % 3 == 1, seed % 5 == 2
        snapshot, truth = layout.make(100 + seed, version=layout.VERSIONS[seed % 4], steps=150 + 10 * seed, before=0 if seed % 4 == 3 else 80,
                                      devices=1 + seed % 2, private=private, expandable=expandable)
        path = write('s.pickle', pickle.dumps(snapshot, seed % 6))
        summary = json.loads(call(t, 'summary', path, '-output', 'json').stdout)
        equal(summary['peak_bytes'], max(model['peak'] for model in truth), seed)
        for at in 'peak', 'end':
            doc = memory(t, path, '--at=' + at)
            equal('pools' in doc, True)
            for device, model in enumerate(truth):
                entries = snapshot['device_traces'][device]
                rows = [r for r in doc['memory'] if r['device'] == 'gpu:%d' % device]
                state = [r for r in doc['pools'] if r['device'] == 'gpu:%d' % device]
                live = [r for r in doc['live'] if r['device'] == 'gpu:%d' % device]
                what = seed, at, device
                equal(rows[0]['peak_bytes'], model['peak'], what)
                equal(rows[0]['reserved_bytes'], model['reserved_peak'], what)
                equal(rows[0]['allocator'], 'all pools' if len(rows) > 1 else rows[0]['allocator'], what)
                equal(sum(r['bytes'] for r in live), rows[0]['live_bytes'], what)
                equal(rows[0]['live_bytes'], model['peak'] if at == 'peak' else sum(model['end'].values()), what)
                equal(sum(r['double_frees'] + r['lost_frees'] for r in state), 0, what)
                n = first_peak(entries, model['start']) if at == 'peak' else len(entries)
                expected = live_by_line(entries, model['before'], n)
                found = {}
                for r in live:
                    b, k = found.get(r['line'], (0, 0))
                    found[r['line']] = b + r['bytes'], k + r['buffers']
                # Blocks from before the history that exist at the end have a stack, so their line is known.
                total = {k: sum(v[k] for v in expected.values()) for k in (0, 1)}
                equal({k: sum(v[k] for v in found.values()) for k in (0, 1)}, total, what)
                if not model['before']:
                    equal(found, expected, what)
                if at == 'end':
                    equal(state[0]['unused_bytes'], model['reserved_end'] - sum(model['end'].values()), what)
                    free = [b['size'] for s in snapshot['segments'] if s['device'] == device for b in s['blocks'] if b['state'] == 'inactive']
                    equal(state[0]['largest_free_bytes'], max(free, default=0), what)
                    equal(state[0]['fragmentation'], round(100 - 100 * max(free) / sum(free), 2) if free else None, what)


def states(t):
    """Text names the moment of the state; what holds at the end of the file, or for all of it, is in another table and does not change."""
    path = os.path.join(cases.TESTDATA, 'memory', 'snapshot.pickle')
    ends = set()
    for at, title in ('peak', 'the peak'), ('end', 'the end'), ('0.5', '500ns after the first entry'), ('1ms', '1.00ms after the first entry'):
        text = call(t, 'memory', path, '-at', at).stdout
        state, end = text.split('\nState %s%s:\n' % ('' if at[0].isdigit() else 'at ', title))[1].split('\n\n')
        equal(state.split()[:3], ['unused', 'waiting', 'before'], at)
        equal(end.splitlines()[0], 'Frees of the whole file, and free memory at its end:')
        equal('max free' in end and 'frag' in end, True)
        ends.add(end)
    equal(len(ends), 1)
    for command in 'memory', 'scope':
        assert 'is after the last entry, which is 2.71ms' in call(t, command, path, '-at', '2.72ms', status=1).stderr
        call(t, command, path, '-at', '2.71ms')
        assert 'or a time' in call(t, command, path, '-at=-5ms', status=2).stderr


def map_of_segments(t):
    """The segments at the end are listed, the largest first, with the bytes in use and the used share of each part."""
    snapshot, _ = layout.make(77, devices=2, private=True, before=40, steps=300)
    found = memory(t, write('s.pickle', pickle.dumps(snapshot)))
    segments = {(s['device'], s['address']): s for s in snapshot['segments']}
    equal(len(found['segments']), len(segments))
    equal([s['bytes'] for s in found['segments']], sorted((s['total_size'] for s in snapshot['segments']), reverse=True))
    for s in found['segments']:
        truth = segments[int(s['device'][len('gpu:'):]), int(s['address'], 16)]
        used = [b for b in truth['blocks'] if b['state'].startswith('active')]
        free = [b['size'] for b in truth['blocks'] if not b['state'].startswith('active')]
        equal((s['used_bytes'], s['largest_free_bytes'], s['blocks']), (sum(b['size'] for b in used), max(free, default=0), len(truth['blocks'])), s)
        share, at, width = [0.0] * 64, 0, truth['total_size'] / 64
        for b in truth['blocks']:
            for i in range(64) if b in used else ():
                share[i] += max(0, min(at + b['size'], (i + 1) * width) - max(at, i * width)) / width
            at += b['size']
        assert all(abs(100 * a - b) <= 1.5 for a, b in zip(share, s['parts_percent'])), (share, s)
    assert 'segments' not in memory(t, write('empty.pickle', pickle.dumps(dict(snapshot, segments=[]))))


def groups_add_up(t):
    """Each grouping of the live set adds up to the same bytes."""
    snapshot, _ = layout.make(9, devices=2, private=True, **SMALL)
    path = write('s.pickle', pickle.dumps(snapshot))
    sums = {by: sum(r['bytes'] for r in memory(t, path, '--by=' + by)['live']) for by in ('line', 'op', 'kind', 'size')}
    equal(len(set(sums.values())), 1, sums)
    for r in memory(t, path, '--by=kind')['live']:
        assert r['kind'] and r['rule'], r


def view(t, name, path, *words):
    return json.loads(call(t, name, path, '-output', 'json', *words).stdout)


def path_of(frames):
    """Returns the call stack as the path of an entry of code."""
    if not frames:
        return '(no call stack)'
    return '/'.join(f['name'] if f['filename'] == '??' else '%s:%d:%s' % (os.path.basename(f['filename']), f['line'], f['name']) for f in reversed(frames))


def pprof_total(path):
    """Returns the sum of the values of a profile's samples, each a packed number."""
    with gzip.open(path) as f:
        samples = [v for field, v in viewer.fields(f.read()) if field == 2]
    values = [v for sample in samples for field, v in viewer.fields(sample) if field == 2]
    return sum((byte & 127) << 7 * i for v in values for i, byte in enumerate(v))


def views(t):
    """scope, code and op have the live set of memory, to the byte, and all allocations; so do folded stacks and pprof
    profiles."""
    metrics = 'live_bytes,allocated_bytes,allocations'
    for seed in range(30):
        before = 0 if seed % 4 == 3 else 80
        snapshot, truth = layout.make(200 + seed, version=layout.VERSIONS[seed % 4], steps=150 + 10 * seed, before=before, devices=1 + seed % 2,
                                      private=seed % 3 == 1, expandable=seed % 5 == 2)
        path = write('s.pickle', pickle.dumps(snapshot, seed % 6))
        made = entries(snapshot['device_traces'], 'alloc')
        live = sum(r['bytes'] for r in memory(t, path)['live'])
        equal(live, sum(model['peak'] for model in truth), seed)
        whole = {'live_bytes': live, 'allocated_bytes': sum(e['size'] for e in made), 'allocations': len(made)}
        for name in 'scope', 'code', 'op':
            doc = view(t, name, path, '-select', metrics)
            if name != 'op':
                equal(doc['total'], whole, (seed, name))
            equal({m: sum(r['own_' + m] for r in doc['rows']) for m in whole}, whole, (seed, name))
        for m in whole:
            lines = call(t, 'code', path, '-select', m, '-output', 'folded').stdout.splitlines()
            equal(sum(int(line.rsplit(' ', 1)[1]) for line in lines if re.search(r' \d+$', line)), whole[m], (seed, m))
        for name in 'scope', 'code', 'op':
            call(t, name, path, '-select', 'live_bytes', '-output', 'pprof:outfile=p.pb')
            equal(pprof_total('p.pb'), live, (seed, name))


def views_at_a_moment(t):
    """-at shows the live set at the end, at an error or at a time in the views, with the bytes that memory lists; all allocations stay."""
    for seed in range(12):
        snapshot, truth = layout.make(500 + seed, steps=120 + 10 * seed, before=60 * (seed % 2), devices=1 + seed % 2, private=seed % 3 == 1, oom=seed % 4 == 0)
        path = write('s.pickle', pickle.dumps(snapshot))
        trace = snapshot['device_traces'][0]
        middle = trace[len(trace) // 2]['time_us'] - trace[0]['time_us']
        made = sum(e['size'] for e in entries(snapshot['device_traces'], 'alloc'))
        end = sum(sum(model['end'].values()) for model in truth)
        for at in ['end', '%dus' % middle, 'peak'] + ['oom'] * (seed % 4 == 0):
            live = sum(r['bytes'] for r in memory(t, path, '-at', at)['live'])
            if at in ('end', 'oom'):
                equal(live, end, (seed, at))
            if at == 'peak' and seed % 2 == 0:  # one device
                shown = call(t, 'memory', path).stdout.split('\n')[1].split()[1]
                equal(sum(r['bytes'] for r in memory(t, path, '-at', shown)['live']), live, (seed, 'the printed time', shown))
            for name in 'scope', 'code', 'op':
                rows = view(t, name, path, '-at', at)['rows']
                equal(sum(r['own_live_bytes'] for r in rows), live, (seed, at, name))
                equal(sum(r['own_allocated_bytes'] for r in rows), made, (seed, at, name))
            equal(json.loads(call(t, 'top', path, '-at', at, '-n', '0', '-output', 'json').stdout)['total'], live, (seed, at))
    ends = sum(sum(model['end'].values()) for model in truth)
    call(t, 'code', path, '-at', 'end', '-select', 'live_bytes', '-output', 'pprof:outfile=p.pb')
    equal(pprof_total('p.pb'), ends)
    assert 'no out-of-memory error' in call(t, 'scope', path, '-at', 'oom', status=1).stderr
    other = os.path.join(cases.TESTDATA, 'traces', 'trace.xplane.pb')
    assert '-select live_bytes shows it' in call(t, 'code', other, '-at', 'end', status=2).stderr
    call(t, 'scope', path, '-at', 'end', '-step', '4', status=2)
    session = subprocess.run([t.program, path], input='scope -at end -output csv -quiet\nscope -at peak -output csv -quiet\n', capture_output=True, text=True).stdout
    totals = [int(line.split(',')[-1]) for line in session.splitlines() if line.startswith('_TFProfRoot')]
    assert totals, session


def device_without_error(t):
    """A device that has no out-of-memory error is shown at its end."""
    snapshot, truth = layout.make(520, devices=2, oom=True, **SMALL)
    snapshot['device_traces'][1] = [e for e in snapshot['device_traces'][1] if e['action'] != 'oom']
    rows = memory(t, write('s.pickle', pickle.dumps(snapshot)), '-at', 'oom')['memory']
    equal({r['device']: r['live_bytes'] for r in rows}, {'gpu:%d' % i: sum(model['end'].values()) for i, model in enumerate(truth)})


def views_by_stack(t):
    """code has the bytes of each call stack, and op those of each op."""
    for seed in range(8):
        snapshot, truth = layout.make(240 + seed, steps=200, devices=1 + seed % 2)
        path = write('s.pickle', pickle.dumps(snapshot))
        live, allocated = {}, {}
        for trace, model in zip(snapshot['device_traces'], truth):
            held = {}
            for n, e in enumerate(trace):
                if e['action'] == 'alloc':
                    stack = path_of(e['frames'])
                    allocated[stack] = allocated.get(stack, 0) + e['size']
                    held[e['addr']] = stack, e['size']
                elif e['action'] == 'free_completed':
                    held.pop(e['addr'])
                if n + 1 == first_peak(trace, model['start']):
                    for stack, size in held.values():
                        live[stack] = live.get(stack, 0) + size
        rows = view(t, 'code', path, '-select', 'live_bytes,allocated_bytes')['rows']
        equal({r['path']: r['own_live_bytes'] for r in rows if r['own_live_bytes']}, live, seed)
        equal({r['path']: r['own_allocated_bytes'] for r in rows if r['own_allocated_bytes']}, allocated, seed)
        ops = {}
        for r in memory(t, path, '--by=op')['live']:
            ops[r['op']] = ops.get(r['op'], 0) + r['bytes']
        equal({r['path']: r['own_live_bytes'] for r in view(t, 'op', path)['rows'] if r['own_live_bytes']}, ops, seed)


def views_of_ranks(t):
    """The ranks of a job use different devices; their nodes have the same names."""
    for rank in range(2):
        snapshot, _ = layout.make(70, **SMALL)
        for e in snapshot['segments']:
            e['device'] = rank
        snapshot['device_traces'] = [[]] * rank + snapshot['device_traces']
        write('rank%d.pickle' % rank, pickle.dumps(snapshot))
    one = view(t, 'code', 'rank0.pickle')
    for name in 'scope', 'code':
        doc = view(t, name, 'rank0.pickle', 'rank1.pickle', '-by', 'worker')
        equal(doc['total']['live_bytes'], one['total']['live_bytes'], name)
        equal(len(doc['workers']), 2)


def diff_compares_memory(t):
    """diff of two snapshots compares their live bytes by scope, and names the command that compares lines."""
    for n in 200, 180:
        write('%d.pickle' % n, pickle.dumps(layout.make(1, steps=n, before=60, devices=1)[0]))
    r = call(t, 'diff', '200.pickle', '180.pickle', '-output', 'json')
    root = json.loads(r.stdout)['rows'][0]
    live = [sum(x['bytes'] for x in memory(t, '%d.pickle' % n)['live']) for n in (200, 180)]
    equal((root['total_live_bytes_left'], root['total_live_bytes_right'], root['difference_live_bytes']), (*live, live[1] - live[0]))
    assert "'memory A B' compares the live sets by line" in r.stderr, r.stderr


def views_need_allocations(t):
    """Without allocations there is no live set. Snapshots have no other columns, and no groups of slices."""
    for word in '-select', '-order_by':
        r = call(t, 'op', os.path.join(cases.TESTDATA, 'traces', 'training.pt.trace.json.gz'), word, 'live_bytes', status=1)
        assert 'no allocations that tfprof reads' in r.stderr, r.stderr
    call(t, 'top', os.path.join(cases.TESTDATA, 'traces', 'training.pt.trace.json.gz'), '-by', 'live_bytes', status=1)
    path = os.path.join(cases.TESTDATA, 'memory', 'snapshot.pickle')
    equal(json.loads(call(t, 'top', path, '-output', 'json').stdout)['metric'], 'live_bytes')
    assert 'memory --by' in call(t, 'scope', path, '-by', 'module', status=1).stderr
    assert 'have only numbers for live_bytes' in call(t, 'scope', path, '-select', 'micros').stderr


def kinds(t):
    """The kinds of a small training follow from the rules for its stacks."""
    live = memory(t, os.path.join(cases.TESTDATA, 'memory', 'snapshot.pickle'), '--by=kind')['live']
    mib = layout.MIB
    equal({r['kind']: r['bytes'] for r in live},
          {'parameters': 10 * mib, 'gradients': 10 * mib, 'optimizer state': 20 * mib, 'inputs': 3 * mib // 2,
           'activations': sum(2 * (4 * mib - 1000 * i) for i in range(4))})


def kinds_over_time(t):
    """The use over time by kind reaches the peak and the end of the model, and at the peak has the kinds of the live set."""
    for seed in range(8):
        snapshot, truth = layout.make(400 + seed, steps=60 + 150 * seed, before=40 * (seed % 2), devices=1 + seed % 2, private=seed % 3 == 0)
        if seed == 3:
            for i, e in enumerate(entries(snapshot['device_traces'], 'alloc')):
                e['category'] = 'category %d' % (i % 40)
        path = write('s.pickle', pickle.dumps(snapshot))
        doc = memory(t, path, '--by=kind')
        equal(len(doc['by_kind']), len(doc['memory']))
        for row, use in zip(doc['memory'], doc['by_kind']):
            sums = [sum(k['bytes'][i] for k in use['kinds']) for i in range(len(use['ns']))]
            equal(use['ns'], sorted(use['ns']))
            assert 0 < len(sums) <= 1002 and len(use['kinds']) <= 16, (len(sums), len(use['kinds']))
            equal(max(sums), row['peak_bytes'], (seed, row))
            if len(doc['memory']) == len(truth):
                equal(sums[-1], sum(truth[int(row['device'][-1])]['end'].values()), (seed, row))
            if seed == 3:
                assert any(k['kind'] == 'other' for k in use['kinds'])
                continue
            if row is not next(r for r in doc['memory'] if r['device'] == row['device']):
                continue  # --at is the moment of the device
            live = {}
            for r in doc['live']:
                if r['device'] == row['device']:
                    live[r['kind']] = live.get(r['kind'], 0) + r['bytes']
            assert live in [{k['kind']: k['bytes'][i] for k in use['kinds'] if k['bytes'][i]} for i in range(len(sums)) if sums[i] == row['peak_bytes']], (seed, live)


def live_over_time(t):
    """The largest rows of the live set at the largest use of each hundredth of the time are those of the entries until then."""
    for seed in range(8):
        snapshot, _ = layout.make(600 + seed, steps=40 + 90 * seed, before=0, devices=1 + seed % 2, private=seed % 3 == 0)
        doc = memory(t, write('s.pickle', pickle.dumps(snapshot)))
        equal(len(doc['live_at']), len(doc['memory']))
        for row, use, live in zip(doc['memory'], doc['use'], doc['live_at']):
            if row['allocator'] not in ('all pools', 'default') or (row['allocator'] == 'default' and seed % 3 == 0):
                continue
            trace = snapshot['device_traces'][int(row['device'][-1])]
            found = live['moments']
            equal(use['ns'][0], 1000 * trace[0]['time_us'])
            assert 0 < len(found) <= 101 and max(m['bytes'] for m in found) == row['peak_bytes'], (seed, len(found))
            for m in found:
                equal(len(m['rows']), min(20, m['row_count']))
                equal([r[1] for r in m['rows']], sorted((r[1] for r in m['rows']), reverse=True))
                if m['row_count'] > 20:
                    continue
                lines = {}
                for k, size, buffers in m['rows']:
                    b, n = lines.get(live['owners'][k]['line'], (0, 0))
                    lines[live['owners'][k]['line']] = b + size, n + buffers
                at = [n for n in range(len(trace) + 1) if trace[max(n - 1, 0)]['time_us'] * 1000 == m['ns']]
                assert lines in [live_by_line(trace, {}, n) for n in at], (seed, m)


def categories(t):
    """A category in the file is the kind."""
    snapshot, _ = layout.make(10, steps=20)
    for e in snapshot['device_traces'][0]:
        if e['action'] == 'alloc':
            e['category'] = 'autograd_detail'
    live = memory(t, write('s.pickle', pickle.dumps(snapshot)), '--by=kind')['live']
    equal({(r['kind'], r['rule']) for r in live}, {('autograd_detail', 'category in the file')})


def out_of_memory(t):
    """A failed allocation is reported with the missing bytes, and the live set at that moment."""
    snapshot, truth = layout.make(11, oom=True, **SMALL)
    doc = memory(t, write('s.pickle', pickle.dumps(snapshot)), '--at=oom')
    row, = doc['ooms']
    end = sum(truth[0]['end'].values())
    equal((row['requested_bytes'], row['device_free_bytes'], row['missing_bytes']), (64 << 30, 1000, (64 << 30) - 1000))
    equal((row['in_use_bytes'], row['unused_bytes']), (end, truth[0]['reserved_end'] - end))
    equal(doc['memory'][0]['live_bytes'], end)
    call(t, 'memory', os.path.join(cases.TESTDATA, 'memory', 'snapshot.pickle'), '--at=oom', status=1)


def odd_frees(t):
    """Double frees, and allocations at an address that was not freed, are counted and change nothing else."""
    def entry(action, addr, size):
        return {'action': action, 'addr': addr, 'size': size, 'stream': 0, 'time_us': 1, 'frames': []}
    trace = [entry('alloc', 1, 100), entry('free_completed', 1, 100), entry('free_completed', 1, 100), entry('alloc', 2, 30),
             entry('alloc', 2, 40), entry('free_completed', 3, 7)]
    doc = memory(t, write('s.pickle', pickle.dumps({'segments': [], 'device_traces': [trace]})), '--at=end')
    state, row = doc['pools'][0], doc['memory'][0]
    equal((state['double_frees'], state['lost_frees'], state['never_freed'], state['never_freed_bytes']), (1, 1, 1, 40))
    equal((row['peak_bytes'], row['live_bytes']), (107, 40))
    equal(state['unused_bytes'], None)


def state_only(t):
    """A snapshot without history shows the blocks in use."""
    snapshot, truth = layout.make(12, **SMALL)
    snapshot['device_traces'] = [[]]
    doc = memory(t, write('s.pickle', pickle.dumps(snapshot)))
    end = sum(truth[0]['end'].values())
    equal((doc['memory'][0]['live_bytes'], doc['pools'][0]['before_bytes']), (end, end))
    assert all(r['line'] for r in doc['live'])


def ranks(t):
    """A folder of snapshots has the rows of each rank, and so do several files."""
    os.mkdir('ranks')
    peaks = {}
    for rank in range(3):
        snapshot, truth = layout.make(50 + rank, **SMALL)
        write('ranks/rank%d.pickle' % rank, pickle.dumps(snapshot))
        peaks['rank%d' % rank] = truth[0]['peak']
    for words in (['ranks'], ['ranks/rank%d.pickle' % rank for rank in range(3)]):
        doc = json.loads(call(t, 'memory', *words, '-output', 'json', '--top=0').stdout)
        equal({os.path.basename(r['worker']).split('.')[0]: r['peak_bytes'] for r in doc['memory']}, peaks, words)
        for rows in (doc['live'], doc['pools']):
            equal(len({r['worker'] for r in rows}), 3, words)
        equal(sum(r['bytes'] for r in doc['live']), sum(peaks.values()), words)


def nearest_rank(t):
    """The rank that is nearest to its limit is first; a rank without a limit comes after it. A line above the median of the
    ranks is named."""
    def entry(addr, size, line):
        return {'action': 'alloc', 'addr': addr, 'size': size, 'stream': 0, 'time_us': addr, 'frames': [layout.frame('/home/me/train.py', line, 'main')]}

    def segment(size):
        return {'device': 0, 'address': 0, 'total_size': size, 'allocated_size': 0, 'active_size': 0, 'stream': 0, 'segment_type': 'large', 'blocks': []}
    free = {0: 5000, 1: 400, 3: 900}
    for rank in range(5):
        trace = [entry(1, 1000, 1), entry(2, 200 + 300 * (rank == 1), 2), entry(3, 10 * rank, 3)]
        if rank in free:
            trace.append({'action': 'oom', 'device_free': free[rank], 'size': 10000, 'stream': 0, 'time_us': 9, 'frames': []})
        write('rank%d.pickle' % rank, pickle.dumps({'segments': [segment(4096 + rank)], 'device_traces': [trace]}))
    paths = ['rank%d.pickle' % rank for rank in range(5)]
    rows = json.loads(call(t, 'memory', *paths, '-output', 'json').stdout)['ranks']
    equal([r['worker'] for r in rows], [paths[i] for i in (1, 3, 0, 4, 2)])
    equal([(r['reserved_bytes'], r['capacity_bytes'], r['left_bytes']) for r in rows],
          [(4097, 4497, 400), (4099, 4999, 900), (4096, 9096, 5000), (4100, None, None), (4098, None, None)])
    equal([r['over_bytes'] for r in rows], [510 - 230, 0, 200 - 230, 240 - 230, 220 - 230])
    first = rows[0]
    equal((first['most_over_bytes'], first['line']), (300, '/home/me/train.py:2 main'))
    assert call(t, 'memory', *paths).stdout.startswith('rank1.pickle gpu:0 is nearest to its limit: 4.10KB of 4.50KB were reserved.')
    text = call(t, 'memory', paths[2], paths[4]).stdout
    assert text.startswith('rank4.pickle gpu:0 reserved the most: 4.10KB (the files do not have the limits of the devices).'), text


def difference(t):
    """--diff lists the lines of two snapshots with the bytes of both."""
    live = []
    for name, steps in ('a', 80), ('b', 160):
        snapshot, _ = layout.make(60, steps=steps)
        entries = snapshot['device_traces'][0]
        live.append(live_by_line(entries, {}, len(entries)))
        write(name + '.pickle', pickle.dumps(snapshot))
    doc = json.loads(call(t, 'memory', 'a.pickle', 'b.pickle', '--diff', '--at=end', '-output', 'json', '--top=0').stdout)
    found = {r['line']: (r['first_bytes'], r['second_bytes'], r['change_bytes']) for r in doc['changes']}
    first, second = ({k: v[0] for k, v in x.items()} for x in live)
    equal(found, {k: (first.get(k, 0), second.get(k, 0), second.get(k, 0) - first.get(k, 0)) for k in first.keys() | second.keys()})
    changes = [abs(r['change_bytes']) for r in doc['changes']]
    equal(changes, sorted(changes, reverse=True))
    text = call(t, 'memory', 'b.pickle', 'a.pickle', '--diff', '--at=end').stdout
    assert re.search(r'-\d+\.\d\d[KM]B', text), text
    r = call(t, 'memory', 'a.pickle', '--diff', status=2)
    assert 'two snapshots' in r.stderr


def needs_snapshot(t):
    """--by and -at are refused for files that are not snapshots."""
    call(t, 'memory', os.path.join(cases.TESTDATA, 'traces', 'trace.xplane.pb'), '--by=kind', status=1)
    r = call(t, 'memory', os.path.join(cases.TESTDATA, 'memory', 'snapshot.pickle'), '--at=soon', status=2)
    assert 'peak, oom, end or a time' in r.stderr


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, *what):
        self.what = what

    def __reduce__(self):
        return self.what


def evil_pickles():
    """Returns names, bytes, and parts of the error messages."""
    from collections import OrderedDict
    touch = "open('executed', 'w')"

    def member(x, protocol=4):
        return pickle.dumps({'segments': [], 'device_traces': [[{'action': x, 'addr': 1, 'size': 1}]]}, protocol)
    for protocol in range(6):
        yield 'system %d' % protocol, member(Evil(os.system, ('touch executed',)), protocol), 'posix'
    yield 'eval', member(Evil(eval, (touch,))), 'builtins.eval'
    yield 'exec', member(Evil(exec, (touch,))), 'builtins.exec'
    yield 'getattr', member(Evil(getattr, ('', 'upper'))), 'builtins.getattr'
    yield 'import', member(Evil(__import__, ('os',))), 'builtins.__import__'
    yield 'popen', member(Evil(subprocess.Popen, (['touch', 'executed'],))), 'subprocess.Popen'
    yield 'build', member(random.Random(1)), 'random.Random'
    yield 'ordered', member(OrderedDict(a=1)), 'collections.OrderedDict'
    yield 'set', member({1, 2}), 'EMPTY_SET'
    yield 'complex', member(1 + 2j), 'builtins.complex'
    start = b'\x80\x04}(\x8c\x0ddevice_traces'
    yield 'global', start + b'cos\nsystem\n(\x8c\x0etouch executedtR' + b'u.', 'os.system'
    yield 'inst', start + b'(\x8c\x0etouch executedios\nsystem\n' + b'u.', 'INST'
    yield 'obj', start + b'(cos\nsystem\n\x8c\x0etouch executedo' + b'u.', 'os.system'
    yield 'extension', start + b'\x82\x01u.', 'EXT1'
    yield 'persistent', start + b'\x8c\x01aQu.', 'BINPERSID'
    yield 'buffer', start + b'\x97u.', 'NEXT_BUFFER'
    yield 'read-only buffer', start + b'N\x98u.', 'READONLY_BUFFER'
    yield 'extension 2', start + b'\x83\x01\x00u.', 'EXT2'
    yield 'extension 4', start + b'\x84\x01\x00\x00\x00u.', 'EXT4'
    yield 'persistent line', start + b'Px\nu.', 'PERSID of x'
    yield 'new object', start + b'\x8c\x02os\x8c\x06system\x93)\x81u.', 'os.system'
    yield 'new object with keywords', start + b'N)}\x92u.', 'NEWOBJ_EX'
    yield 'state', start + b'}}bu.', 'BUILD'
    yield 'a name of several levels', start + b'\x8c\x08builtins\x8c\x0bstr.__mod__\x93u.', 'builtins.str.__mod__'
    yield 'a name from the memo', start + b'\x8c\x02os\x94\x8c\x06system\x94h\x00h\x01\x93u.', 'os.system'
    yield 'as a key', b'\x80\x04}(cos\nsystem\nN\x8c\x0ddevice_tracesNu.', 'os.system'
    # A pickle inside the bytes of another pickle, and a pickle after its end: neither is read.
    yield 'nested', pickle.dumps({'device_traces': [], 'more': pickle.dumps(Evil(os.system, ('touch executed',)))}), 'one event'
    yield 'second', pickle.dumps({'device_traces': []}) + pickle.dumps(Evil(os.system, ('touch executed',))), 'one event'
    # Lists that contain the previous list ten times: 10 to the power of 40 items.
    yield 'shared lists', start + b']\x94' + b''.join(b'](' + b'h%c' % i * 10 + b'e\x94' for i in range(40)) + b'u.', 'a list or a dict as a key'
    yield 'memo bomb', start + b'r\xff\xff\xff\xffu.', 'too large'
    yield 'self', start + b']\x94h\x00au.', 'list was expected'
    yield 'stack', start + b'N' * (1 << 20) + b'u.', 'values that are not stored'
    yield 'deep', start + b'(' * 1001 + b'u.', '1000 deep'
    yield 'open', start + b']' * 20000 + b'u.', 'containers'
    yield 'long text', start + b'\x8d' + (1 << 40).to_bytes(8, 'little') + b'u.', 'more than 1 MiB'
    yield 'not a snapshot', pickle.dumps({'device_traces': 7}), 'one event'
    yield 'wrong types', pickle.dumps({'device_traces': [[{'action': 7, 'addr': 'x', 'size': None}]]}), 'one event'


def refuses_code(t):
    """Pickles that would run code, or use unlimited memory, are refused with the opcode and the offset; nothing is executed."""
    for name, content, expected in evil_pickles():
        write('evil.pickle', content)
        r = call(t, 'memory', 'evil.pickle', status=3)
        assert expected in r.stderr, (name, expected, r.stderr)
        assert not os.path.exists('executed'), name


def cut_anywhere(t):
    """A snapshot that ends early is refused with the offset; --recover reads the complete entries before it."""
    snapshot, _ = layout.make(6, steps=40, before=5)
    whole = len(snapshot['device_traces'][0])
    for form, content in (('pickle', pickle.dumps(snapshot)), ('old.pickle', pickle.dumps(snapshot, 0)), ('json', json.dumps(snapshot).encode())):
        start = content.index(b'device_traces')
        before = 0
        for n in list(range(start + 60, len(content), 997)) + [len(content) - 1]:
            path = write('cut.' + form, content[:n])
            r = call(t, 'memory', path, status=3)
            assert 'byte' in r.stderr and '--recover' in r.stderr, r.stderr
            r = subprocess.run([t.program, 'scope', path, '--recover', '-output', 'json'], capture_output=True, text=True)
            assert r.returncode in (0, 3), r
            kept = int(r.stderr.split(' entries before it')[0].split()[-1]) if ' entries before it' in r.stderr else 0
            assert before <= kept <= whole + len(snapshot['segments']), (n, before, kept)
            before = kept
        assert kept >= whole - 1, (form, kept, whole)


def prefixes(t):
    """No prefix of a small snapshot crashes, with and without --recover. tests/unit/test_page_border.c loads every prefix."""
    snapshot, _ = layout.make(7, steps=4, stacks=2, deep=1)
    content = pickle.dumps(snapshot)
    for n in range(0, len(content), 7):
        r = subprocess.run([t.program, 'memory', write('cut.pickle', content[:n])] + ['--recover'] * (n % 2), capture_output=True, text=True)
        assert r.returncode in (0, 1, 3), (n, r)


def trailing_bytes(t):
    """Bytes after the end are named in a note."""
    snapshot, _ = layout.make(8, **SMALL)
    content = pickle.dumps(snapshot)
    r = call(t, 'memory', write('s.pickle', content + b'\0\0garbage'))
    assert 'bytes from %d on' % len(content) in r.stderr, r.stderr


def sample(t):
    """The file of the examples equals the output of layout.py."""
    with open(os.path.join(cases.TESTDATA, 'memory', 'snapshot.pickle'), 'rb') as f:
        equal(f.read(), pickle.dumps(layout.training(), 4))


def main():
    t = cases.arguments(__doc__)
    tests = [same_in_every_form, counts_of_versions, says_what_it_is, without_times, annotations, steps, refuses_code, cut_anywhere, prefixes,
             trailing_bytes, sample, random_streams, states, map_of_segments, groups_add_up, views, views_at_a_moment, device_without_error,
             views_by_stack,
             views_of_ranks, views_need_allocations, diff_compares_memory, kinds, kinds_over_time, live_over_time, categories, out_of_memory, odd_frees, state_only, ranks, nearest_rank, difference, needs_snapshot]
    return cases.run([f for f in tests if not t.names or f.__name__ in t.names], t)


if __name__ == '__main__':
    sys.exit(main())
