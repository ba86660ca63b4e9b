# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges: recording, counted losses, cost."""
import re

from rig import ARGS, INSTANT, NAMES, POP, PUSH, RANGES, START, STOP, Run, check


def shape(s):
    return [(x['op'], x['domain'], x['name']) for x in s.of('RANGE')]


def t29_ranges():
    with Run('init', 'push:outer', 'mark:here', 'launch:3', 'ranges', 'pop:3', 'sleep:150') as r:
        s = r.ok().complete(3)
        got = shape(s)
        for want in ((PUSH, '', 'outer'), (INSTANT, '', 'here'), (PUSH, '', 'from the module'),
                     (PUSH, 'other', 'in a domain'), (POP, 'other', ''), (START, '', 'started here'), (STOP, '', ''),
                     (PUSH, 'TSL', 'Thunk:#name=dot.1,hlo_op=fusion.6#'), (PUSH, '', 'wide \u00e4\u20ac\U0001f600'),
                     (PUSH, '', 'with event'), (PUSH, '', 'left inside')):
            check(want in got, want, got)
        # Each pop has its push. A surplus pop is dropped. A range that its thread left open has no pop.
        check(sum(g[0] == PUSH for g in got) == sum(g[0] == POP for g in got) + 1, got)
        ids = {x['op']: x['id'] for x in s.of('RANGE') if x['op'] in (START, STOP)}
        tids = {x['op']: x['tid'] for x in s.of('RANGE') if x['op'] in (START, STOP)}
        check(ids[START] == ids[STOP] and tids[START] != tids[STOP], ids, tids)
        check('named by NVTX' in [t['name'] for t in s.of('THREAD')], s.of('THREAD'))


def t29_ranges_alone():
    """Ranges are recorded without a driver: in a program without CUDA, CUPTI is not touched."""
    with Run('push:a', 'pop', 'state') as r:
        s = r.ok().spool()
        check(s.complete and s.n('RANGE') == 2 and 'no CUPTI' in r.out, s.end, r.out)
    with Run('init', 'push:a', 'launch:2', 'pop', opts='nvtx=0') as r:
        check(r.ok().complete(2).n('RANGE') == 0)


def t29_deep():
    with Run('deep:1000', 'push:after', 'pop') as r:
        s = r.ok().spool()
        got = shape(s)
        check(got.count((PUSH, '', 'deep')) == 128 and len(got) == 2 * 129, len(got))
        check(got[-2:] == [(PUSH, '', 'after'), (POP, '', '')] and s.lost(RANGES) == 872, got[-3:], s.of('LOST'))


def t29_wide():
    """Long wide-character names stay distinct; truncations are counted."""
    for n, bytes_, cut in ((3000, 5999, 0), (4096, 8191, 0), (4097, 8192, 2), (100000, 8192, 2)):
        with Run('wide:%d:2' % n, 'wide:%d:2' % n) as r:
            s = r.ok().spool()
            names = {x['name'] for x in s.of('RANGE') if x['op'] == PUSH}
            check(len(names) == 2 and all(len(x.encode()) in (bytes_, bytes_ - 1) for x in names), n, [len(x.encode()) for x in names])
            check(s.lost(NAMES) == cut, n, s.of('LOST'))


def t29_flood():
    """If ranges come faster than they are written, losses are counted, and pushes and pops stay paired."""
    n = 2000000 if ARGS.long else 200000
    with Run('pairs:%d' % n) as r:
        s = r.ok().spool()
        ops = [x['op'] for x in s.of('RANGE')]
        check(s.complete and ops.count(PUSH) == ops.count(POP) and ops[:2] == [PUSH, POP], s.end)
        check(ops.count(PUSH) + s.lost(RANGES) == n, ops.count(PUSH), s.lost(RANGES))


def t30_names_verbatim():
    """Messages of frameworks are recorded unchanged; the reader parses them."""
    names = ['aten::linear, seq = 5, op_id = 12, sizes = [[2, 3], [3]]', 'XlaModule#prefix=jit(f)/layer,program_id=3#',
             'ProfilerStep#7', 'Optimizer.step#SGD.step', 'a/b\\"c\u00e4', 'x' * 9000]
    names = [n.replace(':', ';') for n in names]  # a colon separates arguments of the program
    with Run('init', *(w for n in names for w in ('push:' + n, 'pop'))) as r:
        got = [x['name'] for x in r.ok().spool().of('RANGE') if x['op'] == PUSH]
        check(got[:-1] == names[:-1] and re.fullmatch('x{8175}~[0-9a-f]{16}', got[-1]), got)


def t31_cost():
    """Prints the cost of a push and a pop, without a limit."""
    with Run('init', 'cost') as r:
        check('ns per pair' in r.ok().out, r.out)


def t29_threads_have_names():
    """A thread keeps its name in the recording, even if it ends before the writer reads its records."""
    for words in (['named-threads:4:work'], ['init', 'named-threads:4']):
        with Run(*words) as r:
            s = r.ok().spool()
            check({'worker-%d' % i for i in range(4)} <= {t['name'] for t in s.of('THREAD')}, words, s.of('THREAD'))


def t29_another_listener():
    """With a second NVTX library, both libraries get the calls that they would get alone."""
    tool = ARGS.fakes + '/libnvtx.so'
    words = ['init', 'push:outer', 'mark:here', 'ranges', 'pop:3', 'launch:3']
    with Run(*words) as r:
        alone = r.ok().complete(3)
    cases = (('', tool, ''), ('core', tool, ''), ('null', tool, ''), ('no', tool, ''), ('', '/no/such.so', ''),
             ('', ARGS.collector, ''), ('', tool, 'nvtx=0'))
    for how, chain, opts in cases[:3] if ARGS.valgrind else cases:
        with Run(*words, env={'FAKE_NVTX': how, 'TFPROF_NVTX_CHAIN': chain}, opts=opts) as r, \
                Run(*words, env={'FAKE_NVTX': how, 'NVTX_INJECTION64_PATH': chain if chain == tool else None}) as b:
            a, b = r.ok().complete(3), b.ok()
            if how != 'null':  # without handles, a program calls fewer functions
                check(r.out == b.out, how, chain, r.out, b.out)
            check(sorted(shape(a)) == ([] if opts else sorted(shape(alone))), how, chain, shape(a), shape(alone))
            ids = [x['id'] for x in a.of('RANGE') if x['op'] in (START, STOP)]
            check(opts or len(ids) == 2 and ids[0] == ids[1], ids)
    with Run(*words, env={'TFPROF_SESSION': None, 'TFPROF_NVTX_CHAIN': tool}) as r:
        check('push /outer\n' in r.ok().out, 'without a session the other one hears nothing', r.out)
