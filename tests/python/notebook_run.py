#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the notebooks of examples with nbclient, which has its own Jupyter kernel. --html writes the outputs.

    tests/python/notebook_run.py --bin build/check [--html FILE]
"""
import argparse
import glob
import html
import os
import re
import sys

import nbclient
import nbformat

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402


def run(path):
    """Returns {source of a cell: its outputs by type} after a run; a cell that fails raises."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={'metadata': {'path': os.path.dirname(path)}}).execute()
    return {c.source: [o.get('data') or {'text/plain': o.get('text', '')} for o in c.outputs]
            for c in notebook.cells if c.cell_type == 'code'}


def kernels(t):
    """Each answer is a table with bars, in which every text is escaped."""
    shown = run(os.path.join(ROOT, 'examples', 'kernels.ipynb'))
    pages = {source: out[0].get('text/html', '') for source, out in shown.items() if out}
    for call in ('run.why()', 'run.kernels()', 'run.steps()', "run.idle(by='op')"):
        page = pages[call]
        assert re.search(r'<table class="tfprof">.*linear-gradient', page) and '<script' not in page, (call, page[:300])
    assert 'Input-bound' in pages['run.why()'] and '4 of 4 rows' in pages['run.kernels()'], pages
    assert any('per step instead of' in x['text/plain'] for out in shown.values() for x in out), shown
    if t.html:
        with open(t.html, 'w', encoding='utf-8') as f:
            for source, out in shown.items():
                f.write('<pre>%s</pre>%s' % (html.escape(source), ''.join(
                    x.get('text/html') or '<pre>%s</pre>' % html.escape(x['text/plain']) for x in out)))


def all_are_run(_):
    """Every notebook has a test."""
    assert [os.path.basename(p) for p in glob.glob(os.path.join(ROOT, 'examples', '*.ipynb'))] == ['kernels.ipynb']


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build', help='the folder with libtfprof.so')
    p.add_argument('--html', help='file to write')
    t = p.parse_args()
    os.environ['TFPROF_LIBRARY'] = os.path.join(os.path.abspath(t.bin), 'libtfprof.so')
    os.environ['PYTHONPATH'] = os.path.join(ROOT, 'python')
    return cases.run([kernels, all_are_run], t)


if __name__ == '__main__':
    sys.exit(main())
