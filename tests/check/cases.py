# SPDX-License-Identifier: Apache-2.0
"""Cases of one script: functions, each run in a folder of its own; what they say of themselves is their first line."""
import os
import subprocess
import tempfile


class Skip(Exception):
    """A case cannot be tried here: its text says why."""


def no_terminal():
    """The reason why no pseudo-terminal can be opened here, or '' if one can."""
    try:
        for fd in os.openpty():
            os.close(fd)
    except OSError as e:
        return 'pseudo-terminals cannot be opened (%s)' % (e.strerror or e)
    return ''


def need_terminal():
    """Skips the case where no pseudo-terminal can be opened."""
    reason = no_terminal()
    if reason:
        raise Skip(reason)


def run(cases, *args, prepare=None):
    """Calls each with args, in a folder that prepare has filled; prints what failed and the count; the status."""
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    back = os.getcwd()
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                if prepare:
                    prepare()
                case(*args)
                word = 'passed'
            except Skip as e:
                word = 'skipped'
                print('%s: skipped: %s' % (case.__name__, e))
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError) as e:
                word = 'failed'
                print('%s: %s: %s' % (case.__name__, case.__doc__, e))
            os.chdir(back)
        counts[word] += 1
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % counts)
    return 1 if counts['failed'] else 0
