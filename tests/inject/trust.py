# SPDX-License-Identifier: Apache-2.0
"""A recording never claims to be complete if CUPTI kept, lost or refused records."""
import os
import re
import signal
import subprocess
import time

from rig import ARGS, COUNT_PART, DROPPED, KEPT, KERNELS, LONGER, POP, PUSH, RANGES, RUNNING, UNREAD, UNTIMED, Failed, Run, check, dormant, settle, sleep, until


def t60_exit_order():
    """Exit handlers that CUPTI registers when it is opened, started or first used run after the exit handler of the
    recorder."""
    for how in ('open', 'subscribe'):
        for opts in ('', 'delay=0.05'):
            words = ['await:subscribed 1 kinds 7'] if opts else []  # all enabled records, including calls
            with Run('init', *words, 'launch:1000', 'exit:3', opts=opts, env={'FAKE_EXIT': how}) as r:
                s = r.ok(3).complete(1000, 1000)
                check(s.compared and s.end['launches'] == 1000 and not s.of('LOST') and not r.log(), s.end, s.of('LOST'), r.log())
    with Run('init', 'launch:10', settle(), 'launch:990', 'exit:3', opts='flush=50', env={'FAKE_EXIT': 'launch'}) as r:
        r.ok(3).complete(1000, 1000)


def t60_kept():
    """Records that CUPTI keeps at the end are counted, and the recording is not reported as complete."""
    words, opts = ('init', 'launch:100', 'die', 'exit:3'), 'flush=100000'
    queued = {'FAKE_LATE': '100000'}  # no kernel ends, so that no flush before the last one hands over a record
    for env, why in (({}, 'the last flush of CUPTI failed: '), ({'FAKE_DEAD': 'silent'}, 'CUPTI did not hand over all buffers')):
        with Run(*words, opts=opts, env={**queued, **env}) as r:
            s = r.ok(3).complete(0, 0)
            check(200 <= s.lost(KEPT) <= 202 and s.bound(KEPT), s.of('LOST'), s.end)
            check(why in r.log() and s.lost(KERNELS) == 100, r.log(), s.end)
    with Run(*words, opts=opts, env={**queued, 'FAKE_HIDE': '1'}) as r:
        check('the last records may be lost' in r.ok(3).log() and r.spool().complete, r.log())
    with Run(*words, opts=opts, env={**queued, 'FAKE_HIDE': '1', 'FAKE_DEAD': 'silent'}) as r:
        s = r.ok(3).spool()
        check(s.bound(KEPT) and s.lost(KERNELS) == 100 and 'did not hand over' in r.log(), s.end, r.log())


def t60_launches():
    """Launches without a kernel are counted as losses."""
    with Run('init', 'launch:150', 'exit:3', env={'FAKE_MUTE': '1'}) as r:
        check(r.ok(3).complete(0, 150).lost(KERNELS) == 150, r.spool().of('LOST'))
    with Run('init', 'launch:150', 'graph:3:5', 'exit:3') as r:
        s = r.ok(3).complete(165, 153)
        check(s.compared and (s.end['launches'], s.end['graph_launches']) == (150, 3) and not s.of('LOST'), s.end, s.of('LOST'))
    with Run('init', 'launch:150', 'exit:3', opts='level=kernels') as r:
        check(r.ok(3).complete(150, 0).compared, r.spool().end)


def t60_shut_down():
    """If another client shuts CUPTI down shortly before the end, the log says so, and the recorder's own probe does not count as a
    dropped record."""
    with Run('init', 'launch:500', settle(), 'steal:2', 'launch:2000', 'exit:3', opts='flush=50') as r:
        s = r.ok(3).spool()
        check(s.complete and s.n('KERNEL') >= 500 and not s.lost(DROPPED) and not s.compared, s.end, s.of('LOST'))
        # A slow run notices it during its launches.
        check(re.search('CUPTI was shut down before the recording ended|has taken CUPTI out of the process', r.log()), r.log())


def t60_lost_copies():
    """Copies are not counted in callbacks; a probe shows that another client has taken their records."""
    with Run('init', 'launch:10', settle(), 'steal:1', 'copies:100', 'exit:3', opts='flush=50') as r:
        s = r.ok(3).complete(10)
        check(not s.n('COPY') and s.bound(KEPT) and 'another profiler has taken them' in r.log(), s.end, s.of('LOST'), r.log())


def t60_late_handler():
    """An exit handler that CUPTI registers long after the first launch runs after the recorder's exit handler, which would
    crash otherwise."""
    with Run('init', 'launch:10', settle(), 'launch:1', settle(), 'launch:5', 'exit:4', opts='flush=50',
             env={'FAKE_EXIT': 'launch', 'FAKE_EXIT_AT': '11', 'FAKE_DEAD': 'crash'}) as r:
        s = r.ok(4).complete(16, 16)
        check(s.compared and not r.log(), s.end, r.log())


def t60_hangs():
    """If CUPTI does not return when the recording starts, the program runs on after 2 seconds, with its own status, and the log
    gives the reason."""
    for function in ('Subscribe', 'ActivityRegisterCallbacks', 'GetTimestamp'):
        with Run('init', 'push:a', 'launch:10', 'pop', 'exit:4', env={'FAKE_HANG': function}) as r:
            s = r.ok(4).spool()
            check(r.log() == 'no GPU work is recorded: CUPTI has not started within 2 seconds\n', r.log())
            check(s.complete and s.n('RANGE') == 2 and s.end['flags'] & COUNT_PART, s.end)
    with Run('init', 'launch:10', 'await:hangs', 'launch:10', 'exit:4', opts='flush=50', env={'FAKE_HANG': 'ActivityFlushAll'}) as r:
        s = r.ok(4).spool()
        check(not s.complete and s.end['launches'] == 20 and s.lost(KERNELS) == 20 - s.n('KERNEL'), s.end)


def t60_unreadable():
    """A record that CUPTI cannot read, and the records after it in its buffer, are reported as lost, with CUPTI's error."""
    with Run('init', 'launch:2000', 'exit:3', env={'FAKE_UNREADABLE': '50'}) as r:
        s = r.ok(3).spool()
        check(s.complete and s.n('KERNEL') < 2000 and s.lost(KERNELS) == 2000 - s.n('KERNEL'), s.end)
        check(s.lost(UNREAD) and s.bound(UNREAD) and 'CUPTI cannot read its own records: ' in r.log() and '(9)' in r.log(), s.of('LOST'), r.log())
        check('profiler' not in r.log(), r.log())
    with Run('init', 'launch:100', 'exit:3', env={'FAKE_FAIL': 'ActivityGetNextRecord:21'}) as r:
        s = r.ok(3).complete(0)
        check(s.bound(UNREAD) and s.lost(KERNELS) == 100 and 'profiler' not in r.log(), s.of('LOST'), r.log())
    with Run('init', 'launch:100', 'exit:3', env={'FAKE_FAIL': 'ActivityGetNumDroppedRecords:2'}) as r:
        s = r.ok(3).complete(100)
        check(s.bound(DROPPED) and not s.lost(DROPPED) and 'does not report how many records it dropped' in r.log(), s.of('LOST'), r.log())


def t60_capture():
    """Launches that are captured into a graph do not count as losses, and later launches do count."""
    quiet = 'level=kernels,flush=20,silence=%d' % (100 * ARGS.pause)
    with Run('init', 'launch:20', settle(), 'capture', 'rate:100:%d' % (10 * ARGS.pause), 'captured:100', 'launch:20', 'exit:3', opts=quiet) as r:
        s = r.ok(3).complete(40)
        check(s.compared and s.end['launches'] == 40 and not s.n('GAP') and not r.log(), s.end, s.of('GAP'), r.log())
    with Run('init', 'capture', 'launch:10', 'captured:10', 'launch:150', 'exit:3', env={'FAKE_MUTE': '1'}) as r:
        s = r.ok(3).complete(0)
        check(s.lost(KERNELS) == 150 and s.compared, s.end)


def t60_after_the_end():
    """Launches of exit handlers that run after the recorder's are counted, and stated as lost."""
    with Run('late:20', 'init', 'launch:100', 'exit:3') as r:
        s = r.ok(3).complete(100)
        check(s.end['launches'] == 120 and s.lost(KERNELS) == 20 and not r.log(), s.end, r.log())


def t61_in_flight():
    """On a GPU that is never idle, CUPTI keeps each buffer until its work has ended. A kill loses little, an exit nothing, and
    no gap is reported."""
    for hidden in ({}, {'FAKE_HIDE': '1'}):
        env = dict(hidden, FAKE_LATE=str(40 * ARGS.pause))
        with Run('init', 'rate:400:%d' % (2 * ARGS.pause), 'exit:3', opts='flush=50,silence=200', env=env) as r:
            s = r.ok(3).complete(400, 400)
            check(not s.n('GAP') and not r.log() and not s.lost(UNTIMED) or hidden, s.of('GAP'), r.log(), s.of('LOST'))
        with Run('init', 'rate:1000000:%d' % (2 * ARGS.pause), opts='flush=50', env=env, wait=False) as r:
            until(lambda: any(s.n('KERNEL') >= 300 for s in r.spools('--count')), 'a kernel')
            killed = time.time_ns()
            r.process.send_signal(signal.SIGKILL)
            r.wait().ok(-9)
            s = r.spool()
            last = max(k['start'] for k in s.of('KERNEL'))
            check(not s.end['damaged'] and not s.complete, s.end)
            check(killed - last < (2 + 8 * ARGS.pause) * 10 ** 9, 'the last kernel is', (killed - last) / 1e9, 's old')


def t61_slow_program():
    """With few launches on a GPU that is never idle, a kill loses a few of them, not a whole large buffer."""
    for longer in LONGER[:3]:
        ms = 60 * longer * ARGS.pause
        with Run('init', 'rate:30:%d' % ms, 'raise:9', opts='flush=50', env={'FAKE_LATE': str(5 * ms)}) as r:
            s = r.ok(-9).spool()
            check(not s.complete and not s.end['damaged'], s.end)
            if s.n('KERNEL') >= 15:  # 5 have not ended, 4 fill a buffer
                return
    raise Failed('%d of 30 kernels' % s.n('KERNEL'))


def t61_late_records():
    """A reported gap is cancelled if its records arrive late."""
    with Run('init', 'rate:250:%d' % (10 * ARGS.pause), 'exit:3', opts='flush=50,silence=%d' % (300 * ARGS.pause),
             env={'FAKE_LATE': str(1700 * ARGS.pause), 'FAKE_HIDE': '1', 'FAKE_FAIL': 'ActivityEnableAndDump:2'}) as r:
        s = r.ok(3).spool()
        check('the records were late; none is missing' in r.log() and not s.n('GAP') and not s.lost(KERNELS), r.log(), s.of('GAP'), s.of('LOST'))
    # A requested record arrives, so no other client has taken the other records.
    with Run('init', 'rate:250:%d' % (10 * ARGS.pause), 'exit:3', opts='flush=50,silence=%d' % (300 * ARGS.pause),
             env={'FAKE_LATE': str(1700 * ARGS.pause), 'FAKE_HIDE': '1'}) as r:
        s = r.ok(3).complete(250)
        check('profiler' not in r.log() and not s.n('GAP') and s.compared, r.log(), s.of('GAP'), s.of('LOST'))
        check(s.lost(RUNNING) and not s.lost(UNTIMED), s.of('LOST'))
    # The request does not make CUPTI deliver the other records before their work has ended: at the end, each has its times.
    with Run('init', 'rate:250:%d' % (10 * ARGS.pause), sleep(3000), 'exit:3', opts='flush=50,silence=%d' % (300 * ARGS.pause),
             env={'FAKE_LATE': str(1700 * ARGS.pause), 'FAKE_HIDE': '1'}) as r:
        check(r.ok(3).complete(250).compared and not r.spool().of('LOST'), r.spool().of('LOST'), r.log())


def t61_deep_queue():
    """If a program is killed while a thousand kernels wait, those that had ended are recorded, but for the last four launches
    and a second."""
    each = 200  # milliseconds of a kernel
    with Run('init', 'launch:1000', 'listen', wait=False, stdin=subprocess.PIPE, env={'FAKE_SERIAL': str(each)}) as r:
        until(lambda: any(s.n('KERNEL') >= 8 and s.end['launches'] == 1000 for s in r.spools('--count')), 'all launches and eight kernels')
        killed = time.time_ns()
        r.process.send_signal(signal.SIGKILL)
        r.wait().ok(-9)
        s = r.spool()
        late = (killed - max(k['start'] + k['length'] for k in s.of('KERNEL'))) / 1e6
        # With buffers of 64 launches it would be 12.8 seconds; the rest is the time of the test itself.
        check(late < 5 * each + 1000 + 5000 * ARGS.pause or ARGS.slower > 1, 'the last kernel ended', late, 'ms ago')
        check(s.end['launches'] == 1000 and s.lost(KERNELS) == 1000 - s.n('KERNEL') and not s.end['damaged'], s.end)


def t62_many_threads():
    """Many threads have a buffer each."""
    n = 64 if ARGS.valgrind else 256
    with Run('init', 'threads-at-once:%d:50' % n, 'exit:3', env={'FAKE_THREADS': '1'}) as r:
        s = r.ok(3).complete(n * 50, n * 50)
        check(not s.lost(DROPPED) and not s.lost(RANGES), s.of('LOST'))
    with Run('init', 'threads-at-once:40:50', 'exit:3', opts='buffers=8', env={'FAKE_THREADS': '1'}) as r:
        s = r.ok(3).spool()
        check(s.lost(DROPPED) and 'all buffers of the recorder were in use' in r.log(), s.of('LOST'), r.log())


def t63_bad_version():
    """No function of a CUPTI version that would end the process is called, not even for its version."""
    with Run('init', 'launch:5', 'exit:3', fakes=os.path.join(ARGS.fakes, 'bad')) as r:
        dormant(r, 'calls itself without end where it cannot start', 3)
    with Run('init', 'launch:5', 'exit:3', fakes=os.path.join(ARGS.fakes, 'new')) as r:
        r.ok(3).complete(5, 5)


def t64_call_times():
    """A call begins after the push of its enclosing range, not in the previous range: the start of a launch is
    recorded, not estimated."""
    n = 200
    with Run('init', *['push:a', 'launch', 'pop', 'push:b', 'graph:1:5', 'pop'] * n, 'exit:3', opts='graphs=graph') as r:
        s = r.ok(3).complete(n, 2 * n)
        edges = [x['time'] for x in s.of('RANGE') if x['op'] in (PUSH, POP)]
        calls = [(x['start'], x['start'] + x['length']) for x in s.of('API')]
        check(len(edges) == 4 * n, len(edges))
        wrong = [(a, b, c, d) for (a, b), (c, d) in zip(zip(edges[::2], edges[1::2]), calls) if not a <= c <= d <= b]
        check(not wrong, len(wrong), 'calls are not within their range: push, pop, start, end', wrong[:3])


def t64_clock():
    """If CUPTI has a clock of its own, times are recorded in it, and clock readings map them to the system's clock."""
    for offset, drift in ((-5 * 10 ** 9, 0), (3 * 10 ** 17, 200)):
        with Run('init', 'launch:50', settle(), 'launch:50', settle(), 'exit:3', opts='flush=50',
                 env={'FAKE_CLOCK_OFFSET': str(offset), 'FAKE_CLOCK_DRIFT': str(drift)}) as r:
            s = r.ok(3).complete(100, 100)
            clocks = s.of('CLOCK')
            check(len(clocks) >= 4 and not s.lost(UNTIMED) and not r.log(), clocks, s.of('LOST'), r.log())
            check(all(0 < c['width'] < 10 ** 9 for c in clocks), clocks)
            if not drift:
                check(all(abs(c['cupti'] - c['realtime'] - offset) <= c['width'] for c in clocks), clocks)
            starts = sorted(k['start'] for k in s.of('KERNEL'))
            check(clocks[0]['cupti'] < starts[0] and starts[-1] < clocks[-1]['cupti'], clocks, starts[0], starts[-1])


def t65_refused():
    """The log names the settings that CUPTI refuses, with the reason."""
    with Run('init', 'graph:10:20', 'launch:5', 'exit:3', opts='graphs=graph', env={'FAKE_FAIL': 'ActivityEnable:2:51'}) as r:
        s = r.ok(3).complete(205)
        check(s.n('GRAPH') == 0 and r.log() == 'CUPTI does not report launches of whole graphs (kind 51)\n', s.end, r.log())
    with Run('init', 'launch:5', 'exit:3', env={'FAKE_FAIL': 'ActivityEnable:2:1'}) as r:
        dormant(r, 'no GPU work is recorded: CUPTI refuses to record copies (kind 1): CUPTI_ERROR_INVALID_DEVICE (2)', 3)
    with Run('init', 'launch:5', 'exit:3', env={'FAKE_FAIL': 'ActivityEnable:2:22,EnableCallback:2'}) as r:
        r.ok(3).complete(5, 5)
        check(r.log() == 'CUPTI does not report fatal errors, unloaded modules, ends of contexts, '
              'copies between devices (kind 22)\n', r.log())
    with Run('init', 'launch:100', settle(), 'launch:100', settle(), 'exit:3', opts='flush=50', env={'FAKE_FATAL': '150'}) as r:
        check(re.match(r'CUPTI failed: CUPTI_ERROR_UNKNOWN \(719\)', r.ok(3).log()), r.log())
