#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the program in a terminal (tmux) like a user, at 80x24 and 200x50, and compares the
screens with expected/NAME-SIZE.txt. A case is a list of steps:

    'text'      typed as it is          Key('Tab')  a key by its name
    Wait('x')   until x is on the screen, and the screen is still
    Shot()      the screen is compared  Size(w, h)  the terminal is resized
    Numbers()   only the line of progress, once there is one, its numbers as N
    File('x')   makes a file of that name

A step begins when the input of the previous step was read and no process is working, so the speed of the machine does not
matter. Then completion is tested in the installed shells.

    tests/term/run.py [NAME...]     tests/term/run.py --accept [NAME...]
"""
import argparse
import concurrent.futures
import difflib
import glob
import gzip
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'check'), os.path.join(ROOT, 'tests', 'spool')]
from built import has
from cases import no_terminal
from script import T0, Spool
from terminal import Terminal

AT_ONCE = 4
FILES = 'graph.pbtxt run_meta tfprof_log'


class Key(str):
    pass


class Wait(str):
    pass


class Shot:
    pass


class Colours:
    """Compares the next screen with its colours."""


class Numbers:
    """Compares the line of the cursor, with N for each number."""


class Size:
    def __init__(self, w, h):
        self.w, self.h = w, h


class File(str):
    pass


NEEDS = {'completion': 'libedit', 'history': 'libedit', 'break': 'libedit', 'resize': 'libedit',
         'gpu': 'demangler'}
START = ['tfprof ' + FILES, Key('Enter'), Wait('\ntfprof>\n')]
CASES = {
    'summary': START + [Shot()],
    'completion': START + [
        'sc', Key('Tab'), '-max_d', Key('Tab'), '2 -order_by mi', Key('Tab'), '-select micros,pa',
        Key('Tab'), Wait('params'), Shot(), Key('C-c'), 'scope -show_name_regexes seq2seq/dec',
        Key('Tab'), Key('Tab'), Key('Tab'), Wait('lstm13/'), Shot(), Key('C-c'),
        'op -account_type_regexes Soft', Key('Tab'), Wait('Logits'), 'x', Key('C-c'), 'scope -step ',
        Key('Tab'), Wait('-1'), Shot()],
    'answer': START + ['scope -max_depth 2 -order_by micros -select micros', Key('Enter'),
                       Wait('(END)|save|\n:\n'), Shot(), Colours()],
    'pager': START + ['scope -max_depth 6 -select micros', Key('Enter'), Wait('\n:'), Shot(),
                      'G', Wait('(END)'), Shot(), 'q', Wait('\ntfprof>\n'), 'set -step', Key('Enter'),
                      Wait('\n-step'), Shot()],
    'history': START + ['set -max_depth 1', Key('Enter'), 'set -step 0', Key('Enter'), 'quit', Key('Enter'),
                        Wait('\n$\n'), 'clear; tfprof ' + FILES, Key('Enter'), Wait('\ntfprof>\n'), Key('Up'),
                        Key('Up'), Key('Up'), Wait('max_depth 1'), Shot(), Key('C-c'), Key('C-d'), Wait('\n$\n'),
                        'clear; stat -c %a .local/state/tfprof/history.txt; '
                        'cat .local/state/tfprof/history.txt', Key('Enter'), Wait('quit'), Shot()],
    'redirect': START + ['scope -max_depth 1 > out', Key('Enter'), 'scope -max_depth 1 >> out', Key('Enter'),
                         'scope -max_depth 1 | grep -c Root', Key('Enter'), Wait('\n1\n'), 'exit',
                         Key('Enter'), Wait('\n$\n'), 'clear; grep -c _TFProfRoot out', Key('Enter'),
                         Wait('2'), Shot()],
    'bars': START + ['scope -max_depth 2 -order_by micros -bars -select micros,percent | cat', Key('Enter'),
                     Wait('save'), 'scope -max_depth 2 -min_micros 100000 -order_by micros -bars',
                     Key('Enter'), Wait('█'), 'q', Shot()],
    'narrow': START + ['scope -max_depth 9 -min_micros 43000 -select float_ops', Key('Enter'),
                       Wait('sampled_loss'), 'q', Shot()],
    'errors': START + ['scpe', Key('Enter'), Wait('mean'), 'scope -max_dept 3', Key('Enter'),
                       'scope -max_depth x', Key('Enter'), 'scope |', Key('Enter'), Wait('less'), Shot()],
    'nothing': START + ['scope -max_depth 9 -show_name_regexes MatMul', Key('Enter'), Wait('nothing to show'), Shot(),
                        'help -step ctl', Key('Enter'), Wait('Examples'), Shot()],
    'break': START + ['half a line', Key('C-c'), 'scope -max_depth 1 \\', Key('Enter'), Wait('\n>\n'), Key('C-c'), '!echo gone', Key('Enter'),
                      Wait('\ngone'), 'set -step', Key('Enter'), Wait('\n-step'), Key('C-c'),
                      Key('C-c'), 'set -viz', Wait('-viz'), Shot()],
    'running': START + ['scope -max_depth 1 | cat - /dev/tty', Key('Enter'), Wait('Root'), Key('C-c'), Wait('signal'),
                        'set -step', Key('Enter'), Wait('\n-step'), Shot()],
    'progress': ['(while [ ! -e go ]; do seq -f "node{name:\'n$((i+=1))/%g\'}" 90; sleep 0.1; done) | '
                 'tfprof --graph_path=- scope -max_depth 1', Key('Enter'), Numbers(), File('go'),
                 Wait('\n_TFProfRoot'), Shot()],
    'resize': START + ['scope -max_depth 2', Wait('max_depth 2'), Size(60, 20), Key('C-c'),
                       'set -select', Key('Enter'), Wait('-select  '), Shot()],
    # Names that crash libedit: characters of four bytes, bytes of incomplete characters.
    'jobs': START + ['load 😀=tfprof_log', Key('Enter'), Wait('\ntfprof 😀>\n'),
                     'load y' + 'x中' * 12 + '=tfprof_log', Key('Enter'), Wait('x中x>\n'), 'set -step', Key('Enter'),
                     Wait('\n-step'), Shot()],
    # Without files: instructions and settings; !! repeats the previous line.
    'alone': ['tfprof', Key('Enter'), Wait('\ntfprof>\n'), '!!', Key('Enter'), 'scope', Key('Enter'), 'set', Key('Enter'),
              Wait('nothing is set'), 'set -max_depth 1 -select params', Key('Enter'), 'set', Key('Enter'), Wait('-select  '),
              Shot(), 'load graph.pbtxt', Key('Enter'), Wait('nodes, no steps'), 'sc -q | tail -1', Key('Enter'),
              Wait('Root'), '!!', Key('Enter'), 'load b=tfprof_log', Key('Enter'), Wait('tfprof b>'), 'top', Key('Enter'),
              Wait('load GRAPH'), 'list', Key('Enter'), Wait('* b'), Shot()],
    'dumb': ['TERM=dumb tfprof ' + FILES, Key('Enter'), Wait('\ntfprof>\n'), 'set -step', Key('Enter'),
             Wait('\n-step'), Shot(), 'scope -max_depth 1', Key('Enter'), Wait('Root'), Shot(),
             Key('C-d')],
    'gpu': ['tfprof gpu', Key('Enter'), Wait('kernel'), 'q', Key('BSpace'), Shot(),
            'clear; tfprof ctl tfprof-run status', Key('Enter'), Wait('closed'), Shot()],
    'record': ['tfprof record -o r -- sh -c "trap \'echo got it; exit 3\' INT; echo up; cat"',
               Key('Enter'), Wait('\nup'), Key('C-c'), Wait('doctor'), 'echo status $?', Key('Enter'),
               Wait('status 3'), Shot()],
    'unset': ['env -u TERM tfprof ' + FILES, Key('Enter'), Wait('\ntfprof>\n'), 'set -step', Key('Enter'),
              Wait('\n-step'), Shot(), Key('C-d')],
}


def play(name, w, h, top):
    """Runs a case. Returns the screens, and the text that never appeared."""
    t = Terminal(top, w, h)
    shots, missing = [], []
    t.wait('$')
    for step in CASES[name]:
        if isinstance(step, Wait):
            if not t.wait(step):
                missing.append('never seen: ' + step)
                break
        elif isinstance(step, Shot):
            t.still()
            shots.append(t.screen())
        elif isinstance(step, Numbers):
            shots.append(t.line())
        elif isinstance(step, File):
            open(os.path.join(top, step), 'w').close()
        elif isinstance(step, Colours):
            shots.append(t.screen('-e'))
        elif isinstance(step, Size):
            t.tmux('resize-window', '-x', str(step.w), '-y', str(step.h))
            t.still()
        elif isinstance(step, Key):
            t.tmux('send-keys', step)
            t.still()
        else:
            t.tmux('send-keys', '-l', '--', step)
            t.still()
    t.close()
    return shots, missing


def recording():
    relu = '_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_'
    cutlass = ('_ZN7cutlass6KernelI67cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8EEvNT_6'
               'ParamsE')
    s = Spool(pid=4711, argv='/usr/bin/trainer', env_RANK=0).add('gpu', uuid='\x12' * 16, name='NVIDIA H200')
    for at, length, name in ((1000000, 20000, relu), (1030000, 25000, 'ampere_sgemm_128x64_tn'),
                             (1060000, 21000, relu), (1090000, 121000, cutlass)):
        s.add('kernel', start=T0 + at, length=length, name=name, stream=7)
    s.add('copy', kind=1, start=T0 + 1010000, length=40000, bytes=4000000, stream=7)
    s.add('copy', kind=2, start=T0 + 1200000, length=10000, bytes=1000, stream=7)
    s.add('set', start=T0 + 1300000, length=1000, bytes=64, stream=7)
    s.add('api', name='cudaStreamSynchronize_v3020', tid=77, start=T0 + 1000000, length=60000, correlation=9)
    return s.add('lost', why=0, count=12).end()


def do(name, w, h):
    top = tempfile.mkdtemp(prefix='tfprof-term-')
    os.mkdir(top + '/tfprof-run')
    recording().make(ARGS.spool_make, top + '/tfprof-run/host-4711-1-00000001.tfspool')
    os.mkdir(top + '/bin')
    os.symlink(ARGS.program, top + '/bin/tfprof')
    for path in glob.glob(os.path.join(ROOT, 'testdata/models/textsum/*.gz')):
        with gzip.open(path) as f, open(os.path.join(top, os.path.basename(path)[:-3]), 'wb') as g:
            shutil.copyfileobj(f, g)
    shots, bad = play(name, w, h, top)
    shutil.rmtree(top, ignore_errors=True)  # a pager may still be writing its history
    text = ('\n' + '=' * 40 + '\n').join(shots) + '\n'
    path = os.path.join(HERE, 'expected', '%s-%dx%d.txt' % (name, w, h))
    if ARGS.accept and not bad:
        with open(path, 'w') as f:
            f.write(text)
    expected = open(path).read() if os.path.exists(path) else ''
    if text != expected:
        bad.append(''.join(list(difflib.unified_diff(expected.splitlines(True), text.splitlines(True),
                                                     'expected', 'found', n=2))[:80]))
    return bad


# ---- completion in the shells -------------------------------------------------------------------
COMPLETION = os.path.join(ROOT, 'docs', 'completion')
SHELLS = {
    'bash': ('bash --norc --noprofile -i', 'source "%s/tfprof.bash"' % COMPLETION),
    'zsh': ('zsh -f -i', 'fpath=("%s" $fpath); autoload -Uz compinit; compinit -u -D' % COMPLETION),
    'fish': ('fish --no-config -i', 'source "%s/tfprof.fish"' % COMPLETION),
}


# Words with ':' and '=', at which bash also splits; values of options; the program that record runs.
MORE_WORDS = ((('tfprof record --level=la', '--level=launches'),), (('tfprof scope x -output pp', '-output pprof:outfile='),),
              (('tfprof scope x -output pprof:ou', '-output pprof:outfile='),), (('tfprof top x -by mod', '-by module'),),
              (('tfprof top x -n 5', '-n 50'),), (('tfprof gpu x -to', '-top'),), (('tfprof scope x -order_by accelerator_', 'accelerator_micros'),),
              (('tfprof scope x -output pprof:outfile=re', 'outfile=result.pb'),), (('tfprof record -o r -- mkfif', 'r -- mkfifo'),))


def in_shell(name):
    """Tests that prefixes are completed: a command, an option, an option of that command."""
    top = tempfile.mkdtemp(prefix='tfprof-term-')
    os.mkdir(top + '/bin')
    os.symlink(ARGS.program, top + '/bin/tfprof')
    open(top + '/result.pb', 'w').close()
    t = Terminal(top, 200, 50)
    start, load = SHELLS[name]
    t.wait('$')
    for line in (start, load, 'echo rea""dy'):
        t.tmux('send-keys', '-l', '--', line)
        t.tmux('send-keys', 'Enter')
        t.still()
    good = t.wait('\nready')
    for words in ((('tfprof sco', 'tfprof scope'), ('-max_d', '-max_depth')),
                  (('tfprof diff --gat', 'diff --gate'), ('x -max_d', 'x -max_depth')),
                  (('tfprof ctl run1 fl', 'ctl run1 flush'),), (('tfprof baseline sa', 'baseline save'),)) + MORE_WORDS:
        for begun, whole in words:
            t.tmux('send-keys', '-l', '--', begun)
            t.tmux('send-keys', 'Tab')
            t.still()
            good = good and t.wait(whole) and '\\' not in t.screen()
        t.tmux('send-keys', 'C-u' if good else 'End')
    if not good:
        print('FAILED completion in %s\n%s' % (name, t.screen()))
    t.close()
    shutil.rmtree(top, ignore_errors=True)  # a shell may still be writing its history
    return good


def in_shells():
    """Returns the numbers of passed, failed and skipped cases."""
    count = [0, 0, 0]
    for name in SHELLS:
        if not shutil.which(name):
            print('skipped: no %s: its completion is not tried' % name)
            count[2] += 1
        else:
            good = in_shell(name)
            count[not good] += 1
    return count


def main():
    if not shutil.which('tmux') or not shutil.which('less'):
        print('skipped: no tmux or no less\n0 passed, 0 failed, 1 skipped')
        return 0
    if no_terminal():
        print('skipped: %s\n0 passed, 0 failed, 1 skipped' % no_terminal())
        return 0
    passed, failed, skipped = (0, 0, 0) if ARGS.names else in_shells()
    cases = [(name, w, h) for name in ARGS.names or CASES for w, h in ((80, 24), (200, 50))]
    for name, part in NEEDS.items():
        if not has(ARGS.program, part):
            print('skipped: %s: no %s in this build' % (name, part))
            skipped += sum(c[0] == name for c in cases)
            cases = [c for c in cases if c[0] != name]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:  # these tests mostly wait
        for (name, w, h), bad in zip(cases, pool.map(lambda c: do(*c), cases)):
            passed += not bad
            failed += bool(bad)
            if bad:
                print('FAILED %s at %dx%d\n%s' % (name, w, h, '\n'.join(bad)))
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description='Uses the program in a terminal.')
    p.add_argument('names', nargs='*')
    p.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    p.add_argument('--tools', default=os.path.join(ROOT, 'build', 'release'), help='where spool_make is')
    p.add_argument('--accept', action='store_true')
    ARGS = p.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    ARGS.spool_make = os.path.join(os.path.abspath(ARGS.tools), 'spool_make')
    sys.exit(main())
