# SPDX-License-Identifier: Apache-2.0
"""Sources of steps."""
from rig import same, steps_of
from script import T0, Spool


def stepped(**more):
    """Makes two launches, then 3, 4 and 5 in possible steps."""
    s, at = Spool(**more), 0
    for i, n in enumerate([2, 3, 4, 5]):
        if i:
            s.push(at, 'ProfilerStep#%d' % i).add('mark', start=T0 + at, name='tfprof.step', tid=1)
            s.launch(at + 10, 'anchor' if i else 'k').add('step', start=T0 + at, what=0, label='x')
            n -= 1
        for k in range(n):
            s.launch(at + (100 if i else 0) + k * 20000)
        at += 1000000
        if i:
            s.pop(at - 10)
    return s


def check_steps(t):
    """Steps of every source; work before the first step is left out, or step 0."""
    s = stepped()
    s.lines = [x for x in s.lines if not x.startswith(('mark', 'step'))]
    path = t.write(s.end())
    same(steps_of(t, path), [14])
    for way in ('--step-nvtx=pytorch', '--step-nvtx=ProfilerStep.*', '--step-kernel=anchor'):
        same(steps_of(t, path, way), [3, 4, 5])
        same(steps_of(t, path, way, '--keep-warmup'), [2, 3, 4, 5])
    same(steps_of(t, path, '--step-every=1'), [2, 3, 4, 5])
    same(steps_of(t, path, '--step-nvtx=nothing'), [14])
    t.run('scope', path, '--step-nvtx=nothing')
    assert 'no range, mark or kernel' in t.notes, t.notes
    t.run('scope', path, '--step-nvtx=pytorch')
    assert '2 operations are in no step' in t.notes, t.notes


def check_steps_within(t):
    """Ranges that are steps are not parts of paths; ranges inside a step do not begin another."""
    s = stepped().push(5000000, 'ProfilerStep#9').launch(5000100).push(5000200, 'ProfilerStep#10', tid=2)
    s.launch(5000300).pop(5000900, tid=2).launch(5000950).pop(5001000)
    path = t.write(s.end())
    same(steps_of(t, path, '--step-nvtx=pytorch'), [3, 4, 5, 3])
    same(set(t.runs('scope', path, '--step-nvtx=pytorch')), {'gemm', 'anchor'})


def check_steps_marks(t):
    """Marks called tfprof.step, signals and tfprof ctl are steps by default."""
    s = stepped()
    same(steps_of(t, t.write(s.end())), [3, 4, 5])
    s.lines = [x for x in s.lines if not x.startswith('mark')]
    same(steps_of(t, t.write(s)), [3, 4, 5])
    s.lines = [x for x in s.lines if not x.startswith('step')]
    t.write(s, folder='session')
    with open(t.path('session/control'), 'w') as f:
        f.write('%d start\n' % T0)
        for i in (1, 2, 3):
            f.write('%d step number %d\n' % (T0 + i * 1000000, i))
        f.write('nonsense\n5\n%d stop\n' % T0)
    same(steps_of(t, 'session'), [3, 4, 5])


def check_steps_profiler(t):
    """Time between cuProfilerStart and cuProfilerStop is a step."""
    s = stepped()
    s.lines = [x for x in s.lines if not x.startswith(('mark', 'step'))]
    for at, what in ((1000000, 1), (1999990, 2), (3000000, 1), (3900000, 2)):
        s.add('step', start=T0 + at, what=what)
    same(steps_of(t, t.write(s.end())), [3, 5])


def check_steps_late(t):
    """If no step contains a launch, as when cuProfilerStart comes only at the end, all work is step 0."""
    s = Spool()
    for i in range(5):
        s.launch(i * 20000, 'k')
    s.add('step', start=T0 + 900000, what=1).add('step', start=T0 + 900001, what=2)
    path = t.write(s.end())
    for words in ((), ('--keep-warmup',), ('--leaf=op',)):
        same(t.runs('scope', path, *words), {'k': 5})
    t.run('scope', path)
    assert 'no work was launched within a step, so all work belongs to step 0' in t.notes, t.notes
    assert 'left out' not in t.notes, t.notes
    path = t.write(s.launch(900000, 'k').end())
    same(t.runs('scope', path), {'k': 1})
    assert '5 operations are in no step' in t.notes, t.notes


def check_options_file(t):
    """Options of record are the defaults; the command line overrides them."""
    t.write(stepped().end(), folder='session')
    with open(t.path('session/options'), 'w') as f:
        f.write('--step-nvtx=pytorch\n--keep-warmup\n--max-memory=1\n--no-such=thing\n')
    same(steps_of(t, 'session'), [2, 3, 4, 5])
    same(steps_of(t, 'session', '--step-nvtx=.*Step#2'), [5, 9])


def check_long_names(t):
    """A name above 4096 bytes is not compared with a pattern of steps, and a note reports it."""
    for n, steps in ((4096, [1, 1]), (4097, [2])):
        s, name = Spool(), 'x' * n
        for i in range(2):
            s.push(i * 100000, name).launch(i * 100000 + 10, 'k').pop(i * 100000 + 50000)
        path = t.write(s.end())
        same(steps_of(t, path, '--step-nvtx=x+'), steps)
        t.run('scope', path, '--step-nvtx=x+')
        assert ('1 name has more than 4096 bytes and was not compared' in t.notes) == (n > 4096), t.notes


def check_costly_pattern(t):
    """A pattern of the options file that exceeds its budget over many names gives an error message with its name."""
    s = Spool()
    for i in range(400):
        s.push(i * 1000, 'd%03d' % i + 'a' * 500 + 'b' * 500 + 'c' * 500).launch(i * 1000 + 1, 'k').pop(i * 1000 + 500)
    t.write(s.end(), folder='costly')
    with open(t.path('costly/options'), 'w') as f:
        f.write('--step-nvtx=[^x]*a[^x]*b[^x]*c[^x]*d\n')
    t.run('scope', 'costly', status=3)
    assert "pattern '[^x]*a[^x]*b[^x]*c[^x]*d': gave up matching 'd" in t.notes, t.notes
    assert 'the limit of matching steps is reached' in t.notes, t.notes
