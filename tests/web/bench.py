#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how long reports take to be written, to open, and to answer: medians of five, in milliseconds.

    tests/web/bench.py --program build/tfprof
"""
import argparse
import os
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import inputs  # noqa: E402
import kineto  # noqa: E402
from browser import Browser  # noqa: E402

RUNS = 5


def median(f):
    return statistics.median(f() for _ in range(RUNS))


def main():
    folder = tempfile.mkdtemp()
    words = {name: inputs.words(name, folder) for name in ('profile', 'large', 'diff')}
    big = os.path.join(folder, 'big.pt.trace.json')
    kineto.write_large(big, 1000000)
    words['timeline'] = [big]
    b = Browser()
    print('%-10s %10s %8s %8s %8s %8s %8s' % ('input', 'write ms', 'MB', 'open ms', 'scope ms', 'search', 'frame'))
    for name in ('profile', 'large', 'timeline', 'diff'):
        path = os.path.join(folder, name + '.html')

        def write():
            t = time.monotonic()
            inputs.report(ARGS.program, words[name], path)
            return 1000 * (time.monotonic() - t)

        def opened():
            b.open('about:blank')
            b.open('file://' + path)
            return b.js('return performance.now()')

        wrote = write()
        start = median(opened)
        page = {'timeline': 'timeline', 'diff': 'compare'}.get(name, 'scope')
        t = time.monotonic()
        b.page(page)
        shown = 1000 * (time.monotonic() - t)
        search = median(lambda: b.js('const i = document.querySelector(".toolbar input"), t = performance.now(); i.value = "e"; '
                                     'i.dispatchEvent(new Event("input")); return performance.now() - t'))
        frame = 0 if page != 'timeline' else b.do('POST', '/execute/async', args=[], script='''
            const done = arguments[0], c = document.querySelector(".timeline canvas"), times = [];
            let last = performance.now();
            const next = () => { times.push(performance.now() - last); last = performance.now();
                if (times.length > 60) return done(times.sort((a, b) => a - b)[30]);
                c.dispatchEvent(new KeyboardEvent("keydown", { key: times.length % 2 ? "w" : "s" })); requestAnimationFrame(next); };
            requestAnimationFrame(next);''')
        print('%-10s %10.0f %8.2f %8.0f %8.0f %8.0f %8.1f' % (name, wrote, os.path.getsize(path) / 1e6, start, shown, search, frame))
    b.close()


if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    a.add_argument('--program', default=os.path.join(inputs.ROOT, 'build/tfprof'))
    ARGS = a.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    main()
