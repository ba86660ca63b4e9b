# SPDX-License-Identifier: Apache-2.0
"""Generates exports as Nsight Systems writes them, small or large."""
import sqlite3
import sys

MACHINE = 1 << 48
# Columns of each table; older versions lack some of them.
KERNEL = ('start end deviceId contextId streamId correlationId globalPid demangledName shortName mangledName '
          'registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory graphNodeId')
RUNTIME = 'start end globalTid correlationId nameId returnValue'
COPY = 'start end deviceId contextId streamId correlationId globalPid bytes copyKind'
SYNC = 'start end deviceId contextId streamId correlationId globalPid syncType'
NVTX = 'start end eventType text textId globalTid domainId jsonText'
PUSH_POP, START_END, MARK, DOMAIN = 59, 60, 34, 75


def pid(n):
    return MACHINE | n << 24


class Export:
    """Rows by table; strings are numbered in order of appearance."""

    def __init__(self, product='2026.2.1', schema='3.25.0'):
        self.tables, self.strings = {}, []
        self.table('META_DATA_EXPORT', 'name value')
        self.row('META_DATA_EXPORT', name='EXPORT_PRODUCT_VERSION', value=product)
        self.row('META_DATA_EXPORT', name='EXPORT_SCHEMA_VERSION', value=schema)

    def table(self, name, columns):
        self.tables.setdefault(name, (columns.split(), []))

    def row(self, table, **values):
        columns, rows = self.tables[table]
        rows.append([values.get(c) for c in columns])

    def string(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def launch(self, process, correlation, at, start, end, name='gemm', device=0, stream=7, thread=1, node=None):
        """Adds a call and its kernel. If `at` is None, the call is not in the file."""
        self.table('CUPTI_ACTIVITY_KIND_RUNTIME', RUNTIME)
        self.table('CUPTI_ACTIVITY_KIND_KERNEL', KERNEL)
        if at is not None:
            self.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=at, end=at + 5, globalTid=pid(process) | thread,
                     correlationId=correlation, nameId=self.string('cudaLaunchKernel_v7000'), returnValue=0)
        self.row('CUPTI_ACTIVITY_KIND_KERNEL', start=start, end=end, deviceId=device, contextId=1, streamId=stream,
                 correlationId=correlation, globalPid=pid(process), demangledName=self.string('void ns::%s<int>(float*)' % name),
                 shortName=self.string(name), registersPerThread=32, gridX=2, gridY=1, gridZ=1, blockX=128, blockY=1,
                 blockZ=1, staticSharedMemory=64, dynamicSharedMemory=0, graphNodeId=node)

    def copy(self, process, correlation, start, end, kind=1, size=64, device=0):
        self.table('CUPTI_ACTIVITY_KIND_MEMCPY', COPY)
        self.row('CUPTI_ACTIVITY_KIND_MEMCPY', start=start, end=end, deviceId=device, contextId=1, streamId=7,
                 correlationId=correlation, globalPid=pid(process), bytes=size, copyKind=kind)

    def range(self, process, text, start, end, kind=PUSH_POP, thread=1, domain=0, by_id=False, json=None):
        self.table('NVTX_EVENTS', NVTX)
        self.row('NVTX_EVENTS', start=start, end=end, eventType=kind, text=None if by_id else text,
                 textId=self.string(text) if by_id else None, globalTid=pid(process) | thread, domainId=domain, jsonText=json)

    def save(self, path, more=(), drop=()):
        """Writes the file; more: statements after that; drop: tables that are left out."""
        db = sqlite3.connect(path)
        db.execute('PRAGMA page_size=4096')
        db.execute('CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, -- a number\n value TEXT NOT NULL)')
        db.executemany('INSERT INTO StringIds VALUES (?, ?)', list(enumerate(self.strings)))
        for name, (columns, rows) in self.tables.items():
            if name not in drop:
                db.execute('CREATE TABLE %s (%s)' % (name, ', '.join('"%s"' % c for c in columns)))
                db.executemany('INSERT INTO %s VALUES (%s)' % (name, ', '.join('?' * len(columns))), rows)
        db.commit()
        for statement in more:
            db.execute(statement)
        db.commit()
        db.close()
        return path


def steps():
    """Returns two processes with equal correlations, PyTorch ranges, a copy, and work without a launch."""
    x = Export()
    for process, at in ((70, 0), (71, 5)):
        x.range(process, 'aten::linear, op_id = 1', at + 1000, at + 1900)
        x.range(process, 'aten::addmm, seq = 8, op_id = 2, sizes = [[2, 3], [3]]', at + 1100, at + 1800)
        x.launch(process, 5, at + 1200, at + 2000, at + 2500, 'gemm' if process == 70 else 'other', device=process - 70)
    x.launch(70, 6, 3000, 3100, 3150, 'lonely')
    x.launch(70, 9, None, 3200, 3230, 'unknown')
    x.copy(71, 7, 3300, 3400, device=1, size=4096)
    x.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=3290, end=3299, globalTid=pid(71) | 1, correlationId=7,
          nameId=x.string('cudaMemcpyAsync_v3020'), returnValue=0)
    x.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=3291, end=3292, globalTid=pid(70) | 1, correlationId=7,
          nameId=x.string('cudaMemsetAsync_v3020'), returnValue=2)
    return x


def random_export(chance, tick=1):
    """Writes two processes with three threads each, and all special cases: steps, ranges that overlap or have no end,
    work before or without its launch, several kernels per launch, and calls without work. Times are multiples of
    tick."""
    x = Export()
    correlation = [0, 0]
    for p, thread in ((0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)):
        at = chance.randrange(500)
        for i in range(60):
            names = ['step %d' % i if thread == 1 and i % 2 else 'outer'] + ['op%d' % chance.randrange(5) for _ in range(chance.randrange(4))]
            start, end = at, at + chance.randrange(200, 2000)
            for name in names:
                if start < end:
                    x.range(70 + p, name, start, None if chance.random() < .01 else end, thread=thread)
                start += chance.randrange(20)
                end -= chance.randrange(20)
            if i % 5 == 0:
                x.range(70 + p, 'free', at, at + chance.randrange(5000), START_END, thread=thread)
                x.range(70 + p, 'here', at, None, MARK, thread=thread)
            for _ in range(chance.randrange(5)):
                correlation[p] += chance.randrange(1, 3)
                call = chance.randrange(at, at + 1500)
                work = call + chance.randrange(-30, 3000)
                for k in range(chance.choice((1, 1, 1, 4))):
                    x.launch(70 + p, correlation[p], call if k == 0 and chance.random() < .9 else None, work + 50 * k,
                             work + 50 * k + chance.randrange(1, 4000), chance.choice(('gemm', 'relu', 'ncclKernel')), device=p,
                             stream=chance.randrange(3), thread=thread)
                if chance.random() < .3:
                    x.copy(70 + p, correlation[p], work, work + chance.randrange(900), size=chance.randrange(9999), device=p)
            at += chance.randrange(100, 2500)
    for columns, rows in x.tables.values():
        for row in rows if columns[0] == 'start' else ():
            row[:2] = [v if v is None else v * tick for v in row[:2]]
    return x


BLOCK = 500000  # kernels that Python makes; SQLite copies them


def write_large(path, n, chance=None):
    """Writes about n rows: a call and a range per kernel, and a step per ten thousand kernels. chance: makes the kernel
    lengths random."""
    db = sqlite3.connect(path)
    db.execute('PRAGMA journal_mode=OFF')
    db.execute('CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)')
    names = ['kernel_%d' % i for i in range(60)]
    db.executemany('INSERT INTO StringIds VALUES (?, ?)', list(enumerate(names + ['cudaLaunchKernel_v7000'])))
    tables = {'CUPTI_ACTIVITY_KIND_RUNTIME': RUNTIME, 'CUPTI_ACTIVITY_KIND_KERNEL': KERNEL, 'NVTX_EVENTS': NVTX}
    for table, columns in tables.items():
        db.execute('CREATE TABLE %s (%s)' % (table, ', '.join('"%s" %s' % (c, 'TEXT' if 'ext' in c[1:] and c[-1] == 't' else 'INTEGER')
                                                              for c in columns.split())))
    m, p = n // 3, pid(70)
    first = min(m, BLOCK)
    db.executemany('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 60, 0)',
                   ((i * 1000 + 100, i * 1000 + 600, p | 1, i + 1) for i in range(first)))
    db.executemany('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, ?, ?, ?, 32, 8, 1, 1, 128, 1, 1, 0, 0, NULL)',
                   ((i * 1000 + 700, i * 1000 + (chance.randrange(701, 1700) if chance else 1500), i + 1, p, i % 60, i % 60, i % 60)
                    for i in range(first)))
    db.executemany('INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, NULL, ?, 0, NULL)',
                   ((i * 1000, i * 1000 + 900, 'aten::op%d, op_id = %d' % (i % 50, i), p | 1) for i in range(first)))
    db.executemany('INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, NULL, ?, 0, NULL)',
                   ((i * 1000 - 1, i * 1000 + 9999998, 'step %d' % i, p | 1) for i in range(0, first, 10000)))
    shifts = {'start': 1000, 'end': 1000, 'correlationId': 1}
    for at in range(first, m, first):
        for table, columns in tables.items():
            db.execute('INSERT INTO %s SELECT %s FROM %s WHERE rowid <= %d' % (
                table, ', '.join('"%s" + %d' % (c, shifts[c] * at) if c in shifts else '"%s"' % c for c in columns.split()), table,
                first + 50 if table == 'NVTX_EVENTS' and m - at >= first else min(first, m - at)))
    db.commit()
    db.close()


if __name__ == '__main__':  # nsys.py FILE ROWS
    write_large(sys.argv[1], int(sys.argv[2]))
