#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the answers of why: verdicts, evidence, the numbers that their commands print, options, and outputs.

    --program, --make  tfprof, and spool_make, which makes recordings
    --write FOLDER     writes the sample of the documents, training.pt.trace.json.gz
"""
import argparse
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE] + [os.path.join(os.path.dirname(HERE), x) for x in ('check', 'sim', 'trace')]
import built  # noqa: E402
import cases  # noqa: E402
import corpus  # noqa: E402
import onnx  # noqa: E402
import planted  # noqa: E402
import writers  # noqa: E402

PROGRAM = MAKE = ''
ROWS = {'input_pipeline': 'kineto', 'launch_bound': 'kineto', 'synchronisation': 'recording', 'host_copies': 'kineto', 'allocation': 'kineto',
        'warmup': 'kineto', 'unfused_elementwise': 'kineto', 'layout_conversion': 'kineto', 'small_grids': 'kineto',
        'garbage_collection': 'kineto', 'profiler_overhead': 'kineto', 'host_work': 'kineto', 'healthy': 'kineto',
        'no_tensor_cores': 'kineto', 'one_kernel': 'kineto', 'exposed_communication': 'kineto', 'slow_rank': 'kineto',
        'unbalanced_ranks': 'kineto', 'healthy_ranks': 'kineto'}
FILES = {}
SAID = set()  # output of the program
FILTERED = False
LOST = []     # records that were lost, of the recordings in the folders lostN
SAMPLE = 'training.pt.trace.json.gz'
HOME = tempfile.TemporaryDirectory(prefix='tfprof-why-')


def run(*words, status=0):
    p = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    SAID.add(' '.join((p.stdout + p.stderr).split()))
    assert p.returncode == status, (words, p.returncode, p.stdout[-300:], p.stderr)
    return p.stdout if status in (0, 1) else p.stderr


def words_of(*words):
    """Returns the output of a command as one line."""
    return ' '.join(run(*words).split())


def files():
    """Returns the paths of a trace of each row, made once."""
    for name, form in ROWS.items():
        if name not in FILES:
            row = dict(planted.rows()[name], seeds=1)
            FILES[name] = next(corpus.cases({name: row})).write(form, os.path.join(HOME.name, name), MAKE)
    return FILES


def why(name, *words):
    return json.loads(run('why', *files()[name], *words, '-output', 'json'))


def all_verdicts():
    """Every cause that can be judged from one file is the first one of a trace, and its sentence has its numbers."""
    said = {name: why(name) for name in ROWS}
    cases.equal({n: a['cause'] for n, a in said.items()}, {n: 'none' if n.startswith('healthy') else n for n in ROWS}, 'causes')
    for name, answer in said.items():
        text = run('why', *files()[name])
        assert text.startswith(answer['verdict'].split(' ')[0]), text
        assert answer['verdict'] == ' '.join(text.split('\n\n')[0].replace('\n  ', ' ').split('\n')[0].split()), text
        for cause in answer['causes']:
            assert 0.03 * answer['window_ns'] < cause['saved_ns'] <= answer['window_ns'], cause
            assert cause['where'] == sorted(cause['where'], key=lambda w: -w['ns']) and cause['where'], cause
            assert abs(sum(w['ns'] for w in cause['where']) - cause['cost_ns']) <= len(cause['where']) + 1, cause


def commands_print_the_numbers():
    """The commands of the evidence, run by a shell, print each number of its text."""
    env = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ':' + os.environ['PATH'])
    for name in ROWS:
        for cause in why(name)['causes']:
            for e in cause['evidence']:
                p = subprocess.run(['sh', '-c', e['command']], env=env, capture_output=True, text=True)
                assert p.returncode == 0, (e, p.stderr)
                for number in re.findall(r'\d[\d.]*(?:ns|us|ms|s)\b|\b\d+ (?:pieces|places?)\b', e['text']):
                    if 'assuming' not in e['text'] or not number.endswith('s'):
                        assert number in p.stdout, (e, number, p.stdout)


def costs_and_savings_are_told_apart():
    """If the places of a cause add up to more or less than is saved, the evidence explains it, in the text too."""
    said = set()
    for name in ROWS:
        for cause in why(name)['causes']:
            text = next(e['text'] for e in cause['evidence'] if e['id'].endswith('.places'))
            apart = cause['cost_ns'] - cause['saved_ns']
            kind = 'more than it saves' if apart > .1 * cause['saved_ns'] + 1 else \
                'it saves more' if -apart > .1 * cause['saved_ns'] + 1 else 'because'
            cases.equal(kind in text, kind != 'because', (name, cause['id'], text))
            said.add(kind)
    cases.equal(len(said), 3, said)
    assert 'more than it saves, because' in words_of('why', *files()['input_pipeline'])


def healthy_traces_have_matrix_products():
    """The share of matrix products in the verdict about a healthy trace is that of flops."""
    families = json.loads(run('flops', *files()['healthy'], '-output', 'json'))
    matrix = next(f['device_ns'] for f in families['families'] if f['family'] == 'matrix products')
    said = re.search(r'([\d.]+)% of their work is matrix products and attention', why('healthy')['verdict'])
    cases.equal(said[1], '%.1f' % (100 * matrix / sum(w['dur'] * 1000 for w in works_of(files()['healthy'][0]))), 'share')


def works_of(path):
    with open(path) as f:
        return [e for e in json.load(f)['traceEvents'] if e.get('cat') in ('kernel', 'gpu_memcpy')]


def folders_of_ranks():
    """A folder with the files of all ranks is one job: its slow rank is named, and its time compared with the median rank's."""
    folder = os.path.dirname(files()['slow_rank'][0])
    answer = json.loads(run('why', folder, '-output', 'json'))
    cases.equal({k: answer[k] for k in ('cause', 'ranks', 'window_ns')}, {k: why('slow_rank')[k] for k in ('cause', 'ranks', 'window_ns')}, 'folder')
    assert answer['verdict'].endswith(': rank 1') and all(w['name'].startswith('rank 1: ') for w in answer['causes'][0]['where']), answer['causes'][0]
    assert json.loads(run('summary', folder, '-output', 'json'))['cause'] == 'slow_rank'
    again = json.loads(run('why', made('slow_rank', 'recording')[0], '-output', 'json'))
    cases.equal((again['cause'], again['ranks']['ranks']), ('slow_rank', answer['ranks']['ranks']), 'recording')


def what_if_saves_the_same():
    """what-if cause:ID has the before and after of why."""
    for name in ROWS:
        answer = why(name)
        for cause in answer['causes']:
            if cause['id'] != 'warmup' and len(files()[name]) == 1:
                other = json.loads(run('what-if', *files()[name], 'cause:' + cause['id'], '-output', 'json'))
                cases.equal((other['before_ns'], other['before_ns'] - other['after_ns']),
                            (answer['window_ns'], cause['saved_ns']), name)


def steps_are_chosen():
    """-step examines one step; its commands name it."""
    answer = why('input_pipeline', '-step', '12')
    assert answer['of'] == 'step 12' and all(e['command'].endswith(' -step 12') for c in answer['causes'] for e in c['evidence']), answer
    answer = why('input_pipeline', '-step', '11,12..13')
    assert answer['of'] == 'the mean of 3 steps', answer
    assert all(e['command'].endswith(' -step 11,12..13') for c in answer['causes'] for e in c['evidence']), answer


def usage_errors_come_first():
    """Invalid ids and changes are usage errors, even if the file cannot be read."""
    with open('text.txt', 'w') as f:
        f.write('no trace')
    for words in (['why', '--cause=x'], ['why', '--fail-on=x'], ['what-if', 'cause:x'], ['what-if', 'kernel:a*1e9']):
        run(words[0], 'text.txt', *words[1:], status=2)
    run('why', 'text.txt', '--cause=allocation', status=3)


def gates():
    """--fail-on ends with 1 if the cause is found, or saves more than the time."""
    name = 'input_pipeline'
    saved = why(name)['causes'][0]['saved_ns']
    for rule, status in (('input_pipeline', 1), ('allocation', 0), ('input_pipeline>%dns' % saved, 0),
                         ('input_pipeline>%dns' % (saved - 1), 1), ('input_pipeline>1h', 0)):
        p = subprocess.run([PROGRAM, 'why', *files()[name], '--fail-on=' + rule], capture_output=True, text=True)
        assert p.returncode == status and ('is a cause (--fail-on=' + rule in p.stderr) == bool(status), (rule, p.stderr)
    p = subprocess.run([PROGRAM, 'why', *files()[name], '--fail-on=garbage_collection'], capture_output=True, text=True)
    assert p.returncode == 0 and 'note: --fail-on=garbage_collection: not judged: the file has no slices' in p.stderr, p.stderr
    path = written('none.json', launches([('cudaGraphLaunch', 100 + 20 * i, 5) for i in range(4)], [(0, 110, 9)]))
    doubtful(path, '3 of 4 graph launches')
    p = subprocess.run([PROGRAM, 'why', path, '--fail-on=slow_rank>1ms', '--fail-on=warmup'], capture_output=True, text=True)
    assert p.returncode == 1 and '--fail-on=slow_rank>1ms cannot be judged without a verdict' in p.stderr and 'No verdict: ' in p.stdout, p
    run('why', path, '--fail-on=slow_rank', '--allow-inconclusive')
    run('why', *files()[name], '--fail-on=' + name, '--allow-inconclusive', status=1)
    assert 'not a cause' in run('why', *files()[name], '--fail-on=inputs', status=2)
    assert 'not a time' in run('why', *files()[name], '--fail-on=allocation>much', status=2)
    assert 'not a cause' in run('why', *files()[name], '--cause=x', status=2)
    assert 'not a cause' in run('what-if', *files()[name], 'cause:x', status=2)
    assert 'combined' in run('what-if', *files()[name], 'cause:allocation', 'copy=0', status=2)
    assert 'its time is computed without a replay' in run('what-if', *files()[name], 'cause:warmup', status=2)


def outputs():
    """Markdown has the same causes; rows of data have one for each cause; one cause has all of its places."""
    md = run('why', *files()['launch_bound'], '-output', 'md')
    assert md.startswith('Launch-bound') and '1. launch_bound' in md and '`tfprof what-if' in md, md
    rows = why('launch_bound')['rows']
    lines = run('why', *files()['launch_bound'], '-output', 'csv').splitlines()
    assert lines[0] == ','.join(rows[0]) and len(lines) == 1 + len(rows) and lines[1].startswith('launch_bound,'), lines
    assert [(r['cause'], r['saved_ns'], r['place']) for r in rows] == [(c['id'], c['saved_ns'], c['where'][0]['name']) for c in why('launch_bound')['causes']]
    text = run('why', *files()['launch_bound'], '--cause=launch_bound', '--top=0')
    assert 'more places' not in text and '1. launch_bound' in text, text
    asked = why('launch_bound', '--cause=launch_bound')
    assert [c['id'] for c in asked['causes']] == ['launch_bound'], asked
    small = why('input_pipeline', '--cause=launch_bound')
    assert [c['id'] for c in small['causes']] == ['launch_bound'] and small['causes'][0]['saved_ns'] < .03 * small['window_ns'], small
    assert 'unfused_elementwise saves nothing' in run('why', *files()['input_pipeline'], '--cause=unfused_elementwise'), 'nothing'
    for name, reason in (('garbage_collection', 'the file has no slices'), ('host_contention', 'the file does not say when threads had no CPU')):
        text = words_of('why', *files()['healthy'], '--cause=' + name)
        assert name + ' is not judged: ' + reason in text and 'saves nothing' not in text, text
    text = run('why', *files()['healthy'])
    assert 'host_contention' not in text and 'garbage_collection' not in text and 'Next: tfprof kernels ' in text, text


def changed_ranks(change, which=(1,)):
    """Returns the files of slow_rank with changed events. change: function of the events and the rank."""
    paths = list(files()['slow_rank'])
    for rank in which:
        with open(paths[rank]) as f:
            trace = json.load(f)
        trace['traceEvents'] = change(trace['traceEvents'], rank)
        paths[rank] = 'changed%d.pt.trace.json' % rank
        with open(paths[rank], 'w') as f:
            json.dump(trace, f)
    return paths


def clocks_are_aligned():
    """A rank whose clock is 2 s ahead changes nothing; the clocks of the simulator are exact."""
    right = why('slow_rank')
    paths = changed_ranks(lambda events, _: [dict(e, ts=e['ts'] + 2e6) if 'ts' in e else e for e in events])
    answer = json.loads(run('why', *paths, '-output', 'json'))
    cases.equal(answer['ranks'], right['ranks'], 'ranks')
    cases.equal([(c['id'], c['saved_ns']) for c in answer['causes']], [(c['id'], c['saved_ns']) for c in right['causes']], 'causes')
    assert answer['ranks']['clock_spread_ns'] == answer['ranks']['unmatched'] == 0 < answer['ranks']['collectives'], answer['ranks']


def spans_are_no_ranks():
    """Processes without device work, such as that of the profiler's own spans in each PyTorch trace, are not ranks."""
    def with_spans(events, _):
        timed = [e for e in events if 'ts' in e]
        end = max(e['ts'] + e.get('dur', 0) for e in timed)
        return events + [{'ph': 'X', 'cat': cat, 'pid': pid, 'tid': tid, 'name': name, 'ts': timed[0]['ts'], 'dur': end - timed[0]['ts']}
                         for cat, pid, tid, name in (('Trace', 'Spans', 'PyTorch Profiler', 'PyTorch Profiler (0)'), ('cpu_op', 77, 77, 'worker'))]
    right = why('slow_rank')
    answer = json.loads(run('why', *changed_ranks(with_spans, range(len(files()['slow_rank']))), '-output', 'json'))
    cases.equal(answer['ranks'], right['ranks'], 'ranks')
    cases.equal([(c['id'], c['saved_ns'], c['where']) for c in answer['causes']],
                [(c['id'], c['saved_ns'], c['where']) for c in right['causes']], 'causes')


def silent_waits_leave_ranks_unjudged():
    """If no stream is known to wait for the communication of another one, ranks and communication are not judged, and the reason has the
    setting that records the waits."""
    def rank(seed):
        events = []
        for step in range(4):
            at, gemm = 10000 * step + 1000, 5000 + 3000 * seed
            events += [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % step, 'pid': 1, 'tid': 1, 'ts': at, 'dur': 9500}]
            for i, (name, stream, start, dur) in enumerate((('sgemm', 7, 20, gemm), ('ncclDevKernel_AllReduce_Sum', 20, 40 + gemm, 9000 - gemm))):
                events += [{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': at + 5 + 10 * i, 'dur': 5,
                            'args': {'correlation': 2 * step + i + 1}},
                           {'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 0, 'tid': stream, 'ts': at + start, 'dur': dur,
                            'args': {'correlation': 2 * step + i + 1, 'device': 0, 'stream': stream}}]
        return events
    paths = []
    for i in range(2):
        paths.append(written('silent%d.json' % i, rank(i)))
        with open(paths[i]) as f:
            content = dict(json.load(f), distributedInfo={'backend': 'nccl', 'rank': i, 'world_size': 2})
        with open(paths[i], 'w') as f:
            json.dump(content, f)
    answer = json.loads(run('why', *paths, '-output', 'json'))
    assert 'does not say what it waited for' in answer['verdict'] and answer['ranks']['ranks'] == 2, answer
    reasons = {g['id']: g['reason'] for g in answer['not_judged']}
    for name in ('slow_rank', 'unbalanced_ranks', 'exposed_communication'):
        assert 'enable_cuda_sync_events=True' in reasons[name], reasons
    alone = {g['id']: g['reason'] for g in json.loads(run('why', paths[0], '-output', 'json'))['not_judged']}
    assert 'only one rank' in alone['slow_rank'] and 'enable_cuda_sync_events=True' in alone['exposed_communication'], alone
    assert '2 ranks with 4 collectives in common, whose ends differ by 0ns (median) after the clocks were aligned' in words_of('why', *paths)


def collectives_of_a_step_are_matched_together():
    """A step of which a rank lacks a collective has no matches; its communication is counted."""
    def without_one(events, _):
        nccl = [e for e in events if e.get('cat') == 'kernel' and e['name'].startswith('nccl')]
        return [e for e in events if e is not nccl[0]]
    right = why('slow_rank')['ranks']
    answer = json.loads(run('why', *changed_ranks(without_one), '-output', 'json'))['ranks']
    per_step = (right['collectives'] - answer['collectives'])
    assert per_step > 0 and answer['unmatched'] == per_step * right['ranks'] - 1, (right, answer)


def contradicting_orders_end():
    """If ranks have two collectives in opposite orders, which is not possible but may be in a file, the replay ends."""
    per_step = why('slow_rank')['ranks']['collectives'] // 8

    def with_groups(events, rank):
        nccl = [e for e in events if e.get('cat') == 'kernel' and e['name'].startswith('nccl')]
        for i, e in enumerate(nccl):
            e['args'] = dict(e.get('args', {}), **{'Process Group Name': str(i % per_step if rank % 2 else per_step - 1 - i % per_step)})
        return events
    answer = json.loads(run('why', *changed_ranks(with_groups, range(len(files()['slow_rank']))), '-output', 'json'))
    assert per_step > 1 and answer['ranks']['collectives'] == 8 * per_step and answer['window_ns'] > 0, answer['ranks']


def ranks_are_missing():
    """Of one rank alone, slow and unbalanced ranks are not judged, and the communication is a bound."""
    answer = json.loads(run('why', files()['slow_rank'][0], '-output', 'json'))
    reasons = {g['id']: g['reason'] for g in answer['not_judged']}
    assert 'only one rank' in reasons['slow_rank'] and 'only one rank' in reasons['unbalanced_ranks'] and 'ranks' not in answer, answer
    assert answer['cause'] == 'exposed_communication' and answer['causes'][0]['bound'], answer
    assert not why('exposed_communication')['causes'][0]['bound']


def silent_communication_is_no_gap():
    """Without communication, ranks and communication are judged; so is communication that is not exposed, or for which its stream waits."""
    asked = ('exposed_communication', 'slow_rank', 'unbalanced_ranks')
    def gaps(*works):
        events = launches([('cudaLaunchKernel', 10 * i, 5) for i in range(len(works))], [(i, 1000 + at, length) for i, (_, _, at, length) in enumerate(works)])
        for e, (name, stream, _, _) in zip(events[len(works):], works):
            e.update(name=name, tid=stream, args=dict(e['args'], stream=stream))
        answer = json.loads(run('why', written('silent.json', events), '-output', 'json'))
        return [g['id'] for g in answer['not_judged'] if g['id'] in asked]
    ranks = ['slow_rank', 'unbalanced_ranks']
    cases.equal(sorted(gaps(('k', 7, 0, 900))), [], 'none')
    cases.equal(sorted(gaps(('k', 7, 0, 900), ('ncclDevKernel_AllReduce', 8, 100, 500))), ranks, 'hidden')
    cases.equal(sorted(gaps(('k', 7, 0, 900), ('ncclDevKernel_AllReduce', 8, 900, 500), ('k', 8, 1400, 900))), ranks, 'order of the stream')
    cases.equal(sorted(gaps(('k', 7, 0, 900), ('ncclDevKernel_AllReduce', 8, 900, 500), ('k', 7, 1500, 900))), sorted(asked), 'exposed')
    reason = next(g['reason'] for g in json.loads(run('why', 'silent.json', '-output', 'json'))['not_judged'] if g['id'] == asked[0])
    exposed = json.loads(run('devices', 'silent.json', '-output', 'json'))['devices'][0]['exposed_communication_ns']
    assert 'exposed for %.0fus per device' % (exposed / 1000) in reason, (reason, exposed)


def runs_are_compared():
    """The parts of the difference of two runs add up to it; text has the same rows, and one for the rest."""
    left, right = files()['healthy'][0], files()['input_pipeline'][0]
    answer = json.loads(run('why', left, right, '-output', 'json'))
    for key, side in (('left_ns', 'healthy'), ('right_ns', 'input_pipeline')):
        cases.equal((answer[key], sum(p[key] for p in answer['parts'])), (why(side)['window_ns'],) * 2, key)
    cases.equal(sum(p['difference_ns'] for p in answer['parts']), answer['right_ns'] - answer['left_ns'], 'difference')
    first = answer['parts'][0]
    assert first['cause'] == 'input_pipeline' and first['difference_ns'] > .99 * answer['difference_ns'], first
    assert 'mostly input_pipeline' in answer['verdict'] and 'longer' in answer['verdict'], answer
    saved = {c['cause']: c['right_ns'] for c in answer['causes']}
    cases.equal(saved['input_pipeline'], why('input_pipeline')['causes'][0]['saved_ns'], 'cause')
    text = run('why', left, right, '--top=1')
    assert '(%d more: --top=0)' % (len(answer['parts']) - 1) in text and '--as=' in text, text
    back = json.loads(run('why', right, left, '--as=runs', '-output', 'json'))
    cases.equal(back['difference_ns'], -answer['difference_ns'], 'the other way')
    shutil.copy(left, 'same.pt.trace.json')
    assert ' less: ' in back['verdict']
    assert re.match(r'A step takes as long in both runs: [0-9.]+ms\n', run('why', left, 'same.pt.trace.json'))


def differences_name_what_differs():
    """Parts that cancel are named; a part is "mostly" the difference only if they do not. Causes that no run has are not named. Runs
    without steps have no step times, and compute on the path is told apart from that of the devices."""
    def verdict(*paths):
        return json.loads(run('why', *paths, '--as=runs', '-output', 'json'))['verdict']
    loader, host, healthy = (files()[n][0] for n in ('input_pipeline', 'host_work', 'healthy'))
    said = verdict(loader, host)
    assert re.search(r'; input_pipeline \(-[0-9.]+ms\) and host_work \([+][0-9.]+ms\) (nearly|partly) cancel$', said), said
    for a, b in ((loader, host), (loader, healthy)):
        known = {c['id'] for p in (a, b) for c in json.loads(run('why', p, '-output', 'json'))['causes']}
        named = {x['cause'] for x in json.loads(run('why', a, b, '--as=runs', '-output', 'json'))['by_cause']} - {None}
        assert named and named <= known, (named, known)
    shorter, longer = (written('%d.json' % ns, launches([('cudaLaunchKernel', 0, 5)], [(0, 10, ns)])) for ns in (790, 900))
    assert verdict(shorter, longer) == (
        'No steps are marked: the lengths 800us and 910us can be compared only if both recordings do the same work'), verdict(shorter, longer)
    with open(loader) as f:
        stepless = written('stepless.json', [e for e in json.load(f)['traceEvents'] if 'ProfilerStep' not in e.get('name', '')])
    assert re.match('Only the first run has steps: the lengths [0-9.]+ms and [0-9.]+ms cannot be compared$', verdict(loader, stepless))
    assert re.search('devices compute for [0-9.]+ms per step in the first run and [0-9.]+ms in the second; the tables count', words_of('why', loader, host, '--as=runs'))


def suggestions_lead_on():
    """The commands that answers suggest (next of summary, Next of why, the commands of evidence) lead to other answers, and no chain of
    suggestions leads back to an answer that was read before."""
    folder = os.path.join(cases.ROOT, 'testdata', 'traces')
    samples = [files()[n][0] for n in ('input_pipeline', 'launch_bound', 'healthy', 'exposed_communication')] + [
        os.path.join(folder, n) for n in ('trace.xplane.pb', 'trace.pftrace', 'onnxruntime.json', 'rocprof_results.json')]
    env = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ':' + os.environ['PATH'])

    def suggested(command):
        summary, why_is_run = command.startswith('tfprof summary'), command.startswith('tfprof why')
        form = ' -output json' if summary else ' -output md' if why_is_run else ''
        p = subprocess.run(['sh', '-c', command + form], env=env, capture_output=True, text=True)
        assert p.returncode == 0, (command, p.stderr)
        return set(json.loads(p.stdout)['next'] if summary else re.findall('`(tfprof [^`]*)`', p.stdout) if why_is_run else
                   re.findall(r'^(?:Next: )?(tfprof .*)', p.stdout, flags=re.M))

    seen = {}

    def follow(command, path):
        assert command not in path, 'the suggestions lead in a circle: %s' % '\n'.join([*path, command])
        if command not in seen:
            seen[command] = suggested(command)
            for next_one in sorted(seen[command]):
                follow(next_one, [*path, command])
    for sample in samples:
        follow('tfprof summary ' + sample, [])
    assert len(seen) > 3 * len(samples) and any('--top=0' in c for c in seen), sorted(seen)


def longer_steps_are_not_slow():
    """First steps that are longer because they have more device work, as in a server, are not a warm-up. Time without work that the later steps
    do not have is one, and is named before the host work in it."""
    def trace(path, works, waits):
        events, at = [], 0
        for i, (work, wait) in enumerate(zip(works, waits)):
            events += [dict(e, args=dict(e['args'], correlation=i + 1)) for e in launches([('cudaLaunchKernel', at + wait + 1, 5)], [(0, at + wait + 10, work)])]
            events.append({'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % i, 'pid': 1, 'tid': 1, 'ts': at, 'dur': wait + work + 15})
            events.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::setup', 'pid': 1, 'tid': 1, 'ts': at + 1, 'dur': max(wait - 1, 0)})
            at += wait + work + 20
        return written(path, events)
    def found(*words):
        answer = json.loads(run('why', trace('steps.json', *words), '-output', 'json'))
        return [(c['id'], c['saved_ns'], [w['ns'] for w in c['where']]) for c in answer['causes'] if c['id'] == 'warmup'], answer['cause']
    cases.equal(found((9000, 6000, 2000, 3000, 2000, 4000, 2000), (0,) * 7)[0], [], 'more work')
    warm, cause = found((2000, 2000, 2000, 2000, 2000, 2000), (3000, 1500, 0, 0, 0, 0))
    (_, saved, places), = warm
    assert cause == 'warmup' and sum(places) == saved and abs(saved - 750000) < 5000 and abs(places[1] - 250000) < 5000, warm
    run('why', trace('steps.json', (2000,) * 6, (3000, 1500, 0, 0, 0, 0)))
    assert 'warmup=3), or leave the first steps out (-step 2..5).' in words_of('why', 'steps.json')
    cases.equal(found((2000,) * 6, (3000, 0, 0, 3000, 0, 0))[1], 'host_work', 'later waits')


def notes_are_printed_where_they_matter():
    """Notes about work without an op are printed, and stored in documents, with answers that name ops of device work, if it is 1 % of the
    work or more; with summary always. Notes about the numbers themselves are printed with every answer."""
    def said(path, *words):
        p = subprocess.run([PROGRAM, words[0], path, *words[1:]], capture_output=True, text=True)
        assert p.returncode == 0, p.stderr
        doc = subprocess.run([PROGRAM, words[0], path, *words[1:], '-output', 'json'], capture_output=True, text=True)
        notes = [n for n in p.stderr.splitlines() if n.startswith('note: ')]
        assert all(n in doc.stderr for n in notes) and len(json.loads(doc.stdout)['warnings']) == len(notes), (notes, doc.stdout[:500])
        return ['no op' if 'no op' in n else 'clamped' for n in notes]
    def trace(path, without, dur=5):
        op = {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': 0, 'dur': 9}
        return written(path, launches([('cudaLaunchKernel', 1, dur), ('cudaLaunchKernel', 20, 5)], [(0, 30, 1000), (1, 1040, without)]) + [op])
    much, little, clamped = trace('much.json', 20), trace('little.json', 5), trace('clamped.json', 20, -5)
    for command, ops in (('why', False), ('idle', False), ('critical', False), ('steps', False), ('devices', False), ('op', True), ('kernels', True)):
        cases.equal((command, said(much, command), said(little, command)), (command, ['no op'] * ops, []), 'notes')
        cases.equal((command, 'clamped' in said(clamped, command)), (command, True), 'clamped')
    cases.equal((said(much, 'summary'), said(little, 'summary')), (['no op'],) * 2, 'summary')


def different_programs_are_compared_with_a_warning():
    """Two runs that have few kernels and ops in common get a warning first, instead of a difference; diff has a note. Two runs of one
    program get none, whatever their batch sizes."""
    steps = [('ProfilerStep#%d' % i, 1000 * i, 990) for i in range(3)]

    def program(path, kernel, op, lengths):
        events = [{'ph': 'X', 'cat': 'user_annotation', 'name': name, 'ts': at, 'dur': length, 'pid': 1, 'tid': 1} for name, at, length in steps]
        events.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::empty', 'ts': 3, 'dur': 2, 'pid': 1, 'tid': 1})
        for i in range(3):
            events += launches([('cudaLaunchKernel', 1000 * i + 20 + 200 * k, 5) for k in range(len(lengths))],
                               [(k, 1000 * i + 30 + 200 * k, ns) for k, ns in enumerate(lengths)])
            for k, e in enumerate(events[-2 * len(lengths):]):
                e['args']['correlation'] += 100 * i
                if e['cat'] == 'kernel':
                    e['name'] = kernel % (k % len(lengths))
                else:
                    events.append({'ph': 'X', 'cat': 'cpu_op', 'name': op, 'ts': e['ts'] - 2, 'dur': 9, 'pid': 1, 'tid': 1})
        return written(path, events)
    one = program('one.json', 'void gemm_%d<float>(float*)', 'aten::mm', [100, 100, 10])
    wider = program('wider.json', 'void gemm_%d<float>(float*)', 'aten::mm', [180, 180, 90])
    other = program('other.json', 'void conv_%d<float>(float*)', 'aten::conv2d', [100, 100])
    mixed = program('mixed.json', 'void conv_%d<float>(float*)', 'aten::mm', [100, 100])
    for right, common in ((wider, 1), (other, 0), (mixed, 1)):
        answer = json.loads(run('why', one, right, '--as=runs', '-output', 'json'))
        cases.equal((answer['common_share'], 'The runs probably do different work' in answer['verdict']), (common, common == 0), right)
    assert words_of('why', one, other, '--as=runs').startswith(
        'The runs probably do different work: kernels and ops that both have take 0.0% of their device time. A step takes '), 'text'
    parts = []
    for path in (one, other):
        with open(path) as f:
            parts.append(written('part_of_' + path, [e for e in json.load(f)['traceEvents'] if not e['name'].startswith('ProfilerStep')]))
    assert re.search('The examined part takes [0-9.]+ms in the first run and ', words_of('why', *parts, '--as=runs')), 'without steps'
    first, second = ('%s/%s' % (HOME.name, n) for n in ('left', 'right'))
    for path, own, shared in ((first, 'aten::mm', 10), (second, 'aten::conv2d', 12)):
        events = launches([('cudaLaunchKernel', 20, 5), ('cudaLaunchKernel', 500, 5)], [(0, 30, 400), (1, 510, shared)])
        events += [{'ph': 'X', 'cat': 'cpu_op', 'name': name, 'ts': at, 'dur': 9, 'pid': 1, 'tid': 1} for name, at in ((own, 18), ('aten::add', 498))]
        written(path, events)
    note = 'note: A and B are probably different programs: nodes of both have '
    for metric, right, told in (('micros', second, True), ('micros', first, False), ('occurrence', second, False)):
        p = subprocess.run([PROGRAM, 'diff', first, right, '-select', metric], capture_output=True, text=True)
        SAID.add(' '.join((p.stdout + p.stderr).split()))
        cases.equal((p.returncode, note in p.stderr), (0, told), (metric, right, p.stderr))


def differences_have_causes():
    """The times by cause come first and add up to the steps, in the text too; each part is of one cause or kind. Lines are short."""
    for left, right in (('healthy', 'launch_bound'), ('healthy', 'layout_conversion'), ('allocation', 'host_work'), ('healthy', 'host_copies')):
        paths = files()[left] + files()[right]
        answer = json.loads(run('why', *paths, '-output', 'json'))
        for key in ('left_ns', 'right_ns', 'difference_ns'):
            cases.equal(sum(x[key] for x in answer['by_cause']), answer[key], (left, right, key))
            for x in answer['by_cause']:
                parts = [p for p in answer['parts'] if (p['cause'], None if p['cause'] else p['kind']) == (x['cause'], x['kind'])]
                cases.equal(sum(p[key] for p in parts), x[key], (left, right, x))
        most = max(answer['by_cause'], key=lambda x: x['difference_ns'])
        assert most['cause'] == right and most['difference_ns'] > .5 * answer['difference_ns'], (left, right, most)
        text = run('why', *paths)
        assert text.index('Time on the critical path') < text.index('\nstep ') < text.index('Ops, kernels and calls'), text
        assert max(map(len, text.split('\n'))) <= 80, text


def judged(left, right, *rules, words=()):
    """Returns the gates of a comparison, by rule."""
    p = subprocess.run([PROGRAM, 'diff', left, right, *(w for r in rules for w in ('--gate', r)), *words, '-output', 'json'], capture_output=True,
                       text=True)
    found = {g['rule']: g for g in json.loads(p.stdout)['gates']}
    cases.equal(p.returncode, int(any(g['result'] != 'holds' for g in found.values())), (rules, p.stderr))
    return found


def gates_of_steps():
    """Gates name the step time, idle time, exposed communication, kernels and causes; their numbers are those of steps and why."""
    left, right = files()['healthy'][0], files()['input_pipeline'][0]
    rules = 'step_time<+5%', 'idle<+1ms', 'kernels<=+100', 'exposed_communication<=+0', 'input_pipeline<+1ms', 'launch_bound<+1ms', 'garbage_collection<1ms'
    found = judged(left, right, *rules)
    cases.equal([found[r]['result'] for r in rules], ['fails', 'fails', 'holds', 'holds', 'fails', 'holds', 'inconclusive'], found)
    assert 'no slices of the garbage collector' in found[rules[-1]]['text'], found
    steps = json.loads(run('steps', right, '-output', 'json', '--top=0'))['steps']
    for rule, ns in (('step_time>%dns', sum(s['duration_ns'] for s in steps)), ('idle>%dns', sum(s['idle_ns'] for s in steps))):
        found = judged(left, right, *(rule % (ns // len(steps) + by) for by in (-1000, 1000)))
        cases.equal([g['result'] for g in found.values()], ['holds', 'fails'], (rule, ns, found))
    saved = why('input_pipeline')['causes'][0]['saved_ns']
    found = judged(left, right, *('input_pipeline>%dns' % (saved + by) for by in (-1000, 1000)))
    cases.equal([g['result'] for g in found.values()], ['holds', 'fails'], found)
    one = judged(right, right, 'step_time<+5%', 'kernels<=+0', words=('-step', '12'))
    cases.equal([g['result'] for g in one.values()], ['inconclusive', 'holds'], one)
    with open(right) as f:
        kernels = sum(e.get('cat') == 'kernel' for e in json.load(f)['traceEvents'])
    found = judged(left, right, *('kernels>%d' % (kernels // len(steps) + by) for by in (-1, 1)))
    cases.equal([g['result'] for g in found.values()], ['holds', 'fails'], found)


def ranks_and_runs_are_told_apart():
    """Files that name different ranks are one job, unless --as says otherwise."""
    paths = files()['slow_rank'][:2]
    assert 'A step of the second run' in words_of('why', *paths, '--as=runs') and '2 ranks' in words_of('why', *paths)
    assert 'the files have no collective in common' in words_of('why', *files()['healthy'], *files()['input_pipeline'], '--as=ranks')
    assert 'two files expected' in run('why', files()['healthy'][0], '--as=runs', status=2)
    for option in ('--cause=allocation', '--fail-on=allocation'):
        assert 'applies to one run' in run('why', *paths, '--as=runs', option, status=2)


def waits_for_unknown_events_are_noted():
    """why and what-if call the same answers rough estimates, and note the waits whose event the file does not name."""
    path = writers.write_kineto(corpus.Case('x', 0, planted.rows()['exposed_communication']).run, '.', sync=False)[0]
    run('why', path)
    for words in (['why', path], ['what-if', path, 'host*0.5']):
        p = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
        cases.equal((p.returncode, 'ough estimate' in ' '.join(p.stdout.split()), 'whose event the file does not identify' in p.stderr), (0, True, True), words[0])


def communication_notes_what_it_includes():
    """what-if notes that less communication also removes waits for other ranks, and if the file lacks the work that waits for it."""
    def notes(path, change):
        said = subprocess.run([PROGRAM, 'what-if', path, change], capture_output=True, text=True).stderr
        return 'an upper bound' in said, 'which work waits for most of the communication' in said
    known = writers.write_kineto(corpus.Case('x', 0, planted.rows()['exposed_communication']).run, '.')[0]
    events = launches([('cudaLaunchKernel', 10 * i, 5) for i in range(3)], [(0, 1000, 900), (1, 1900, 500), (2, 2500, 900)])
    events[4].update(name='ncclDevKernel_AllReduce', tid=8, args=dict(events[4]['args'], stream=8))
    unknown = written('unknown.json', events)
    for change in ('communication=0', 'communication*0.5'):
        cases.equal((notes(known, change), notes(unknown, change)), ((True, False), (True, True)), change)
    cases.equal((notes(unknown, 'communication*2'), notes(unknown, 'kernel:nccl.*=0')), ((False, False),) * 2, 'other changes')


def launches(calls, works):
    """Returns events of calls [(name, start, length)] on a thread and of kernels [(call, start, length)]; times in us."""
    return [{'ph': 'X', 'cat': 'cuda_runtime', 'name': name, 'pid': 1, 'tid': 1, 'ts': start, 'dur': length, 'args': {'correlation': i + 1}}
            for i, (name, start, length) in enumerate(calls)] + [
        {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': start, 'dur': length,
         'args': {'correlation': call + 1, 'device': 0, 'stream': 7}} for call, start, length in works]


def doubtful(path, reason):
    """Asserts that a file has no verdict, for a reason, and no cause, in all outputs."""
    answer = json.loads(run('why', path, '-output', 'json'))
    assert answer['cause'] == 'unknown' and not answer['causes'] and reason in answer['verdict'], (path, answer['verdict'], answer['causes'])
    assert not re.search(r'\bidle\b', answer['verdict']), answer['verdict']
    assert run('why', path, '--top=0').startswith('No verdict: ') and json.loads(run('summary', path, '-output', 'json'))['cause'] == 'unknown', path


def written(name, events):
    with open(name, 'w') as f:
        json.dump({'schemaVersion': 1, 'traceEvents': events}, f)
    return name


def gaps_before_unrecorded_launches():
    """On one stream, the gaps of the path are the idle time of these causes; a note states the part before work without a launch."""
    works = [(0, 10, 20), (1, 31, 20), (7, 52, 20), (8, 73, 20), (1, 95, 20)]  # calls 7 and 8 are not in the file
    path = written('unrecorded.json', launches([('cudaLaunchKernel', 0, 5), ('cudaLaunchKernel', 5, 5)], works))
    kinds = {k['kind']: k['ns'] for k in json.loads(run('critical', path, '-output', 'json'))['kinds']}
    causes = {c['cause']: c['ns'] for c in json.loads(run('idle', path, '-output', 'json'))['devices'][0]['causes']}
    assert causes['unknown_launch'] == 2000 and causes['kernel_gap'], causes
    cases.equal(kinds['kernel_gap'] + kinds.get('not_known', 0), causes['kernel_gap'] + causes.get('unknown_wait', 0) + 2000, (kinds, causes))
    cases.equal(kinds['kernel_gap'] > causes['kernel_gap'], True, (kinds, causes))
    notes = [subprocess.run([PROGRAM, 'critical', *words], capture_output=True, text=True).stderr for words in ([path], files()['input_pipeline'])]
    assert '2.00us of the gaps and waits on the path are before work whose launch is not recorded; idle lists' in ' '.join(notes[0].split()), notes
    assert 'is not recorded' not in notes[1], notes


def no_work_and_graphs_without_work():
    """Without device work, and with graph launches without work, there is no verdict."""
    answer = json.loads(run('why', written('host.json', [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::add', 'pid': 1, 'tid': 1, 'ts': 10, 'dur': 5}]),
                            '-output', 'json'))
    assert answer['cause'] == 'unknown' and 'no device work' in answer['verdict'], answer
    doubtful(written('graph.json', launches([('cudaGraphLaunch', 100 + 20 * i, 5) for i in range(4)], [(0, 110, 9)])), '3 of 4 graph launches')
    if built.has(PROGRAM, 'sqlite'):
        doubtful(made('graph_as_one_slice', 'nsys')[0], 'recorded as one slice')


def truncated_files_are_named():
    """A cut that removes all device work is the reason for no verdict, instead of advice about settings."""
    with open(files()['healthy'][0]) as f:
        trace = json.load(f)
    work = ('kernel', 'gpu_memcpy', 'gpu_memset', 'cuda_sync')
    trace['traceEvents'].sort(key=lambda e: e.get('cat') in work)
    text = json.dumps(trace)
    at = text.index(json.dumps(next(e for e in trace['traceEvents'] if e.get('cat') in work)))
    with open('cut.json', 'w') as f:
        f.write(text[:at + 5])
    verdict = words_of('why', 'cut.json')
    assert verdict.startswith('No verdict: the file is truncated') and 'activities' not in verdict, verdict


def ops_on_the_cpu_are_named():
    """A trace of ops without any trace of a device is of a program on the CPU: the operation types with the most host time are listed, as in
    summary. Settings that record devices are named only if the file lists a device or has calls of its driver."""
    ops = [{'ph': 'X', 'cat': 'cpu_op', 'name': name, 'pid': 1, 'tid': 1, 'ts': at, 'dur': dur}
           for name, at, dur in (('aten::mm', 10, 30), ('aten::relu', 50, 10), ('aten::mm', 70, 20))]
    path = written('cpu.json', ops)
    text = run('why', path)
    assert text.startswith('No verdict: the file has no device work: its ops ran on the CPU\n') and 'Next: tfprof top cpu.json\n' in text, text
    rows = [' '.join(line.split()) for line in run('summary', path).split('\n') if 'aten::mm' in line]
    assert rows[0].startswith('50.0us 83.33% 2') and rows[0] in words_of('why', path), (rows, text)
    assert 'activities=' not in text and json.loads(run('why', path, '-output', 'json'))['cause'] == 'unknown'
    frames = [{'ph': 'X', 'cat': 'python_function', 'name': 'torch/cuda/__init__.py(120): is_available', 'pid': 1, 'tid': 1, 'ts': 5, 'dur': 2}]
    for files in [written('frames.json', ops + frames)], [path, written('rank1.json', ops), '--as=ranks']:
        text = run('why', *files)
        assert 'ran on the CPU\n' in text and 'aten::mm' in text and 'Next: tfprof top %s\n' % ' '.join(files[:2]) in text, text
    with open('gpu.json', 'w') as f:
        json.dump({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU'}], 'traceEvents': ops}, f)
    for with_device in ('gpu.json', written('calls.json', ops + launches([('cudaMalloc', 100, 5)], []))):
        text = words_of('why', with_device)
        assert 'activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]' in text and 'ran on the CPU' not in text, text


def made(name, form):
    """Returns the files of the first trace of a row of the corpus."""
    return next(corpus.cases({name: dict(planted.rows()[name], seeds=1)})).write(form, os.path.join(HOME.name, name + form), MAKE)


def wrong_replays():
    """Work that waits for something that is not in the file, for so long that the error of the replay is large, has no verdict."""
    calls = [('cudaLaunchKernel', 0, 5)] + [('cudaLaunchKernel', 45000 + 10 * i, 5) for i in range(50)]
    works = [(0, 10, 20)] + [(i + 1, 46000 + 1400 * i, 1400 if i % 2 else 100) for i in range(50)]
    doubtful(written('wrong.json', launches(calls, works)), 'the error of the replay is')


def first_calls_are_start_up():
    """The first call, if it takes most of the time, is named as start-up; a later call that takes as long is not."""
    for long_one, first in ((0, True), (5, False)):
        starts = [20000 * (i > long_one) + 100 * i for i in range(10)]
        calls = [('cudaLaunchKernel', at, 20000 if i == long_one else 5) for i, at in enumerate(starts)]
        path = written('first%d.json' % long_one, launches(calls, [(i, at + length + 5, 10) for i, (_, at, length) in enumerate(calls)]))
        cause = json.loads(run('why', path, '-output', 'json'))['causes'][0]
        text = run('why', path)
        cases.equal((cause['id'], 'after a warm-up' in cause['advice'], ': first call 20.0ms' in text, 'first calls take 20.0ms' in text and text.startswith('Start-up: first calls take 20.0ms of the trace of ')),
                    ('host_work', first, first, first), (long_one, text))
        cases.equal((cause.get('first_calls_ns'), [w['first_call_ns'] for w in cause['where'] if 'first_call_ns' in w]),
                    (20000000, [20000000]) if first else (None, []), 'document')
    at = [20000 * (i > 0) + 40 * i for i in range(10)]
    events = launches([('cudaMalloc', t, 20000 if i == 0 else 5) for i, t in enumerate(at)] + [('cudaLaunchKernel', 20010 + t % 20000, 5) for t in at],
                      [(10 + i, 20020 + t % 20000, 10) for i, t in enumerate(at)])
    cause = json.loads(run('why', written('malloc.json', events), '-output', 'json'))['causes'][0]
    cases.equal((cause['id'], cause['advice']), ('allocation', 'Profile after a warm-up: most of this time is first calls, which create contexts.'), cause)


def unknown_waits_that_remain_are_said():
    """If most of what remains without a cause is waits that the file does not explain, the evidence says how long they are, and so does
    what-if."""
    calls = [('cudaLaunchKernel', 1000 * i, 5) for i in range(20)]
    works = [(i, 1000 * i + 10, 10) for i in range(20)]
    calls += [('cudaLaunchKernel', 19100, 5)]
    path = written('remain.json', launches(calls, works + [(20, 24000, 1000)]))
    evidence = json.loads(run('why', path, '-output', 'json'))['causes'][0]['evidence'][0]
    said = re.search(r'becomes [0-9.]+ms, of which ([0-9.]+ms) are waits whose cause is not in the file', evidence['text'])
    after = re.search(r'wait, cause not in the file +[0-9.]+[mu]s +([0-9.]+ms)', run(*evidence['command'].split()[1:]))
    assert said and after and said[1] == after[1], (evidence, after)
    assert 'of which' not in why('input_pipeline')['causes'][0]['evidence'][0]['text']


def later_calls_are_not_start_up():
    """A call that is as slow as the first one in the file does not count as start-up, also if the device did not wait for the first one, or it is
    in another step."""
    calls, ops = [('cudaLaunchKernel', 10, 5), ('cudaLaunchKernel', 20200, 5)], [(100, 20000)]
    ops += [(40200, 20000)] + [(60300 + 1600 * i, 1500) for i in range(5)]
    calls += [('cudaLaunchKernel', at + length + 10, 5) for at, length in ops[1:]]
    events = launches(calls, [(0, 20, 30000), (1, 30020, 10)] + [(i, calls[i][1] + 6, 10) for i in range(2, len(calls))])
    events += [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::slow', 'pid': 1, 'tid': 1, 'ts': at, 'dur': length} for at, length in ops]
    events += [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % i, 'pid': 1, 'tid': 1, 'ts': at, 'dur': length}
               for i, at, length in ((1, 0, 40100), (2, 40100, 30000))]
    text = run('why', written('later.json', events))
    assert text.startswith('Host-bound') and 'op aten::slow' in text and 'first call' not in text, text


def time_without_a_cause_is_said():
    """The host time of the path that is in no cause is stated if it is more than 3 % of the step."""
    calls = [('cudaLaunchKernel', 0, 5), ('cudaLaunchKernel', 5000, 5), ('cudaDeviceSynchronize', 6000, 14000), ('cudaLaunchKernel', 30000, 5)]
    events = launches(calls, [(0, 10, 4000), (1, 5010, 14985), (3, 30010, 500)])
    events.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::tail', 'pid': 1, 'tid': 1, 'ts': 30100, 'dur': 900})
    events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaStreamSynchronize', 'pid': 1, 'tid': 1, 'ts': 31000, 'dur': 1500})
    path = written('rest.json', events)
    answer, text = json.loads(run('why', path, '-output', 'json')), ' '.join(run('why', path).split())
    assert answer['no_cause_ns'] > .03 * answer['window_ns'], answer
    said = re.search(r'; [0-9.]+[mu]s of host time on the critical path belong to no cause above 3%, ([0-9.]+[mu]s) of them in aten::tail', text)
    assert said and answer['no_cause_longest'] == 'aten::tail', text
    row = re.search(r'([0-9.]+[mu]s) +[0-9.]+% +[0-9]+ +aten::tail', run('critical', path))
    cases.equal(said.group(1), row and row.group(1), 'time of the longest call without a cause')
    for name in ('healthy', 'input_pipeline'):
        said = 'belong to no cause' in words_of('why', *files()[name])
        cases.equal(said, why(name)['no_cause_ns'] > .03 * why(name)['window_ns'], name)


def long_names_are_cut():
    """Text cuts names of places above 180 bytes at the end, in whole letters, unless one cause is asked for."""
    name = 'x' * 176 + '\u00e9' + 'y' * 100
    calls = [('cudaLaunchKernel', 0, 5), ('cudaLaunchKernel', 20000, 5), ('cudaDeviceSynchronize', 20010, 15000)]
    events = launches(calls, [(0, 10, 4000), (1, 20010, 14985)])
    events.append({'ph': 'X', 'cat': 'cpu_op', 'name': name, 'pid': 1, 'tid': 1, 'ts': 10, 'dur': 19980})
    path = written('long_name.json', events)
    text, whole = (''.join(run('why', path, *words).split()) for words in ([], ['--cause=host_work']))
    assert 'op' + 'x' * 176 + '...' in text and name not in text and name in whole, text


def steady(calls, gap, length, name='cudaLaunchKernel'):
    """Returns a file of calls that launch a kernel each, after gaps without slices; times in us."""
    at = [gap * i for i in range(calls)]
    return written('steady.json', launches([(name, t, 5) for t in at], [(i, t + 10, length) for i, t in enumerate(at)]))


def small_causes_do_not_name_the_verdict():
    """If devices compute for most of the time, a cause that saves less than 20 % does not become the verdict."""
    for length, verdict in ((900, 'Compute-bound: devices compute for 91.'), (700, 'Launch-bound: ')):
        answer = json.loads(run('why', steady(50, 990, length), '-output', 'json'))
        assert answer['cause'] == 'launch_bound' and answer['verdict'].startswith(verdict), answer['verdict']
    assert ', mostly in k; launching short kernels one by one lengthens it by ' in words_of('why', steady(50, 990, 900))


def unknown_host_time_is_called_unknown():
    """Time outside of all slices has an unknown cause. The time before launches of graphs is not that of launching kernels one by one."""
    for name, gap, advice in (('cudaLaunchKernel', 5000, 'with_stack'), ('cudaGraphLaunch', 500, 'with_stack')):
        answer = json.loads(run('why', steady(50, gap, 100, name), '-output', 'json'))
        cases.equal((answer['cause'], answer['causes'][0]['where'][0]['name']), ('host_work', 'outside of all slices'), answer['verdict'])
        assert answer['verdict'].startswith('Host-bound, cause unknown: host work, most of it outside of all slices, lengthens the trace of '), answer['verdict']
        assert advice in answer['causes'][0]['advice'], answer['causes'][0]['advice']
    assert answer['causes'][0]['evidence'][1]['text'].count('in 2 places'), answer['causes'][0]['evidence']
    text = run('why', os.path.join(cases.ROOT, 'testdata', 'graphs', 'replay.pt.trace.json'))
    assert '1. host_work' in text and 'torch.cuda.graph' not in text and text.count('--cause=graph_starts') == 1, text


def contention_is_listed_beside_host_time():
    """If host time is a cause, waits for a CPU are listed as not judged, with the setting that records them."""
    for name, listed in (('launch_bound', True), ('host_work', True), ('input_pipeline', False)):
        said = re.search(r'host_contention: the file does not say when threads had no CPU; .*--cpuctxsw=process-tree', words_of('why', *files()[name]))
        causes = {c['id'] for c in why(name)['causes']}
        cases.equal(said is not None, bool(causes & {'host_work', 'launch_bound'}), (name, causes))
        assert not listed or said, name


def places_of_several_threads_are_summed():
    """The evidence says over how many threads the places are summed."""
    events = launches([('cudaLaunchKernel', 5000 * i, 5) for i in range(40)], [(i, 5000 * i + 10, 100) for i in range(40)])
    for i, e in enumerate(events):
        e['tid'] += i % 2
    text = words_of('why', written('threads.json', events))
    assert 'summed over 2 threads' in text, text


def advice_fits_the_place():
    """For a loader in the main process, the advice is to use workers. Driver calls cannot be moved to another thread."""
    with open(files()['input_pipeline'][0]) as f:
        events = json.load(f)['traceEvents']
    for e in events:
        e['name'] = e['name'].replace('_MultiProcessingDataLoaderIter', '_SingleProcessDataLoaderIter')
    cause = json.loads(run('why', written('loader.json', events), '-output', 'json'))['causes'][0]
    assert cause['id'] == 'input_pipeline' and 'num_workers=0' in cause['advice'], cause
    calls = [('cudaLaunchKernel', 3100 * i, 3000) for i in range(40)]
    cause = json.loads(run('why', written('calls.json', launches(calls, [(i, 3100 * i + 3005, 80) for i in range(40)])), '-output', 'json'))['causes'][0]
    cases.equal((cause['id'], cause['where'][0]['kind'], cause['advice'].startswith('cudaLaunchKernel: a launch takes long if')), ('host_work', 'call', True), cause)
    for call, advice in (('cudaMemcpyAsync', 'pinned memory'), ('cudaModuleLoadData', 'loads code'), ('cudaLibraryLoadData', 'loads code'),
                         ('cudaDeviceGetAttribute', 'keep its result')):
        slow = [(call, 3100 * i, 3000) for i in range(40)]
        events = launches(slow + [('cudaLaunchKernel', at + 3020, 5) for _, at, _ in slow], [(40 + i, 3100 * i + 3030, 60) for i in range(40)])
        cause = json.loads(run('why', written('calls.json', events), '-output', 'json'))['causes'][0]
        assert cause['id'] == 'host_work' and cause['advice'].startswith(call + ': ') and advice in cause['advice'], cause


def unequal_steps_are_named():
    """If a step is twice as long as another, the answer says between which lengths the steps are."""
    with open(files()['input_pipeline'][0]) as f:
        events = json.load(f)['traceEvents']
    assert 'the steps take from' not in words_of('why', *files()['input_pipeline'])
    marks = sorted((e for e in events if e['name'].startswith('ProfilerStep')), key=lambda e: e['ts'])
    events = [e for e in events if e not in marks[1:4]]
    text = words_of('why', written('unequal.json', events))
    assert re.search(r'the mean of 5 steps: [^;]*; the steps take from [0-9.]+ms to [0-9.]+ms by marks, '
                     r'from [0-9.]+ms to [0-9.]+ms by the device\'s work: -step N examines one', text), text


def steps_without_work_are_left_out():
    """Steps without device work are left out if others have some, unless -step names them; the answers say how many have some."""
    with open(files()['input_pipeline'][0]) as f:
        events = json.load(f)['traceEvents']
    marks = [e for e in events if e['name'].startswith('ProfilerStep')]
    end = max(e['ts'] + e['dur'] for e in events if 'dur' in e)
    empty = [dict(marks[0], name='ProfilerStep#%d' % (900 + i), ts=end + 100 * i + 10, dur=50) for i in range(len(marks) + 3)]
    path, said = written('empty.json', events + empty), '(%d of %d steps have device work)' % (len(marks), len(marks) + len(empty))
    whole, other = (json.loads(run('why', p, '-output', 'json')) for p in (files()['input_pipeline'][0], path))
    cases.equal([other[k] for k in ('verdict', 'step_ns', 'window_ns')], [whole[k] for k in ('verdict', 'step_ns', 'window_ns')], 'why')
    assert said in words_of('why', path) and said in words_of('what-if', path, 'host*0.5'), words_of('why', path)
    text = words_of('critical', path)
    assert ' of %d steps with device work: ' % len(marks) in text and json.loads(run('critical', path, '-output', 'json'))['kinds'][0]['ns'], text
    assert 'Critical path of step 900: 50.0us' in run('critical', path, '-step', '900')
    one = written('one.json', [e for e in events if e not in marks[1:]] + empty[:1])
    assert 'step %s (1 of 2 steps has device work): ' % marks[0]['name'].split('#')[1] in words_of('why', one), words_of('why', one)
    assert ', the only one of 2 steps with device work: ' in words_of('critical', one)
    ranked = [json.loads(run('what-if', p, '--each=kernel', '-output', 'json'))['savings'] for p in (files()['input_pipeline'][0], path)]
    cases.equal(*ranked)
    note = 'note: the numbers are means of all %d steps; %d of them have no device work, and steps, why and summary leave them out (-step chooses)' % (
        len(marks) + len(empty), len(empty))
    for command in ('op', 'scope', 'top'):
        p = subprocess.run([PROGRAM, command, path], capture_output=True, text=True)
        assert note in p.stderr, (command, p.stderr)
        for words in ([path, '-step', '900'], [files()['input_pipeline'][0]]):
            p = subprocess.run([PROGRAM, command, *words], capture_output=True, text=True)
            assert 'the numbers are means' not in p.stderr, (command, words, p.stderr)


def costly_verdicts_are_left_out():
    """summary says that it has no verdict if there are more devices than it examines, and names the command that has one."""
    work = launches([('cudaLaunchKernel', 10 * i, 5) for i in range(65)], [(i, 10 * i + 6, 900) for i in range(65)])
    for i, e in enumerate(work[65:]):
        e.update(pid=100 + i, args=dict(e['args'], device=i))
    path = written('many.json', work)
    text = words_of('summary', path)
    assert text.startswith('verdict not in this summary, because it takes long') and 'tfprof why many.json' in text, text
    assert 'cause' not in json.loads(run('summary', path, '-output', 'json')) and 'not in this summary' not in run('summary', files()['healthy'][0])


def copies(memory, launched, kernel=500):
    """Returns a file of 20 copies, each followed by a kernel of a length in us; only the first copies are launched by calls."""
    calls = [('cudaMemcpyAsync' if i % 2 == 0 else 'cudaLaunchKernel', 10 * i, 5) for i in range(40)]
    events = launches(calls, [(i, 1000 + i // 2 * (500 + kernel) + i % 2 * 500, kernel if i % 2 else 500) for i in range(40)])
    for i, e in enumerate(events[40:]):
        if i % 2 == 0:
            e.update(cat='gpu_memcpy', name='Memcpy HtoD (%s -> Device)' % memory, args=dict(e['args'], bytes=1 << 20))
    return written('copies.json', [e for i, e in enumerate(events) if i >= 40 or i % 2 or i < 2 * launched])


def pinned_copies_are_not_to_be_pinned():
    """The advice about copies depends on their memory. Work without a launch is noted, and then the saved time is not a
    bound."""
    for memory, launched, advice, bound in (('Pinned', 20, 'pinned already', True), ('Pinned', 5, 'pinned already', False),
                                            ('Pageable', 20, 'pin_memory=True', False)):
        path = copies(memory, launched)
        cause = json.loads(run('why', path, '-output', 'json'))['causes'][0]
        cases.equal((cause['id'], advice in cause['advice'], cause['bound']), ('host_copies', True, bound), (memory, cause))
        texts = ' '.join(e['text'] for e in cause['evidence'])
        cases.equal(('100.0% of the copy time is for pinned memory' in texts, 'has no launch in the file' in texts),
                    (memory == 'Pinned', launched < 20), texts)
    text = ' '.join(run('why', copies('Pinned', 20, 100)).split())
    assert 'copy alone for 10.0ms and compute for 2.00ms, the most that overlapping can hide' in text, text
    assert 'Copy less: overlapping the copies with compute cannot hide most of them' in text, text


def lines_are_short():
    """Text that is not written to a terminal has at most 80 columns, except for words that are longer."""
    for name in ROWS:
        for line in run('why', *files()[name]).split('\n'):
            assert len(line) <= 80 or HOME.name in line or line.split()[0] in ('where', 'evidence') or line.startswith(' ' * 12), line
    for words in (['why', *files()['launch_bound']], ['why', *files()['healthy'], *files()['host_work']]):
        narrow = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=dict(os.environ, COLUMNS='40'))
        cases.equal(narrow.stdout, run(*words), 'COLUMNS')


def helped():
    """Each cause has a help page."""
    for name in why('healthy')['not_judged'] + why('input_pipeline')['causes']:
        text = run('help', name['id'])
        assert text.startswith(name['id'] + ': a cause') and 'cause:' + name['id'] in text, text


def repeated_calls_are_offered():
    """Without steps the answer counts calls that repeat, and the option that it names examines one repetition."""
    calls = [(name, 1000 * i + at, length) for i in range(6) for name, at, length in (('cudaLaunchKernel', 0, 5), ('cudaDeviceSynchronize', 5, 900))]
    path = written('repeated.json', launches(calls, [(2 * i, 1000 * i + 10, 800) for i in range(6)]))
    text = words_of('why', path)
    assert 'so start-up counts; calls repeat 6 times: --guess-steps -step median examines one repetition' in text, text
    text = words_of('why', path, '--guess-steps', '-step', 'median')
    assert 'guessed step 1: 1.00ms by marks' in text and 'no steps are marked' not in text, text


def windows_are_named():
    """Without steps the answer says which part of the trace is examined; without device work it says nothing about the replay."""
    calls = [('cudaLaunchKernel', 0, 5), ('cudaDeviceSynchronize', 5, 50000)]
    events = launches(calls, [(0, 10000, 10000)])
    text = words_of('why', written('window.json', events))
    assert 'the trace of 50.0ms' in text and 'the whole trace: 50.0ms; no steps are marked, so start-up counts' in text, text
    host = {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::add', 'pid': 1, 'tid': 2, 'dur': 5}
    text = words_of('why', written('window.json', events + [dict(host, ts=-100000), dict(host, ts=399995)]))
    assert 'the window is 50.0ms of the trace of 500ms, from 100ms until the device work and the waits for it end; no steps' in text, text
    text = words_of('why', written('window.json', events + [dict(host, ts=-450), dict(host, ts=50000)]))
    assert 'the window of 50.0ms' in text and 'the window is 50.0ms of the trace of 50.5ms, from 450us until' in text, text
    assert 'Critical path of a part of the trace: 50.0ms' in run('critical', 'window.json'), 'critical'
    no_work_and_graphs_without_work()
    text = run('why', 'host.json')
    assert 'critical path' not in text and 'rough' not in text and 'Not judged' not in text and 'Next: tfprof top host.json' in text, text


def unknown_kernels_have_no_share():
    """If the ops of much of the device work are not known, the verdict about a healthy trace has no share of matrix products."""
    with open(files()['healthy'][0]) as f:
        trace = json.load(f)
    kernels = [e for e in trace['traceEvents'] if e.get('cat') == 'kernel']
    for e in kernels[::4]:
        e['args'] = {k: v for k, v in e['args'].items() if k not in ('correlation', 'External id')}
    answer = json.loads(run('why', written('unknown.json', trace['traceEvents']), '-output', 'json'))
    assert answer['cause'] == 'none' and 'matrix' not in answer['verdict'], answer['verdict']


def onnx_run(copies):
    """Returns a profile of ONNX Runtime: nodes on the device, and others on the CPU, one of them after the last work of the device."""
    nodes, at = [], 1010
    for i in range(12):
        nodes.append(onnx.node('net/conv%d' % i, 'Conv', at, 1000, 'FastExecutionProvider'))
        at += 1010
        if copies:
            nodes.append(onnx.node('net/to%d' % i, 'MemcpyToHost', at, 30, 'FastExecutionProvider'))
            at += 40
        if i % 3 == 2:
            nodes.append(onnx.node('net/gemm%d' % i, 'Gemm', at, 500))
            at += 510
    with open('fallback%d.json' % copies, 'wb') as f:
        f.write(onnx.text(onnx.load() + nodes + [onnx.execute(1005, at - 1005), onnx.event('Session', 'model_run', 1000, at - 990)]))
    return 'fallback%d.json' % copies, 12 * 30 * copies + 4 * 500


def cpu_fallback_is_named():
    """Nodes of ONNX Runtime that run on its CPU provider beside another provider are a cause, with the nodes that copy tensors; the step ends with
    its mark. The critical path alternates between the thread and the device, and is explained without gaps."""
    for copies in (0, 1):
        path, saved = onnx_run(copies)
        answer = json.loads(run('why', path, '-output', 'json'))
        cause = answer['causes'][0]
        cases.equal((answer['cause'], cause['saved_ns'], cause['cost_ns'], cause['bound'], answer['step_ns'] == answer['window_ns']),
                    ('cpu_fallback', 1000 * saved, 1000 * saved, True, True), (copies, answer['verdict']))
        assert cause['where'][0]['kind'] == 'op' and cause['where'][0]['name'] == 'net/gemm2', cause
        text = words_of('why', path)
        assert ('12 of the nodes copy tensors between providers' if copies else 'the CPU provider executes them') in text, text
        kinds = {k['kind']: k['ns'] for k in json.loads(run('critical', path, '-output', 'json'))['kinds']}
        assert kinds.get('not_known', 0) == 0 and kinds['compute'] == 1000 * (12000 + 12 * 30 * copies), kinds


def uploads_are_not_reads():
    """If the waits in the step follow copies from pageable memory to the device, the advice is not to read values less often."""
    for way, memory, upload in (('HtoD', 'Pageable -> Device', True), ('DtoH', 'Device -> Pageable', False)):
        calls = works = ()
        for i in range(20):
            t = 3000 * i
            calls += (('cudaLaunchKernel', t, 5), ('cudaMemcpyAsync', t + 10, 5), ('cudaStreamSynchronize', t + 20, 2000))
            works += ((3 * i, t + 8, 2000), (3 * i + 1, t + 2009, 5))
        events = launches(calls, works)
        for e in events[60:]:
            if e['dur'] == 5:
                e.update(cat='gpu_memcpy', name='Memcpy %s (%s)' % (way, memory), args=dict(e['args'], bytes=8))
        causes = json.loads(run('why', written('upload.json', events), '-output', 'json'))['causes']
        cause = next(c for c in causes if c['id'] == 'synchronisation')
        text = ' '.join(e['text'] for e in cause['evidence'])
        cases.equal(('pin_memory()' in cause['advice'], '.item()' in cause['advice'], 'copies to the device from pageable memory' in text),
                    (upload, not upload, upload), (way, cause))


def first_allocations_are_told_apart():
    """Without calls that free memory, the advice is to profile later steps. Memory that is allocated after other memory was freed is stated, also
    beside first calls."""
    def events(frees, first):
        calls, works = [], []
        for i in range(20):
            t = 3000 * i + (first if i else 0)
            calls += [('cudaMalloc', t, 2000 + (0 if i else first)), ('cudaFree' if frees else 'cudaGetDevice', t + 2010 + (0 if i else first), 5),
                      ('cudaLaunchKernel', t + 2020 + (0 if i else first), 5)]
            works.append((3 * i + 2, t + 2030 + (0 if i else first), 900))
        return json.loads(run('why', written('allocations.json', launches(calls, works)), '-output', 'json'))['causes'][0]
    for frees, first, advice, again in ((False, 0, 'Profile later steps: ', None), (True, 0, 'Avoid torch.cuda.empty_cache()', '38.0ms'),
                                        (True, 100000, 'Profile after a warm-up: ', '38.0ms'), (False, 100000, 'Profile after a warm-up: ', None)):
        cause = events(frees, first)
        said = re.search(r'; allocations after memory was freed take ([0-9.]+ms)', cause['evidence'][1]['text'])
        cases.equal((cause['id'], cause['advice'].startswith(advice), said and said[1], 'no call in the file frees device memory' in cause['evidence'][1]['text'],
                     'For the rest: Avoid torch.cuda.empty_cache()' in cause['advice']),
                    ('allocation', True, again, not frees, bool(frees and first)), (frees, first, cause))


def waits_for_missing_work_have_no_verdict():
    """If a call waits for most of the window for work that is not in the file, another cause does not become the verdict."""
    at = [2000 * i for i in range(20)]
    calls = [('cudaLaunchKernel', t, 5) for t in at] + [('cudaDeviceSynchronize', 40000, 60000)]
    path = written('missing.json', launches(calls, [(i, t + 10, 900) for i, t in enumerate(at)]))
    doubtful(path, 'cudaDeviceSynchronize waits for 60.0ms of the trace of 100ms for device work that is not in the file; no steps are marked, so this may be '
             'start-up: profile steady steps')


def python_stacks_are_a_caveat():
    """If time of the host is the first cause and Python stacks were recorded, the answer says that they lengthen it. If no stack explains the time, the
    advice is to record native code, not stacks."""
    events = launches([('cudaLaunchKernel', 5000 * i, 5) for i in range(40)], [(i, 5000 * i + 10, 100) for i in range(40)])
    frame = [{'ph': 'X', 'cat': 'python_function', 'name': 'train.py(3): step', 'pid': 1, 'tid': 1, 'ts': 5000 * i + 6, 'dur': 300} for i in range(39)]
    for frames, said in ((frame, True), ([], False)):
        path = written('stacks.json', events + frames)
        cause = json.loads(run('why', path, '-output', 'json'))['causes'][0]
        cases.equal((cause['id'], 'Python stacks were recorded, which lengthens the time of the host' in words_of('why', path),
                     cause['advice'].startswith('Record native code (perf record -g') and 'it has Python stacks' not in cause['advice'],
                     cause['advice'].startswith('Profile with with_stack=True')), ('host_work', said, said, not said), cause)
    assert 'Python stacks were recorded' not in words_of('why', *files()['input_pipeline'])


def exposed_communication_is_in_the_verdict():
    """If exposed communication cannot be judged, the verdict about another cause states its time, that of the partition."""
    events = launches([('cudaLaunchKernel', 5000 * i, 5) for i in range(40)], [(i, 5000 * i + 10, 900) for i in range(40)])
    for i, e in enumerate(events[40:]):
        if i % 2:
            e.update(name='ncclDevKernel_AllReduce', tid=8, args=dict(e['args'], stream=8))
    path = written('exposed.json', events)
    answer = json.loads(run('why', path, '-output', 'json'))
    assert answer['cause'] == 'host_work' and answer['verdict'].endswith('; communication that no compute hides takes 18.0ms, but cannot be judged'), answer['verdict']
    reason = next(x['reason'] for x in answer['not_judged'] if x['id'] == 'exposed_communication')
    assert 'communication is exposed for 18.0ms per device' in reason, reason
    assert 'cannot be judged' not in why('exposed_communication')['verdict'], why('exposed_communication')['verdict']


def devices_without_work_are_left_out():
    """A device with negligible work does not determine where steps end, and does not count as idle. The same holds for a device whose work of the
    step is done at another time."""
    with open(files()['input_pipeline'][0]) as f:
        trace = json.load(f)
    whole = why('input_pipeline')
    last = max((e for e in trace['traceEvents'] if e.get('cat') == 'kernel'), key=lambda e: e['ts'])
    call = next(e for e in trace['traceEvents'] if e.get('cat') == 'cuda_runtime' and e['args'].get('correlation') == last['args']['correlation'])
    late = [dict(call, args=dict(call['args'], correlation=990000), ts=call['ts'] + 1, dur=0),
            dict(last, args=dict(last['args'], correlation=990000, device=5, stream=3), name='Memset', pid=5, tid=3, ts=last['ts'] + 400000, dur=3)]
    path = written('idler.json', trace['traceEvents'] + late)
    answer = json.loads(run('why', path, '-output', 'json'))
    cases.equal([answer[k] for k in ('verdict', 'window_ns', 'busy')], [whole[k] for k in ('verdict', 'window_ns', 'busy')], 'idler')
    assert '; left out: gpu:5 (1 piece of work, 3.00us: negligible)' in words_of('why', path), words_of('why', path)
    calls = [('cudaLaunchKernel', 0, 5), ('cudaLaunchKernel', 1110, 5), ('cudaLaunchKernel', 1120, 5)]
    events = launches(calls, [(0, 10, 4000), (1, 1200, 400), (2, 4100, 1500)])
    events[4].update(pid=1, args=dict(events[4]['args'], device=1))
    events += [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % i, 'pid': 1, 'tid': 1, 'ts': at, 'dur': length}
               for i, at, length in ((1, 0, 1100), (2, 1100, 4600))]
    path = written('elsewhere.json', events)
    assert '; left out: gpu:1 (1 piece of work, 400us: at another time)' in words_of('why', path, '-step', '2'), words_of('why', path, '-step', '2')
    assert 'left out' not in words_of('why', path), words_of('why', path)


def serving_marks_have_the_time_of_their_work():
    """Steps of a server are as long as the work that their marks launched, which the answer does not call a time by marks. A long unexplained wait is
    named with the work after it."""
    calls = [('hipLaunchKernel', 10 + 10 * i, 5) for i in range(4)]
    events = launches(calls, [(0, 20, 100), (1, 20000, 9000), (2, 29001, 900), (3, 29902, 99)])
    events.append({'ph': 'X', 'cat': 'user_annotation', 'name': 'execute_20_context_2(sq20sk20sqsq200sqsk200)_generation_0(sq0sk0sqsq0sqsk0)', 'pid': 1, 'tid': 1,
                   'ts': 1, 'dur': 80})
    text = words_of('why', written('serving.json', events))
    assert text.startswith('No verdict: for ') and ': 19.9ms before k; profile longer, so that earlier work of the device is recorded, too' in text, text
    assert 'step 0: 30.0ms by the device\'s work that its mark launched' in text and 'by marks' not in text, text
    assert 'Next: tfprof critical serving.json' in text, text


def phases_have_verdicts():
    """The verdict about each phase of a server is that about its steps alone. Steps of one phase have no such list."""
    path = os.path.join(cases.ROOT, 'testdata', 'graphs', 'replay.pt.trace.json')
    answer = json.loads(run('why', path, '-output', 'json'))
    phases = {p['phase']: p for p in json.loads(run('phases', path, '-output', 'json'))['phases']}
    names = [s['name'] for s in json.loads(run('steps', path, '-output', 'json'))['steps']]
    cases.equal([(p['phase'], p['steps'], p['step_ns']) for p in answer['phases']], [(n, p['steps'], p['step_mean_ns']) for n, p in phases.items()], 'phases')
    for p in answer['phases']:
        steps = [i for i, name in enumerate(names) if ('_context_0(' in name) == (p['phase'] == 'decode')]
        alone = json.loads(run('why', path, '-step', ','.join(map(str, steps)), '-output', 'json'))
        cases.equal((len(steps), p['verdict'], p['cause'], 'phases' in alone), (p['steps'], alone['verdict'], alone['cause'], False), p['phase'])
        assert p['phase'] + ', %d step' % p['steps'] in words_of('why', path) and p['verdict'] in words_of('why', path), words_of('why', path)
    for words in ([], ['-output', 'md']):
        assert 'By phase ' in words_of('why', path, *words) and 'tfprof phases ' in words_of('why', path, *words)
    assert 'By phase' not in words_of('why', *made('eager_steps', 'kineto'))


def profiles_have_a_sentence():
    """Of run metadata and ProfileProtos, the answer says how busy the device was and which operations take the time, with the numbers of
    summary. It has no cause. Graphs have no times, so they are refused."""
    data = os.path.join(cases.ROOT, 'testdata')
    path = os.path.join(data, 'example', 'profile_100')
    answer, page = (json.loads(run(c, path, '-output', 'json')) for c in ('why', 'summary'))
    device = page['devices'][0]
    cases.equal((answer['cause'], answer['causes'], answer['window_ns'], round(answer['busy'] * device['window_ns'])),
                ('unknown', [], device['window_ns'], device['busy_ns']), 'device')
    rows = run('summary', path)
    shares = [float(re.search(r'([0-9.]+)%% .* %s$' % name, rows, re.M)[1]) for name in ('DecodeJpeg', 'ReadFile')]
    assert answer['verdict'].startswith('Probably input-bound: ') and answer['verdict'].endswith(
        'operations that read input take %.1f%% of the time of all operations, mostly DecodeJpeg' % sum(shares)), (answer['verdict'], shares)
    assert ' is busy for %.1f%% of all steps (' % (100 * answer['busy']) in words_of('why', path), words_of('why', path)
    cases.equal((answer['step_ns'], 'Next: tfprof advise ' in run('why', path)), (device['window_ns'] // len(page['steps']['loaded']), True), 'step')
    assert 'Next: `tfprof advise ' in run('why', path, '-output', 'md') and run('why', path, '-output', 'csv').count('\n') == 1
    run('why', path, '--fail-on=input_pipeline', status=1)
    run('why', path, '--fail-on=input_pipeline', '--allow-inconclusive')
    text = words_of('why', os.path.join(data, 'models', 'resnet', 'run_meta.gz'))
    assert text.startswith('Probably input-bound: the operations ran on the CPU; operations that read input take 67.4%'), text
    words = words_of('why', os.path.join(data, 'models', 'towers', 'run_meta.gz'))
    assert words.startswith('Device-bound: ') and ' is busy for 100.0% of all steps (' in words, words
    p = subprocess.run([PROGRAM, 'why', os.path.join(data, 'example', 'graph.pbtxt')], capture_output=True, text=True)
    assert p.returncode == 1 and 'contain neither a trace nor a recording' in p.stderr, p.stderr


def one_model_describes_all_devices():
    """If the file describes one model, a device with another number is of this model; with two models it is unknown."""
    calls = [('cudaLaunchKernel', 1000 * i, 5) for i in range(40)]
    events = launches(calls, [(i, 1000 * i + 10, 985) for i in range(40)])
    for e in events[40:]:
        e['args'].update(device=2, grid=[4, 1, 1])
    known = {'id': 0, 'name': 'AMD Instinct MI300X', 'numSms': 304}
    for others, judged_grids in (([], True), ([dict(known, id=1)], True), ([dict(known, id=1, numSms=80)], False)):
        with open('model.json', 'w') as f:
            json.dump({'schemaVersion': 1, 'deviceProperties': [known] + others, 'traceEvents': events}, f)
        answer = json.loads(run('why', 'model.json', '-output', 'json'))
        cases.equal('small_grids' not in [x['id'] for x in answer['not_judged']], judged_grids, (others, answer['not_judged']))


def lost_records():
    """Recordings that lost more than 5 % of the device work have no verdict; with less they have the usual one."""
    case = next(corpus.cases({'input_pipeline': dict(planted.rows()['input_pipeline'], seeds=1)}))
    script, works = writers.recording_script(case.run, 0), len(case.run.works)
    LOST.append(works // 10)
    for lost, cause in ((works // 10, 'unknown'), (works // 100, 'input_pipeline')):
        os.makedirs('lost%d' % lost)
        before, last = script.rstrip('\n').rsplit('\n', 1)
        subprocess.run([MAKE, 'lost%d/4000.tfspool' % lost], input=('%s\nlost why=0 count=%d\n%s\n' % (before, lost, last)).encode(), check=True)
        cases.equal(json.loads(run('why', 'lost%d' % lost, '-output', 'json'))['cause'], cause, lost)
    doubtful('lost%d' % (works // 10), '%d of %d pieces of device work are lost' % (works // 10, works + works // 10))


def no_whole_step():
    """Marks that end long after the device work, or long before most launches, have no verdict."""
    with open(files()['input_pipeline'][0]) as f:
        events = json.load(f)['traceEvents']
    marks = [e for e in events if e['name'].startswith('ProfilerStep')]
    rest = [e for e in events if e not in marks]
    end = max(e['ts'] + e['dur'] for e in events if e.get('cat') == 'kernel')
    doubtful(written('long.json', rest + [dict(marks[0], dur=10 * (end - marks[0]['ts']))]), 'device work ends ')
    doubtful(written('short.json', rest + marks[:1]), 'so its marks do not cover the work; profile several steps')
    late = [dict(e, ts=marks[0]['ts'] + i, dur=1) for i, e in enumerate(marks[:2])]
    doubtful(written('two.json', rest + late), 'choose other steps (-step)')


def no_launches():
    """A file that does not say which call launched which work has no verdict if devices are idle; it says for what devices wait."""
    doubtful(made('no_launches', 'kineto')[0], 'does not say which calls launched the device work')
    for words, what in ((dict(cat='gpu_memcpy', name='Memcpy HtoD (Host -> Device)'), 'copies'), (dict(name='ncclDevKernel_AllReduce'), 'communication')):
        works = launches([], [(0, 0, 100), (1, 100, 900)])
        path = written('waits.json', [works[0], dict(works[1], **words)])
        doubtful(path, 'devices compute for 10.0%% of the trace of 1.00ms and wait for %s for 90.0%%, and the file does not say' % what)
        assert 'Next: tfprof critical waits.json\n' in run('why', path), path


def unrecorded_process():
    """Kernels that were launched early and wait for nothing in the file: another process may use the device."""
    calls = [('cudaLaunchKernel', 10 * i, 5) for i in range(50)] + [('cudaDeviceSynchronize', 600, 60000)]
    doubtful(written('other.json', launches(calls, [(i, 1000 + 1000 * i, 300) for i in range(50)])), 'no cause that could be judged explains the rest')


SENTENCES = ['why/*.c', 'why/cause.def', 'export/table/why_out.c', 'export/table/run_difference_out.c', 'export/table/why_profile_out.c']
# Words that are searched for in names, and a title of the full-screen view.
NOT_PRINTED = {'CUDA graph', 'Python GC', 'most of it is in'}


def sentences():
    """The texts in the sources of why, each as the parts between its numbers and names. Single words are left out."""
    for path in sorted(p for x in SENTENCES for p in glob.glob(os.path.join(cases.ROOT, 'src', x))):
        with open(path) as f:
            source = re.sub(r'/\*.*?\*/|^#include[^\n]*', ' ', f.read(), flags=re.S | re.M)
        for found in re.finditer(r'(?:"(?:[^"\\]|\\.)*"\s*)+', source):
            text = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[0])).replace('\\n', ' ')
            parts = [' '.join(x.split()) for x in re.split('%[-+.*0-9]*(?:ll[du]|zu|[sdf])', text.replace('%%', '%'))]
            parts = [x for x in parts if ' ' in x and x not in NOT_PRINTED]
            if parts:
                yield parts


def print_files_without_work():
    """Runs why on a program that used no device, in the format of each profiler."""
    simulated = corpus.Case('host_work', 0, planted.rows()['host_work']).run
    script = '\n'.join(x for x in writers.recording_script(simulated, 0).split('\n') if not x.startswith(('kernel ', 'copy '))) + '\n'
    os.makedirs('idle')
    subprocess.run([MAKE, 'idle/4000.tfspool'], input=script.encode(), check=True)
    simulated.works = []
    paths = ['idle', writers.write_xspace(simulated, '.')[0], writers.write_rocprof(simulated, '.')[0],
             *(os.path.join(cases.ROOT, 'testdata', *parts) for parts in (('traces', 'onnxruntime.json'), ('flight', 'dump_0'), ('memory', 'snapshot.pickle')))]
    for path in paths + ([writers.write_nsys(simulated, '.')[0]] if built.has(PROGRAM, 'sqlite') else []):
        assert 'No verdict: the file has no device work; ' in words_of('why', path), path


def print_rare_sentences():
    """Provokes texts that few files lead to."""
    events = launches([('cudaLaunchKernel', 5000 * i, 5) for i in range(40)], [(i, 5000 * i + 10, 100) for i in range(40)])
    bare = writers.recording_script(corpus.Case('host_work', 0, planted.rows()['host_work']).run, 0).split('\n')
    os.makedirs('bare')
    subprocess.run([MAKE, 'bare/4000.tfspool'], input='\n'.join(x for x in bare if not x.startswith(('push ', 'pop '))).encode(), check=True)
    shutil.copy(steady(50, 5000, 100), 'slow.json')
    steps = launches([('cudaLaunchKernel', 21000 * (i > 0) + 40 * i, 20000 if i == 0 else 5) for i in range(20)],
                     [(i, 21050 * (i > 0) + 40 * i + (20010 if i == 0 else 0), 10) for i in range(20)])
    steps += [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % i, 'pid': 1, 'tid': 1, 'ts': at, 'dur': length}
              for i, at, length in ((1, 0, 21300), (2, 21300, 600))]
    host = {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::add', 'pid': 1, 'tid': 2, 'ts': 200000, 'dur': 5}
    exposed = launches([('cudaLaunchKernel', 1000 * i, 5) for i in range(8)], [(i, 1000 * i + 10, 900) for i in range(8)])
    for i, e in enumerate(exposed[8:]):
        if i % 2:
            e.update(name='ncclDevKernel_AllReduce', tid=8, args=dict(e['args'], stream=8))
    exposed += [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % i, 'pid': 1, 'tid': 1, 'ts': 4000 * i, 'dur': 4000} for i in range(2)]
    def without_one(events, _):
        nccl = [e for e in events if e.get('cat') == 'kernel' and e['name'].startswith('nccl')]
        return [e for e in events if e is not nccl[0]]
    for words in ([*files()['healthy'], *files()['launch_bound'], '-output', 'md'], ['slow.json', steady(60, 9000, 50), '--as=runs'],
                  [*files()['input_pipeline'], '--cause=host_copies'], ['bare'], [written('steps.json', steps)],
                  [written('later.json', events + [host])], changed_ranks(without_one), [*files()['healthy'], '-output', 'md'],
                  [os.path.join(cases.ROOT, 'testdata', 'traces', 'trace.pftrace'), '--top=1'], [written('exposed.json', exposed)]):
        run('why', *words)


def every_sentence_is_printed():
    """Every text in the sources of why is printed by a test of this file: verdicts, evidence, advice, doubts, reasons why a cause is not judged,
    differences of runs."""
    if FILTERED:
        raise cases.Skip('only some tests run')
    for makes_files in (no_work_and_graphs_without_work, truncated_files_are_named, ops_on_the_cpu_are_named, lost_records, no_whole_step, unrecorded_process, wrong_replays):
        makes_files()
    work = launches([('cudaLaunchKernel', 0, 5)], [(0, 10, 9)])
    copy = [dict(work[1], cat='gpu_memcpy', name='Memcpy HtoD (Host -> Device)', args=dict(work[1]['args'], bytes=4))]
    nccl = [dict(work[1], name='ncclDevKernel_AllReduce')]
    send = [dict(work[1], name='ncclDevKernel_SendRecv')]
    other = [dict(e, pid=1, tid=8, args=dict(e['args'], device=1)) for e in nccl]
    paths = [files()[n] for n in ('input_pipeline', 'slow_rank')] + [
        [written('bare.json', work[1:])], [written('copy.json', work[:1] + copy)], [written('nccl.json', work[:1] + nccl)],
        [written('moment.json', [dict(work[1], dur=0)])], [written('cpu.json', [dict(work[0], cat='cpu_op')])],
        ['host.json'], ['graph.json'], ['lost%d' % n for n in LOST[:1]], ['long.json'], ['short.json'], ['other.json'], ['wrong.json'],
        [os.path.join(cases.ROOT, 'testdata', 'traces', 'trace.pftrace')], made('no_launches', 'kineto'), made('healthy', 'rocprof'), made('healthy', 'xspace'), made('slow_rank', 'kineto')[:1]]
    calls, works = [('cudaLaunchKernel', 10 * i, 5) for i in range(20)], [(i, 10 * i + 6, 2) for i in range(19)]
    paths += [[written('late.json', launches(calls, works + [(19, 50000, 10)]))], [files()['healthy'][0], files()['input_pipeline'][0], '--as=ranks']]
    paths += [[written('send%d.json' % i, work[:1] + send) for i in range(2)] + ['--as=ranks'], [written('devices.json', work[:1] + nccl + other)]]
    paths += [made('graph_as_one_slice', 'nsys'), [os.path.join(cases.ROOT, 'testdata', 'traces', 'nsys.sqlite')]] if built.has(PROGRAM, 'sqlite') else []
    for p in paths:
        run('why', *p)
        run('why', *p, '-output', 'json')
    for name in {row['cause'] for row in planted.rows().values()} - {'none', 'unknown'} | {'cpu_fallback'}:
        run('help', name)
    for name in ('graph_starts', 'graph_padding', 'eager_steps'):
        run('why', *made(name, 'kineto'))
    for name in set(ROWS) - {'unbalanced_ranks'}:
        if built.has(PROGRAM, 'sqlite') and 'nsys' in planted.rows()[name]['formats']:
            run('why', *made(name, 'nsys'))
    for name in ('input_pipeline', 'launch_bound'):
        run('why', *made(name, 'xspace'))
    print_files_without_work()
    print_rare_sentences()
    missing = [s for s in sentences() if not any(all(part in text for part in s) for text in SAID)]
    assert len(list(sentences())) > 140 and not missing, missing


def sample():
    """Returns the trace that the documents show: the GPU waits for the data loader."""
    with open(files()['input_pipeline'][0], 'rb') as f:
        return gzip.compress(f.read(), 9, mtime=0)


def sample_is_up_to_date():
    """testdata has the trace of the corpus, which the README and docs/WHY.md show."""
    with gzip.open(os.path.join(cases.ROOT, 'testdata', 'traces', SAMPLE)) as f:
        assert f.read() == gzip.decompress(sample()), 'tests/why/verdict_run.py --write testdata/traces'


TESTS = [sample_is_up_to_date, all_verdicts, commands_print_the_numbers, costs_and_savings_are_told_apart, healthy_traces_have_matrix_products, folders_of_ranks, what_if_saves_the_same,
         steps_are_chosen, usage_errors_come_first, gates, outputs,
         clocks_are_aligned, spans_are_no_ranks, silent_waits_leave_ranks_unjudged, collectives_of_a_step_are_matched_together, contradicting_orders_end, ranks_are_missing, silent_communication_is_no_gap, runs_are_compared, notes_are_printed_where_they_matter, longer_steps_are_not_slow, suggestions_lead_on, different_programs_are_compared_with_a_warning, differences_have_causes, gates_of_steps,
         ranks_and_runs_are_told_apart, waits_for_unknown_events_are_noted, communication_notes_what_it_includes,
         gaps_before_unrecorded_launches, no_work_and_graphs_without_work, truncated_files_are_named, ops_on_the_cpu_are_named, lost_records, no_whole_step, no_launches, unrecorded_process,
         wrong_replays, first_calls_are_start_up, later_calls_are_not_start_up, unknown_waits_that_remain_are_said,
         long_names_are_cut, time_without_a_cause_is_said, differences_name_what_differs, small_causes_do_not_name_the_verdict,
         unknown_host_time_is_called_unknown, contention_is_listed_beside_host_time, places_of_several_threads_are_summed, advice_fits_the_place, unequal_steps_are_named,
         steps_without_work_are_left_out, costly_verdicts_are_left_out,
         pinned_copies_are_not_to_be_pinned, cpu_fallback_is_named, uploads_are_not_reads, first_allocations_are_told_apart,
         waits_for_missing_work_have_no_verdict, python_stacks_are_a_caveat, exposed_communication_is_in_the_verdict,
         devices_without_work_are_left_out, serving_marks_have_the_time_of_their_work, phases_have_verdicts, profiles_have_a_sentence, one_model_describes_all_devices, lines_are_short, helped,
         windows_are_named, repeated_calls_are_offered, unknown_kernels_have_no_share, every_sentence_is_printed]


def main():
    global PROGRAM, MAKE, FILTERED
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(cases.ROOT, 'build/check/tfprof'), type=os.path.abspath)
    p.add_argument('--make', default=os.path.join(cases.ROOT, 'build/check/spool_make'), type=os.path.abspath)
    p.add_argument('--write', metavar='FOLDER')
    p.add_argument('names', nargs='*')
    a = p.parse_args()
    PROGRAM, MAKE, FILTERED = a.program, a.make, bool(a.names)
    if a.write:
        with open(os.path.join(a.write, SAMPLE), 'wb') as f:
            f.write(sample())
        return 0
    return cases.run([t for t in TESTS if not a.names or any(n in t.__name__ for n in a.names)])


if __name__ == '__main__':
    sys.exit(main())
