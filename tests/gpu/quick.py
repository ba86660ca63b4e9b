# SPDX-License-Identifier: Apache-2.0
"""The quick checks for the first hour on a GPU, the most valuable first. Each has LIMIT seconds;
most use tests/gpu/program.c, which needs the driver alone."""
import glob
import json
import os
import shutil
import statistics
import subprocess
import time

from rig import ARGS, DROPPED, Deadline, NotRun, Session, check, few, keep, kill, lost, need, of, parts

LIMIT = 40
MARGIN = 8  # seconds before the end of a check in which it starts no further work


def session(*words, **more):
    return Session(*words, prefix=[ARGS.gpu_program], **more)


def alone(*words, **more):
    """Runs the program without the collector."""
    return session(*words, inject=False, **more)


def time_left():
    return Deadline.left(1e9) > MARGIN


# ---- 01: buffers ----------------------------------------------------------------------------------
def raw():
    """Captures raw buffers of each kind as test inputs, and reads them with CUPTI's own iterator."""
    if not ARGS.cupti:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    folder = os.path.join(ARGS.out, 'buffers')
    os.makedirs(folder, exist_ok=True)
    with alone('capture', folder) as s:
        said = s.said
    wrong = [os.path.basename(p) for p in sorted(glob.glob(folder + '/*.bin')) if not right_buffer(p)]
    refused = [k for k, v in said.items() if isinstance(v, list) and v[0]]
    check(not wrong, 'read otherwise than expected:', wrong, said)
    return 'raw buffers of %d kinds%s' % (len(said) - 1 - len(refused), ', refused: %s' % refused if refused else '')


def right_buffer(path):
    """True if the buffer contains the executed work; kinds whose records are not known in advance only have to be readable."""
    with alone('read', path) as s, open(path[:-3] + 'expected') as f:
        expected = sorted(f.read().splitlines())
        return not expected or sorted(s.out.splitlines()) == expected


def progress(p, enough):
    """Reads values (launches, rounds of the collector, time) until enough(all values so far) is true."""
    seen = []
    while not enough(seen):
        check(time_left(), 'the collector makes no progress', seen[-1:])
        line = p.stdout.readline()
        check(line, 'the program ended early')
        seen.append([int(x) for x in line.split()])
    return seen


def in_flight(s, rate):
    """If a program is killed, all kernels launched more than 1.5 s before are recorded."""
    rounds, seconds, most = (24, 0, 0) if ARGS.rehearse else (15, 1.5, 6)

    def enough(seen):
        first, last = (seen[0], seen[-1]) if seen else ((0, 0, 0), (0, 0, 0))
        return last[1] and last[1] - first[1] >= rounds and last[2] - first[2] >= most * 1e9

    seen = progress(s.process, enough)
    kill(s.process)
    end = s.totals()
    safe = [x for x in seen if seen[-1][1] - x[1] >= rounds and seen[-1][2] - x[2] >= seconds * 1e9]
    check(safe and end['KERNEL'] >= safe[-1][0], 'at %d per second' % rate, end['KERNEL'], 'kernels of',
          seen[-1][0], 'launches;', safe[-1:], s.log())
    return '%d per second: %d of %d kernels were written when the program was killed' % (rate, end['KERNEL'], seen[-1][0])


def killed():
    with session('paced', 100, wait=False) as slow, session('paced', 1000, wait=False) as fast:
        return in_flight(slow, 100) + '; ' + in_flight(fast, 1000)


def q01_buffers():
    return parts(raw, killed)


# ---- 02: exit -------------------------------------------------------------------------------------
def exits(how):
    """20 processes, several at a time, launch 1000 kernels each: all kernels are recorded."""
    rounds, at_once, n, done = (2 if ARGS.rehearse else 20), 4, 1000, 0
    while done < rounds and time_left():
        running = [session('launches', n, how, wait=False) for _ in range(min(at_once, rounds - done))]
        try:
            for s in running:
                end = s.wait().totals()
                check(end['complete'] and end['KERNEL'] == n and not end['LOST'], how, end['KERNEL'], 'kernels of', n, s.log())
                done += 1
        finally:
            for s in running:
                s.__exit__()
    return '%s: %d times %d kernels' % (how, done, n)


def q02_exits():
    return parts(lambda: exits('driver'), lambda: exits('runtime'))


# ---- 03: initialisation ---------------------------------------------------------------------------
def q03_start():
    with alone('info') as s:
        without = s.said['seconds']
    with session('info') as s:
        said, rows = s.said, s.spool()[1]
    devices = of(rows, 'DEVICE')
    recorded = {d['uuid'] for d in devices}
    check(said['uuid'] in recorded, said['uuid'], 'is not among the recorded', recorded)
    tool = shutil.which('nvidia-smi')
    if tool:
        text = subprocess.run([tool, '-L'], stdout=subprocess.PIPE, timeout=Deadline.left(20)).stdout.decode()
        check(all(u in text for u in recorded), recorded, 'are not those of nvidia-smi -L:', text)
    return '%.2f s, %.2f s without the collector; driver %d; %s is %s%s' % (
        said['seconds'], without, said['driver'], devices[0]['name'], said['uuid'], '' if tool else '; nvidia-smi is missing')


# ---- 04: programs without PyTorch -----------------------------------------------------------------
def mixed():
    with session('mixed', opts='mem') as s:
        end, rows = s.spool()
        check(end['KERNEL'] == 250 and end['COPY'] == 100 and end['SET'] == 50, end)
        check(end['MEMORY'] >= 100 and end['RANGE'] == 200, end)
        p = subprocess.run([ARGS.program, 'gpu', s.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(p.returncode == 0, p.stderr.decode())
        keep('gpu.txt', p.stdout)
        return '250 kernels, 100 copies, %d memory records' % end['MEMORY']


def spins():
    lengths = [10 ** i for i in range(3, 10)]
    with session('spins') as s:
        kernels = [k['length'] for k in sorted(of(s.spool()[1], 'KERNEL'), key=lambda k: k['start'])]
    check(len(kernels) == len(lengths), len(kernels), 'kernels')
    for ns, got in zip(lengths, kernels):
        check(ns <= got <= ns * 1.02 + 20000, ns, 'ns of spinning were recorded as', got)
    return 'spinning ' + ', '.join('%d: %d' % x for x in zip(lengths, kernels))


def q04_programs():
    return parts(mixed, spins)


# ---- 05: correlation ------------------------------------------------------------------------------
def refused():
    if not ARGS.cupti:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    with alone('refused') as s:
        keep('refused.json', json.dumps(s.said))
        # With this callback, the collector checks whether it still receives callbacks; without it, numbers of losses are
        # bounds.
        return 'CUPTI %d refuses %d of %d functions; cuDriverGetVersion %s' % (
            s.said['version'], len(s.said['refused']), s.said['asked'],
            'calls back' if s.said['version_calls'] else 'does NOT call back')


def correlated(level):
    with session('mixed', opts='level=' + level) as s:
        rows = s.spool()[1]
        calls = {a['correlation'] for a in of(rows, 'API')}
        kernels = [k for k in of(rows, 'KERNEL')]
        share = sum(k['correlation'] in calls for k in kernels) / max(1, len(kernels))
        check(share == 1, level, 'share of kernels with a call:', share, s.log())
        return '%s: all of %d kernels have a call%s' % (level, len(kernels), '; ' + s.log().strip() if s.log() else '')


def q05_correlation():
    return parts(refused, lambda: correlated('launches'), lambda: correlated('full'))


# ---- 06: clock ------------------------------------------------------------------------------------
def quantiles(values):
    v = sorted(values)
    return {name: v[min(len(v) - 1, int(len(v) * q))] for name, q in (
        ('min', 0), ('p1', 0.01), ('p50', 0.5), ('p99', 0.99), ('max', 1))}


def offsets():
    if not ARGS.cupti:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    with alone('clock', few(5000)) as s:
        said = {'offset_ns': quantiles(x[0] for x in s.said), 'reading_ns': quantiles(x[1] for x in s.said)}
        keep('clock.json', json.dumps({'summary': said, 'readings': s.said}))
        return "CUPTI's clock minus CLOCK_REALTIME, ns: %s" % said


def latencies():
    """The time from the start of a call to the start of its kernel is never negative."""
    with session('mixed') as s:
        rows = s.spool()[1]
        calls = {a['correlation']: a['start'] for a in of(rows, 'API') if 'Launch' in a['name']}
        late = [k['start'] - calls[k['correlation']] for k in of(rows, 'KERNEL') if k['correlation'] in calls]
        check(late and min(late) >= 0, sum(x < 0 for x in late), 'of', len(late), 'kernels begin before their call')
        return 'from call to kernel, ns: %s' % quantiles(late)


def q06_clock():
    return parts(offsets, latencies)


# ---- 07 and 08 ------------------------------------------------------------------------------------
def q07_threads():
    n, each = 128, few(1000)
    with session('threads', n, each) as s:
        end, rows = s.spool()
        check(end['complete'] and end['KERNEL'] == n * each, end['KERNEL'], 'kernels of', n * each, lost(rows, DROPPED),
              'dropped;', s.log())
        return '%d threads, %d kernels' % (n, end['KERNEL'])


def q08_graphs():
    n = few(500)
    with session('graph', 100, n) as s:
        rows = s.spool()[1]
        nodes = [k for k in of(rows, 'KERNEL') if k['graph']]
        check(len(nodes) == 100 * n, len(nodes), 'nodes of', 100 * n, s.log())
        check(len({k['correlation'] for k in nodes}) == n, 'launches', len({k['correlation'] for k in nodes}))
    with session('graph', 100, n, opts='graphs=graph') as s:
        end = s.totals()
        check(end['GRAPH'] == n, end, s.log())
    return '%d nodes one by one, %d graphs as a whole' % (100 * n, n)


# ---- 09: other profilers --------------------------------------------------------------------------
def accounted(s, launches):
    """Every launch is recorded or stated as lost, in the JSON that tools read. Returns the number of both."""
    p = subprocess.run([ARGS.program, 'gpu', s.folder, '-output', 'json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=Deadline.left(60))
    check(p.returncode == 0, p.stderr.decode()[-500:])
    missing = json.loads(p.stdout.decode())['lost']['kernels_without_record']
    recorded = sum(end['KERNEL'] for end in s.ends())
    check(recorded and recorded + missing == launches, recorded, 'recorded +', missing, 'stated as lost are not', launches, s.log())
    return recorded, missing


def beside(end, cupti=None):
    """program.c acts like torch.profiler: its callbacks replace the callbacks of the collector."""
    n = few(5000)
    with session('beside', n, end, cupti=cupti) as s:
        recorded, missing = accounted(s, s.said['launches'])
        check(recorded >= n, recorded, 'kernels of', n, 'before the other client', s.log())
        return 'CUPTI %d, %d kernels before, %d with another client%s: %d recorded, %d stated as lost, it has %d%s; %s' % (
            s.said['version'], n, n, '' if end == 'last' else ', %d after' % n, recorded, missing, s.said['theirs'],
            ' (refused: %d)' % s.said['refused'] if s.said['refused'] else '', s.log().strip() or 'no remark')


def newest():
    """Returns the newest libcupti of the bundle, if it runs with this driver."""
    if not ARGS.newest:
        raise NotRun('no libcupti of CUDA 13.5 is here, or the driver is older than CUDA 13')
    with alone('visible', 1, cupti=ARGS.newest, rc=None) as s:
        if not s.said:
            raise NotRun('the libcupti of CUDA 13.5 does not run with this driver: ' + s.err.strip())
    return ARGS.newest


def beside_torch():
    need('torch')
    with Session('torch_beside', few(50)) as s:
        end = s.spool()[0]
        check(end['KERNEL'] >= s.said['before'], end['KERNEL'], 'kernels', s.said, s.log())
        return 'of %d kernels before, %d inside and %d after torch.profiler we have %d, and %d gaps; it has %d: %s' % (
            s.said['before'], s.said['inside'], s.said['after'], end['KERNEL'], end['GAP'], s.said['theirs'],
            s.log().strip() or 'no remark')


def beside_jax():
    need('jax')
    with Session('jax_step', 1) as s:
        end = s.spool()[0]
        check(end['KERNEL'], end, s.log())
        return 'beside jax.profiler we have %d kernels and %d gaps: %s' % (
            end['KERNEL'], end['GAP'], s.log().strip() or 'no remark')


def q09_beside():
    return parts(lambda: beside('end'), lambda: beside('end', newest()), beside_torch, beside_jax)


# ---- 10: start and stop ---------------------------------------------------------------------------
def q10_start_stop():
    rounds, told = (2 if ARGS.rehearse else 100 if ARGS.long else 20), []

    def during(s, p):
        def go_on(lines):
            progress(p, lambda seen: len(seen) >= lines and seen[-1][1] - seen[0][1] >= lines)
        go_on(3)
        while len(told) < rounds and time_left():
            s.control('start')
            go_on(5)
            s.control('stop')
            go_on(5)
            told.append(1)
        p.stdin.close()
        p.stdin = None

    with session('busy', opts='start=ctl', during=during) as s:
        end = s.totals()
        check(end['complete'] and 0 < end['KERNEL'] < s.said['launches'], end, s.said, s.log())
        return 'started and stopped %d times: %d of %d kernels' % (len(told), end['KERNEL'], s.said['launches'])


# ---- 11: overhead ---------------------------------------------------------------------------------
WAYS = (('nothing', None), ('dormant', 'start=ctl'), ('launches', 'level=launches'))
WORK = (('empty', 60000), ('spin', 15000), ('graph', 1000))
GRAPH_NODES = 100


def kernels_of(what, n):
    """Returns the kernels of a timed program, which does a quarter of the work before, to be warm."""
    return (n + n // 4 + 1) * (GRAPH_NODES if what == 'graph' else 1)


def timed(what, n, name, opts):
    with session('timed', what, n, opts=opts or '', inject=opts is not None) as s:
        recorded = sum(end['KERNEL'] for end in s.ends())
        expected = kernels_of(what, n) if name == 'launches' else 0
        check(recorded == expected, what, name, recorded, 'kernels recorded of', expected, s.log())
        return s.said


def q11_overhead():
    table = {w: {name: [] for name, _ in WAYS} for w, _ in WORK}
    for _ in range(1 if ARGS.rehearse else 3):
        for what, n in WORK:
            for name, opts in WAYS:
                if time_left():
                    table[what][name].append(timed(what, few(n), name, opts))
    keep('overhead.json', json.dumps(table, indent=1))
    check(all(table[w][name] for w, _ in WORK for name, _ in WAYS), 'no time for all:', table)
    told = []
    for what, _ in WORK:
        base = statistics.median(table[what]['nothing'])
        told.append('%s (%.3f s): ' % (what, base) + ', '.join(
            '%s %+.2f %%' % (name, (statistics.median(table[what][name]) / base - 1) * 100) for name, _ in WAYS[1:]))
    return '; '.join(told)


# ---- 12: a kill while work waits ------------------------------------------------------------------
QUEUE, QUEUE_MS = 900, 10  # kernels and the length of each; a GPU's queue has room for 1024
KILLED_AFTER, SPARE = 4.0, 1.5  # seconds; one second is promised, and starting takes part of a second


def q12_deep_queue():
    """SIGKILL while hundreds of kernels wait: those that ended a second before are recorded, the others are stated as lost."""
    with session('deep', QUEUE, QUEUE_MS, wait=False, more_env={'FAKE_SERIAL': '1'}) as s:
        begun = int(s.process.stdout.readline() or 0)
        check(begun and s.process.stdout.readline(), 'the program ended early', s.log())
        time.sleep(max(0, begun / 1e9 + KILLED_AFTER - time.time()))
        kill(s.process)
        spent = time.time() - begun / 1e9
        recorded, missing = accounted(s, QUEUE)
        ended = min(QUEUE, int(spent * 1000 / QUEUE_MS))
        safe = min(QUEUE, int((spent - SPARE) * 1000 / QUEUE_MS))
        check(recorded >= safe, recorded, 'recorded of about', ended, 'that had ended, at least', safe, 'are promised', s.log())
        return '%d kernels of %d ms queued, killed after %.1f s: about %d had ended, %d recorded, %d stated as lost' % (
            QUEUE, QUEUE_MS, spent, ended, recorded, missing)


# ---- 13: when records appear ----------------------------------------------------------------------
def visible(cupti):
    ms = 20 if ARGS.rehearse else 1000
    with alone('visible', ms, cupti=cupti) as s:
        said = s.said
        check(said['records'] == 1, said)
        when = ('never before its buffer was delivered' if said['written_ms'] < 0 else
                '%.1f ms after the launch' % said['written_ms'])
        return 'CUPTI %d: a kernel ended after %.1f ms, its record appeared %s%s' % (
            said['version'], said['ended_ms'], when, '' if said['delivered'] else ', and only a forced flush delivered it')


def q13_visible():
    if not ARGS.cupti:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    return parts(lambda: visible(ARGS.cupti), lambda: visible(newest()))


# ---- 14: another profiler until the end -----------------------------------------------------------
def window_torch():
    """torch.profiler runs in the last seconds of a program."""
    need('torch')
    with Session('torch_last', few(50)) as s:
        end = s.spool()[0]
        check(end['KERNEL'] >= s.said['before'], end['KERNEL'], 'kernels', s.said, s.log())
        recorded, missing = accounted(s, end['launches'])
        return 'torch.profiler has %d kernels of the last %d; %d recorded, %d stated as lost' % (
            s.said['theirs'], s.said['inside'], recorded, missing)


def q14_window():
    return parts(lambda: beside('last'), lambda: beside('last', newest()), window_torch)


# ---- 15: workers that end by _exit ----------------------------------------------------------------
def q15_workers():
    n, each = (4 if ARGS.rehearse else 16), 300
    with session('workers', n, each) as s:
        recorded, missing = accounted(s, n * each)
        return '%d workers that launch %d kernels and end by _exit: %d recorded, %d stated as lost' % (n, each, recorded, missing)


# ---- 16: hardware tracing -------------------------------------------------------------------------
def q16_hardware_tracing():
    """From CUPTI 13.5 on, a variable makes the GPU itself measure times; this needs compute capability 10 or newer."""
    with session('mixed', cupti=newest(), more_env={'CUPTI_ENABLE_HW_TRACE': '1'}) as s:
        end, rows = s.spool()
        check(end['KERNEL'] == 250 and end['complete'] and not end['LOST'], end, s.log())
        lengths = [k['length'] for k in of(rows, 'KERNEL') if 'spin' in k['name']]
        check(len(lengths) == 50 and min(lengths) >= 20000, 'spinning 20000 ns was recorded as', sorted(lengths)[:5])
        return '250 kernels; spinning 20000 ns: median %d; %s; %s' % (
            statistics.median(lengths), ', '.join(d['name'] for d in of(rows, 'DEVICE')), s.log().strip() or 'no remark')
