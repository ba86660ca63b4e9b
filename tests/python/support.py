# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the Python package: paths and captured output."""
import contextlib
import io
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'python'))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'models'))
RECORDED = os.environ.get('TFPROF_RECORDED') or os.path.join(ROOT, 'testdata', 'recorded')
MLP = os.path.join(RECORDED, 'mlp_0')

if 'TFPROF_LIBRARY' not in os.environ:
    os.environ['TFPROF_LIBRARY'] = os.path.join(ROOT, 'build', 'libtfprof.so')


def path(name):
    """Returns the path of a file of mlp_0."""
    return os.path.join(MLP, name)


def read(name):
    with open(path(name), 'rb') as f:
        return f.read()


@contextlib.contextmanager
def printed():
    """Captures output on a stream without bytes, as notebooks have: [out, err]."""
    out, err = io.StringIO(), io.StringIO()
    texts = []
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield texts
    texts += [out.getvalue(), err.getvalue()]
