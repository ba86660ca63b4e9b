# SPDX-License-Identifier: Apache-2.0
"""Generates pprof profiles."""
from viewer import fields
from xspace import data as sub, number, varint


def numbers(data):
    """Decodes the varints of a packed field."""
    v = shift = 0
    for byte in data:
        v |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield v
            v = shift = 0


class Profile:
    """Texts, functions and locations are numbered in order of appearance."""

    def __init__(self, *types, default=''):
        self.texts, self.functions, self.places, self.samples = [''], [], [], []
        self.types = [(self.text(t), self.text(u)) for t, u in types]
        self.default = self.text(default)

    def text(self, s):
        if s not in self.texts:
            self.texts.append(s)
        return self.texts.index(s)

    def place(self, *lines):
        """Returns the number of a location with these lines (function, file, line), innermost first."""
        found = []
        for name, file, line in lines:
            f = (self.text(name), self.text(file))
            if f not in self.functions:
                self.functions.append(f)
            found.append((self.functions.index(f) + 1, line))
        if found not in self.places:
            self.places.append(found)
        return self.places.index(found) + 1

    def sample(self, stack, *values, packed=True, **labels):
        """stack: numbers of locations, innermost first."""
        out = b''
        for field, v in ((1, stack), (2, values)):
            out += sub(field, b''.join(varint(x) for x in v)) if packed else b''.join(varint(field << 3) + varint(x) for x in v)
        for k, v in labels.items():
            out += sub(3, number(1, self.text(k)) + (number(3, v) if isinstance(v, int) else number(2, self.text(v))))
        self.samples.append(out)

    def bytes(self):
        out = b''.join(sub(1, number(1, t) + number(2, u)) for t, u in self.types)
        out += b''.join(sub(2, s) for s in self.samples)
        for i, lines in enumerate(self.places):
            out += sub(4, number(1, i + 1) + number(3, 4096 + i) + b''.join(sub(4, number(1, f) + number(2, n)) for f, n in lines))
        for i, (name, file) in enumerate(self.functions):
            out += sub(5, number(1, i + 1) + number(2, name) + number(4, file))
        return out + b''.join(sub(6, t.encode()) for t in self.texts) + number(14, self.default)


def cpu():
    """Returns a CPU profile: a recursion, an inlined function, two lines of one function, labels."""
    p = Profile(('samples', 'count'), ('cpu', 'nanoseconds'))
    main = p.place(('main', 'main.go', 3))
    work = p.place(('pkg/work.Run', 'work.go', 10))
    line = p.place(('pkg/work.Run', 'work.go', 12))
    both = p.place(('inner', 'in.go', 7), ('outer', 'out.go', 9))
    p.sample([work, main], 2, 20000000)
    p.sample([line, main], 1, 10000000, packed=False)
    p.sample([work, main], 3, 30000000)
    p.sample([both, work, main], 4, 40000000, thread='io')
    p.sample([main, main], 1, 10000000, request=7)
    return p


def heap():
    """Returns a heap profile as Go writes it, with object sizes as labels."""
    p = Profile(('alloc_objects', 'count'), ('alloc_space', 'bytes'), ('inuse_objects', 'count'), ('inuse_space', 'bytes'),
                default='inuse_space')
    main, make = p.place(('main', 'main.go', 3)), p.place(('make', 'make.go', 5))
    p.sample([make, main], 10, 4096, 1, 512, bytes=512)
    p.sample([make, main], 2, 64, 2, 64, bytes=32)
    return p
