#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares answers about time with the simulator that made the traces.

Each test draws programs (`program.py`, by the rows of `parameters.json`), simulates them (`simulate.py`), writes them as profilers
do (`writers.py`) and compares the answers of tfprof with the truth (`truth.py`). A failure names the row and the seed:
`tests/sim/run.py --show exact:17` writes the trace and prints the truth.

    --program, --make  tfprof, and spool_make, which makes recordings
    --seeds N        seeds for each test; the deep tier takes 500
    --first N        the first seed
    names            tests whose name contains one of these words
"""
import argparse
import collections
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import built  # noqa: E402
import cases  # noqa: E402
import program  # noqa: E402
import simulate  # noqa: E402
import truth  # noqa: E402
import writers  # noqa: E402

CAUSES = 'host_late launch_latency kernel_gap event_wait other_process unknown_wait unknown_launch'.split()
PROGRAM = MAKE = ''
SEEDS = range(0)


def simulated(row, seed, change=None):
    """Returns the run of a row of parameters and a seed."""
    values = program.rows()[row]
    return simulate.Run(program.instructions(seed, values), program.machine(values), change)


def ask(command, paths, *words):
    """Returns the answer of a command as JSON."""
    p = subprocess.run([PROGRAM, command, *paths, *words, '-output', 'json'], capture_output=True, text=True)
    assert p.returncode == 0, '%s %s: status %d: %s' % (command, ' '.join(paths), p.returncode, p.stderr)
    return json.loads(p.stdout)


def each(*rows):
    """Yields (name for messages, run, its files) for every seed, alternating between rows."""
    for seed in SEEDS:
        row = rows[seed % len(rows)]
        run = simulated(row, seed)
        yield '%s:%d' % (row, seed), run, writers.write_kineto(run, '.')


def differing(found, expected):
    """Returns the members of a dict that are not as expected: {name: (expected, found)}."""
    return {k: (v, found.get(k)) for k, v in expected.items() if found.get(k) != v}


def middle_steps(run):
    return list(truth.steps(run))[1:]


def number(step):
    return step.split('#')[1]


# ---- devices ----

def device_numbers(run, process, device):
    """Returns the members of a device's row."""
    part = truth.partition(run, process, device)
    out = {'span_ns': part['span'], 'idle_ns': part['idle'], 'compute_busy_ns': part['compute'],
           'exposed_communication_ns': part['exposed_communication'], 'exposed_copy_ns': part['exposed_copy']}
    out.update({c + '_ns': 0 for c in CAUSES})
    for (cause, _, _), ns in truth.idle(run, process, device).items():
        out[cause + '_ns'] += ns
    return out


def inside(row):
    """Returns a row of devices without the idle time outside of the device's work."""
    return dict(row, idle_ns=row['idle_ns'] - row.get('before_first_ns', 0) - row.get('after_last_ns', 0))


def devices_are_divided_exactly():
    """The parts of a device's time and the causes of its idle time are those of the simulator, to the tick."""
    for name, run, paths in each('exact', 'arrival', 'jitter', 'ranks', 'devices', 'stacks'):
        answer = ask('devices', paths)['devices']
        cases.equal(len(answer), len({(w.process, w.device) for w in run.works}), '%s: devices' % name)
        for d in answer:
            process = int(d.get('worker', 'rank0').split('.')[0].replace('rank', ''))
            device = int(d['device'].split(':')[-1])
            wrong = differing(inside(d), device_numbers(run, process, device))
            assert not wrong, '%s, %s: %s' % (name, d['device'], wrong)


PLACES = {'host_op': 'op', 'annotation': 'op', 'call': 'call', 'python': 'line', 'data_loading': 'op', 'host_other': 'outside'}


def true_places(run, process, device):
    """Returns a Counter {name: ns} of the host's activities while a device was idle because its launches came late."""
    out = collections.Counter()
    for (cause, kind, name), ns in truth.idle(run, process, device).items():
        if cause == 'host_late':
            out[PLACES[kind], name] += ns
    return out


def idle_names_the_true_places():
    """The ops, lines and calls that `idle` names for the time in which the host was late equal those of the simulator."""
    for name, run, paths in each('exact', 'arrival', 'jitter'):
        answer = ask('idle', paths, '-by', 'call', '--top=0')
        for d in answer['devices']:
            found = collections.Counter()
            for c in d['causes']:
                for p in c['places'] if c['cause'] in ('host_busy', 'host_blocked', 'collective_wait') else ():
                    found[p['kind'], p['name'] if p['kind'] != 'outside' else None] += p['ns']
            expected = true_places(run, 0, int(d['device'].split(':')[-1]))
            assert found == expected, '%s, %s: (expected, found): %s' % (name, d['device'], (differing(found, expected), found - expected))


def all_formats_say_the_same():
    """A run has equal numbers in the formats of PyTorch, Nsight Systems, rocprofv3, XSpace and the recorder. rocprofv3 and
    XSpace do not state which stream waits for an event, so such waits have an unknown cause there."""
    sqlite = built.has(PROGRAM, 'sqlite')
    for name, run, _ in each('exact', 'arrival', 'jitter'):
        known = device_numbers(run, 0, 0)
        blind = dict(known, event_wait_ns=0, unknown_wait_ns=known['unknown_wait_ns'] + known['event_wait_ns'])
        files = [(writers.write_rocprof(run, '.'), blind), (writers.write_xspace(run, '.'), blind),
                 (writers.write_recording(run, '.', MAKE), known)]
        for paths, expected in files + [(writers.write_nsys(run, '.'), known)] * sqlite:
            answer = ask('devices', paths)['devices']
            wrong = differing(inside(answer[0]), expected)
            assert len(answer) == 1 and not wrong, '%s, %s: %s' % (name, paths[0], wrong)


def steps_are_divided_exactly():
    """The parts of each step by its mark, summed over the devices, are those of the simulator."""
    for name, run, paths in each('exact', 'arrival', 'jitter', 'devices'):
        places = sorted({(w.process, w.device) for w in run.works})
        marks = {number(s): (a, b) for s, (a, b, _) in truth.steps(run).items()}
        answer = ask('steps', paths)['steps']
        cases.equal(sorted(str(s['step']) for s in answer), sorted(marks), name)
        for s in answer:
            begin, end = marks[str(s['step'])]
            expected = collections.Counter({c + '_ns': 0 for c in CAUSES}, duration_ns=end - begin)
            for place in places:
                part = truth.partition(run, *place, begin, end)
                expected.update(idle_ns=part['idle'], compute_busy_ns=part['compute'], exposed_copy_ns=part['exposed_copy'])
                before, after = truth.outside(run, *place, begin, end)
                expected.update(before_first_ns=before, after_last_ns=after)
                for (cause, _, _), ns in truth.idle(run, *place, begin, end).items():
                    expected[cause + '_ns'] += ns
            wrong = differing(s, expected)
            assert not wrong, '%s, step %s: %s' % (name, s['step'], wrong)


# ---- critical ----

def segments(answer):
    """Returns [(start, end, kind, name, track)]; adjacent segments of one place are joined."""
    out = []
    for s in answer['segments']:
        here = (s['start_ns'], s['start_ns'] + s['duration_ns'], s['kind'], s['name'], s['track'])
        if out and out[-1][2:] == here[2:] and out[-1][1] == here[0]:
            here = (out.pop()[0],) + here[1:]
        out.append(here)
    return out


def paths_tile_the_window():
    """The window of a step reaches from the last work of the previous step to its own last work; the segments cover it without
    gap or overlap, and the kinds add up to it."""
    for name, run, paths in each('exact', 'arrival', 'jitter'):
        for step in middle_steps(run):
            answer = ask('critical', paths, '-step', number(step))
            begin, end = truth.device_window(run, step)
            cases.equal((answer['from_ns'], answer['window_ns']), (begin, end - begin), '%s, %s' % (name, step))
            at = begin
            for s in answer['segments']:
                cases.equal(s['start_ns'], at, '%s, %s: start of a segment' % (name, step))
                assert s['duration_ns'] > 0, (name, step, s)
                at += s['duration_ns']
            cases.equal(at, end, '%s, %s: end of the last segment' % (name, step))
            cases.equal(sum(k['ns'] for k in answer['kinds']), end - begin, '%s, %s: kinds' % (name, step))


def true_segments(run, step):
    found = truth.Path(run, *truth.device_window(run, step)).segments
    return [(s.start, s.end, s.kind, s.name, s.track and str(s.track[1] if isinstance(s.track, tuple) else s.track)) for s in found]


def without_delays(found):
    """Returns segments in which all delays before device work have one kind, because their division depends on the base
    latency, which is an estimate."""
    out = []
    for start, end, kind, name, track in found:
        if kind in ('launch_latency', 'kernel_gap', 'not_known'):
            kind, name, track = 'delay', None, None
        if out and out[-1][2:] == (kind, name, track):
            start = out.pop()[0]
        out.append((start, end, kind, name, track))
    return out


def compare_paths(name, step, expected, found):
    """Asserts that two paths are equal. The kind of a delay that begins before the window is not compared."""
    while expected and found and expected[-1] == found[-1]:
        expected.pop()
        found.pop()
    rest = without_delays(expected), without_delays(found)
    assert rest[0] == rest[1] and all(len(r) < 2 and all(s[2] == 'delay' for s in r) for r in rest), (
        '%s, %s: backwards from the end, the first difference: expected %s, found %s' % (name, step, expected[-2:], found[-2:]))


def paths_are_the_true_ones():
    """Each step's path equals the simulator's path, segment by segment."""
    for name, run, paths in each('exact', 'arrival', 'stacks'):
        for step in middle_steps(run):
            compare_paths(name, step, true_segments(run, step), segments(ask('critical', paths, '-step', number(step))))


def by_name(found):
    """Returns the time of each kind and name of segments."""
    out = collections.Counter()
    for start, end, kind, name, _ in without_delays(found):
        out[kind, name] += end - start
    return out


def unknown_events_are_assumed():
    """Without events of synchronisation in the file, a stream is assumed to have waited for the work that ended last.
    Then 1 % of the time of paths is not on the true paths, and 11 % if several devices wait for each other. Recordings state
    which stream waits, so the shares are 0.5 % and 3 %. Seeds of several devices differ by a standard deviation of 13 %, so the
    limit is three standard deviations of their mean."""
    for rows, limits in (('exact', 'arrival'), (.012, .006)), (('devices',), (.114 + .4 / len(SEEDS) ** .5, .06)):
        windows, off = 0, [0, 0]
        for _, run, _ in each(*rows):
            files = writers.write_kineto(run, '.', sync=False), writers.write_recording(run, '.', MAKE)
            for i, step in list(enumerate(truth.steps(run)))[1:]:
                true = by_name(without_kinds(true_segments(run, step)))
                for k, paths in enumerate(files):
                    answer = ask('critical', paths, '-step', str(i) if k else number(step))
                    off[k] += (true - by_name(without_kinds(segments(answer)))).total()
                windows += answer['window_ns']
        assert all(x <= limit * windows for x, limit in zip(off, limits)), (rows, off, windows)


def without_kinds(found):
    """Returns segments without differences between formats: ranges are annotations in some and ops in others, and copies have
    no names in XSpaces."""
    out = []
    for start, end, kind, name, _ in without_delays(found):
        if kind not in ('delay', 'compute', 'communication', 'copy'):
            kind, name = 'host', (name or '').replace(truth.MARK, 'train_step#')
        name = None if kind == 'copy' else name
        if out and out[-1][2:] == (kind, name, None):
            start = out.pop()[0]
        out.append((start, end, kind, name, None))
    return out


def paths_are_the_same_in_all_formats():
    """The path of a step is equal in the formats of Nsight Systems, XSpace and the recorder. Recordings number steps from 0 and
    have times since 1970."""
    sqlite = built.has(PROGRAM, 'sqlite')
    for name, run, _ in each('one_stream'):
        files = [(writers.write_xspace(run, '.'), 1), (writers.write_recording(run, '.', MAKE), 0)]
        for paths, first in files + [(writers.write_nsys(run, '.'), None)] * sqlite:
            for i, step in enumerate(truth.steps(run)):
                if i:
                    answer = ask('critical', paths, '-step', number(step) if first is None else str(first + i))
                    shift = answer['from_ns'] - truth.device_window(run, step)[0]
                    found = [(a - shift, b - shift, *rest) for a, b, *rest in segments(answer)]
                    compare_paths('%s, %s' % (name, paths[0]), step, without_kinds(true_segments(run, step)), without_kinds(found))


def events_of_nsight_systems_are_known():
    """An export with CUDA events has the true paths, also where streams wait for each other."""
    for name, run, _ in each('exact', 'arrival') if built.has(PROGRAM, 'sqlite') else ():
        paths = writers.write_nsys(run, '.')
        for step in middle_steps(run):
            found = segments(ask('critical', paths, '-step', number(step)))
            compare_paths(name, step, without_kinds(true_segments(run, step)), without_kinds(found))


# ---- what-if ----

CHANGES = [   # words of the command, and the change in the simulator
    ('kernel:gemm*0.5', dict(kernels=[('gemm', .5)])), ('kernel:gemm*2', dict(kernels=[('gemm', 2)])),
    ('kernel:.*=0', dict(kernels=[('.', 0)])), ('host*0.5', dict(host=.5)), ('host*2', dict(host=2)), ('copy=0', dict(copy=0)),
    ('launch=0', dict(launch=0)), ('sync=0', dict(sync=0)), ('op:aten::addmm*0.5', dict(ops=[('^aten::addmm$', .5)])),
    ('op:aten::copy_=0', dict(ops=[('^aten::copy_$', 0)])), ('call:cudaLaunchKernel*0.5', dict(calls=[('^cudaLaunchKernel$', .5)])),
    ('copy=0 host*0.8', dict(copy=0, host=.8)),
]


def mean_step(run):
    """Returns the mean time from the last work of a step to the last work of the next, without the first step."""
    ends = [end for _, _, end in truth.steps(run).values()]
    return (ends[-1] - ends[0]) / (len(ends) - 1)


def what_if(row, seed, words, meaning, paths, run):
    """Returns the answer of what-if about all steps but the first, and its error."""
    steps = [number(s) for s in middle_steps(run)]
    answer = ask('what-if', paths, *words.split(), '-step', '%s..%s' % (steps[0], steps[-1]))
    truly = mean_step(simulated(row, seed, simulate.Change(**meaning)))
    return answer, answer['after_ns'] / truly - 1


def changes_have_the_simulated_effect():
    """The step time after a change is within 1 % of the simulated step time; 2 % if latencies are random."""
    for name, run, paths in each('exact', 'arrival', 'jitter', 'stacks'):
        row, seed = name.split(':')
        for words, meaning in [CHANGES[int(seed) % len(CHANGES)], CHANGES[(int(seed) // len(CHANGES) + 2) % len(CHANGES)]]:
            answer, error = what_if(row, int(seed), words, meaning, paths, run)
            assert abs(answer['before_ns'] - mean_step(run)) <= 1, '%s: before: %s, not %s' % (name, answer['before_ns'], mean_step(run))
            limit = .02 if row == 'jitter' else .01     # each latency has noise that the replay cannot know
            assert abs(error) <= limit, '%s, %s: %s ns after, which is %+.1f %%' % (name, words, answer['after_ns'], 100 * error)


def missing_events_are_stated():
    """If the file does not state which stream waited for which event, and the answer is therefore wrong by more than 1 %, the
    model error is at least a quarter of that, or a warning names the missing data."""
    for name, run, _ in each('exact', 'arrival', 'devices'):
        row, seed = name.split(':')
        paths = writers.write_kineto(run, '.', sync=False)
        answer, error = what_if(row, int(seed), *CHANGES[2], paths, run)
        assert abs(error) <= .01 or answer['model_error'] >= abs(error) / 4 or answer['warnings'], '%s: %+.1f %%, model error %s' % (
            name, 100 * error, answer['model_error'])


# ---- properties ----

def unlike(a, b, factor, path=''):
    """Yields where answer b is not answer a with all times multiplied by a factor."""
    if isinstance(a, dict):
        for k in a:
            if k not in ('sources', 'tool', 'slice', 'warnings'):    # slices are numbered in the order of the file, notes are text
                yield from unlike(a[k], b.get(k), factor, path + '.' + k)
    elif isinstance(a, list):
        if len(a) != len(b):
            yield path, len(a), len(b)
        for i, (x, y) in enumerate(zip(a, b)):
            yield from unlike(x, y, factor, '%s[%d]' % (path, i))
    else:
        leaf = path.split('.')[-1]
        scaled = (leaf == 'ns' or leaf.endswith('_ns')) and a is not None
        slack = factor if '.step_time' in path or leaf in ('mean_ns', 'deviation_ns', 'median_ns', 'p99_ns', 'before_ns', 'after_ns', 'step_ns',
                                                             'guessed_step_ns', 'marks_ns') else 0
        near = abs(a * factor - b) <= slack + slack * a // 400 if scaled else abs(a - b) < 1e-4 if leaf == 'model_error' else a == b
        if leaf != 'bytes_per_second' and not near:
            yield path, a, b


def properties(change, factor, *rows):
    os.makedirs('other', exist_ok=True)
    for name, run, paths in each(*rows):
        step = number(middle_steps(run)[0])
        answers = [(c, words, ask(c, paths, *words)) for c, words in
                   (('devices', ()), ('idle', ('--top=0',)), ('steps', ()), ('critical', ('-step', step)), ('what-if', ('host*0.5',)))]
        others = change(run)
        for command, words, answer in answers:
            wrong = list(unlike(answer, ask(command, others, *words), factor))
            assert not wrong, '%s: %s: (where, before, after): %s' % (name, command, wrong[:3])


def order_in_the_file_does_not_matter():
    """The order of the events in the file does not change the answers."""
    properties(lambda run: writers.write_kineto(run, 'other', shuffle=1), 1, 'exact', 'jitter', 'stacks')


def answers_grow_with_all_times():
    """If all times of a file are multiplied by 40, so are the times in the answers."""
    def grown(run):
        for x in run.works + [s for t in run.threads.values() for s in t.slices]:
            x.start, x.end = 40 * x.start, 40 * x.end
        return writers.write_kineto(run, 'other')
    properties(grown, 40, 'exact', 'arrival', 'jitter', 'devices', 'stacks')


TESTS = [devices_are_divided_exactly, idle_names_the_true_places, steps_are_divided_exactly, all_formats_say_the_same, paths_tile_the_window,
         paths_are_the_true_ones, paths_are_the_same_in_all_formats, events_of_nsight_systems_are_known, unknown_events_are_assumed,
         missing_events_are_stated,
         changes_have_the_simulated_effect, order_in_the_file_does_not_matter, answers_grow_with_all_times]


def show(what, folder='.'):
    """Writes the trace of ROW:SEED and prints its truth."""
    row, seed = what.split(':')
    run = simulated(row, int(seed))
    print('\n'.join(writers.write_kineto(run, folder)))
    for step in truth.steps(run):
        begin, end = truth.device_window(run, step)
        print('%s: from %d, %d ns' % (step, begin, end - begin))
        for s in truth.Path(run, begin, end).segments:
            print('  %d..%d %s %s %s' % s)
    for process, device in sorted({(w.process, w.device) for w in run.works}):
        print('device %d of process %d: %s' % (device, process, truth.partition(run, process, device)))
        for (cause, kind, name), ns in sorted(truth.idle(run, process, device).items(), key=lambda x: -x[1]):
            print('  %12d ns %s %s %s' % (ns, cause, kind or '', name or ''))


def main():
    global PROGRAM, MAKE, SEEDS
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(cases.ROOT, 'build/check/tfprof'), type=os.path.abspath)
    p.add_argument('--make', default=os.path.join(cases.ROOT, 'build/check/spool_make'), type=os.path.abspath)
    p.add_argument('--seeds', type=int, default=20)
    p.add_argument('--first', type=int, default=0)
    p.add_argument('--show', metavar='ROW:SEED')
    p.add_argument('names', nargs='*')
    a = p.parse_args()
    if a.show:
        return show(a.show)
    PROGRAM, MAKE, SEEDS = a.program, a.make, range(a.first, a.first + a.seeds)
    return cases.run([t for t in TESTS if not a.names or any(n in t.__name__ for n in a.names)])


if __name__ == '__main__':
    sys.exit(main())
