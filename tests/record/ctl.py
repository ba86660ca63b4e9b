# SPDX-License-Identifier: Apache-2.0
"""The command ctl: subcommands, and the state of recordings."""
import glob
import os
import stat
import subprocess
import time

from rig import holds, put, same, spool, start_ticks, tfprof
from script import Spool, launches


def test_ctl():
    os.mkdir('c', 0o700)
    before = time.time_ns()
    for words in (['start'], ['step'], ['step', 'epoch 3'], ['flush'], ['stop']):
        same(tfprof('ctl', 'c', *words),
             (1, '', "tfprof: no process records into 'c' yet: the command applies to the next process\n"), words)
    lines = [x.split(' ', 1) for x in open('c/control').read().split('\n')[:-1]]
    same([x[1] for x in lines], ['start', 'step', 'step epoch 3', 'flush', 'stop'], 'orders')
    times = [before] + [int(x[0]) for x in lines] + [time.time_ns()]
    same(times, sorted(times), 'times')
    same(stat.S_IMODE(os.stat('c/control').st_mode), 0o600)
    many = [subprocess.Popen(['./bin/tfprof', 'ctl', 'c', 'step', str(i)]) for i in range(30)]
    same([p.wait() for p in many], [1] * 30)
    same(sorted(int(x.split()[2]) for x in open('c/control').read().split('\n')[5:-1]), list(range(30)))
    for words, status, sentence in ((['c'], 2, 'ctl takes a folder and'), (['c', 'stop', 'x'], 2, 'ctl takes a folder'),
                                    (['c', 'stopp'], 2, "'stopp' is not a subcommand of ctl"),
                                    (['c', 'step', 'a\nb'], 2, 'no control characters'),
                                    (['c', 'step', 'x' * 201], 2, 'at most 200 bytes'),
                                    (['none', 'stop'], 3, 'cannot open the folder'),
                                    (['bin', 'stop'], 1, "'bin' contains other files")):
        got = tfprof('ctl', *words)
        holds(got[2], sentence)
        same(got[0], status, words)
    os.remove('c/control')
    os.symlink('../elsewhere', 'c/control')
    got = tfprof('ctl', 'c', 'start')
    holds(got[2], "cannot open 'c/control'")
    same(os.path.exists('elsewhere'), False)


def test_status_of_spools():
    os.mkdir('c', 0o700)
    holds(tfprof('ctl', 'c', 'status')[1], 'no process records into this folder yet')
    spool('c', launches(20, argv='/usr/bin/trainer').add('note', text='half a sentence').end(), 10, 1)
    spool('c', launches(30).add('lost', why=4, count=4), 20, 1, 2)
    spool('c', launches(40), os.getpid(), start_ticks(os.getpid()), 3)
    os.rename(spool('c', Spool().end(), 40, 1, 4), 'c/other-host-40-1-00000004.tfspool')
    spool('c', Spool().end(), 41, 1, 5)
    with open(glob.glob('c/*-41-1-*')[0], 'r+b') as f:
        f.write(b'junk')
    os.rename(spool('c', Spool().end(), 50, 1, 6), 'c/odd.tfspool')
    put('c/9.log', 'one\ntwo\n')
    rows = tfprof('ctl', 'c', 'status')[1].split('\n')
    table = {x.split()[0]: x.split() for x in rows if x}
    same(table['10'][1:2] + table['10'][3:], ['closed', '20', '0', 'trainer'])
    same([table['20'][1] + ' ' + table['20'][2], table['20'][4]], ['cut off', '30'])
    same([table[str(os.getpid())][1], table[str(os.getpid())][3]], ['records', '40'])
    holds('\n'.join(rows), 'half a sentence')
    holds('\n'.join(rows), '4 records not written')
    holds('\n'.join(rows), 'bytes damaged')
    holds('\n'.join(rows), 'c/odd.tfspool: not the name of a recording')
    holds('\n'.join(rows), '9.log: one\n9.log: two')
