#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command with its defaults. Commands, examples, options and defaults come from the tables of the sources
(command.def, program.def, option.def), so a new command or option is covered. The first example of each command must
succeed, and give the same answer when each option has its default value as an argument.

    tests/examples/defaults.py [--program build/check/tfprof] [COMMAND...]
"""
import argparse
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import run as examples

# Commands whose defaults depend on the machine: status 1 if it cannot record, no recording runs.
MACHINE = {'doctor', 'ctl'}


def first_line(text):
    """Returns the first line of adjacent string literals of C."""
    raw = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
    return re.split(r'(?<!\\)\\n', raw)[0].replace('\\"', '"').replace('\\\\', '\\')


def commands():
    """Yields each command and its first example."""
    for path in ('src/lib/command.def', 'src/cli/program.def'):
        with open(os.path.join(examples.ROOT, path)) as f:
            text = f.read()
        for row in re.split(r'^COMMAND\(', text, flags=re.M)[1:]:
            name = row.split(',')[0]
            found = re.search(r'\.examples = ((?:\s*"(?:[^"\\]|\\.)*")+)', row)
            yield name, first_line(found.group(1)) if found else "printf '%s\\n' | tfprof profile_100" % name


def options(command):
    """Yields name and default of each option of a command that has a default."""
    with open(os.path.join(examples.ROOT, 'src/metric/option.def')) as f:
        text = f.read()
    for name, value in re.findall(r'^OF_COMMAND\(%s, \w+, \w+, "([^"]+)", "([^"]*)"' % re.escape(command), text, re.M):
        yield name, value


def answer(line, model, top):
    case = examples.Case('defaults', model)
    case.shell = line
    return examples.run(case, top)


def check(name, line, top):
    """Yields the faults of a command's defaults."""
    plain = answer(line, 'all', top)
    if re.search(r'^--- status', plain, re.M) and name not in MACHINE:
        yield '%s\n%s' % (line, plain)
        return
    for option, value in options(name):
        word = '-%s %s' % (option, value) if len(option) == 1 else '--%s=%s' % (option, value)
        given = re.search(r' --?%s[ =]' % option, line)
        told = line if given else line.replace(name, '%s %s' % (name, word), 1)
        found = answer(told, 'all', top)
        if found != plain and not given:
            yield '%s\n%s\ndiffers from %s\n%s' % (told, found, line, plain)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--program', default=os.path.join(examples.ROOT, 'build', 'check', 'tfprof'))
    p.add_argument('names', nargs='*')
    args = p.parse_args()
    args.program = os.path.abspath(args.program)
    examples.ARGS = args
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as top:
        os.symlink(args.program, os.path.join(top, 'tfprof'))
        for name, line in commands():
            if args.names and name not in args.names:
                continue
            bad = list(check(name, line, top))
            passed, failed = passed + (not bad), failed + bool(bad)
            print('\n'.join(bad), end='\n' if bad else '')
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
