# SPDX-License-Identifier: Apache-2.0
"""Recordings with unbounded numbers of streams, depths and components."""
from rig import same
from script import T0, Spool


def check_many_streams(t):
    """If a program always makes new streams, every operation is counted."""
    s = Spool()
    for i in range(70000):
        s.add('kernel', name='k', start=T0 + i * 1000, length=500, stream=i)
    path = t.write(s.end())
    same(t.runs('scope', path), {'k': 70000})
    t.run('scope', path, '-step', '0', '-output', 'timeline:outfile=tl')


def check_long_paths(t):
    """Ranges beyond a path of 4096 bytes are merged; namespaces of a kernel beyond 32 are left out."""
    s = Spool()
    for i in range(60):
        s.push(i, '%02d' % i + 'x' * 150)
    for i in range(100):
        s.launch(1000 + i * 10, 'k%d' % i)
    found = t.runs('scope', t.write(s.end()))
    same(sorted(found.values()), [1] * 100)
    assert max(map(len, found)) < 4096 + 10, max(map(len, found))
    s = Spool().launch(0, '_ZN' + '1a' * 100 + '1kE' + 'v')
    same(t.runs('scope', t.write(s)), {'a/' * 31 + 'k': 1})
