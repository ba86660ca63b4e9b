# SPDX-License-Identifier: Apache-2.0
"""Reimplements the rule of idle causes independently of the program: from lists of work, calls and waits to the
pieces of idle time of a device, and to sums in a window."""
import collections

CAUSES = ('host_late', 'launch_latency', 'kernel_gap', 'event_wait', 'other_process', 'unknown_wait', 'unknown_launch')
OUTSIDE = ('before_first', 'after_last')
ENDLESS = 1 << 62
FEW = 16  # too few samples


class Work:
    """A piece of work: its interval, stream, process, and the interval of its launching call or None."""

    def __init__(self, start, end, stream, process=0, call=None):
        self.start, self.end, self.stream, self.process, self.call = start, end, stream, process, call


def bases(work):
    """Returns the base latency and the base gap of a device; work is in order of start."""
    until, latencies, gaps, every = {}, [], [], []
    for w in work:
        before = until.get(w.stream)
        if w.call and w.start >= w.call[0]:
            every.append(w.start - w.call[0])
            if before is None or w.call[0] >= before:
                latencies.append(w.start - w.call[0])
            if before is not None and w.call[1] <= before <= w.start:
                gaps.append(w.start - before)
        until[w.stream] = max(w.end, before or w.end)
    latency = sorted(latencies)[len(latencies) // 10] if latencies else min(every, default=0)
    gap = sorted(gaps)[len(gaps) // 2] if gaps else 0
    calls = sorted(w.call[1] - w.call[0] for w in work if w.call and w.start >= w.call[0])
    call = calls[len(calls) // 2] if calls else 0
    return (min(latency, 8 * call) if call and len(latencies) < FEW else latency, min(gap, 2 * call) if call and len(gaps) < FEW else gap)


def pieces(work, waits=()):
    """Returns (cause, from, to) of a device, including before the first and after the last work. waits: (stream, time at
    which the stream was told to wait for an event)."""
    work = sorted(work, key=lambda w: (w.start, -w.end))
    latency, gap = bases(work)
    told = collections.defaultdict(list)
    for stream, at in sorted(waits, key=lambda x: x[1]):
        told[stream].append(at)
    out, until, process = [('before_first', -ENDLESS, work[0].start)], None, None
    for w in work:
        event = False
        while w.call and told[w.stream] and told[w.stream][0] <= w.call[0]:
            event = bool(told[w.stream].pop(0)) or True
        if until is not None and w.start > until:
            a, b = until, w.start
            rest = 'event_wait' if event else 'other_process' if w.process != process else 'unknown_wait'
            if w.call is None:
                cuts = [('unknown_launch', b)]
            elif w.call[1] <= a:
                cuts = [('kernel_gap', min(b, a + gap)), (rest, b)]
            elif b - w.call[1] > latency:
                cuts = [('host_late', w.call[1]), ('launch_latency', w.call[1] + latency), (rest, b)]
            else:
                own = max(0, min(latency, b - max(a, w.call[0])))
                cuts = [('host_late', b - own), ('launch_latency', b)]
            for cause, to in cuts:
                if to > a:
                    out.append((cause, a, to))
                a = max(a, to)
        if until is None or w.end > until:
            until, process = w.end, w.process
    return out + [('after_last', until, ENDLESS)]


def inside(found, start, end):
    """Returns the sums of pieces in a window: cause -> time."""
    out = dict.fromkeys(CAUSES + OUTSIDE, 0)
    for cause, a, b in found:
        out[cause] += max(0, min(b, end) - max(a, start))
    return out


def row(r):
    """Returns the causes in a row of devices or steps."""
    return {c: r[c + '_ns'] for c in CAUSES + OUTSIDE}
