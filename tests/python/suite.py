# SPDX-License-Identifier: Apache-2.0
"""The Python package, and the library in a Python with its own readline."""
import os
import sys

from step import ROOT, Step, counted, run, scratch_python, yes

LIBRARIES = ['pandas==2.2.3', 'pyarrow==17.0.0', 'polars==1.20.0', 'fsspec==2024.10.0', 'numpy==1.26.4']
NOTEBOOKS = ['nbclient==0.10.1', 'nbformat==5.10.4', 'ipykernel==6.29.5', 'pandas==2.2.3']
TYPING = ['mypy==1.14.1', 'pyright[nodejs]==1.1.391', 'pandas==2.2.3', 'pandas-stubs==2.2.3.241126', 'pyarrow==17.0.0',
          'polars==1.20.0']


def load(places):
    """Loads the shared library into a Python that has its own readline."""
    code = ('import readline, ctypes; l = ctypes.CDLL(%r); l.tfp_version.restype = ctypes.c_char_p; '
            'assert l.tfp_version()' % os.path.join(ROOT, places['bin'], 'libtfprof.so'))
    status, text = run([sys.executable, '-c', code])
    return yes(not status, text)


def with_libraries(places):
    """Runs the tests with data frames and fsspec, in a scratch environment that is made once."""
    python, missing = scratch_python('venv-python', LIBRARIES, '--only-binary=:all:')
    return missing or counted([python, '-B', 'tests/python/run.py', '--bin', places['plain']])


def typing(places):
    """Checks types with mypy and pyright, in a scratch environment that is made once."""
    python, missing = scratch_python('venv-typing', TYPING, '--only-binary=:all:')
    return missing or counted([python, '-B', 'tests/python/typing_run.py', '--bin', places['plain']])


def notebooks(places):
    """Runs the notebooks of examples, in a scratch environment that is made once."""
    python, missing = scratch_python('venv-notebook', NOTEBOOKS)
    return missing or counted([python, '-B', 'tests/python/notebook_run.py', '--bin', places['plain']])


STEPS = [
    Step('python', 'quick', 'tests/python/run.py --bin {bin}', seconds=15),
    Step('python', 'deep', 'tests/python/run.py --bin {bin} --preload libasan.so,libubsan.so'),
    Step('python-load', 'quick', load),
    Step('python-libraries', 'deep', with_libraries, seconds=30),
    Step('python-notebooks', 'deep', notebooks, seconds=30),
    Step('python-typing', 'deep', typing, seconds=60),
]
