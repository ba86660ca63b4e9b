# SPDX-License-Identifier: Apache-2.0
"""Every fuzz target over its corpus, and every command over the files of the corpora."""
import glob
import os

from step import ROOT, Result, Step, run


def replay(name):
    def step(places):
        """Runs one fuzz target over its corpus, every file in one process."""
        corpus = 'testdata/fuzz/' + name[len('fuzz_'):]
        files = [f for f in glob.glob(corpus + '/**/*', recursive=True) if os.path.isfile(f)]
        if not files:
            return Result(skipped=1, note='no corpus ' + corpus)
        status, text = run([os.path.join(places['bin'], 'fuzz', name), corpus])
        return Result(len(files) if not status else 0, 1 if status else 0, 0, text if status else '')
    return step


TARGETS = [os.path.basename(s)[:-2] for s in sorted(glob.glob(os.path.join(ROOT, 'tests', 'fuzz', 'fuzz_*.c')))]
STEPS = [Step('replay-' + name, 'deep covered', replay(name)) for name in TARGETS] + [
    Step('fuzz-commands', 'deep', 'tests/fuzz/commands.py --program {bin}/tfprof')]
