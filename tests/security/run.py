#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the promises of docs/SECURITY.md on the program itself.

    tests/security/run.py --program build/check/tfprof --jail build/check/faults/jail.so
"""
import os
import pty
import re
import shutil
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', d) for d in ('check', 'models')]
import cases  # noqa: E402
import make_checkpoint  # noqa: E402
from cases import Skip  # noqa: E402
from wire import num, sub  # noqa: E402

SMALL = os.path.join(ROOT, 'testdata', 'small') + '/views.'
MODEL = ['--graph_path=%sgraph.pbtxt' % SMALL, '--op_log_path=%sop_log.pbtxt' % SMALL,
         '--run_meta_path=%srun_meta_0.pbtxt,%srun_meta_1.pbtxt' % (SMALL, SMALL)]
SOMEBODY = 65534


def run(words, cwd, **more):
    env = dict({'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'HOME': cwd, 'TFPROF_THREADS': '4'}, **more.pop('env', {}))
    p = subprocess.run(words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
                       **dict({'stdin': subprocess.DEVNULL}, **more))
    return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def recording(folder, *lines):
    """Makes the folder of a recording with one file, of these records or a small one."""
    os.mkdir(folder, 0o700)
    if lines:
        subprocess.run([MAKE, folder + '/n-1-1.tfspool'], input='\n'.join(lines).encode(), check=True)
    else:
        shutil.copy(os.path.join(ROOT, 'testdata', 'small', 'train.tfspool'), folder + '/n-1-1.tfspool')


def jailed(t):
    """Loading and viewing use no network, start no program, and create no file."""
    shutil.copy(t.jail, 'jail.so')
    jail = {'LD_PRELOAD': './jail.so'}  # LD_PRELOAD splits paths at blanks
    make_checkpoint.bundle('ckpt', make_checkpoint.usual())
    assert run([t.program] + MODEL + ['convert', '-output', 'profile:outfile=profile'], '.')[0] == 0
    subprocess.run(['gzip', '-k', 'profile'], check=True)
    recording('session')
    os.mkdir('folder')
    shutil.copy('profile', 'folder/profile_1')
    shutil.copy('profile', 'folder/profile_2')
    assert run([t.program, 'baseline', 'save', 'b', 'profile'], '.')[0] == 0
    loads = [MODEL, ['--profile_path=profile'], ['profile.gz'], ['--recover', 'profile'], ['folder'],
             ['session'], ['--spool=session/n-1-1.tfspool'], MODEL + ['--checkpoint_path=ckpt']]
    asks = [[v, '-max_depth', '20'] for v in ('scope', 'graph', 'op', 'code')] + [['advise']]
    for words in [x + y for x in loads for y in asks] + [['checkpoint', '--verify', 'ckpt'], ['checkpoint', 'ckpt'],
                                                          ['gpu', 'session'], ['diff', 'profile', 'folder/profile_1'],
                                                          ['diff', 'baseline:b', 'profile'], ['baseline', 'list'],
                                                          ['baseline', 'show', 'b'], ['ctl', 'session', 'nonsense'],
                                                          ['help'], ['--version']]:
        free = run([t.program] + words, '.')
        kept = run([t.program] + words, '.', env=jail)
        if kept[0] == 77:
            raise Skip('no seccomp here')
        assert free == kept, '%s: %s is not %s' % (words, kept, free)
    assert run([t.program] + MODEL + ['scope', '-output', 'file:outfile=x'], '.', env=jail)[0] < 0, \
        'the jail lets files be written'


def traced(t, words, **more):
    """Returns the lines of strace about files, processes and the network."""
    if not shutil.which('strace'):
        raise Skip('no strace')
    got = run(['strace', '-f', '-qq', '-s', '4096', '-o', 'trace', '-e', 'trace=%file,%network,%process,write', t.program]
              + words, '.', **more)
    return got, read('trace').decode('utf-8', 'replace').splitlines()


def named_output(t):
    """Only the named output is written, and the temporary file that becomes it."""
    for words in (['scope', '-output', 'file:outfile=out'], ['graph', '-step', '0', '-output', 'timeline:outfile=out'],
                  ['op', '-output', 'pprof:outfile=out'], ['convert', '-output', 'profile:outfile=out']):
        _, lines = traced(t, MODEL + words)
        for x in lines:
            if re.search(r'open.*(O_WRONLY|O_RDWR|O_CREAT)', x):
                assert re.search(r'"(\./)?\.?out[^/"]*"', x), x
            assert not re.search(r'(socket|connect|fork|execve.*= 0)\(', x), x
            assert not re.search(r'\b(mkdir|symlink|link|chown|truncate)', x), x
            if re.search(r'\b(rename|unlink)', x):
                assert re.search(r'"\.?out', x), x
        assert len([x for x in lines if 'execve(' in x]) == 1, 'it starts programs'


def other_outputs(t):
    """Baselines and the control file of ctl are written to their own places, private and never through a link."""
    assert run([t.program] + MODEL + ['convert', '-output', 'profile:outfile=profile'], '.')[0] == 0
    recording('session')
    for words, place in ((['baseline', 'save', 'b', 'profile'], r'\(\d+, "\.?b'),  # in an open folder, without a path
                         (['ctl', 'session', 'stop'], r'"(session/)?control"')):
        got, lines = traced(t, words)
        assert got[0] == 0, got
        written = [x for x in lines if re.search(r'open.*(O_WRONLY|O_RDWR|O_CREAT)|(rename|unlink|symlink)', x)]
        assert written and all(re.search(place, x) for x in written), written
        assert not [x for x in lines if re.search(r'(socket|connect|fork)\(', x)], lines
    assert stat.S_IMODE(os.stat('session/control').st_mode) == 0o600
    os.rename('.tfprof', 'elsewhere')
    os.symlink('elsewhere', '.tfprof')
    os.rename('session', 'other')
    os.symlink('other', 'session')
    for words in (['baseline', 'save', 'c', 'profile'], ['baseline', 'remove', 'b'], ['ctl', 'session', 'start'],
                  ['record', '-o', 'session', 'true']):
        status, _, err = run([t.program] + words, '.')
        assert status in (1, 3) and 'tfprof: ' in err, (words, status, err)
    assert os.listdir('elsewhere/baselines') == ['b'] and b'start' not in read('other/control')
    os.unlink('.tfprof')
    os.rename('elsewhere', '.tfprof')
    for folder in '.tfprof', '.tfprof/baselines':
        os.chmod(folder, 0o777)
        status, _, err = run([t.program, 'baseline', 'save', 'c', 'profile'], '.')
        assert status == 3 and 'everyone may write into' in err, (status, err)
        os.chmod(folder, 0o700)
        if os.getuid() == 0:
            os.chown(folder, SOMEBODY, SOMEBODY)
            status, _, err = run([t.program, 'baseline', 'remove', 'b'], '.')
            assert status == 3 and 'belongs to another user' in err, (status, err)
            os.chown(folder, 0, 0)
    assert os.listdir('.tfprof/baselines') == ['b']


def message(field, *parts):
    return sub(field, b''.join(parts))


def hostile_names(t):
    """File names inside inputs are never opened: names of nodes, devices, Python files, slices."""
    canary = os.path.abspath('canary')
    write(canary, b'secret')
    names = [canary, '../' * 20 + canary.lstrip('/'), './canary', 'canary']
    graph = b''.join(message(1, sub(1, n), sub(2, n), sub(4, n)) for n in names)
    log = b''.join(message(1, sub(1, n), message(4, *[message(1, num(2, 1), num(6, 1), num(7, 1), num(8, 1))]))
                   for n in names) + message(2, num(1, 1), sub(2, canary))
    write('graph', graph)
    write('log', log)
    make_checkpoint.bundle('ckpt', [make_checkpoint.Tensor(n, 'int64', [], [1]) for n in names])
    for words in (['--graph_path=graph', '--op_log_path=log', v] for v in ('scope', 'graph', 'op', 'code', 'advise')):
        got, lines = traced(t, words)
        assert got[0] == 0, got
        told = [x for x in lines if 'canary' in x and 'write(' not in x]
        assert not told, told
    got, lines = traced(t, ['--graph_path=graph', '--checkpoint_path=ckpt', 'scope', '-select', 'tensor_value'])
    assert got[0] == 0 and b'canary' in got[1], got
    assert not [x for x in lines if 'canary' in x and 'write(' not in x]
    assert read(canary) == b'secret'
    hostile_recording(t, canary)


def hostile_recording(t, canary):
    """File names in recordings, in files beside them, and in baselines are never opened."""
    recording('session', *['info key=%s value="%s"' % (k, canary) for k in ('exe', 'cwd', 'argv', 'host', 'options')],
              'push start=1000 name="%s" tid=1' % canary,
              'api start=1100 length=9 correlation=1 name=cudaLaunchKernel tid=1',
              'kernel start=1200 length=9 correlation=1 name="%s" stream=7' % canary,
              'pop start=1300 tid=1', 'note start=1400 name="%s"' % canary, 'end start=1500')
    write('session/options', b''.join(b'--%s=%s\n' % (f, canary.encode()) for f in (
        b'graph_path', b'profile_path', b'op_log_path', b'checkpoint_path', b'spool', b'output', b'max-memory')))
    write('session/control', b'1 start\n1 load %s\n' % canary.encode())
    write('session/7.log', canary.encode())
    for words in ([['session', v, '-max_depth', '9'] for v in ('scope', 'graph', 'op', 'code')] +
                  [['gpu', 'session'], ['session', 'convert', '-output', 'profile:outfile=p'], ['baseline', 'save', 'b', 'p'],
                   ['baseline', 'show', 'b'], ['diff', 'baseline:b', 'p'], ['diff', 'p', 'session']]):
        got, lines = traced(t, words)
        assert got[0] == 0, (words, got)
        told = [x for x in lines if 'canary' in x and 'write(' not in x and 'execve(' not in x]
        assert not told, (words, told)
    assert b'canary' in got[1] or b'canary' in read('p')
    assert read(canary) == b'secret'


def shared_folder(t):
    """Links, pipes and devices of other users in a shared folder are not written to."""
    if os.geteuid() != 0:
        raise Skip('only root can be somebody else')
    os.mkdir('shared')
    os.chmod('shared', 0o1777)
    write('target', b'mine')
    os.symlink(os.path.abspath('target'), 'shared/link')
    os.mkfifo('shared/fifo')
    for f in ('shared/link', 'shared/fifo'):
        os.chown(f, SOMEBODY, SOMEBODY, follow_symlinks=False)
    os.symlink(os.path.abspath('target'), 'shared/ours')
    for f, word in (('link', 'link'), ('fifo', 'device or a pipe')):
        for words, lines in ((['scope', '-output', 'file:outfile=shared/' + f], b''), ([], b'scope > shared/%s\n' % f.encode()),
                             ([], b'scope >> shared/%s\n' % f.encode())):
            status, _, err = run([t.program] + MODEL + words, '.', stdin=None, input=lines) if lines else run(
                [t.program] + MODEL + words, '.')
            assert status == 1 and 'another user put a %s there' % word in err, (status, err)
    assert read('target') == b'mine'
    status, _, err = run([t.program] + MODEL + ['scope', '-output', 'file:outfile=shared/ours'], '.')
    assert status == 0 and read('target') != b'mine', err


def modes(t):
    """A new file has the mode of the umask, a replaced one keeps its mode."""
    for mask, mode in ((0o077, 0o600), (0o022, 0o644)):
        status = run(['sh', '-c', 'umask %03o; exec "$@"' % mask, 'sh', t.program] + MODEL +
                     ['scope', '-output', 'file:outfile=m%o' % mask], '.')
        assert status[0] == 0 and stat.S_IMODE(os.stat('m%o' % mask).st_mode) == mode, status
    write('private', b'')
    os.chmod('private', 0o600)
    assert run([t.program] + MODEL + ['scope', '-output', 'file:outfile=private'], '.')[0] == 0
    assert stat.S_IMODE(os.stat('private').st_mode) == 0o600
    if os.getuid():
        return  # only root can change groups
    shutil.copy(t.program, 'program')  # SOMEBODY may be unable to reach the folders of the build and of the test data
    words = ['./program']
    for word in MODEL:
        option, paths = word.split('=')
        words.append(option + '=' + ','.join(os.path.basename(shutil.copy(x, '.')) for x in paths.split(',')))
    words += ['scope', '-output', 'file:outfile=group']
    for mode, kept in ((0o664, 0o644), (0o660, 0o600), (0o777, 0o777)):
        write('group', b'')
        os.chown('group', SOMEBODY, 0)
        os.chmod('group', mode)
        assert run(words, '.')[0] == 0
        st = os.stat('group')
        assert (stat.S_IMODE(st.st_mode), st.st_gid) == (mode, 0), oct(st.st_mode)
        os.chmod('.', 0o777)
        os.chown('group', SOMEBODY, 0)
        status = run(words, '.', user=SOMEBODY, group=SOMEBODY, extra_groups=[])
        st = os.stat('group')
        assert status[0] == 0 and (stat.S_IMODE(st.st_mode), st.st_gid) == (kept, SOMEBODY), (status, oct(st.st_mode))


def no_shell(t):
    """Programs after a | are started without a shell: special characters stay in the arguments."""
    for word in (b'cat;touch${IFS}pwned', b'cat`touch', b'cat&touch', b'$(touch'):
        run([t.program] + MODEL, '.', stdin=None, input=b'scope | %s pwned\n' % word)
        assert not os.path.exists('pwned'), word


def pager_no_shell(t):
    """The pager is started without a shell."""
    cases.need_terminal()
    on_terminal(t, ['scope', '-max_depth', '20'], {'PAGER': 'cat;touch pwned', 'TERM': 'xterm'})
    assert not os.path.exists('pwned')


def on_terminal(t, words, env):
    master, slave = pty.openpty()
    p = subprocess.Popen([t.program] + t.words + words, stdin=slave, stdout=slave, stderr=slave, close_fds=True,
                         env=dict({'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8', 'TERM': 'dumb'}, **env))
    os.close(slave)
    out = b''
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        out += more
    p.wait(timeout=600)
    os.close(master)
    return out


def hostile_graph():
    """Writes a graph whose node has control bytes in its name. Returns the name, and words that show it."""
    name = 'a\x1b]0;title\x07b\x9b2J\x7f\nc (9us)\u202ed\u2066'
    write('graph', message(1, sub(1, name), sub(2, 'Op\x1b[2J')))
    return name, ['--graph_path=graph', '--color=never', 'scope', '-select', 'op_types']


def control_bytes_piped(t):
    """Names are unchanged in a pipe."""
    name, words = hostile_graph()
    assert name.encode() in run([t.program] + words, '.')[1]


def control_bytes(t):
    """Control bytes in names are escaped on a terminal."""
    cases.need_terminal()
    words = hostile_graph()[1]
    t.words = []
    for more in ([], ['-bars', 'true']):
        out = on_terminal(t, words + more, {})
        bad = re.sub(rb'[\r\n\t]', b'', out)
        assert b'title' in out and not re.search(rb'[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2[\x80\x81]', bad), out
        assert b'x7f\\x0ac (9us)' in out, out
    t.words = MODEL
    write('bad\x1b[2J', b'\xff\xff')
    out = on_terminal(t, ['--profile_path=bad\x1b[2J'], {})
    assert b'\x1b' not in out, out


TESTS = [jailed, named_output, other_outputs, hostile_names, shared_folder, modes, no_shell, pager_no_shell, control_bytes_piped,
         control_bytes]


def main():
    t = cases.arguments(__doc__, jail='faults/jail.so', make='spool_make')
    global MAKE
    MAKE, t.words = t.make, MODEL
    return cases.run([f for f in TESTS if not t.names or f.__name__ in t.names], t)


if __name__ == '__main__':
    sys.exit(main())
