# SPDX-License-Identifier: Apache-2.0
"""The Python package; the library in a Python that has its own readline."""
import os
import sys

from step import ROOT, Step, run, yes


def load(places):
    """Loads the shared library into a Python that has its own readline."""
    code = ('import readline, ctypes; l = ctypes.CDLL(%r); l.tfp_version.restype = ctypes.c_char_p; '
            'assert l.tfp_version()' % os.path.join(ROOT, places['bin'], 'libtfprof.so'))
    status, text = run([sys.executable, '-c', code])
    return yes(not status, text)


STEPS = [
    Step('python', 'quick', 'tests/python/run.py --bin {bin}'),
    Step('python', 'deep', 'tests/python/run.py --bin {bin} --preload libasan.so,libubsan.so'),
    Step('python-load', 'quick', load),
]
