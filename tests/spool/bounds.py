# SPDX-License-Identifier: Apache-2.0
"""Checks the cost of recordings: bytes of a record, memory of an answer."""
import json
import os
import subprocess


def check_size(t):
    """A record takes fewer than 20 bytes; make bench measures the time of encoding."""
    said = json.loads(subprocess.run([t.args.make, '-', 'time', '200000'], stdout=subprocess.PIPE, check=True).stdout)
    assert 4 < said['bytes'] < 20 and said['ns'] > 0, said


def check_bounded(t):
    """Memory is independent of the number of records: two lengths are answered in 12 MiB."""
    path = t.path('long.tfspool')
    for n in (1100000, 3300000):
        subprocess.run([t.args.make, path, 'big', str(n)], check=True)
        t.run('op', path, '--max-memory=12M')
        assert '%d operations are summed' % n in t.notes, t.notes
        assert os.path.getsize(path) > 20 * n
    os.unlink(path)
