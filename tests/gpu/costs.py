# SPDX-License-Identifier: Apache-2.0
"""Checks on a GPU: overhead, conflicts with other profilers, long runs, raw buffers."""
import glob
import json
import os
import shutil
import statistics
import tempfile

import cuda
import quick
from rig import ARGS, DROPPED, NotRun, Session, check, few, keep, lost, need, of, parts

# ---- 09: overhead ---------------------------------------------------------------------------------
MATRIX = (('nothing', None, ''), ('dormant', 'start=ctl', ''), ('kernels', 'level=kernels', ''), ('launches', 'level=launches', ''),
          ('full', 'level=full', ''), ('with ranges', 'level=launches', 'ranges'), ('graph level', 'graphs=graph', ''))
WORK = (('empty', 100000), ('spin20', 20000), ('spin200', 3000), ('graph', 500), ('matmul', 2000), ('training', 200))
RANGELESS = ('matmul', 'training')


def missing(what):
    if what == 'matmul' and not cuda.find('libcublas'):
        raise NotRun('libcublas is missing')
    if what == 'training':
        need('torch')


def measured(what, n):
    """Returns the seconds of each cell; runs are interleaved, so drift affects all cells."""
    missing(what)
    seconds = {name: [] for name, _, ranges in MATRIX if not ranges or what not in RANGELESS}
    for _ in range(1 if ARGS.rehearse else 7 if ARGS.long else 5):
        for name, opts, ranges in MATRIX:
            if name in seconds:
                with Session('timed', what, few(n), ranges, opts=opts or '', inject=opts is not None) as s:
                    seconds[name].append(s.said)
    base = statistics.median(seconds['nothing'])
    cells = {name: {'seconds': x, 'median': statistics.median(x), 'percent': (statistics.median(x) / base - 1) * 100}
             for name, x in seconds.items()}
    print('    %-8s %8d: ' % (what, n) + ', '.join('%s %+.2f %%' % (k, v['percent']) for k, v in cells.items() if k != 'nothing') +
          '; %.4f s without' % base)
    return cells


def judged(table):
    """Targets: 1 % for kernels of 20 us and more, 5 % for a training step, 0.1 % dormant."""
    marks = [('spin20', 'launches', 1), ('spin200', 'launches', 1), ('matmul', 'launches', 1), ('training', 'launches', 5)]
    marks += [(w, 'dormant', 0.1) for w in table]
    over = ['%s %s' % (w, c) for w, c, most in marks if w in table and table[w][c]['percent'] > most]
    return 'over the mark: ' + ', '.join(over) if over else 'all within their marks'


def c09_overhead():
    table, left_out = {}, []
    for what, n in WORK:
        try:
            table[what] = measured(what, n)
        except NotRun as e:
            left_out.append('%s: %s' % (what, e))
    keep('overhead.json', json.dumps(table, indent=1))
    return '; '.join([judged(table)] + ['not run: ' + x for x in left_out])


# ---- 10: flushing ---------------------------------------------------------------------------------
def c10_flush():
    told = []
    with Session('idle', few(5), inject=False) as s:
        left = s.said['left']
    for ms in (100, 500, 1000):
        seconds = few(5)
        with Session('busy', seconds, 1, opts='flush=%d' % ms) as s, Session('idle', seconds, opts='flush=%d' % ms) as i:
            told.append('%d ms: %d launches, %d MB, the writer %.2f %% of a processor, idle %.3f %%, %d MB of the GPU' % (
                ms, s.said['launches'], max(s.said['resident']) >> 20, s.said['writer'] / seconds / 1e7,
                i.said['writer'] / seconds / 1e7, (left - i.said['left']) >> 20))
    return '; '.join(told) + '; the pool of CUPTI is left as it is'


# ---- 11: conflicts --------------------------------------------------------------------------------
def taken():
    if not ARGS.cupti:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    with Session('taken') as s:
        check('another profiler has CUPTI' in s.log(), s.log(), s.out)
        return s.log().strip()


def sanitizer():
    tool = shutil.which('compute-sanitizer')
    if not tool:
        raise NotRun('compute-sanitizer is missing')
    with Session('launches', 100, prefix=[tool] + Session.program()) as s:
        return 'under compute-sanitizer: ' + (s.log().strip() or '%d kernels' % sum(e['KERNEL'] for e, _ in s.spools()))


def torch_inside():
    need('torch')
    with Session('torch_profiled', few(50)) as s:
        end = s.spool()[0]
        return 'torch.profiler inside: %d kernels, %d gaps, %s' % (end['KERNEL'], end['GAP'], s.log().strip() or 'no remark')


def c11_conflicts():
    return parts(taken, sanitizer, torch_inside)


# ---- 12 to 15 -------------------------------------------------------------------------------------
def driver_memory():
    with Session('memory', 50, opts='mem') as s:
        rows = of(s.spool()[1], 'MEMORY')
        got = sum(r['bytes'] for r in rows if not r['freed'] and r['bytes'] == 1 << 20)
        check(got == 50 << 20, got >> 20, 'MB')


def torch_memory():
    need('torch')
    with Session('torch_memory', 8, opts='mem') as s:
        segments = [r for r in of(s.spool()[1], 'MEMORY') if not r['freed'] and r['bytes'] >= 64 << 20]
        check(len(segments) == s.said['segments'], len(segments), 'allocations;', s.said)
        return '%d segments of the caching allocator' % len(segments)


def c12_memory():
    return parts(driver_memory, torch_memory)


def c13_tiny_buffers():
    with Session('busy', max(0.5, few(100) / 50), opts='buffers=1,buffer_size=16Ki,flush=1000') as s:
        end, rows = s.spool()
        n, gone = end['KERNEL'] + end['API'], lost(rows, DROPPED)
        check(end['complete'] and gone > 0, end, gone)
        return '%d recorded, %d dropped, of %d launches' % (n, gone, s.said['launches'])


def c14_start_and_stop():
    return quick.q10_start_stop()


def c15_soak():
    seconds = few(900 if ARGS.long else 60)
    with Session('busy', seconds, seconds / 20, opts='max_size=256M', timeout=seconds + 120) as s:
        said = s.said['resident']
        half = said[len(said) // 2]
        # In a rehearsal on a busy machine, the writer gets so little time that buffers pile up for a while.
        check(said[-1] < half * 1.05 + ((32 if ARGS.rehearse else 8) << 20), 'memory grows:', [x >> 20 for x in said])
        return '%d s, %d launches, %d MB' % (seconds, s.said['launches'], said[-1] >> 20)


# ---- 16: raw buffers ------------------------------------------------------------------------------
def c16_buffers():
    """On a GPU, first captures short raw buffers of each kind, for tests without one."""
    if not ARGS.cupti:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    with tempfile.TemporaryDirectory() as d, Session('buffers', d, inject=False) as s:
        empty = [k for k, v in s.said.items() if isinstance(v, list) and (v[0] or not v[1]) and k != 'runtime']
        for p in glob.glob(d + '/*.bin'):
            with open(p, 'rb') as f:
                keep(os.path.basename(p), f.read())
        check('kernel' not in empty and 'driver' not in empty, s.said)
        return '%s%s' % (s.said, '' if ARGS.out else '; OUT=folder keeps them')
