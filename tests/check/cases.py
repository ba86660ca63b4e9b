# SPDX-License-Identifier: Apache-2.0
"""Runs test functions, each in a folder of its own. The docstring of a function says what must hold."""
import argparse
import os
import subprocess
import tempfile
import traceback


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TESTDATA = os.path.join(ROOT, 'testdata')


class Skip(Exception):
    """Skips a case; the text gives the reason."""


def no_terminal():
    """Returns the reason why no pseudo-terminal can be opened, or '' if one can."""
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


def arguments(doc, **built):
    """Parses --program, an option per further built file (name=place below build/check), and names of cases."""
    p = argparse.ArgumentParser(description=doc.split('\n')[0])
    for name, place in dict(built, program='tfprof').items():
        p.add_argument('--' + name, default=os.path.join(ROOT, 'build/check', place), type=os.path.abspath)
    p.add_argument('names', nargs='*')
    return p.parse_args()


def equal(found, expected, what=''):
    assert found == expected, '%s: expected %.1000r, found %.1000r' % (what, expected, found)


def run(cases, *args, prepare=None):
    """Calls each case with args in a folder that prepare has filled. Prints failures and the count; returns the exit status."""
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    if not cases:
        print('no test has that name')
        counts['failed'] = 1
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
            except Exception:  # of a library
                word = 'failed'
                print('%s: %s: %s' % (case.__name__, case.__doc__, traceback.format_exc()))
            os.chdir(back)
        counts[word] += 1
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % counts)
    return 1 if counts['failed'] else 0
