# SPDX-License-Identifier: Apache-2.0
"""The models of the examples and the recording of the goldens equal the output of their generators."""
import glob
import os
import subprocess
import sys
import tempfile

from step import Result, Step, run, same, yes


def models(places):
    with tempfile.TemporaryDirectory() as made:
        status, text = run([sys.executable, '-B', 'tests/models/make.py', made])
        if status:
            return yes(False, text)
        names = sorted(os.path.relpath(p, made) for p in glob.glob(made + '/**/*', recursive=True) if os.path.isfile(p))
        r = same(made, 'testdata', names, 'tests/models/make.py testdata')
        with open('testdata/small/train.spool.txt') as script:
            subprocess.run([os.path.join(places['bin'], 'spool_make'), os.path.join(made, 'train.tfspool')], stdin=script)
        spool = same(made, 'testdata/small', ['train.tfspool'], 'spool_make FILE <testdata/small/train.spool.txt')
        return Result(r.passed + spool.passed, r.failed + spool.failed, 0, r.text + spool.text)


STEPS = [Step('models', 'quick', models)]
