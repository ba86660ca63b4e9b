#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tfprof's protobuf readers with libprotobuf on mutated messages.

  pb_differential.py --try PB_TRY --judge PB_JUDGE [--binary N] [--text N] [--seed S] [FILE...]

FILE: messages to start from, recognised by their names: graph.pb, run_meta*.pb, op_log.pb, profile.pb,
*.pbtxt (a GraphDef). Random messages of every type are added. Each disagreement is reduced and
printed; the exit status is then 1. The last line counts inputs. Without PB_JUDGE (no libprotobuf) it is skipped.
"""
import argparse
import os
import random
import re
import struct
import subprocess
import sys

BINARY = ['GraphDef', 'RunMetadata', 'OpLogProto', 'ProfileProto', 'SavedTensorSlices',
          'BundleEntryProto', 'MultiGraphNodeProto']
TEXT = ['GraphDef', 'RunMetadata']
NAMES = [('graph.pb', 'GraphDef'), ('run_meta', 'RunMetadata'), ('op_log.pb', 'OpLogProto'),
         ('profile.pb', 'ProfileProto')]
BATCH = 2000
SIZE = 1500  # bytes of a seed


def records(items):
    return b''.join(struct.pack('=I', len(i)) + i for i in items)


def split(out, head):
    """Yields the answers in out; each consists of head bytes and a record."""
    at = 0
    while at < len(out):
        n, = struct.unpack_from('=I', out, at + head)
        yield out[at:at + head], out[at + head + 4:at + head + 4 + n]
        at += head + 4 + n


class Sides:
    """The two programs."""

    def __init__(self, ours, judge):
        self.ours, self.judge = ours, judge

    def run(self, program, args, data):
        done = subprocess.run([program] + args, input=data, stdout=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError('%s %s: status %d' % (program, ' '.join(args), done.returncode))
        return done.stdout

    def judged(self, mode, kind, items):
        out = self.run(self.judge, [mode, kind], records(items))
        return [out[i:i + 16] for i in range(0, len(out), 16)]

    def random(self, kind, count, seed):
        out = self.run(self.judge, ['random', kind, str(count), str(seed)], b'')
        return [item for _, item in split(out, 0)]

    def printed(self, kind, items):
        return [item for _, item in split(self.run(self.judge, ['print', kind], records(items)), 0)]

    def compare(self, mode, kind, items):
        """Yields (fault or None, the letter of the reader's verdict) for each item."""
        ours = list(split(self.run(self.ours, [mode, kind], records(items)), 1))
        theirs = self.judged(mode, kind, items)
        again = self.judged('binary', kind, [bytes if letter in b'g' else b''
                                             for letter, bytes in ours])
        assert len(ours) == len(theirs) == len(again) == len(items)
        return [(self.fault(mode, o, t, a), o[0].decode())
                for o, t, a in zip(ours, theirs, again)]

    def fault(self, mode, ours, theirs, again):
        letter, said = ours
        if letter == b'!':
            return 'our parts contradict each other'
        if (letter != b'b') != (theirs[:1] == b'a'):
            return 'we say %s (%s), libprotobuf says %s' % (
                letter.decode(), said.decode(errors='replace') if letter == b'b' else '',
                theirs[:1].decode())
        if letter == b'b' or (mode == 'binary' and theirs[1]):
            return None
        if again[:1] != b'a' or again[8:] != theirs[8:]:
            return 'the contents differ'
        return None


# --- wire bytes as a tree: [field, type, value], value a list for messages and groups

def varint(v):
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def get_varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if b[at - 1] < 0x80:
            return v, at


def parse(b):
    """Returns the tree of b; raises if b is not a message."""
    at, out = 0, []
    while at < len(b):
        tag, at = get_varint(b, at)
        kind = tag & 7
        if tag >> 3 == 0 or tag >> 3 > 200:
            raise ValueError
        if kind == 0:
            v, at = get_varint(b, at)
        elif kind in (1, 5):
            n = 8 if kind == 1 else 4
            v, at = b[at:at + n], at + n
        elif kind == 2:
            n, at = get_varint(b, at)
            v, at = b[at:at + n], at + n
            if len(v) != n:
                raise ValueError
            try:
                v = parse(v) if n else v
            except (ValueError, IndexError):
                pass
        else:
            raise ValueError
        if at > len(b):
            raise ValueError
        out.append([tag >> 3, kind, v])
    return out


def unparse(tree):
    out = bytearray()
    for field, kind, v in tree:
        out += varint(field << 3 | kind)
        if kind == 0:
            out += v if isinstance(v, bytes) else varint(v)
        elif kind == 2:
            body = unparse(v) if isinstance(v, list) else v
            out += varint(len(body)) + body
        elif kind == 3:
            out += unparse(v) + varint(field << 3 | 4)
        else:
            out += v
    return bytes(out)


def copy(tree):
    return [[f, k, copy(v) if isinstance(v, list) else v] for f, k, v in tree]


def lists(tree, out):
    """Yields all messages of a tree, itself first."""
    out.append(tree)
    for _, _, v in tree:
        if isinstance(v, list):
            lists(v, out)
    return out


def random_value(r):
    kind = r.choice([0, 0, 1, 2, 2, 2, 5, 3])
    if kind == 0:
        return 0, r.choice([0, 1, 2, 150, 2**31, 2**32 + 1, 2**64 - 1, b'\x80' * r.randint(1, 10)
                            + bytes([r.randint(0, 127)])])
    if kind in (1, 5):
        return kind, bytes(r.randint(0, 255) for _ in range(8 if kind == 1 else 4))
    if kind == 3:
        return 3, [[r.randint(1, 20), 0, 5]] * r.randint(0, 2)
    return 2, r.choice([b'', b'a', b'\xff', b'a\0b', b'\xc3\xa9', b'\x00\x01', b'\x02\x80\x01',
                        b'\x80\x80', b'\x08\x01', b'\xed\xa0\x80', bytes(range(8)),
                        b'long enough to be scanned by words \xe2\x82', b'\n\x01x'])


# Chains of fields that may nest without limit: NodeDef attributes, tensors of variants, types, trees.
DEEP = {'GraphDef': ([1, 5, 2], [[10, 2, 2], [8, 15, 3]]), 'RunMetadata': ([3, 1, 7], [[2]]),
        'ProfileProto': ([1, 2, 11, 2], [[10, 2, 2]]), 'MultiGraphNodeProto': ([], [[11]]),
        'SavedTensorSlices': ([2, 3], [[15, 3]])}


def deep(r, kind):
    """Returns a chain of about 100 messages, sometimes with groups."""
    head, loops = DEEP.get(kind, ([], [[9]]))
    path = list(head)
    loop, n = r.choice(loops), r.randint(97, 103)
    while len(path) < n:
        path += loop
    tree = [[r.choice([1, 2, 77]), 0, 1]] if r.random() < .5 else []
    group = r.choice([0, 0, 0, 1, 3])
    for i, field in enumerate(reversed(path[:n])):
        tree = [[field if i >= group else 99, 2 if i >= group else 3, tree]]
    return tree


def mutate_tree(r, tree, other, kind):
    for _ in range(r.choice([1, 1, 2, 3, 6])):
        m = r.choice(lists(tree, []))
        op = r.randint(0, 10)
        i = r.randrange(len(m)) if m else 0
        if op == 0:
            v = random_value(r)
            m.insert(r.randint(0, len(m)), [r.randint(1, 20), v[0], v[1]])
        elif op == 1:
            m.append(deep(r, kind)[0])
        elif not m:
            continue
        elif op == 2:  # repeats a field elsewhere in the message
            m.insert(r.randint(0, len(m)), copy([m[i]])[0])
        elif op == 3:
            del m[i]
        elif op == 4:
            v = random_value(r)
            m[i][1], m[i][2] = v
        elif op == 5:
            m[i][0] = r.randint(1, 20)
        elif op == 6:  # repeats a field with a part of its value
            if isinstance(m[i][2], list) and m[i][2]:
                part = copy(m[i][2])
                r.shuffle(part)
                m.insert(r.randint(0, len(m)), [m[i][0], 2, part[:r.randint(0, len(part))]])
        elif op == 7:
            r.shuffle(m)
        elif op == 8:  # packed or wrapped in a group
            if m[i][1] == 0 and not isinstance(m[i][2], bytes):
                m[i][1:] = [2, b''.join(varint(m[i][2]) for _ in range(r.randint(0, 3)))]
            else:
                m[i] = [r.choice([m[i][0], 33]), 3, [m[i]]]
        elif op == 9:
            m[i:i + 1] = copy(r.choice(lists(other, [])))[:4]
        elif isinstance(m[i][2], bytes) and m[i][1] == 2:
            m[i][2] += r.choice([b'\xff', b'\0', b'\xc3\xa9', b'\x80\x01', b'text'])
    return unparse(tree)


def mutate_bytes(r, b, pieces):
    b = bytearray(b)
    for _ in range(r.choice([1, 1, 1, 2, 4])):
        op, at = r.randint(0, 6), r.randint(0, max(0, len(b) - 1))
        end = min(len(b), at + r.choice([1, 1, 2, 5, 30]))
        if op == 0 and b:
            b[at] ^= 1 << r.randint(0, 7)
        elif op == 1:
            del b[at:end]
        elif op == 2:
            b[at:at] = b[at:end] * r.choice([1, 1, 2])
        elif op == 3 and r.random() < .3:
            del b[at:]
        elif op == 4:
            b[at:at] = r.choice(pieces)
        elif op == 5:
            b[at:end] = r.choice(pieces)
        elif b:
            b[at] = r.randint(0, 255)
    return bytes(b)


WIRE = [b'\x00', b'\x04', b'\x0b\x0c', b'\x0b', b'\x0c', b'\x80' * 9 + b'\x01', b'\x80' * 10 + b'\x01',
        b'\x8a\x00', b'\x8a\x80\x80\x80\x00', b'\x8a\x80\x80\x80\x10', b'\x8a\x80\x80\x80\x80\x00',
        b'\x0e', b'\x0f', b'\xff', b'\xff\xff\xff\xff\x07', b'\xff\xff\xff\xff\x0f', b'\x0a\x80\x00',
        b'\xf8\xff\xff\xff\x0f\x01']
TOKENS = [t.encode() for t in '''{ } < > [ ] : ; , - + . # 0 1 -1 00 07 08 0x 0xfF 0X1 1. .5 1.5e3 1e 1e+ 1E-5f 1f 1F
 2147483647 2147483648 -2147483648 -2147483649 4294967296 9223372036854775807 9223372036854775808
 -9223372036854775808 18446744073709551615 18446744073709551616 0xffffffffffffffff 1e400 1e-400
 3.4028235e38 3.4028236e38 123456789012345678901234567890 0.1e-320 inf -inf Infinity NaN nan nanf infx
 true false True False t f T TRUE tru DT_FLOAT DT_NONE 77 -3 "" '' "a" 'b' "a"'b' "\\n" "\\x41" "\\xag"
 "\\101" "\\1011" "\\777" "\\8" "\\u00e9" "\\ud83d\\ude00" "\\ud83d" "\\U0001f600" "\\U00110000" "\\U00200000" "\\U001FfffF" "\\q" "\\?"
 "\\'" "a "a' "\xe9" "\\377" "\\000x" node attr key value name op input device s i f b type shape tensor list
 versions version producer dtype dim size float_val double_val int64_val bool_val int_val tensor_content
 library [foo.bar]:1 [a.com/x.Y]{} file _x x1 1x size:-0 f:-0 f:0 size:0 node{} node<> node{>
 attr:[{},{key:"k"}] shape:[] int64_val:[1,2] int64_val:[] int64_val:[1,] string_val:["a" "b",'c'] #x
'''.split(' ') if t] + [b'\n', b' ', b'\t', b'\r\n', b'# c\n', b'#\0', b'\0', b'\x01', b'\x0b', b'\xef\xbb\xbf', b'\xc3\xa9',
                     b'a: 1 # "', b'"a\nb"', b'"a\0b"', b'"a\x01b"', b'- 5', b'- 1.5', b'-inf', b'- nan', b'DT_FLOAT,']
WORD = re.compile(rb'"(?:[^"\\]|\\.)*"|[A-Za-z_0-9.]+|\s+|.', re.S)


def mutate_text(r, text, tokens):
    """Returns a changed text, without \\X, which libprotobuf reads only in versions after 3.21."""
    return change_text(r, text, tokens).replace(b'\\X', b'\\x')


def change_text(r, text, tokens):
    if r.random() < .25:
        return mutate_bytes(r, text, TOKENS)
    t = list(tokens)
    for _ in range(r.choice([1, 1, 1, 2, 4])):
        at = r.randrange(len(t)) if t else 0
        op = r.randint(0, 5)
        if op == 0:
            del t[at:at + r.choice([1, 1, 2, 8])]
        elif op == 1:
            t.insert(at, r.choice(TOKENS))
        elif op == 2 and t:
            t[at] = r.choice(TOKENS)
        elif op == 3:
            t[at:at] = t[at:at + r.choice([2, 8, 20])]
        elif op == 4 and t:
            t[at] = r.choice(t)
        elif t:
            t[at] = b' ' + t[at] + b' '
    return b''.join(t)


# --- seeds

def cut(r, tree):
    """Returns a part of a tree, of about SIZE bytes."""
    tree = copy(tree)
    while len(unparse(tree)) > SIZE:
        for m in lists(tree, []):
            if len(m) > 6:
                m[:] = r.sample(m, 6)
            while len(m) > 2 and r.random() < .8:
                del m[r.randrange(len(m))]
            for field in m:
                if isinstance(field[2], bytes) and field[1] == 2 and len(field[2]) > 100:
                    field[2] = field[2][:50]
                elif isinstance(field[2], list) and r.random() < .05:
                    field[2] = []
    return tree


def seeds_of(sides, r, files, kind, count=150):
    out = []
    for path in files:
        for start, name in NAMES:
            base = os.path.basename(path)
            if base.startswith(start) and base.endswith('.pb') and name == kind:
                data = open(path, 'rb').read()
                tree = parse(data)
                for _ in range(6):
                    few = [r.choice(tree) for _ in range(3)] if tree else []
                    out.append(cut(r, few))
    for b in sides.random(kind, count, r.randint(0, 2**31 - 1)):
        out.append(cut(r, parse(b)))
    return out


def text_seeds(sides, r, files, kind):
    trees = [unparse(t) for t in seeds_of(sides, r, files, kind)]
    out = [t for t in sides.printed(kind, trees) if len(t) < 4 * SIZE]
    for path in files:
        if path.endswith('.pbtxt') and kind == 'GraphDef':
            nodes = re.findall(rb'(?ms)^\w+ \{.*?^\}\n', open(path, 'rb').read())
            out += [b''.join(r.sample(nodes, min(2, len(nodes)))) for _ in range(6)]
    return [(t, WORD.findall(t)) for t in out]


def reduce(sides, mode, kind, item):
    """Returns a smaller item that still disagrees."""
    size = max(1, len(item) // 2)
    while size:
        tries = [item[:at] + item[at + size:] for at in range(0, len(item), size)][:400]
        bad = [t for t, (fault, _) in zip(tries, sides.compare(mode, kind, tries)) if fault]
        if bad:
            item = bad[0]
        else:
            size //= 2
    return item


def campaign(sides, mode, kind, make, total):
    """Compares total items; returns the number of disagreements."""
    letters, faults, done = {}, 0, 0
    while done < total:
        items = [make() for _ in range(min(BATCH, total - done))]
        done += len(items)
        for item, (fault, letter) in zip(items, sides.compare(mode, kind, items)):
            letters[letter] = letters.get(letter, 0) + 1
            if fault:
                faults += 1
                if faults <= 5:
                    small = reduce(sides, mode, kind, item)
                    what = sides.compare(mode, kind, [small])[0][0]
                    print('%s %s: %s\n  %r%s' % (mode, kind, what, small,
                                                ' ' + small.hex() if mode == 'binary' else ''))
    print('%s %s: %d inputs, %s, %d disagreements' % (
        mode, kind, total, ', '.join('%d %s' % (n, c) for c, n in sorted(letters.items())), faults))
    return faults, total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--try', dest='ours', required=True)
    ap.add_argument('--judge', default='')
    ap.add_argument('--binary', type=int, default=20000)
    ap.add_argument('--text', type=int, default=5000)
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('files', nargs='*')
    o = ap.parse_args()
    if not os.access(o.judge, os.X_OK):
        print('skipped: libprotobuf is not installed\n0 passed, 0 failed, 1 skipped')
        return 0
    sides, r, found = Sides(o.ours, o.judge), random.Random(o.seed), []
    for kind in BINARY:
        seeds = seeds_of(sides, r, o.files, kind)

        def make():
            tree = r.choice(seeds)
            if r.random() < .3:
                return mutate_bytes(r, unparse(tree), WIRE)
            return mutate_tree(r, copy(tree), r.choice(seeds), kind)
        found.append(campaign(sides, 'binary', kind, make, o.binary // len(BINARY) + 1))
    for kind in TEXT:
        texts = text_seeds(sides, r, o.files, kind)
        found.append(campaign(sides, 'text', kind, lambda: mutate_text(r, *r.choice(texts)), o.text // len(TEXT)))
    faults = sum(f for f, _ in found)
    print('%d passed, %d failed, 0 skipped' % (sum(n for _, n in found) - faults, faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
