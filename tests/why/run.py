#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that each trace of the corpus of planted causes has the stated cause, and scores the verdicts of why.

    --seeds N        programs of each row, 1 unless given; the deep tier takes all
    --first N        the first seed of each row, 0 unless given: other programs
    --rows FILE      other parameters than causes.json
    --score          prints every wrong verdict, and the shares of the right ones (docs/WHY.md)
    --program, --make  tfprof, and spool_make, which makes recordings
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check'), os.path.join(os.path.dirname(HERE), 'sim')]
import built  # noqa: E402
import cases  # noqa: E402
import corpus  # noqa: E402
import planted  # noqa: E402
import truth  # noqa: E402

PROGRAM = MAKE = ROWS = ''
SEEDS = FIRST = 0
CASES = []


def all_cases():
    """Returns the cases of the corpus, made once."""
    if not CASES:
        rows = planted.rows(ROWS) if ROWS else planted.rows()
        CASES.extend(corpus.cases({k: dict(row, seeds=min(row['seeds'], SEEDS)) for k, row in rows.items()}, first=FIRST))
    return CASES


def ask(command, paths, *words):
    p = subprocess.run([PROGRAM, command, *paths, *words, '-output', 'json'], capture_output=True, text=True)
    assert p.returncode == 0, '%s %s: status %d: %s' % (command, ' '.join(paths), p.returncode, p.stderr)
    return json.loads(p.stdout)


def inside(row):
    """Returns the idle time of a device between its first and its last work."""
    return row['idle_ns'] - row.get('before_first_ns', 0) - row.get('after_last_ns', 0)


def causes_cost_time_and_healthy_traces_lose_none():
    """The remedy of a planted cause saves 5 % of the step or more. In healthy traces the devices are idle for 3 % or less."""
    for case in all_cases():
        if case.row['cause'] == 'none':
            for process, device in {(w.process, w.device) for w in case.run.works}:
                part = truth.partition(case.run, process, device)
                lost = part['idle'] + part['exposed_copy'] + part['exposed_communication']
                assert lost <= .03 * part['span'], (case.name, lost / part['span'], part)
        elif case.saved is not None:
            assert case.saved >= .05 * case.step, (case.name, case.saved, case.step)


def traces_have_the_simulated_times():
    """Every file of the corpus is read, and its devices are as idle as the simulated ones."""
    sqlite = built.has(PROGRAM, 'sqlite')
    for case in all_cases():
        devices = sorted({(w.process, w.device) for w in case.run.works})
        expected = sorted(truth.partition(case.run, *d)['idle'] for d in devices)
        for form in case.row['formats']:
            if form != 'nsys' or sqlite:
                answer = ask('devices', case.write(form, form, MAKE))['devices']
                if 'nodes' in case.row['lacks']:
                    continue
                cases.equal(sorted(inside(d) for d in answer), expected, '%s as %s: idle' % (case.name, form))


def judged():
    """Yields (name of the trace, its case, the answer of why)."""
    sqlite = built.has(PROGRAM, 'sqlite')
    for case in all_cases():
        for form in case.row['formats']:
            if form != 'nsys' or sqlite:
                yield '%s as %s' % (case.name, form), case, ask('why', case.write(form, form, MAKE))


def truth_of(case, answer):
    """Returns the time per step that the remedy of a case saves; for the whole trace, if the answer has no steps."""
    return case.saved * (answer['window_ns'] / case.step if 'step' not in answer['of'] else 1)


class Score:
    """Counts the right answers, and keeps the misses: (kind, trace, expected, found)."""

    def __init__(self):
        self.misses = []
        self.causes = self.healthy = self.amounts = 0

    def add(self, name, case, answer):
        if case.row['cause'] == 'none':
            self.healthy += 1
            if answer['cause'] != 'none':
                self.misses.append(('false alarm', name, 'none', answer['cause']))
            return
        self.causes += 1
        if answer['cause'] != case.row['cause']:
            self.misses.append(('first cause', name, case.row['cause'], answer['cause']))
        elif case.saved:
            self.amounts += 1
            said, right = answer['causes'][0]['saved_ns'], truth_of(case, answer)
            if abs(said - right) > .1 * right:
                self.misses.append(('time saved', name, '%.3f ms' % (right / 1e6), '%.3f ms' % (said / 1e6)))

    def share(self, what, of):
        """Returns the share of the answers without a miss of this kind."""
        return 1 - sum(m[0] == what for m in self.misses) / of if of else 1

    def lines(self):
        yield from ('%s: %s: expected %s, found %s' % m for m in self.misses)
        yield 'first cause right: %.1f %% of %d traces with a cause' % (100 * self.share('first cause', self.causes), self.causes)
        yield 'false alarms: %.1f %% of %d healthy traces' % (100 - 100 * self.share('false alarm', self.healthy), self.healthy)
        yield 'time saved within 10 %%: %.1f %% of %d traces with the right cause' % (
            100 * self.share('time saved', self.amounts), self.amounts)


def scored():
    """Returns the score of all traces."""
    score = Score()
    for name, case, answer in judged():
        score.add(name, case, answer)
    return score


def verdicts_are_right():
    """The first cause is the planted one in 95 % of the traces; at most 3 % of the healthy ones get a cause; the time saved is within
    10 % of the simulated one in 95 % of the traces whose cause is right."""
    score = scored()
    assert score.share('first cause', score.causes) >= .95 and score.share('false alarm', score.healthy) >= .97 and \
        score.share('time saved', score.amounts) >= .95, '\n'.join(score.lines())


TESTS = [causes_cost_time_and_healthy_traces_lose_none, traces_have_the_simulated_times, verdicts_are_right]


def main():
    global PROGRAM, MAKE, ROWS, SEEDS, FIRST
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default=os.path.join(cases.ROOT, 'build/check/tfprof'), type=os.path.abspath)
    p.add_argument('--make', default=os.path.join(cases.ROOT, 'build/check/spool_make'), type=os.path.abspath)
    p.add_argument('--seeds', type=int, default=1)
    p.add_argument('--first', type=int, default=0)
    p.add_argument('--rows', type=os.path.abspath)
    p.add_argument('--score', action='store_true')
    p.add_argument('names', nargs='*')
    a = p.parse_args()
    PROGRAM, MAKE, ROWS, SEEDS, FIRST = a.program, a.make, a.rows, a.seeds, a.first
    if a.score:
        with tempfile.TemporaryDirectory(prefix='tfprof-why-') as home:
            os.chdir(home)
            print('\n'.join(scored().lines()))
        return 0
    return cases.run([t for t in TESTS if not a.names or any(n in t.__name__ for n in a.names)])


if __name__ == '__main__':
    sys.exit(main())
