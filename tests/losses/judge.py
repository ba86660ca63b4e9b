# SPDX-License-Identifier: Apache-2.0
"""Compares the losses that record, gpu and JSON report with the true losses."""
import glob
import os
import re
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = 'kernels_without_record'
# Members of `lost` that count records, and the row of the truth.
RECORDS = {'dropped': 'DROPPED', 'unread_by_cupti': 'UNREAD', 'kept_by_cupti': 'WITHHELD'}
# Members of `lost`: part of the sentence of record, and of the note of gpu.
SENTENCES = {
    KERNELS: ('kernels? launched but not recorded', 'kernels? (?:was|were) launched'),
    'dropped': ('records? dropped by CUPTI', 'records? (?:was|were) dropped by CUPTI'),
    'kept_by_cupti': ('records? withheld by CUPTI', 'records? (?:was|were) withheld'),
    'unread_by_cupti': ('records? that CUPTI could not read', 'records? could not be read'),
    'not_written': ('records? not written', 'records? could not be written'),
    'names_shortened_or_shared': ('names? shortened or shared', 'names? (?:was|were) shortened'),
}


def rows():
    """Names of the numbers in a file of truth."""
    with open(os.path.join(HERE, 'driver.h')) as f:
        text = re.search(r'enum truth \{(.*?)\n\};', f.read(), re.S).group(1)
    return re.findall(r'^\t([A-Z_]+),', text, re.M)


class Truth(dict):
    """The sums of all processes."""

    def __init__(self, folder):
        names = rows()
        files = sorted(glob.glob(folder + '/truth-*'))
        super().__init__({n: 0 for n in names})
        self.processes = []
        for path in files:
            with open(path, 'rb') as f:
                self.processes.append(dict(zip(names, struct.unpack('%dQ' % len(names), f.read(8 * len(names))))))
            for n in names:
                self[n] += self.processes[-1][n]
        self['WITHHELD'] = self['WRITTEN'] - self['RETURNED']

    def __str__(self):
        return ' '.join('%s=%d' % x for x in self.items() if x[1])


class Judge:
    """Collects faults."""

    def __init__(self, scenario, truth, answers):
        self.s, self.t, self.a, self.wrong = scenario, truth, answers, []
        self.lost = answers.json.get('lost', {})
        self.bounds = self.lost.get('lower_bounds', [])
        self.short = 0  # missing kernels that no number counts
        whole = '--graphs=graph' in scenario.options
        self.graphs = truth['GRAPH_LAUNCHES' if whole else 'GRAPH_KERNELS']
        # A call that had not returned when the process was killed may or may not have launched its kernel.
        unasked, doubtful = (truth['UNASKED'], truth['DOUBTFUL']) if 'control' in scenario.troubles else (0, 0)
        self.least = truth['LAUNCHED'] - unasked - doubtful + self.graphs
        self.most = truth['BEGUN'] - unasked - truth['CAPTURED'] - truth['FAILED'] + self.graphs
        self.recorded = sum(g['kernels'] for g in answers.json.get('gpus', []))

    def no(self, expected, found):
        self.wrong.append('expected: %s; found: %s' % (expected, found))

    def check(self, ok, expected, found):
        if not ok:
            self.no(expected, found)

    # ---- rules ----

    def status(self):
        self.check(self.a.status == self.s.status, 'status %d of the program' % self.s.status, self.a.status)

    def kernels(self):
        """recorded + lost is the number of launches; a bound is marked, and no larger than the truth."""
        n, bound = self.lost.get(KERNELS, 0), KERNELS in self.bounds
        least, most = self.least - self.recorded, self.most - self.recorded
        self.check(most >= 0, 'at most %d kernels recorded' % self.most, self.recorded)
        if bound:
            self.check(n <= most, 'a lower bound of at most %d kernels' % most, 'at least %d' % n)
        else:
            self.check(least <= n <= most, '%d kernels without record, or a mark that it is a lower bound' % least, n)
        if self.recorded + n < self.least:
            self.short = self.least - self.recorded - n
            told = self.t['COUNTED'] >= self.t['LAUNCHED'] and not self.t['GRAPH_LAUNCHES']
            if self.s.disk and len(self.t.processes) > 1:
                told = False  # no room for the file in which the process counts
            if any(w.startswith('ctl:') for w in self.s.line):
                told = False  # launches are uncertain while a session starts or stops
            self.check(not told or not bound, 'recorded + lost >= %d, as CUPTI has called the recorder for each launch' % self.least,
                       '%d + at least %d' % (self.recorded, n))

    def records(self):
        """Other numbers of records are true, or marked as bounds and not too large. After the end of the recording, records are
        not counted that CUPTI drops for launches of exit handlers and of running threads."""
        if 'hang' in self.s.habits or 'control' in self.s.troubles:
            return  # while a session begins, some records are not counted; the rule `silence` still holds
        words = [w.split(':')[0] for w in self.s.line]
        at_work = 'threads' in words and 'join' not in words[len(words) - words[::-1].index('threads'):]
        closed = not (self.lost.get('processes_not_closed') or self.t['DOUBTFUL'] + self.t['UNASKED'] or at_work)
        for name, row in RECORDS.items():
            n, true = self.lost.get(name, 0), self.t[row]
            if name in self.bounds or not closed:
                self.check(n <= true, '%s: at most %d' % (name, true), n)
            elif name == 'unread_by_cupti':  # the recorder also tries to count what CUPTI withholds
                self.check(true - self.t['WITHHELD'] <= n <= true, '%s: %d' % (name, true), n)
            else:
                self.check(n == true, '%s: %d' % (name, true), n)
        for name in ('unknown', 'untimed'):
            self.check(not self.lost.get(name), '%s: 0' % name, self.lost.get(name))

    def missing(self):
        """True if some records are missing."""
        return self.recorded < self.least or any(self.t[k] for k in ('DROPPED', 'WITHHELD', 'UNREAD', 'UNENDED'))

    def silence(self):
        """No output says that nothing is lost if records are lost."""
        said = {k: v for k, v in self.lost.items() if k != 'lower_bounds' and v}
        if self.missing():
            what = '%d of %d kernels recorded; %s' % (self.recorded, self.least, self.t)
            self.check('nothing lost' not in self.a.summary and 'no known losses' not in self.a.summary, 'a loss in the summary: ' + what,
                       self.a.summary)
            self.check(said or self.bounds, 'a loss in JSON: ' + what, self.lost)
            self.check('note: ' in self.a.notes, 'a loss among the notes of gpu: ' + what, self.a.notes)
        elif not self.s.troubles and not (self.t['GRAPH_LAUNCHES'] and self.bounds == [KERNELS]):
            # A graph that was launched once, as the last work of a stream, may have had more nodes.
            self.check('nothing lost' in self.a.summary and not said and not self.bounds, 'nothing lost', (self.a.summary, said, self.bounds))

    def same(self):
        """Summary, notes and JSON agree."""
        m = re.search(r', (\d+) kernels?, ', self.a.summary)
        self.check(m and int(m.group(1)) == self.recorded, '%d kernels in the summary, as in JSON' % self.recorded, self.a.summary)
        for name, patterns in SENTENCES.items():
            n, bound = self.lost.get(name, 0), name in self.bounds
            for pattern, text, comma in zip(patterns, (self.a.summary, self.a.notes), ('', ',')):
                number = re.search(r'(at least )?(\d+) ' + pattern, text)
                possibly = re.search('possibly' + comma + ' ' + pattern, text)
                found = (int(number.group(2)), bool(number.group(1))) if number else (0, bool(possibly))
                self.check(found == (n, bound), '%s: %d%s, as in JSON' % (name, n, ', a bound' if bound else ''), text)

    def names(self):
        """Names of ranges and kernels are complete, or merged names are counted."""
        if self.s.disk or self.lost.get('processes_not_closed') or self.s.options or 'control' in self.s.troubles:
            return
        shared = self.lost.get('names_shortened_or_shared', 0)
        absent = self.most - self.recorded + self.t['FAILED'] + self.lost.get('operations_without_times', 0)
        if self.t['RANGE_NAMES']:
            kept = len(self.a.json.get('ranges', [])) + self.lost.get('ranges', 0) + absent
            self.check(shared or kept >= self.t['RANGE_NAMES'], '%d names of ranges, or names that share one' % self.t['RANGE_NAMES'], kept)
        if self.t['KERNEL_NAMES']:
            kept = len(self.a.json.get('kernels', [])) + absent
            self.check(shared or kept >= self.t['KERNEL_NAMES'], '%d names of kernels, or names that share one' % self.t['KERNEL_NAMES'], kept)

    def sentences(self):
        """Only true causes are named."""
        text = self.a.summary + self.a.notes
        if not self.s.thief:
            self.check('another profiler' not in text and 'taken' not in text, 'nothing of another profiler', text)
        number = -self.s.status if self.s.status < 0 else 9 if any('raise=9' in w for w in self.s.line) else None
        for m in re.findall(r'ended by signal (\d+)', text):
            self.check(int(m) == number, 'signal %s' % number, text)
        self.check('impossible' not in text, 'nothing of impossible times', text)

    def all(self):
        self.status()
        if not self.a.json:
            self.check(re.search('nothing was recorded|not recorded', self.a.summary), 'a summary that says why nothing is recorded', self.a.summary)
            self.check('nothing lost' not in self.a.summary, 'no word of completeness', self.a.summary)
            return self
        for rule in (self.kernels, self.records, self.silence, self.same, self.names, self.sentences):
            rule()
        return self
