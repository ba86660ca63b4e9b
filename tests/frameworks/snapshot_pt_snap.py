#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares memory with pt-snap-cli on 30 snapshots: the peak, the largest reservation, and the bytes in use and
reserved at the end.

    PYTHON-WITH-PT-SNAP-CLI tests/frameworks/snapshot_pt_snap.py --bin build/check

pt-snap-cli replays the entries backwards from the blocks at the end. It needs times, which PyTorch 2.1 does not write, and counts a
block that exists at the end with its size instead of the requested bytes. So the sizes of these snapshots are multiples of 512.
"""
import argparse
import contextlib
import io
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile

from pt_snap_cli.snapshot.tools.adaptors.snapshot2db import run_dump_to_db

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'snapshot'))
import layout  # noqa: E402


def memory(program, path, *words):
    return json.loads(subprocess.run([program, 'memory', path, '-output', 'json', '--top=0', *words], check=True, capture_output=True, text=True).stdout)


def theirs(path, folder):
    """The numbers of pt-snap-cli: the largest use and reservation, and those after the last entry."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert run_dump_to_db(snapshot_file=path, dump_dir=folder, device=0), 'not imported: ' + path
    with contextlib.closing(sqlite3.connect(os.path.join(folder, os.path.basename(path) + '.db'))) as db:
        events = 'trace_entry_0'
        most, reserved = db.execute('select max(active), max(reserved) from %s' % events).fetchone()
        end = db.execute('select active, reserved from %s order by id desc limit 1' % events).fetchone()
        return most, reserved, *end


def compare(program, seed, folder):
    snapshot, truth = layout.make(seed, version=('2.4', '2.8', 'today')[seed % 3], steps=120 + 7 * seed, before=50 * (seed % 3), expandable=seed % 5 == 2, grain=512)
    path = os.path.join(folder, '%d.pickle' % seed)
    with open(path, 'wb') as f:
        pickle.dump(snapshot, f, seed % 6)
    row, = memory(program, path)['memory']
    end = memory(program, path, '-at', 'end')
    live, unused = end['memory'][0]['live_bytes'], end['pools'][0]['unused_bytes']
    expected, found = theirs(path, folder), (row['peak_bytes'], row['reserved_bytes'], live, live + unused)
    assert expected == found, 'seed %d: expected %s, found %s' % (seed, expected, found)
    os.unlink(path)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    p.add_argument('--bin', required=True)
    program = os.path.abspath(os.path.join(p.parse_args().bin, 'tfprof'))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(30):
            try:
                compare(program, seed, folder)
            except AssertionError as e:
                failed += 1
                print(e)
    print('%d passed, %d failed, 0 skipped' % (30 - failed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
