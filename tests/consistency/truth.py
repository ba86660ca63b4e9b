# SPDX-License-Identifier: Apache-2.0
"""Computes totals of profiles straight from their bytes, without the program and without the encoders of the samples.

Each function takes a path and returns {step: Sums}, where the step None has the times outside of all steps. Times are exact
fractions of nanoseconds. `device` is the sum of device work by the step of its launch, `host` the time in which the threads of
the host were inside ops (a thread in two ops at once counts once), `flops` the float operations that follow from shapes or are
in the file.
"""
import bisect
import collections
import gzip
import json
import math
import os
import re
import sqlite3
from decimal import Decimal
from fractions import Fraction

from damage import fields, packed


class Sums:
    def __init__(self):
        self.device = self.host = Fraction(0)
        self.flops = self.work = 0
        self.flops_of = collections.Counter()  # key: op; used if only the float operations of some ops are known
        self.runs = collections.Counter()


def content(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
        return f.read()


def documents(path):
    """Returns the JSON texts of a file, with numbers as decimals."""
    text, at, out = content(path).decode(errors='replace').strip(), 0, []
    decoder = json.JSONDecoder(parse_float=Decimal, strict=False)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        out.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return out


def union(intervals):
    """Returns the length of the union of [(start, end)]."""
    total, until = 0, None
    for a, b in sorted(intervals):
        if until is None or a > until:
            until = a
        total += max(0, b - until)
        until = max(until, b)
    return total


class Windows:
    """Steps as intervals that do not overlap: [(start, end, step)]; all_time: time after a step belongs to it, and time before
    the first step belongs to the first."""

    def __init__(self, windows, all_time=False):
        self.windows, self.all_time = sorted(windows), all_time
        self.starts = [w[0] for w in self.windows]

    def at(self, t):
        """Returns the step that contains t, or None."""
        i = bisect.bisect_right(self.starts, t) - 1
        if self.all_time:
            return self.windows[max(i, 0)][2]
        return self.windows[i][2] if i >= 0 and t < self.windows[i][1] else None


def add_host(out, intervals, step_of):
    """intervals: {thread: [(start, end)]}; an interval belongs to the step that contains its start."""
    for rows in intervals.values():
        by_step = collections.defaultdict(list)
        for a, b in rows:
            by_step[step_of(a)].append((a, b))
        for step, found in by_step.items():
            out[step].host += union(found)


def op_flops(name, dims):
    """Returns the float operations of the ops in the samples: two for each product, one for each element."""
    if name == 'aten::clamp_min':
        return math.prod(dims[0])
    if name == 'aten::mm':
        (m, k), (_, n) = dims[:2]
        return 2 * m * k * n
    if name == 'aten::addmm':
        (m, k), (_, n) = dims[1:3]
        return 2 * m * k * n
    if name == 'aten::bmm':
        (b, m, k), (_, _, n) = dims[:2]
        return 2 * b * m * k * n
    return 0


WORK = {'kernel', 'gpu_memcpy', 'gpu_memset', 'Kernel', 'Memcpy', 'Memset'}
CALLS = {'cuda_runtime', 'cuda_driver', 'hip_runtime', 'Runtime', 'Driver', 'hip_driver'}


def kineto(path):
    top = documents(path)[0]
    events = [e for e in (top if isinstance(top, list) else top['traceEvents']) if e.get('ph') == 'X']
    for e in events:
        e['from'] = Fraction(e['ts']) * 1000
        e['to'] = e['from'] + Fraction(e.get('dur', 0)) * 1000
    marks = [e for e in events if re.fullmatch(r'ProfilerStep#\d+', e['name']) and e.get('cat') not in ('gpu_user_annotation',)]
    steps = Windows([(e['from'], e['to'], int(e['name'].split('#')[1])) for e in marks], all_time=True) if marks else Windows([(-10 ** 30, 10 ** 30, 0)])
    out, launches, host = collections.defaultdict(Sums), {}, collections.defaultdict(list)
    replays = any('GraphLaunch' in e['name'] for e in events)  # some executed ops have no events
    for e in events:
        args = e.get('args') or {}
        if e.get('cat') in CALLS and args.get('correlation') is not None:
            launches.setdefault(args['correlation'], e)
        if e.get('cat') == 'user_annotation' and SERVING.fullmatch(e['name']):
            continue
        if e.get('cat') in ('cpu_op', 'Operator', 'user_annotation') and e not in marks or e['name'].startswith('nn.Module: '):
            host[e['pid'], e['tid']].append((e['from'], e['to']))
            s = out[steps.at(e['from'])]
            s.runs[e['name']] += 1
            try:
                flops = 0 if replays else op_flops(e['name'], args.get('Input Dims') or [])
                s.flops_of.update({e['name']: flops} if flops else {})
            except ValueError:
                pass
    for e in events:
        if e.get('cat') in WORK:
            launch = launches.get((e.get('args') or {}).get('correlation'), e)
            s = out[steps.at(launch['from'])]
            s.device += e['to'] - e['from']
            s.work += 1
    add_host(out, host, steps.at)
    return out


# Annotations of vLLM and SGLang, which are steps.
SERVING = re.compile(r'execute_\d+_context_\d+.*|(step|prefill|decode)\[.*\]')


def first(rows, field, default=0):
    return next((v for f, v in rows if f == field), default)


def xplanes(path):
    """Returns [(name, {stat: value}, [(line name, timestamp ns, [event])])]; an event is (metadata name, offset ps, duration ps,
    count, stats)."""
    for f, plane in fields(content(path)):
        if f != 1:
            continue
        plane = fields(plane)
        names = {}
        for g, entry in plane:
            if g == 5:
                meta = fields(first(fields(entry), 2, b''))
                names[first(meta, 1)] = first(meta, 2, b'').decode()

        def stats(rows, field):
            out = {}
            for g, v in rows:
                if g == field:
                    v = fields(v)
                    name, value = names.get(first(v, 1)), next(((k, x) for k, x in v if k > 1), None)
                    if value is not None:
                        out[name] = names.get(value[1]) if value[0] == 7 else value[1]
            return out
        metas = {}
        for g, entry in plane:
            if g == 4:
                meta = fields(first(fields(entry), 2, b''))
                metas[first(meta, 1)] = (first(meta, 2, b'').decode(errors='replace'), stats(meta, 5))
        lines = []
        for g, line in plane:
            if g == 3:
                line = fields(line)
                events = []
                for h, e in line:
                    if h == 4:
                        e = fields(e)
                        name, common = metas.get(first(e, 1), ('', {}))
                        events.append((name, first(e, 2), first(e, 3), first(e, 5, 1), dict(common, **stats(e, 4))))
                lines.append((first(line, 2, b'').decode(), first(line, 3), events))
        yield first(plane, 2, b'').decode(), stats(plane, 6), lines


def device_lines(planes):
    """Returns [(line, [(start, end, count, stats)])] of the lines whose events are device work, in the device's own clock if
    the stats contain it."""
    for name, _, lines in planes:
        for line, at, events in lines:
            if name.startswith('/device:') and (line == 'XLA Ops' or line.startswith('Stream')):
                rows = []
                for _, offset, length, count, stats in events:
                    a = Fraction(stats.get('device_offset_ps', 1000 * at + offset), 1000)
                    rows.append((a, a + Fraction(stats.get('device_duration_ps', length), 1000), count, stats))
                yield line, rows


def xspace(path):
    """Steps are those of the line Steps; work of a GPU belongs to the step of the call that launched it. A loop of a TPU contains
    its ops, so the time of a line of ops is their union."""
    out, windows, calls = collections.defaultdict(Sums), [], {}
    host, other = collections.defaultdict(list), False
    planes = list(xplanes(path))
    for name, _, lines in planes:
        for i, (line, at, events) in enumerate(lines):
            for event, offset, length, _, stats in events:
                a = Fraction(at) + Fraction(offset, 1000)
                if line == 'Steps':
                    windows.append((a, a + Fraction(length, 1000), stats.get('group_id', len(windows))))
                elif name.startswith('/host:') and 'correlation_id' in stats:
                    calls[stats['correlation_id']] = a
                elif name.startswith('/host:'):
                    host[name, i].append((a, a + Fraction(length, 1000)))
                    other |= not re.fullmatch(r'[\w/.]+:\w+', event)
    step_of = Windows(windows, all_time=True).at if windows else lambda t: 0
    for line, rows in device_lines(planes):
        spans = collections.defaultdict(list)
        for a, b, count, stats in rows:
            s = out[step_of(calls.get(stats.get('correlation_id'), a))]
            s.work += count
            s.flops += stats.get('flops', 0) * count
            s.device += 0 if line == 'XLA Ops' else b - a
            spans[step_of(a)].append((a, b))
        for step, found in spans.items():
            out[step].device += union(found) if line == 'XLA Ops' else 0
    add_host(out, host, step_of)
    if other or not windows:
        for s in out.values():
            s.host = None  # threads of other programs: the file does not tell this check which of their events are ops
    return out


def nsys(path):
    db = sqlite3.connect('file:%s?mode=ro&immutable=1' % path, uri=True)
    db.row_factory = sqlite3.Row

    def rows(table):
        known = db.execute('SELECT 1 FROM sqlite_master WHERE type = "table" AND name = ?', (table,)).fetchone()
        return db.execute('SELECT * FROM %s' % table).fetchall() if known else []
    texts = {r['id']: r['value'] for r in rows('StringIds')}
    ranges = [(r['start'], r['end'], r['text'] if r['text'] is not None else texts.get(r['textId']), r['globalTid'])
              for r in rows('NVTX_EVENTS') if r['eventType'] == 59 and r['end'] is not None]
    out, host = collections.defaultdict(Sums), collections.defaultdict(list)
    steps = Windows([(a, b, int(name.split()[1])) for a, b, name, _ in ranges if re.fullmatch(r'step \d+', name or '')])
    launches = {}
    for r in rows('CUPTI_ACTIVITY_KIND_RUNTIME'):
        launches.setdefault((r['globalTid'] >> 24, r['correlationId']), r['start'])
    for table in ('KERNEL', 'MEMCPY', 'MEMSET'):
        for r in rows('CUPTI_ACTIVITY_KIND_' + table):
            at = launches.get((r['globalPid'] >> 24, r['correlationId']), r['start'])
            s = out[steps.at(at) if steps.windows else 0]
            s.device += r['end'] - r['start']
            s.work += 1
    for a, b, name, thread in ranges:
        if not re.fullmatch(r'step \d+', name or ''):
            host[thread].append((a, b))
            out[steps.at(a) if steps.windows else 0].runs[name] += 1
    add_host(out, host, steps.at if steps.windows else lambda t: 0)
    db.close()
    return out


def rocprof(path):
    out, host = collections.defaultdict(Sums), collections.defaultdict(list)
    tools = documents(path)[0]['rocprofiler-sdk-tool']
    for n, process in enumerate(tools if isinstance(tools, list) else [tools]):
        lists = process['buffer_records']
        for kind in ('kernel_dispatch', 'memory_copy'):
            for r in lists.get(kind, []):
                out[0].device += r['end_timestamp'] - r['start_timestamp']
                out[0].work += 1
        for r in lists.get('marker_api', []):
            if r['end_timestamp'] > r['start_timestamp']:
                host[n, r['thread_id']].append((r['start_timestamp'], r['end_timestamp']))
    add_host(out, host, lambda t: 0)
    return out


def onnxruntime(path):
    """Ops on the CPU are host time, those of other providers device time; all of a run is one or the other."""
    out = collections.defaultdict(Sums)
    for events in documents(path):
        events = [e for e in events if e.get('ph') == 'X']
        runs = sorted((e['ts'], e['ts'] + e['dur']) for e in events if e['name'] == 'model_run')
        steps = Windows([(a, b, i) for i, (a, b) in enumerate(runs)])
        host = {0: list(runs)}
        for i, (a, b) in enumerate(runs):
            out[i].host += 1000 * (b - a)
        del host
        for e in events:
            provider = (e.get('args') or {}).get('provider', 'CPUExecutionProvider')
            if e['name'].endswith('_kernel_time') and provider != 'CPUExecutionProvider':
                s = out[steps.at(e['ts'])]
                s.device += 1000 * e['dur']
                s.host -= 1000 * e['dur']
                s.work += 1
    return out


def perfetto(path):
    """Slices of tracks named (GPU) are work of the device, all others host; without calls, which launch."""
    out, tracks, edges = collections.defaultdict(Sums), {}, collections.defaultdict(list)
    for f, packet in fields(content(path)):
        packet = fields(packet)
        for g, v in packet:
            if g == 60:
                tracks[first(fields(v), 1)] = first(fields(v), 2, b'')
            elif g == 11 and first(fields(v), 9) in (1, 2):
                edges[first(fields(v), 11)].append((first(packet, 8), first(fields(v), 9) == 1))
    for track, rows in edges.items():
        open_, spans = [], []
        for t, begins in sorted(rows, key=lambda r: (r[0], r[1])):
            if begins:
                open_.append(t)
            elif open_:
                spans.append((open_.pop(), t))
        if b'GPU' in tracks.get(track, b''):
            out[0].device += sum(b - a for a, b in spans)
            out[0].work += len(spans)
        else:
            out[0].host += union(spans)
    return out


def pprof(path):
    """The last sample type, if it is a time: the cpu time of all samples."""
    top = fields(content(path))
    texts = [v for f, v in top if f == 6]
    units = [texts[first(fields(v), 2)] for f, v in top if f == 1]
    scale = {b'nanoseconds': 1, b'microseconds': 1000, b'milliseconds': 10 ** 6, b'seconds': 10 ** 9}
    at = max(i for i, u in enumerate(units) if u in scale)
    out = collections.defaultdict(Sums)
    for f, v in top:
        if f == 2:
            out[0].host += packed(fields(v), 2)[at] * scale[units[at]]
    return out


def tensorrt(path):
    out = collections.defaultdict(Sums)
    runs = 1
    for row in documents(path)[0]:
        runs = row.get('count', runs)
        if 'name' in row:
            out[0].device += Fraction(row['averageMs'] if 'averageMs' in row else Fraction(row['timeMs']) / runs) * 10 ** 6
    return out


def chrome(path):
    out, host = collections.defaultdict(Sums), collections.defaultdict(list)
    for e in documents(path)[0]['traceEvents']:
        if e['ph'] == 'X':
            host[e['pid'], e['tid']].append((Fraction(e['ts']) * 1000, Fraction(e['ts'] + e['dur']) * 1000))
    add_host(out, host, lambda t: 0)
    return out


def recording(path):
    """Reads the script from which the recording was made (FILE.txt): device work by the step of its call, and the calls'
    time."""
    out, calls, marks, work = collections.defaultdict(Sums), {}, [], []
    with open(path + '.txt') as f:
        for line in f:
            kind, row = line.split()[0], dict(re.findall(r'(\w+)=(\w+)', line))
            if kind == 'mark':
                marks.append(int(row['start']))
            elif kind == 'api':
                calls[row['correlation']] = (int(row['start']), int(row['length']))
            elif kind in ('kernel', 'copy'):
                work.append(row)
    for row in work:
        start, length = calls.get(row['correlation'], (int(row['start']), 0))
        s = out[bisect.bisect_right(marks, start) - 1 if marks else 0]
        s.device += int(row['length'])
        s.work += 1
    done = set()
    for row in work:
        if row['correlation'] in calls and row['correlation'] not in done:
            done.add(row['correlation'])
            start, length = calls[row['correlation']]
            out[bisect.bisect_right(marks, start) - 1 if marks else 0].host += length
    return out


def of(path):
    """Returns the function that reads this file, chosen by its name and first bytes; None if there is none."""
    name = os.path.basename(path)
    if name.endswith('.tfspool'):
        return recording if os.path.exists(path + '.txt') else None
    for end, read in (('.xplane.pb', xspace), ('.sqlite', nsys), ('.pftrace', perfetto), ('.pb.gz', pprof), ('_results.json', rocprof),
                      ('times.json', tensorrt), ('plain.json', chrome), ('onnxruntime.json', onnxruntime)):
        if name.endswith(end):
            return read
    if b'"traceEvents"' in content(path) or b'ProfilerStep' in content(path):
        return kineto
    return None
