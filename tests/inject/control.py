# SPDX-License-Identifier: Apache-2.0
"""Starting and stopping: late starts, commands of ctl, limits and the sums after them, steps, ends of contexts."""
import os
import re
import signal
import subprocess
import time

from rig import ARGS, LONGER, WRITE, Run, check, settle, until


def t50_late_start():
    for longer in LONGER:
        with Run('init', 'launch:10', 'state', 'await:subscribed 1 kinds 7', 'launch:20', 'state', 'exit:3',
                 opts='delay=%g' % (0.2 * ARGS.pause * longer)) as r:
            if r.ok(3).out.startswith('no CUPTI'):
                r.complete(20)
                check('subscribed 1' in r.out, r.out)
                break
    else:
        check(False, 'it began too early')
    for longer in LONGER:
        with Run('init', 'push:a', 'launch:10', 'pop', 'state', 'await:subscribed 0', 'state', 'push:b', 'launch:20', 'pop',
                 'exit:3', opts='duration=%g' % (0.5 * ARGS.pause * longer)) as r:
            if r.ok(3).out.startswith('subscribed 1 kinds 7'):
                s = r.complete(10)
                check(s.n('RANGE') == 2 and 'subscribed 0 kinds 0' in r.out, s.of('RANGE'), r.out)
                break
    else:
        check(False, 'it stopped too early')


def t50_control():
    """Each start adds records, and after each stop nothing is recorded."""
    def say(word):
        with open(r.folder + '/control', 'a') as f:
            f.write('%d %s\n' % (time.time_ns(), word))

    def kernels():
        return sum(s.n('KERNEL') for s in r.spools('--count'))

    def go_on():
        r.process.stdin.write(b'\n')
        r.process.stdin.flush()

    rounds = 12 if ARGS.long else 3
    words = ['listen', 'await:subscribed 0', settle(), 'say:stopped'] * rounds
    with Run('init', 'background:2', settle(), 'say:silent', *words, 'listen', 'exit:3', opts='start=ctl,flush=50', wait=False,
             stdin=subprocess.PIPE) as r:
        check(r.process.stdout.readline() == b'silent\n' and kernels() == 0, 'it began too early')
        sizes = [0]
        for _ in range(rounds):
            say('start')
            until(lambda: kernels() > sizes[-1], 'a start without effect')
            say('flush')
            say('step a label')
            say('stop')
            go_on()
            check(r.process.stdout.readline() == b'stopped\n')
            sizes.append(kernels())
        s = r.wait().ok(3).spool('--count')
        check(s.n('KERNEL') == sizes[-1] and s.complete and not r.log(), sizes, s.end, r.log())


def t50_many_starts():
    """Starts and stops by ctl while many threads launch: the count of launches agrees with the records, or says that it cannot."""
    rounds, pause_us = (1000, 20000) if ARGS.long else (5, 200)  # so that the recording of many rounds stays small

    def say(word):
        with open(r.folder + '/control', 'a') as f:
            f.write('%d %s\n' % (time.time_ns(), word))

    words = ['listen', 'await:subscribed 1 kinds 7', 'say:on', 'listen', 'await:subscribed 0', 'say:off'] * rounds
    for opts in ('start=ctl,flush=20,detach', 'start=ctl,flush=20'):
        with Run('init', 'background:64:%d' % pause_us, 'say:ready', *words, 'exit:3', opts=opts, wait=False, stdin=subprocess.PIPE) as r:
            check(r.process.stdout.readline() == b'ready\n')
            for i in range(2 * rounds):
                say('stop' if i % 2 else 'start')
                r.process.stdin.write(b'\n')
                r.process.stdin.flush()
                if r.process.stdout.readline() != (b'off\n' if i % 2 else b'on\n'):
                    check(False, i, r.wait().rc, r.err[-3000:], r.log())
            s = r.wait().ok(3).spool('--count')
            launched = s.end['launches'] + s.end['unsure']
            check(s.complete and not s.end['damaged'] and 0 < s.n('KERNEL') <= launched + 64 * rounds, s.end, r.log())
            # Under a sanitizer, and while other tests run, the writer is slow.
            slow = r'writing the recording takes \d+ % of a processor\n|\d+ of \d+ records were dropped: all buffers of the recorder were in use\n'
            check(re.fullmatch('(?:%s)*' % slow, r.log()), opts, s.end, s.of('LOST'), r.log())


def t50_detach():
    for longer in LONGER:
        with Run('init', 'launch:10', 'state', 'await:kinds 0', 'until:subscribed 0', 'state', 'exit:3',
                 opts='duration=%g,detach' % (0.5 * ARGS.pause * longer)) as r:
            if r.ok(3).out.startswith('subscribed 1 kinds 7'):
                check('\nsubscribed 0' in r.out, r.out)
                return check(r.complete(10))
    check(False, 'it stopped too early')


def t51_limit():
    """After the size limit, exact sums by name replace records."""
    with Run('init', 'launch:20000', settle(), 'copies:100:4096', 'memory:3', 'exit:3', opts='max_size=64Ki,flush=50,mem') as r:
        s = r.ok(3).spool()
        sums = s.of('SUM')
        kernels = sum(x['count'] for x in sums if x['what'] == 7)
        check(s.complete and s.n('KERNEL') + kernels == 20000, s.n('KERNEL'), kernels)
        check(s.n('API') + sum(x['count'] for x in sums if x['what'] == 11) == 20406, s.end)
        check(sum(x['sum'] for x in sums if x['what'] == 7) == 1000 * kernels, sums)
        check(sum(x['bytes'] for x in sums if x['what'] == 8) == 300 * 4096, sums)
        check({x['name'] for x in sums} >= {'MemcpyHtoD', 'MemcpyDtoH', 'MemcpyPtoP', 'Memset', 'cuLaunchKernel'}, sums)
        check(s.lost(WRITE) == 6 and os.path.getsize(s.path) < 80 << 10, s.of('LOST'), os.path.getsize(s.path))
        check('size limit' in r.log(), r.log())


def t51_many_names():
    with Run('init', 'names:3000:7000', settle(), 'exit:3', opts='flush=50') as r:
        s = r.ok(3).complete(3000)
        names = {k['name'] for k in s.of('KERNEL')}
        check(len(names) == 3000 and any(n.startswith('name#') for n in names), len(names))
        check('too many different names' in r.log(), r.log())


def t51_graphs():
    with Run('init', 'graph:10:20', 'launch:5', 'exit:3', opts='graphs=graph') as r:
        s = r.ok(3).complete(5)
        check(s.n('GRAPH') == 10 and s.of('GRAPH')[0]['length'] == 20000, s.end)


def t51_step_signal():
    with Run('init', 'launch', 'raise:12', 'launch', 'raise:12', 'exit:3', opts='step_signal') as r:
        s = r.ok(3).complete(2)
        check([m['what'] for m in s.of('MARK')] == [0, 0], s.of('MARK'))
    with Run('init', 'raise:12', opts='') as r:
        r.ok(-signal.SIGUSR2)


def t51_context_ends():
    """Records are fetched before their context is destroyed, and names of kernels are read again afterwards."""
    with Run('init', 'launch:10', 'destroy', 'launch:10', 'reset', 'unload', 'launch:10', 'exit:3', opts='flush=10000') as r:
        r.ok(3).complete(30)
    with Run('init', 'launch:10', 'destroy', settle(), '_exit:3', opts='flush=10000') as r:
        check(r.ok(3).spool().n('KERNEL') == 10)
