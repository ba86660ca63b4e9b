#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No line of a command is longer than the terminal, at 60, 80 and 120 columns, in answers, notes and errors.

    tests/term/widths.py --program build/tfprof [FILE...]     with other files than those of testdata
"""
import argparse
import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMANDS = ['summary', 'top', 'top -by occurrence', 'why', 'idle', 'critical', 'devices', 'kernels', 'steps', 'phases', 'roofline', 'flops',
            'memory', 'scope', 'graph', 'op', 'code', 'scope -select accelerator_micros,self_micros,occurrence,float_ops', 'advise',
            'what-if launch=0', 'collectives', 'convert -output csv']
FILES = ['traces/training.pt.trace.json.gz', 'traces/calls.json', 'traces/nsys.sqlite', 'traces/trace.xplane.pb', 'traces/trace.pftrace',
         'traces/rocprof_results.json', 'traces/onnxruntime.json', 'traces/cpu.pb.gz', 'traces/tensorrt_times.json', 'graphs/replay.pt.trace.json',
         'small/train.tfspool', 'memory/snapshot.pickle', 'flight/dump_0', 'example/profile_100', 'models/resnet']
FILES_AT = 'testdata/'
# Commands that take no file, or two; their lines are checked at 80 columns.
WORDS = [['diff', 'testdata/example/profile_100', 'testdata/example/profile_100'], ['doctor'], ['scope', '-h'], ['op', '-h'], ['record', '-h'],
         ['help', 'code'],
         ['help', 'exit-status'], ['help', 'parquet'], ['help', 'diff', '--width=80'], ['baseline', 'list'], ['peek', 'aten', FILES_AT + FILES[0]],
         ['peek', 'aten::addmm', FILES_AT + FILES[0]], ['flops', FILES_AT + FILES[0], '--explain=aten::convolution'], ['flops', FILES_AT + FILES[0], '--explain=aten::addmm'],
         ['diff', FILES_AT + FILES[0], FILES_AT + FILES[0], '--of=kernels'], ['what-if', FILES_AT + FILES[0], '--each=kernel'],
         ['top', 'testdata/example/profile_100', '-by', 'source'], ['diff', 'testdata/example/profile_100', '--gate', 'op:Conv2D.micros<30%'], ['scope', '-output', 'WRONG', 'testdata/example/profile_100']]


def answer(columns, words):
    """Returns the lines that a terminal of a width shows."""
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack('HHHH', 40, columns, 0, 0))
    place = dict(os.environ, TERM='xterm', PAGER='cat', TFPROF_PAGER='cat', LC_ALL='C.UTF-8')
    place.pop('COLUMNS', None)
    child = subprocess.Popen([ARGS.program, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=place, start_new_session=True)
    os.close(theirs)
    data = b''
    try:
        while part := os.read(ours, 1 << 16):
            data += part
    except OSError:  # the program has closed the terminal
        pass
    os.close(ours)
    child.wait()
    text = re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', data.decode('utf-8', 'replace'))
    return [line.split('\r')[-1] for line in text.replace('\r\n', '\n').split('\n')]


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


def longest_word(line):
    """A path or a command is not broken, so that it can be copied."""
    return max((len(w) for w in line.split(' ')), default=0)


def is_command(line):
    """True for a line that is one command. A command may be longer than the line, but nothing else is on its line."""
    return re.match(r'(next|Next:)? *tfprof ', line) is not None


def commands_are_whole(file):
    """Returns the commands that the summary shows in a pipe and not on a narrow terminal."""
    piped = subprocess.run([ARGS.program, 'summary', file], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    narrow = {line.removeprefix('next').strip() for line in answer(60, ['summary', file])}
    return [line for line in piped.splitlines() if is_command(line) and line.removeprefix('next').strip() not in narrow]


def columns_leave():
    """Returns what is wrong with tables that are too wide: columns leave and are named before names get less than two fifths."""
    bad = []
    for columns, gone in ((80, 'total execution time'), (120, '# parameters')):
        lines = answer(columns, ['op', 'testdata/example/profile_100', '-select', 'micros,occurrence,params,float_ops,bytes', '-q'])
        text = ' '.join(lines)
        bad += [] if '(-wide also shows ' in text and gone in text.split('also shows')[1] else ['%d: %s is not named' % (columns, gone)]
        bad += [line for line in lines if '…' in line]  # the names are shorter than two fifths of the line
        bad += [] if columns > 80 or re.search('requested bytes +.run.defined.', text) else ['a column that fits is left out']
    lines = answer(80, ['scope', 'testdata/example/profile_100', '-select', 'micros,bytes', '-order_by', 'micros', '-q'])
    bad += [] if 'also shows cpu execution time' in ' '.join(lines) else ['the column of -order_by is left out']
    return bad


def pipes():
    """Returns what is wrong in pipes: COLUMNS does not matter, --width=N applies to text, notes and errors, and not to data."""
    bad, profile = [], 'testdata/example/profile_100'

    def piped(*words, errors=subprocess.STDOUT, **env):
        p = subprocess.run([ARGS.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                           env=dict(os.environ, LC_ALL='C.UTF-8', **env))
        return p.stdout.decode()
    for words in (['op', profile], ['top', profile], ['kernels', FILES_AT + FILES[0]], ['why', FILES_AT + FILES[0]]):
        bad += [] if piped(*words) == piped(*words, COLUMNS='40') else ['%s depends on COLUMNS' % words[0]]
        for n in (60, 100):
            bad += ['%s --width=%d: %s' % (words[0], n, x) for x in piped(*words, '--width=%d' % n).split('\n') if width(x) > n and not is_command(x)]
        data = [piped(*words, '-output', 'json', *more, errors=subprocess.DEVNULL) for more in ([], ['--width=40'])]
        bad += [] if data[0] == data[1] else ['%s -output json depends on --width' % words[0]]
    bad += ['an error: ' + x for x in piped('scope', '-output', 'WRONG', profile, '--width=50').split('\n') if width(x) > 50]
    return bad


def main():
    passed = failed = 0
    bad = pipes()
    passed, failed = passed + (not bad), failed + bool(bad)
    if bad:
        print('pipes:\n  %s' % '\n  '.join(bad[:5]))
    bad = columns_leave()
    passed, failed = passed + (not bad), failed + bool(bad)
    if bad:
        print('columns that do not fit:\n  %s' % '\n  '.join(bad[:5]))
    cut = [line for file in ARGS.files or [os.path.join('testdata', f) for f in FILES] for line in commands_are_whole(file)]
    passed, failed = passed + (not cut), failed + bool(cut)
    if cut:
        print('summary: %d commands are cut\n  %s' % (len(cut), '\n  '.join(cut[:5])))
    for command in COMMANDS:
        bad = []
        for file in ARGS.files or [os.path.join('testdata', f) for f in FILES]:
            for columns in (60, 80, 120):
                for line in answer(columns, [*command.split(), file]):
                    if width(line) > columns and longest_word(line) < columns - 10 and not is_command(line):
                        bad.append('%s at %d: %d columns: %s' % (file, columns, width(line), line))
        passed, failed = passed + (not bad), failed + bool(bad)
        if bad:
            print('%s: %d lines are too long\n  %s' % (command, len(bad), '\n  '.join(bad[:5])))
    bad = [' '.join(words) + ': ' + line for words in WORDS for line in answer(80, words) if width(line) > 80 and not is_command(line)]
    passed, failed = passed + (not bad), failed + bool(bad)
    if bad:
        print('%d lines are too long at 80 columns\n  %s' % (len(bad), '\n  '.join(bad[:5])))
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', default='build/tfprof')
    p.add_argument('files', nargs='*')
    ARGS = p.parse_args()
    os.chdir(ROOT)
    sys.exit(main())
