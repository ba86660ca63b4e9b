# SPDX-License-Identifier: Apache-2.0
"""Makes scenarios from seeds: the behaviour of CUPTI, a program and its end, and options of record."""
import random
import signal

VERSIONS = {'11.8': 11080, '12.9': 12090, '13.0': 13000, '13.2': 13020, '13.4': 13040}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV)


class Scenario:
    """A program and its surroundings. words: arguments of the program; habits: behaviours of CUPTI (cupti.h); options: options
    of record; status: the exit status of the program in Python's form; disk: bytes of the folder's file system, or, with limit,
    of a file; None: enough; troubles: names, for reports."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.version = self.random.choice(list(VERSIONS))
        self.depth, self.fail, self.disk, self.limit, self.status = 0, 0, None, False, 0
        self.habits, self.options, self.troubles = {}, [], []
        self.before, self.words, self.end = ['init'], [], []
        self.thief = ''

    @property
    def env(self):
        return {'LOSSES_DRIVER': str(VERSIONS[self.version]), 'LOSSES_DEPTH': str(self.depth), 'LOSSES_FAIL': str(self.fail),
                'LOSSES_CUPTI': ','.join('%s=%s' % x for x in self.habits.items())}

    @property
    def line(self):
        return self.before + self.words + self.end

    def count(self):
        """Returns a number of launches; small numbers are as frequent as large ones."""
        return int(10 ** self.random.uniform(0, 3.7))


def work(s):
    r = s.random
    for _ in range(r.randint(1, 5)):
        kind = r.choice(('launch', 'launch', 'threads', 'flushes', 'sync', 'copies', 'streams', 'graph', 'capture'))
        s.words += {
            'launch': ['launch:%d' % s.count()],
            'streams': ['launch:%d:kernel:%d' % (s.count(), i) for i in (1, 2, 3)],
            'threads': ['threads:%d:%d' % (r.choice((1, 2, 5, 16, 64)), int(s.count() / 16) + 1)] + ['join'] * r.randint(0, 1),
            'flushes': ['flushes:%d' % r.randint(1, 2)],
            'sync': ['sync'],
            'copies': ['copies:%d' % r.randint(1, 50)],
            'graph': ['graph:%d:%d' % (r.randint(1, 20), r.randint(1, 20))] if r.random() < 0.4 else ['sync'],
            'capture': ['capture:%d:%d' % (r.randint(1, 20), r.randint(0, 3))] if r.random() < 0.4 else ['sync'],
        }[kind]


def launches(s):
    """Returns an upper bound of the launches of single kernels."""
    n = 0
    for w in s.words:
        name, *a = w.split(':')
        n += int(a[0]) if name == 'launch' else int(a[0]) * int(a[1]) if name == 'threads' else 0
    return n


# ---- troubles -----------------------------------------------------------------------------------
def stolen(s):
    """A second client takes callbacks, records or both at some launch, and may leave at a later one."""
    r = s.random
    s.thief = r.choice(('handle', 'both') if s.version == '13.4' else ('records', 'finalize', 'callbacks', 'both', 'disable', 'flush'))
    at = r.randint(1, max(1, launches(s)))
    s.before.append('thief:%s:%d:%d' % (s.thief, at, r.choice((0, at + s.count()))))
    s.habits.update(r.choice(({}, {'displace': 1}, {'displace': 1}, {'displace': 1, 'newest': 1})))


def errors(s):
    """Functions of CUPTI fail, or buffers stay with it."""
    r = s.random
    for _ in range(r.randint(1, 2)):
        s.habits.update(r.choice((
            {'next': s.count(), 'nexts': r.choice((1, 21, 999))}, {'uncounted': r.randint(1, 3), 'drop': r.randint(2, 50)},
            {'uncounted': r.randint(1, 3)}, {'keep': r.randint(1, 8)}, {'keepfrom': r.randint(1, 4)},
            {'flushfail': r.randint(1, 4)}, {'refuse': r.choice(('EnableCallback', 'ActivityEnableAndDump', 'ActivitySetAttribute', 'GetTimestamp'))},
            {'refuse': r.choice(('ActivityGetNumDroppedRecords', 'ActivityFlushAll', 'ActivityGetNextRecord', 'SetThreadIdType'))})))


def late(s):
    """Records are dropped or never made, work ends late or not at all, records are visible only then."""
    r = s.random
    s.depth = r.choice((0, 1, 10, 100, 1000, 5000))
    s.habits.update(r.choice(({}, {'hide': 1}, {'pend': 1}, {'pend': 1, 'hide': 1})))
    s.habits.update(r.choice(({}, {'drop': r.randint(2, 200)}, {'mute': r.randint(2, 200)}, {'drop': 7, 'mute': 11})))
    if r.random() < 0.5:
        s.words.insert(r.randint(0, len(s.words)), 'launch:1:long')


def exits(s):
    """The process ends without notice, in the middle of something, or CUPTI ends first."""
    r = s.random
    how = r.choice(('_exit', 'quick', 'raise', 'end-at', 'end-at', 'in-flush', 'thread', 'late', 'die', 'dieon', 'exec'))
    code = r.randint(1, 90)
    s.status = code
    if how == '_exit':
        s.end = ['_exit:%d' % code]
    elif how == 'quick':
        s.end = ['quick:%d' % code]
    elif how == 'raise':
        number = r.choice(SIGNALS)
        s.end, s.status = ['raise:%d' % number], -number
    elif how == 'end-at':
        number = r.choice((-signal.SIGKILL, -signal.SIGTERM, code))
        at = r.randint(1, max(1, launches(s)))
        s.before.append('end-at:%d:%d' % (at, number))
        s.words.append('launch:%d' % at)  # so that this launch happens
        s.status = number
    elif how == 'in-flush':
        s.habits['meet'] = r.randint(1, 3)
        s.end = ['exit-in-flush:%d' % code]
    elif how == 'thread':
        s.end = ['thread-exit:%d' % code]
    elif how == 'late':
        s.before.insert(r.randint(0, 1), 'late:%d' % r.randint(1, 100))
        s.end = ['exit:%d' % code]
    elif how == 'exec':
        s.end = ['exec:init+launch=%d+exit=%d' % (s.count(), code)]
    else:
        s.habits[how] = r.randint(1, max(1, launches(s))) if how == 'die' else r.randint(1, 4)
        s.habits.update(r.choice(({}, {'silent': 1})))
        s.end = ['exit:%d' % code]


def forks(s):
    """Children: before the driver is initialised and after it, with work of their own or with words to begin anew."""
    r = s.random
    n = s.count()
    s.before.insert(0, r.choice(('fork:init+launch=%d', 'fork:init+launch=%d+_exit=0', 'fork:init+launch=%d+raise=9')) % n)
    s.words.append(r.choice(('fork:launch=5', 'fork:_exit=0', 'fork:exec=init', 'fork:init+launch=3')))


def disk(s):
    """The file system of the recording is full after some bytes."""
    s.disk = s.random.choice((4096, 8192, 16384, 65536, 262144))
    s.limit = s.random.random() < 0.5


def names(s):
    """Very many names, or very long ones."""
    r = s.random
    s.words.append(r.choice(('ranges:%d:0', 'ranges:%d:1')) % r.choice((10, 5000, 100000)) if r.random() < 0.5 else
                   'kernels:%d:%d' % (r.randint(2, 500), r.choice((10, 4000, 8170, 8190, 8200, 20000))))


def hangs(s):
    """A function of CUPTI does not return, or its first one fails."""
    if s.random.random() < 0.5:
        s.habits['hang'] = s.random.choice(('Subscribe', 'GetTimestamp', 'ActivityRegisterCallbacks'))
    else:
        s.habits['refuse'] = s.random.choice(('Subscribe', 'ActivityRegisterCallbacks', 'ActivityEnable'))


def control(s):
    """The recording is stopped for a while."""
    s.words += ['join', 'ctl:stop', 'launch:%d' % s.count()]
    s.words += ['ctl:start', 'launch:%d' % s.count()] * s.random.randint(0, 1)


def limited(s):
    """Options of record that change what is recorded."""
    s.options.append(s.random.choice(('--level=kernels', '--level=full', '--graphs=graph', '--max-size=30K', '--no-nvtx', '--sync')))


# Names and weights; hangs have small weights because they take seconds.
TROUBLES = ((stolen, 5), (errors, 5), (late, 5), (exits, 6), (forks, 2), (disk, 2), (names, 2), (limited, 2), (control, 1), (hangs, 0.3))
# Troubles that imply each other, or cannot be judged together.
APART = [('control', other) for other in ('stolen', 'exits', 'forks', 'disk', 'hangs')] + [('stolen', 'hangs')]


def scenario(seed):
    s = Scenario(seed)
    r = s.random
    work(s)
    s.status = r.randint(0, 99)
    s.end = ['join', 'exit:%d' % s.status]
    for habit in ('threads', 'hide', 'worker'):
        if r.random() < 0.3:
            s.habits[habit] = 1
    if r.random() < 0.2:
        s.fail = r.randint(2, 50)
    functions, weights = zip(*TROUBLES)
    for _ in range(r.choice((0, 1, 1, 2, 2, 3))):
        trouble = r.choices(functions, weights)[0]
        chosen = {trouble.__name__, *s.troubles}
        if trouble.__name__ not in s.troubles and not any(chosen >= set(pair) for pair in APART):
            trouble(s)
            s.troubles.append(trouble.__name__)
    return s
