# SPDX-License-Identifier: Apache-2.0
"""Simulates programs on hosts and GPUs, and records the true cause of each start.

A program is a list of instructions for each host thread (`program.py` draws them). The simulator executes them in order of time
and yields slices of threads and work of devices, from which `writers.py` makes files and `truth.py` answers. All times are
whole nanoseconds. Nothing is random here: the same program gives the same run, and with a `Change` the run that the change
would have given.

Instructions of a thread:

    ('begin', category, name[, arguments of the slice])   opens a slice
    ('end',)                      closes it
    ('work', ns)                  the thread computes
    ('call', Call)                a call of the runtime, which may launch work, record or wait for events, and block
    ('signal', token)             lets the threads that await the token continue
    ('await', token, ns)          waits for the token; the thread runs again ns after the signal

Model of a device: work starts when its launch has arrived, `latency` after the start of the call, and `gap` after the work before
it on its stream, and `event_gap` after the work of the events that the stream was told to wait for, whichever is last. With
`Machine.prefetch` a launch onto a stream with unfinished work has arrived when that work ends. The members of a collective end together, `duration` after the last of them started.
"""
import heapq
import re


class Machine:
    """Constants of the simulated machine; times in ns."""

    def __init__(self, gap=1_100, event_gap=1_030, latency=5_300, prefetch=True, ceiling=0, returned=2_100):
        self.gap, self.event_gap, self.latency, self.prefetch = gap, event_gap, latency, prefetch
        self.ceiling = ceiling      # maximum pending works of a device; 0: no limit
        self.returned = returned    # from the end of the work to the end of the call that waits for it


class Work:
    """Work of a device. kind: compute, communication or copy; more: members for the writers, such as bytes."""

    def __init__(self, kind, name, device, stream, duration, jitter=0, group=None, **more):
        self.kind, self.name, self.device, self.stream, self.duration, self.jitter = kind, name, device, stream, duration, jitter
        self.group, self.more = group, more


class Call:
    """A call of the runtime: takes `length` ns by itself; launches works; records an event of a stream; makes a stream wait
    for an event; blocks for a 'device', 'stream', 'event' or its own 'work'; lets a graph launch its works at once."""

    def __init__(self, name, length, works=(), record=None, wait=None, block=None, on=None, category='cuda_runtime'):
        self.name, self.length, self.works, self.category = name, length, list(works), category
        self.record, self.wait, self.block, self.on = record, wait, block, on


class Change:
    """The change for a what-if: factors by pattern of kernels, of slices (with the works launched inside) and of calls, and
    factors of parts of the machine. spared: slices that `host` does not change; waits: slices in which calls do not wait,
    although sync is 1."""

    def __init__(self, kernels=(), host=1, ops=(), calls=(), spared=(), waits=(), copy=1, communication=1, launch=1, sync=1):
        self.kernels, self.host, self.ops, self.calls, self.spared, self.waits = kernels, host, ops, calls, spared, waits
        self.copy, self.communication, self.launch, self.sync = copy, communication, launch, sync

    @staticmethod
    def of_slices(patterns, names):
        """Returns the factor for times within slices; names: names of the slices, outermost first."""
        factor = 1
        for pattern, by in patterns:
            if any(re.search(pattern, n) for n in names):
                factor *= by
        return factor

    def duration(self, work, names):
        factor = self.of_slices(self.ops, names) * {'copy': self.copy, 'communication': self.communication}.get(work.kind, 1)
        for pattern, by in self.kernels:
            if work.kind == 'compute' and re.search(pattern, work.name):
                factor *= by
        return round(work.duration * factor)

    def host_time(self, ns, names):
        spared = any(re.search(p, n) for p in self.spared for n in names)
        return round(ns * self.of_slices([*self.ops, *self.calls], names) * (1 if spared else self.host))

    def does_wait(self, names):
        return self.sync and not any(re.search(p, n) for p in self.waits for n in names)


class Slice:
    """An interval of a thread. call: its Call; correlation: correlation of the call; more: arguments for the writers."""

    def __init__(self, category, name, start, depth, call=None, correlation=None, more=None):
        self.category, self.name, self.start, self.end, self.depth = category, name, start, None, depth
        self.call, self.correlation, self.more = call, correlation, more or {}


class Atom:
    """A part of a thread's time within one innermost slice. waits: works that it waited for; other: (thread, time) of the
    signal that it waited for."""

    def __init__(self, start, end, slice_, waits=(), other=None):
        self.start, self.end, self.slice, self.waits, self.other = start, end, slice_, list(waits), other


class Thread:
    def __init__(self, process, tid, program, start):
        self.process, self.tid, self.program, self.at = process, tid, program, start
        self.next, self.stack, self.slices, self.atoms = 0, [], [], []

    def names(self):
        return [s.name for s in self.stack]


class Run:
    """Executes programs: {process: {tid: instructions}}. Afterwards: threads, works (in order of launch), events.

    threads   {(process, tid): Thread}
    works     [Work] with start, end, before (the work before it on its stream), after (works of the events it waited for), told
              (if its stream was told to wait), binding (the work that it waited for, or None for its launch), launch (the slice of its call) and thread
    """

    def __init__(self, programs, machine=None, change=None, start=1_000_000):
        self.machine, self.change = machine or Machine(), change or Change()
        self.works, self.tails, self.waiting, self.events, self.tokens = [], {}, {}, {}, {}
        self.groups, self.pending, self.parked, self.correlation = {}, {}, {}, 0
        self.sizes, self.queues = {}, {}
        for program in programs.values():
            for instructions in program.values():
                for i in instructions:
                    for w in i[1].works if i[0] == 'call' else ():
                        if w.group is not None:
                            self.sizes[w.group] = self.sizes.get(w.group, 0) + 1
        self.threads = {(p, t): Thread(p, t, instructions, start) for p, threads in programs.items()
                        for t, instructions in threads.items()}
        self.ready = [(start, key) for key in self.threads]
        heapq.heapify(self.ready)
        while self.ready:
            _, key = heapq.heappop(self.ready)
            self.step(self.threads[key], key)
        stuck = [k for k, t in self.threads.items() if t.next < len(t.program)]
        assert not stuck, 'these threads wait for ever: %s' % stuck

    # ---- threads ----

    def step(self, thread, key):
        """Executes one instruction of a thread; the thread runs again when it can continue."""
        if thread.next >= len(thread.program):
            return
        what, *rest = thread.program[thread.next]
        done = getattr(self, 'do_' + what)(thread, key, *rest)
        if done:
            thread.next += 1
            heapq.heappush(self.ready, (thread.at, key))

    def atom(self, thread, end, waits=(), other=None):
        if end > thread.at:
            thread.atoms.append(Atom(thread.at, end, thread.stack[-1] if thread.stack else None, waits, other))
        thread.at = end

    def do_begin(self, thread, key, category, name, more=None):
        thread.stack.append(Slice(category, name, thread.at, len(thread.stack), more=more))
        thread.slices.append(thread.stack[-1])
        return True

    def do_end(self, thread, key):
        thread.stack.pop().end = thread.at
        return True

    def do_work(self, thread, key, ns):
        self.atom(thread, thread.at + self.change.host_time(ns, thread.names()))
        return True

    def do_signal(self, thread, key, token):
        self.tokens[thread.process, token] = (key, thread.at)
        self.wake(('token', thread.process, token))
        return True

    def do_await(self, thread, key, token, ns):
        if (thread.process, token) not in self.tokens:
            self.parked.setdefault(('token', thread.process, token), []).append(key)
            return False
        other, at = self.tokens[thread.process, token]
        if at > thread.at:
            self.atom(thread, at + self.change.host_time(ns, thread.names()), other=(other, at))
        return True

    def wake(self, what):
        for key in self.parked.pop(what, ()):
            heapq.heappush(self.ready, (self.threads[key].at, key))

    def do_call(self, thread, key, call):
        """Executes a call, which has its effect at its start. It ends after its own length, or later if it blocks."""
        if not thread.stack or thread.stack[-1].call is not call:
            room = self.blocked_by_queue(call)
            if room is not None and room.end is None:
                return self.park(key, room)
            self.begin_call(thread, key, call, room)
        s = thread.stack[-1]
        for w in s.waits:
            if w.end is None:
                return self.park(key, w)
        end = s.start + self.change.host_time(call.length, thread.names())
        waits = s.waits if self.change.does_wait(thread.names()) else [w for w in s.waits if w is s.room]
        returned = self.change.host_time(self.machine.returned, thread.names())
        end = max([end] + [w.end + returned for w in waits if w.end > s.start])
        self.atom(thread, end, s.waits)
        thread.stack.pop().end = end
        return True

    def park(self, key, work):
        self.parked.setdefault(('work', id(work)), []).append(key)
        return False

    def begin_call(self, thread, key, call, room):
        self.correlation += 1
        s = Slice(call.category, call.name, thread.at, len(thread.stack), call, self.correlation)
        thread.slices.append(s)
        thread.stack.append(s)
        s.waits, s.room = self.waited_for(thread.process, call) + ([room] if room else []), room
        if call.record is not None:
            event, device, stream = call.record
            self.events[thread.process, event] = (self.tails.get((thread.process, device, stream)), s.correlation, device, stream)
        if call.wait is not None:
            event, device, stream = call.wait
            s.event = self.events[thread.process, event]
            self.waiting.setdefault((thread.process, device, stream), []).append(s.event[0])
        for w in call.works:
            self.launch(thread, s, w)
        if call.block == 'work':
            s.waits += s.works
        return s

    def waited_for(self, process, call):
        """Returns the works that a blocking call waits for."""
        if call.block == 'device':
            return [w for (p, d, _), w in self.tails.items() if (p, d) == (process, call.on)]
        if call.block == 'stream':
            return [w for w in [self.tails.get((process,) + call.on)] if w]
        if call.block == 'event':
            return [w for w in [self.events[process, call.on][0]] if w]
        return []

    def blocked_by_queue(self, call):
        """Returns the work that has to end before another work fits into the queue of its device."""
        n = self.machine.ceiling
        queue = self.queues.get(call.works[0].device, ()) if call.works else ()
        return queue[-n] if n and len(queue) >= n else None

    # ---- devices ----

    def launch(self, thread, s, template):
        w = Work(template.kind, template.name, template.device, template.stream, self.change.duration(template, thread.names()), template.jitter,
                 template.group, **template.more)
        key = (thread.process, w.device, w.stream)
        w.process, w.thread, w.launch, w.start, w.end = thread.process, thread, s, None, None
        told = self.waiting.pop(key, [])
        w.before, w.told, w.after = self.tails.get(key), bool(told), [p for p in told if p is not None]
        w.index = len(self.works)
        self.tails[key] = w
        self.works.append(w)
        self.queues.setdefault(w.device, []).append(w)
        s.works = getattr(s, 'works', []) + [w]
        self.resolve([w])

    def resolve(self, works):
        """Sets the start of works whose predecessors are known, and the end of those that do not wait for members of a
        collective."""
        while works:
            w = works.pop()
            before = [p for p in [w.before] + w.after if p is not None]
            late = next((p for p in before if p.end is None), None)
            if late is not None:
                self.pending.setdefault(id(late), []).append(w)
                continue
            w.start = self.start_of(w)
            members = [w]
            if w.group is not None:
                members = self.groups.setdefault(w.group, [])
                members.append(w)
                if len(members) < self.sizes[w.group]:
                    continue
            end = max(m.start for m in members) + max(m.duration for m in members)
            for m in members:
                m.end, m.members = end, members
                works += self.pending.pop(id(m), [])
                self.wake(('work', id(m)))

    def start_of(self, w):
        """Returns the start of a work whose predecessors have ends. Sets binding: the work that it waited for, or None for its
        launch."""
        m, called = self.machine, w.launch.start
        before = [(w.before.end + m.gap, w.before.index, w.before)] if w.before else []
        before += [(p.end + m.event_gap, p.index, p) for p in w.after]
        arrived = called + round(m.latency * self.change.launch) + w.jitter
        start, _, w.binding = max(before, default=(0, 0, None))
        unfinished = w.before is not None and w.before.end > called
        if start < arrived and not (m.prefetch and unfinished):
            start, w.binding = arrived, None
        return start
