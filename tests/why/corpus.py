#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes traces with one planted cause, and healthy traces, with the truth: the cause, and the time that its remedy saves.

    tests/why/corpus.py FOLDER [--rows FILE] [--first SEED] [--make build/check/spool_make] [ROW...]

writes a folder for each trace, and FOLDER/truth.json: [{"name", "files", "format", "cause", "step_ns", "saved_ns"}], times per step.
`saved_ns` is null if the simulator cannot compute it. causes.json, or another file of that form, has the parameters.
"""
import argparse
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'sim')]
import planted  # noqa: E402
import simulate  # noqa: E402
import truth  # noqa: E402
import writers  # noqa: E402

MACHINE = {'gap': 1100, 'event_gap': 1030, 'latency': 5300, 'prefetch': False, 'returned': 4000}


class Case:
    """A program of a row. run: its simulated run; saved: ns per step, or None."""

    def __init__(self, name, seed, row):
        self.name, self.seed, self.row = '%s-%d' % (name, seed), seed, row
        self.run = self.simulated(row)
        self.step = step_time(self.run, row['first_steps'])
        self.saved = self.remedy()

    def simulated(self, row, **change):
        return simulate.Run(planted.instructions(self.seed, row), simulate.Machine(**MACHINE), simulate.Change(**change))

    def remedy(self):
        """Returns the time per step that the remedy of the row saves, or None."""
        how, first = self.row['truth'], self.row['first_steps']
        if how == 'warmup':
            lengths = [b - a for a, b, _ in truth.steps(self.run).values()]
            return round(statistics.mean(lengths) - statistics.median(lengths[first:]))
        if how is None:
            return None
        if 'row' in how:
            return self.step - step_time(self.simulated(dict(self.row, **how['row'])), first)
        return self.step - step_time(self.simulated(self.row, **how['change']), first)

    def write(self, form, folder, make):
        """Writes the files of a format. Returns their paths."""
        os.makedirs(folder, exist_ok=True)
        if form == 'kineto':
            return writers.write_kineto(self.run, folder, calls='calls' not in self.row['lacks'], deviceProperties=[
                dict(planted.GPU, id=d) for d in sorted({w.device for w in self.run.works})])
        if form == 'recording':
            return writers.write_recording(self.run, folder, make)
        if form == 'nsys':
            return writers.write_nsys(self.run, folder, nodes='nodes' not in self.row['lacks'])
        return getattr(writers, 'write_' + form)(self.run, folder)


def step_time(run, first=0):
    """Returns the mean time of a step, from the last work of the previous step, or from the start of the step, to its own last
    work. first: number of first steps that do not count."""
    steps = list(truth.steps(run).values())
    start = steps[first - 1][2] if first else steps[0][0]
    return round((steps[-1][2] - start) / (len(steps) - first))


def cases(rows, names=(), first=0):
    """Yields the cases of rows; first: the first seed of each row."""
    for name, row in rows.items():
        if not names or name in names:
            for seed in range(first, first + row['seeds']):
                yield Case(name, seed, row)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('folder')
    p.add_argument('--rows', default=os.path.join(HERE, 'causes.json'))
    p.add_argument('--first', type=int, default=0)
    p.add_argument('--make', default='build/check/spool_make', type=os.path.abspath)
    p.add_argument('names', nargs='*')
    a = p.parse_args()
    out = []
    for case in cases(planted.rows(a.rows), a.names, a.first):
        for form in case.row['formats']:
            name = '%s-%s' % (case.name, form)
            files = case.write(form, os.path.join(a.folder, name), a.make)
            out.append({'name': name, 'files': [os.path.relpath(f, a.folder) for f in files], 'format': form, 'cause': case.row['cause'],
                        'step_ns': case.step, 'saved_ns': case.saved})
    with open(os.path.join(a.folder, 'truth.json'), 'w') as f:
        json.dump(out, f, indent=1)
    print('%d traces of %d causes' % (len(out), len({x['cause'] for x in out})))


if __name__ == '__main__':
    main()
