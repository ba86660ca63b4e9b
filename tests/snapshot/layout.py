# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots in the exact layout of PyTorch, from random streams of allocations, with the true numbers of each.

Allocator follows the names and members that torch/csrc/cuda/Module.cpp of each version writes; it is a model of a caching
allocator that is simple enough to be right, not PyTorch's policy: blocks are placed first-fit in segments of one pool.
"""
import random

VERSIONS = ('2.1', '2.4', '2.8', 'today')
MIB = 1 << 20


def make_stacks(rng, n, deep):
    """Makes stacks, innermost frame first, that share their frames like PyTorch's stacks."""
    cpp = [{'filename': '??', 'line': 0, 'name': f'at::native::op_{i}(at::Tensor const&)'} for i in range(20)]
    library = [{'filename': '/site-packages/torch/nn/modules/module.py', 'line': 1500 + i, 'name': '_call_impl'} for i in range(4)]
    model = [{'filename': f'/home/me/model_{i % 7}.py', 'line': 10 + i, 'name': f'forward_{i % 5}'} for i in range(60)]
    train = [{'filename': '/home/me/train.py', 'line': 7 + i, 'name': 'main'} for i in range(6)]
    out = []
    for _ in range(n):
        middle = []
        for _ in range(rng.randint(1, deep)):
            middle += [rng.choice(model), rng.choice(library)]
        out.append(rng.sample(cpp, rng.randint(0, 3)) + middle + [rng.choice(train)])
    return out


class Allocator:
    """A device. History before `begin_trace` is not in the trace, as after a ring buffer has wrapped."""

    def __init__(self, rng, device, version, stacks, private=False, expandable=False, grain=1):
        self.rng, self.device, self.version, self.stacks = rng, device, version, stacks
        self.entries, self.segments, self.blocks = [], {}, {}
        self.now = 1_700_000_000_000_000 + device
        self.next = 0x7f0000000000 + device * (1 << 40)
        self.private, self.expandable, self.grain = private, expandable, grain
        self.recording = False
        self.pools = [(0, 0), (1, 0)] if private else [(0, 0)]

    def entry(self, action, addr, size, frames, pool, stream=0, **more):
        self.now += self.rng.randint(0, 50)
        if not self.recording:
            return
        e = {'action': action}
        e['device_free' if action == 'oom' else 'addr'] = addr
        e.update(size=size, stream=stream)
        if self.version != '2.1':
            e['time_us'] = self.now
        if self.version in ('2.8', 'today'):
            e['compile_context'] = None
        if self.version == 'today':
            e['user_metadata'] = ''
            e['pool_id'] = pool
        e['frames'] = frames
        e.update(more)
        self.entries.append(e)

    def gaps(self, base):
        """Returns the free ranges of a segment."""
        at = base
        for addr in sorted(a for a in self.blocks if self.blocks[a]['segment'] == base):
            if addr > at:
                yield at, addr - at
            at = addr + self.blocks[addr]['size']
        end = base + self.segments[base]['size']
        if end > at:
            yield at, end - at

    def alloc(self, requested, stream=0):
        size = (requested + 511) // 512 * 512
        frames = self.rng.choice(self.stacks)
        pool = self.rng.choice(self.pools)
        place = next(((b, at) for b, s in self.segments.items() if (s['pool'], s['stream']) == (pool, stream)
                      for at, room in self.gaps(b) if room >= size), None)
        if place is None:
            base, total = self.next, max(2 * MIB, (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB))
            self.next += total + 2 * MIB
            self.segments[base] = {'size': total, 'pool': pool, 'stream': stream}
            self.entry('segment_map' if self.expandable else 'segment_alloc', base, total, frames, pool, stream)
            place = base, base
        self.blocks[place[1]] = {'segment': place[0], 'size': size, 'requested': requested, 'frames': frames, 'pending': False, 'stream': stream}
        self.entry('alloc', place[1], requested, frames, pool, stream)

    def request_free(self, addr):
        b = self.blocks[addr]
        b['pending'] = True
        self.entry('free_requested', addr, b['requested'], self.rng.choice(self.stacks), self.segments[b['segment']]['pool'], b['stream'])

    def complete_free(self, addr):
        b = self.blocks.pop(addr)
        self.entry('free_completed', addr, b['requested'], [], self.segments[b['segment']]['pool'], b['stream'])

    def release(self):
        used = {b['segment'] for b in self.blocks.values()}
        for base in [b for b in self.segments if b not in used]:
            s = self.segments.pop(base)
            self.entry('segment_unmap' if self.expandable else 'segment_free', base, s['size'], [], s['pool'], s['stream'])

    def step(self):
        rng = self.rng
        live = [a for a, b in self.blocks.items() if not b['pending']]
        waiting = [a for a, b in self.blocks.items() if b['pending']]
        what = rng.random()
        if what < 0.5 or not self.blocks:
            size = rng.choice((rng.randint(1, 4096), rng.randint(4096, 3 * MIB)))
            self.alloc((size + self.grain - 1) // self.grain * self.grain, rng.choice((0, 0, 0, 7)))
        elif what < 0.75 and live:
            self.request_free(rng.choice(live))
            if rng.random() < 0.7:
                self.complete_free(next(a for a in list(self.blocks)[::-1] if self.blocks[a]['pending']))
        elif what < 0.97 and waiting:
            self.complete_free(rng.choice(waiting))
        else:
            self.release()

    def in_use(self):
        return sum(b['requested'] for b in self.blocks.values())

    def reserved(self):
        return sum(s['size'] for s in self.segments.values())

    def dump(self):
        out = []
        for base, s in sorted(self.segments.items()):
            at, blocks = base, []
            mine = sorted(a for a in self.blocks if self.blocks[a]['segment'] == base)
            for addr in mine + [base + s['size']]:
                if addr > at:
                    blocks.append({'address': at, 'size': addr - at, 'requested_size': 0, 'state': 'inactive', 'frames': []})
                if addr in self.blocks:
                    b = self.blocks[addr]
                    blocks.append({'address': addr, 'size': b['size'], 'requested_size': b['requested'],
                                   'state': 'active_pending_free' if b['pending'] else 'active_allocated', 'frames': b['frames']})
                    at = addr + b['size']
            if self.version == '2.1':
                for b in blocks:
                    del b['address']
            segment = {'device': self.device, 'address': base, 'total_size': s['size'],
                       'allocated_size': sum(self.blocks[a]['size'] for a in mine if not self.blocks[a]['pending']),
                       'active_size': sum(self.blocks[a]['size'] for a in mine),
                       'requested_size': sum(self.blocks[a]['requested'] for a in mine), 'stream': s['stream'],
                       'segment_type': 'large' if s['size'] > 2 * MIB else 'small', 'segment_pool_id': s['pool'],
                       'is_expandable': self.expandable, 'frames': [], 'blocks': blocks}
            out.append(segment)
        return out


def make(seed, version='today', steps=300, before=0, devices=1, private=False, expandable=False, stacks=40, deep=6, oom=False, grain=1):
    """Returns a snapshot and, for each device, what is true about it: the bytes in use and reserved after each entry, and who
    holds them. The sizes that are asked for are multiples of grain."""
    rng = random.Random(seed)
    shared = make_stacks(rng, stacks, deep)
    segments, traces, truth = [], [], []
    for d in range(devices):
        a = Allocator(rng, d, version, shared, private, expandable, grain)
        for _ in range(before):
            a.step()
        a.recording = True
        t = {'start': a.in_use(), 'use': [], 'reserved': [a.reserved()], 'before': {x: b['requested'] for x, b in a.blocks.items()}}
        for _ in range(steps):
            n = len(a.entries)
            a.step()
            # Between the entries of a step only the last one changes the bytes in use.
            t['use'] += [None] * (len(a.entries) - n - 1) + [a.in_use()] * (len(a.entries) > n)
            t['reserved'].append(a.reserved())
        if oom:
            a.entry('oom', 1000, 64 << 30, shared[0], (0, 0))
        t['peak'] = peak(a.entries, t['start'])
        t['end'] = {x: b['requested'] for x, b in a.blocks.items()}
        t['reserved_end'], t['reserved_peak'] = a.reserved(), max(t['reserved'])
        segments += a.dump()
        traces.append(a.entries)
        truth.append(t)
    snapshot = {'segments': segments, 'device_traces': traces}
    if version != '2.1':
        snapshot['allocator_settings'] = {'PYTORCH_CUDA_ALLOC_CONF': '', 'max_split_size': -1, 'garbage_collection_threshold': 0.0,
                                          'expandable_segments': expandable, 'pinned_num_register_threads': 1}
    if version in ('2.8', 'today'):
        snapshot['external_annotations'] = []
    return snapshot, truth


def peak(entries, start):
    use = most = start
    for e in entries:
        if e['action'] == 'alloc':
            use += e['size']
        elif e['action'] == 'free_completed':
            use -= e['size']
        most = max(most, use)
    return most


def frame(filename, line, name):
    return {'filename': filename, 'line': line, 'name': name}


def training(steps=2):
    """Returns a snapshot of a small training: parameters, activations, gradients, the state of an optimizer; the file of the
    examples."""
    train, torch = '/home/me/train.py', '/usr/lib/python3/site-packages/torch/'
    call = frame(torch + 'nn/modules/module.py', 1751, '_wrapped_call_impl')
    places = {
        'init': [frame(torch + 'nn/modules/linear.py', 112, '__init__'), frame('/home/me/model.py', 9, '__init__'), frame(train, 12, 'main')],
        'batch': [frame('/home/me/data.py', 31, '__next__'), frame(torch + 'utils/data/dataloader.py', 708, '__next__'), frame(train, 18, 'main')],
        'attention': [frame(torch + 'nn/functional.py', 6100, 'scaled_dot_product_attention'), frame('/home/me/model.py', 24, 'forward'), call, frame(train, 20, 'main')],
        'mlp': [frame(torch + 'nn/functional.py', 1700, 'gelu'), frame('/home/me/model.py', 27, 'forward'), call, frame(train, 20, 'main')],
        'backward': [frame('??', 0, 'torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)'), frame(torch + 'autograd/graph.py', 824, '_engine_run_backward'),
                     frame(torch + '_tensor.py', 630, 'backward'), frame(train, 21, 'main')],
        'adam': [frame(torch + 'optim/adam.py', 130, '_init_group'), frame(torch + 'optim/optimizer.py', 485, 'wrapper'), frame(train, 22, 'main')],
    }
    a = Allocator(random.Random(1), 0, 'today', None)
    a.recording = True

    def get(place, size):
        a.stacks = [places[place]]
        a.alloc(size)
        return next(reversed(a.blocks))

    def drop(blocks, place):
        a.stacks = [places[place]]
        for b in blocks:
            a.request_free(b)
            a.complete_free(b)
    for i in range(4):
        get('init', MIB * (1 + i))
    grads = []
    for step in range(steps):
        batch = get('batch', 3 * MIB // 2)
        kept = [get(place, MIB * 4 - 1000 * i) for i in range(4) for place in ('attention', 'mlp')]
        if step:
            drop(grads, 'adam')
        grads = []
        for i in range(4):
            grads.append(get('backward', MIB * (1 + i)))
            drop([kept.pop(), kept.pop()], 'backward')
        if not step:
            for i in range(8):
                get('adam', MIB * (1 + i // 2))
        drop([batch], 'adam')
    return {'segments': a.dump(), 'device_traces': [a.entries], 'allocator_settings': {'max_split_size': -1, 'expandable_segments': False},
            'external_annotations': []}


if __name__ == '__main__':
    import pickle
    import sys
    with open(sys.argv[1], 'wb') as f:
        pickle.dump(training(), f, 4)
