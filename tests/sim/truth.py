# SPDX-License-Identifier: Apache-2.0
"""Derives from a run its steps, its critical path and the causes of idle time, with tfprof's names. All answers follow from the
records of the simulator (the launch, stream, events or thread that each start waited for), never from the contents of a file.
Answers are in ns.
"""
import collections
import re

DATA_LOADING = re.compile(r'^enumerate\(DataLoader\)')
KIND = {'cpu_op': 'host_op', 'user_annotation': 'annotation', 'python_function': 'python', 'cuda_runtime': 'call', 'cuda_driver': 'call', 'overhead': 'call'}
MARK = 'ProfilerStep#'
SERVED = 'step['      # the annotation of a step of a server

Segment = collections.namedtuple('Segment', 'start end kind name track')


def label(slice_):
    """Returns the kind and the name of the time within a slice."""
    if slice_ is None:
        return 'host_other', None
    if DATA_LOADING.match(slice_.name):
        return 'data_loading', slice_.name
    return KIND[slice_.category], slice_.name


def steps(run):
    """Returns {name: (start, end of the mark, end of the last work that it launched)} in order of time."""
    found = {}
    for key in sorted(run.threads):
        for s in run.threads[key].slices:
            if s.name.startswith((MARK, SERVED)):
                a, b, _ = found.get(s.name, (s.start, s.end, 0))
                found[s.name] = (min(a, s.start), max(b, s.end), 0)
    for name, (a, b, _) in found.items():
        ends = [w.end for w in run.works if a <= w.launch.start < b]
        found[name] = (a, b, max(ends, default=b))
    return found


def device_window(run, step):
    """Returns the interval from the end of the last work that the previous step launched to the end of the step's own last
    work."""
    names = list(steps(run))
    i, all_ = names.index(step), steps(run)
    begin = all_[names[i - 1]][2] if i else all_[step][0]
    return begin, all_[step][2]


# ---- the critical path ----

class Path:
    """Walks back from the end of a window, always to the predecessor that finished last."""

    def __init__(self, run, begin, end):
        self.run, self.begin, self.segments = run, begin, []
        at = ('work', max((w for w in run.works if w.end == end), key=lambda w: w.start), end)
        while at and at[2] > begin:
            at = getattr(self, 'from_' + at[0])(*at[1:])
        self.segments.reverse()

    def add(self, start, end, kind, name, track):
        start = max(start, self.begin)
        if end <= start:
            return
        last = self.segments[-1] if self.segments else None
        if last and last[2:] == (kind, name, track) and last.start == end:
            self.segments[-1] = last._replace(start=start)
        else:
            self.segments.append(Segment(start, end, kind, name, track))

    def from_work(self, w, end):
        """Goes back from a work. A member of a collective waits for the last member."""
        late = max(w.members, key=lambda m: m.start)
        self.add(late.start, end, w.kind, w.name, track_of(w))
        w, machine, before = late, self.run.machine, late.binding
        at = before.end if before else w.launch.start
        base, kind = (machine.gap, 'kernel_gap') if before else (machine.latency, 'launch_latency')
        self.add(at + base, w.start, 'not_known', None, None)
        self.add(at, min(at + base, w.start), kind, None, track_of(w))
        return ('work', before, at) if before else ('thread', w.thread, at)

    def from_thread(self, thread, end):
        """Goes back over the thread's own time until a part that waited for something."""
        atom = next((a for a in reversed(thread.atoms) if a.start < end), None)
        if atom is None:
            return None
        kind, name = label(atom.slice)
        if atom.other and not atom.slice:       # an idle thread: the time belongs to the thread that started it
            return 'thread', self.run.threads[atom.other[0]], end
        if atom.other and atom.start < atom.other[1] < end:
            self.add(atom.other[1], end, kind, name, thread.tid)
            return 'thread', self.run.threads[atom.other[0]], atom.other[1]
        late = max((w for w in atom.waits if atom.start < w.end < end), key=lambda w: w.end, default=None)
        at = late.end if late else atom.start
        self.add(at, end, kind, name, thread.tid)
        return ('work', late, at) if late else ('thread', thread, at)


def track_of(work):
    return (work.device, work.stream)


# ---- idle time ----

def intervals(works):
    """Returns [(start, end, the work that ends it)] of the idle intervals of a device."""
    out, until = [], None
    for w in sorted(works, key=lambda w: (w.start, -w.end)):
        if until is not None and w.start > until:
            out.append((until, w.start, w))
        until = max(until or w.end, w.end)
    return out


FEW, MOST = 16, 8     # with fewer samples than FEW, a base latency is at most MOST call lengths


def base_latency(works):
    """Returns the base latency as tfprof estimates it (docs/INPUTS.md): a low percentile of the times from a call to its work,
    of launches onto a stream without unfinished work."""
    found = sorted(w.start - w.launch.start for w in works if w.before is None or w.before.end <= w.launch.start)
    base = found[len(found) // 10] if found else 0
    calls = sorted(w.launch.end - w.launch.start for w in works)
    call = calls[len(calls) // 2] if calls else 0
    return min(base, MOST * call) if call and len(found) < FEW else base


Piece = collections.namedtuple('Piece', 'start end cause kind name')


def waiting_slice(run, thread, at):
    """Returns the slice in which another thread waits for this thread, or None."""
    return next((a.slice for t in run.threads.values() for a in t.atoms
                 if a.other and a.start <= at < a.end and run.threads[a.other[0]] is thread), None)


def host_pieces(run, thread, start, end):
    """Returns [Piece] of a thread's activities from start to end; while it waited for another thread, of the other thread's
    activities. Time in which a thread was idle belongs to the slice of another thread that waited for it."""
    out = []
    for a in thread.atoms:
        if a.start < end and a.end > start:
            begin, until = max(a.start, start), min(a.end, end)
            if a.other:
                other, signalled = run.threads[a.other[0]], min(until, max(begin, a.other[1]))
                out += host_pieces(run, other, begin, signalled) if signalled > begin else []
                begin = signalled
            out.append(Piece(begin, until, 'host_late', *label(a.slice or waiting_slice(run, thread, begin))))
    return [p for p in out if p.end > p.start]


def idle_pieces(run, process, device):
    """Returns [Piece] of the idle time of a device of a process, from its first to its last work, in order of time."""
    works = [w for w in run.works if (w.process, w.device) == (process, device)]
    latency, out = base_latency(works), []
    for start, end, w in intervals(works):
        base, cause = run.machine.gap, 'kernel_gap'
        if w.launch.end > start:        # the host was late
            base, cause = latency, 'launch_latency'
            until = max(start, min(w.launch.end, max(w.launch.start, end - base)))
            out += host_pieces(run, w.thread, start, until)
            start = until
        out.append(Piece(start, min(end, start + base), cause, None, None))
        out.append(Piece(start + base, end, 'event_wait' if w.told else 'unknown_wait', None, None))
    return [p for p in out if p.end > p.start]


def idle(run, process, device, begin=None, end=None):
    """Returns a Counter of (cause, kind of the place, its name) with the idle time of a device, or the part of it from begin to
    end."""
    out = collections.Counter()
    for p in idle_pieces(run, process, device):
        out[p.cause, p.kind, p.name] += max(0, min(p.end, p.end if end is None else end) - max(p.start, p.start if begin is None else begin))
    return +out


def union(works, begin, end):
    """Returns the length of the union of works, from begin to end."""
    total, until = 0, begin
    for w in sorted(works, key=lambda w: w.start):
        total += max(0, min(w.end, end) - max(until, w.start))
        until = max(until, w.end)
    return total


def partition(run, process, device, begin=None, end=None):
    """Returns compute, exposed communication, exposed copy and idle time of a device, from its first to its last work or from
    begin to end."""
    works = [w for w in run.works if (w.process, w.device) == (process, device)]
    begin = min(w.start for w in works) if begin is None else begin
    end = max(w.end for w in works) if end is None else end
    compute = union([w for w in works if w.kind == 'compute'], begin, end)
    no_copies, busy = union([w for w in works if w.kind != 'copy'], begin, end), union(works, begin, end)
    return {'compute': compute, 'exposed_communication': no_copies - compute, 'exposed_copy': busy - no_copies,
            'idle': end - begin - busy, 'span': end - begin}


def outside(run, process, device, begin, end):
    """Returns the time between begin and end before the first and after the last work of a device."""
    works = [w for w in run.works if (w.process, w.device) == (process, device)]
    return max(0, min(end, min(w.start for w in works)) - begin), max(0, end - max(begin, max(w.end for w in works)))
