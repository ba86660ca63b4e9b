# SPDX-License-Identifier: Apache-2.0
"""Truncated and damaged recordings, for tests/recover/run.py. An independent reader of blocks finds the intact ones. Each block
has a kernel of its own, so the answer shows which blocks were read."""
import csv
import io
import os
import random
import re
import struct
import subprocess

from script import T0, Spool

BLOCKS, LAUNCHES, PARTS = 40, 3, 64
MAGIC, HEADER = b'TFPSPL\r\n', 44
TEXT = re.compile(r'^warning: (\S+): byte (\d+): ([^;]*?)(?:, and damage in (\d+) more places?)?; '
                  r'(\d+) records? (?:is|are) kept; lost are (?:(at least )?(\d+) records?, )?(\d+) bytes$', re.M)
CUT = re.compile(r'^note: \S+: byte (\d+): (the file ends inside a block|nothing but zeros up to the end); (\d+) bytes are left out$', re.M)


def table():
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        yield n


TABLE = list(table())


def crc32c(data):
    crc = 0xffffffff
    for b in data:
        crc = crc >> 8 ^ TABLE[(crc ^ b) & 255]
    return crc ^ 0xffffffff


def judge(data):
    """Returns (sequences of intact blocks, their records, damaged places, bytes in them, offset of the truncation or None)."""
    whole, kept, places, lost, at, expected, explained = [], 0, [], 0, 0, 0, False
    while at < len(data):
        h = data[at:at + HEADER]
        good = len(h) == HEADER and h[:8] == MAGIC and struct.unpack('<I', h[40:])[0] == crc32c(h[:40])
        if not good:
            rest = data[at:]
            if len(h) < HEADER and MAGIC.startswith(h[:8]) or not rest.strip(b'\0'):
                return whole, kept, places, lost, at
            step = max(1, len(rest) - len(rest.lstrip(b'\0')))
            end = data.find(MAGIC, at + step)
        else:
            _, payload, sequence, records, _, _, crc = struct.unpack('<IIIIQII', h[8:40])
            end = at + HEADER + payload
            if end > len(data):
                end = data.find(MAGIC, at + 1)
                if end < 0:
                    return whole, kept, places, lost, at
            elif crc32c(data[at + HEADER:end]) == crc:
                if sequence != expected and not explained:
                    places.append(at)
                whole.append(sequence)
                kept, expected, explained, at = kept + records, sequence + 1, False, end
                continue
            elif payload >= 16 and not data[end - 16:].strip(b'\0'):
                return whole, kept, places, lost, at
        end = len(data) if end < 0 else end
        places.append(at)
        lost, at, explained = lost + end - at, end, True
    return whole, kept, places, lost, None


def make(program):
    """Returns the bytes of a recording: block i has launches of the kernel 'k<i>'."""
    s = Spool()
    for i in range(BLOCKS):
        for k in range(LAUNCHES):
            s.launch((i * LAUNCHES + k) * 20000, 'k%d' % i)
        if i + 1 < BLOCKS:
            s.add('block', start=T0)
    p = subprocess.run([program, '/dev/stdout'], input='\n'.join(s.end().lines).encode(), stdout=subprocess.PIPE, check=True)
    return p.stdout


def ask(program, *words):
    p = subprocess.run([program, 'op', '-select', 'occurrence', '-max_depth', '99', '-output', 'csv', *words], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    rows = csv.DictReader(io.StringIO(p.stdout.decode()))
    return p.returncode, {r['path']: int(r['own_occurrence']) for r in rows}, p.stderr.decode()


def check(program, path, data, others=()):
    """Returns a description of the fault, or None. others: blocks of recordings beside it."""
    with open(path, 'wb') as f:
        f.write(data)
    whole, kept, places, lost, cut = judge(data)
    folder = '--spool=' + os.path.dirname(path)
    status, rows, text = ask(program, folder)
    if places:
        if status != 3 or ('tfprof: --recover reads' in text) != (kept > 0 or bool(others)) or 'byte %d: ' % places[0] not in text:
            return 'without --recover: status %d: %s' % (status, text)
        gpu = subprocess.run([program, 'gpu', os.path.dirname(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if gpu.returncode != 3 or b'byte %d: ' % places[0] not in gpu.stderr:
            return 'gpu without --recover: %r' % gpu.stderr
        status, rows, text = ask(program, '--recover', folder)
        if not kept and not others:
            return None if status == 3 else 'nothing to keep: status %d: %s' % (status, text)
        m = TEXT.search(text)
        total = judge(WHOLE)[1]
        ended = BLOCKS - 1 in whole
        if status or not m or (int(m[2]), 1 + int(m[4] or 0), int(m[5]), int(m[8])) != (places[0], len(places), kept, lost):
            return 'expected %s: status %d: %s' % ((places, kept, lost), status, text)
        if ended and int(m[7] or 0) != max(0, total - kept) or ended and m[6]:
            return '%d records of %d: %s' % (kept, total, text)
    elif status:
        return 'not damaged: status %d: %s' % (status, text)
    expected = {'k%d' % i: LAUNCHES for i in set(whole)}
    for i in others:
        expected['k%d' % i] = expected.get('k%d' % i, 0) + LAUNCHES
    if rows != expected:
        return 'expected, found: %s' % sorted(set(expected.items()) ^ set(rows.items()))
    m = CUT.search(text)
    if (cut is None) != (m is None) or m and (int(m[1]), int(m[3])) != (cut, len(data) - cut):
        return 'breaks off at %s of %d: %s' % (cut, len(data), text)
    if ('has no end' in text) != (BLOCKS - 1 not in whole):
        return 'no end: %s' % text
    return None


WHOLE = b''


def cases(spool_make):
    """Yields (name, bytes, True if there are other recordings beside it)."""
    global WHOLE
    data = WHOLE = make(spool_make)
    n, rng = len(data), random.Random(9)
    starts = [m.start() for m in re.finditer(re.escape(MAGIC), data)] + [n]
    assert judge(data)[0] == list(range(BLOCKS)) and judge(data)[2:] == ([], 0, None), judge(data)
    for i in range(PARTS + 1):
        part = data[:n * i // PARTS]
        yield 'spool cut after %d/%d' % (i, PARTS), part, i % 8 == 3
        yield 'spool with zeros after %d/%d' % (i, PARTS), part + bytes(5000), False
        at = min(n - 1, n * i // PARTS + rng.randrange(n // PARTS))
        yield 'spool with a bit changed at %d' % at, data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:], i % 8 == 5
    for i in (0, 7, BLOCKS - 2):
        yield 'spool without block %d' % i, data[:starts[i]] + data[starts[i + 1]:], False
        yield 'spool with a hole of zeros at block %d' % i, data[:starts[i]] + bytes(starts[i + 1] - starts[i]) + data[starts[i + 1]:], False
    yield 'spool with two blocks that break off', data[:starts[-3] + 50] + data[starts[-2]:starts[-2] + 46], False
    yield 'spool with something behind it', data + b'something else', False
    yield 'no spool', b'something else' * 9, False
    yield 'no spool beside one', b'something else' * 9, True


def jobs(program, spool_make):
    """Yields (name, function that fills an empty folder)."""
    def run(folder, part, others):
        if others:
            with open(os.path.join(folder, 'b.tfspool'), 'wb') as f:
                f.write(WHOLE)
        return check(program, os.path.join(folder, 'a.tfspool'), part, range(BLOCKS) if others else ())
    for name, part, others in cases(spool_make):
        yield name, lambda folder, part=part, others=others: run(folder, part, others)
