# SPDX-License-Identifier: Apache-2.0
"""Files of other users and of earlier recordings in the folder of a recording."""
import glob
import json
import os
import re

from fake import fake
from rig import ARGS, HOST, holds, run, same, spool, start_ticks, tfprof
from script import Spool, launches


def one(folder):
    os.mkdir(folder, 0o700)
    spool(folder, launches(20, argv='/usr/bin/x').end())


def test_no_files():
    """A pipe, a device, a folder and a dangling link are refused without blocking."""
    name = '%s-11-1-00000002.tfspool' % HOST
    one('pipe')
    os.mkfifo('pipe/' + name)
    one('device')
    os.symlink('/dev/zero', 'device/' + name)
    one('folder')
    os.mkdir('folder/' + name)
    one('nowhere')
    os.symlink('none', 'nowhere/' + name)
    for folder, why in (('pipe', 'it is not a regular file'), ('device', 'it is not a regular file'), ('folder', 'it is a folder'),
                        ('nowhere', 'No such file')):
        sentence = "cannot open '%s/%s': %s" % (folder, name, why)
        for words in (['gpu', folder], ['op', '--spool=' + folder],
                      ['convert', folder, '-output', 'profile:outfile=p']):
            got = tfprof(*words)
            holds(got[2], sentence)
            same(got[0], 3, words)
        got = tfprof('ctl', folder, 'status')
        holds(got[1], sentence)
        holds(got[1], 'closed')
    for aside in ('options', 'control', '7.log'):
        one('aside-' + aside)
        os.mkfifo('aside-%s/%s' % (aside, aside))
    holds(tfprof('op', '--spool=aside-options')[2], "cannot open 'aside-options/options': it is not a regular file")
    holds(tfprof('op', '--spool=aside-control')[2], "cannot open 'aside-control/control': it is not a regular file")
    holds(tfprof('ctl', 'aside-control', 'stop')[2], "cannot open 'aside-control/control': ")
    holds(tfprof('ctl', 'aside-7.log', 'status')[1], "cannot open 'aside-7.log/7.log': it is not a regular file")
    same(tfprof('record', '-o', 'aside-7.log', '--', 'true')[0], 0)


def test_old_orders():
    """ctl commands to an earlier recording in the folder do not affect the next recording."""
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    tfprof('record', '-o', 'o', '--', *fake('launch:10'), more=env)
    tfprof('ctl', 'o', 'stop')
    got = tfprof('record', '-o', 'o', '--', *fake('launch:20', 'sleep:300', 'launch:20'), more=env)
    holds(got[2], 'tfprof: 1 process, 40 kernels')
    tfprof('ctl', 'o', 'start')
    got = tfprof('record', '-o', 'o', '--start=ctl', '--', *fake('sleep:300', 'launch:20'), more=env)
    holds(got[2], 'tfprof: 1 process, 0 kernels')


def test_nested():
    """If record runs below record, the inner one records the program, and a message reports this."""
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    got = tfprof('record', '-o', 'outer', '--', './bin/tfprof', 'record', '-o', 'inner', '--',
                 *fake('launch:7', 'exit:4'), more=env)
    same(got[0], 4)
    holds(got[2], "outer' is still running: this program is recorded into '")
    holds(got[2], '1 process, 7 kernels')
    same([len(glob.glob(x + '/*.tfspool')) for x in ('outer', 'inner')], [0, 1])


def test_nobody_listens():
    """ctl reports that all processes have ended, unless processes may still start."""
    one('over')
    same(tfprof('ctl', 'over', 'stop')[::2], (1, "tfprof: no process that has recorded into 'over' is still running\n"))
    spool('over', Spool(), os.getpid(), start_ticks(os.getpid()))
    same(tfprof('ctl', 'over', 'stop'), (0, '', ''))


def test_foreign_folder():
    """record refuses a folder of another user, whatever its mode."""
    os.mkdir('foreign', 0o755)
    if os.geteuid() == 0:
        os.chown('foreign', 65534, -1)
        got = tfprof('record', '-o', 'foreign', 'true')
        holds(got[2], "'foreign' belongs to another user")
        same(got[0], 3)


def test_typo():
    """If the program cannot be run, files of an earlier recording in the folder are kept."""
    tfprof('record', '-o', 't', '--step-nvtx=train', '--', 'true')
    same(tfprof('record', '-o', 't', '--', 'no-such-program')[0], 127)
    same(open('t/options').read(), '--step-nvtx=train\n')


def test_no_room():
    """A file size limit truncates the recording, and record and gpu report it."""
    env = dict(LD_LIBRARY_PATH=ARGS.fakes)
    got = run('sh', '-c', 'ulimit -f 128; exec "$@"', 'sh', './bin/tfprof', 'record', '-o', 'r', '--',
              *fake('launch:50000', 'sleep:300', 'exit:5'), more=env)
    same(got[0], 5)
    for part in ('tfprof: recording stopped after ', ': File too large\n',
                 ' records not written, ', ', 1 process had not closed its recording: '):
        holds(got[2], part)
    # Each kernel is counted, even if some data could not be written.
    have, lost = (int(re.search(r'(\d+) kernels%s' % x, got[2])[1]) for x in (',', ' launched but not recorded'))
    same(have + lost, 50000, got[2])
    holds(got[2], '; at least ')
    got = tfprof('gpu', 'r')
    holds(got[2], ' records could not be written\n')
    holds(got[2], ': recording stopped after ')


def test_names():
    """Names from recordings stay on their line, and their control characters are escaped."""
    os.mkdir('n', 0o700)
    s = Spool(argv='ev\x1bil', env_TFPROF_JOB='j\x07')
    s.add('note', text='note\x1b[1m').add('kernel', name='k\x1b]0;t\x07', start=5, length=5)
    spool('n', s, 10)
    os.rename(spool('n', s, 11), 'n/x\n\x1b-11-1-00000001.tfspool')
    with open('n/a\x1b.log', 'w') as f:
        f.write('lo\x1bg\n')
    for words in (['gpu', 'n'], ['ctl', 'n', 'status']):
        got = tfprof(*words)
        same(got[0], 0, got)
        same([c for c in got[1] if c < ' ' and c != '\n'], [], words)
    holds(got[1], 'ev\\x1bil on x\\x0a\\x1b\n')
    holds(got[1], 'a\\x1b.log: lo\\x1bg\n')


def test_ends_of_types():
    """Numbers are clamped at the ends of their types and never wrap."""
    os.mkdir('e', 0o700)
    most = 2 ** 64 - 1
    s = Spool().add('copy', start=5, length=1, bytes=2 ** 63 - 1, kind=1)
    for _ in range(2):
        s.add('sum', what=7, name='k', count=most, sum=most, min=1, max=most).add('lost', why=0, count=most)
    spool('e', s.add('kernel', name='k', start=5, length=most).end())
    data = json.loads(tfprof('gpu', 'e', '--output=json')[1])
    same([data['gpus'][0]['kernels'], data['lost']['dropped'], data['transfers'][0]['bytes_per_second'],
          data['kernels'][0]['total_ns'], data['kernels'][0]['count']], [2 ** 63 - 1] * 5)
    row = tfprof('ctl', 'e', 'status')[1].split('\n')[1].split()
    same(row[3], str(most), row)
