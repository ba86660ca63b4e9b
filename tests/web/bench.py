#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how long reports take to be written, to open and to answer: medians of five, in milliseconds.

    tests/web/bench.py --program build/tfprof [NAME...]

open: from the request of the file until the first page is drawn; page: from the click on a tab until its page is drawn; search: until the
matches of one letter are drawn. The timeline is zoomed and moved by keys, one in each frame: frames per second, and the longest of 19 of 20
frames.
"""
import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import inputs  # noqa: E402
import kineto  # noqa: E402
from browser import Browser, Firefox, firefox  # noqa: E402

RUNS = 5
PAGES = {'profile': 'scope', 'large': 'scope', 'timeline': 'timeline', 'diff': 'compare'}
CLICK = '''const done = arguments[arguments.length - 1], t = performance.now(), main = document.querySelector("main");
const wait = () => main.dataset.page === arguments[0] && main.getAttribute("aria-busy") === "false" ? requestAnimationFrame(() => done(performance.now() - t)) : setTimeout(wait, 1);
document.querySelector(`.tabs a[data-page="${arguments[0]}"]`).click(); setTimeout(wait, 1);'''
SEARCH = '''const done = arguments[arguments.length - 1], i = document.querySelector(".toolbar input"), t = performance.now();
i.value = i.value === "e" ? "o" : "e"; i.dispatchEvent(new Event("input")); requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - t)));'''
FRAMES = '''const done = arguments[arguments.length - 1], c = document.querySelector(".timeline canvas"), times = [], keys = ["w", "w", "d", "s", "a", "s"];
let last = performance.now();
const next = now => { times.push(now - last); last = now;
    if (times.length > 240) { const v = times.slice(1).sort((a, b) => a - b); return done([v.reduce((a, b) => a + b) / v.length, v[Math.floor(v.length * 0.95)]]); }
    c.dispatchEvent(new KeyboardEvent("keydown", { key: keys[times.length % keys.length] })); requestAnimationFrame(next); };
requestAnimationFrame(next);'''


def median(f):
    return statistics.median(f() for _ in range(RUNS))


def answer(b, script, *args):
    return b.do('POST', '/execute/async', script=script, args=list(args))


def opened(b, url):
    b.open(url)
    return b.js('return performance.getEntriesByName("ready")[0].startTime')


def measure(b, url, page):
    """Returns the times of an address: open, page, search; for a timeline also frames per second and a long frame."""
    start = median(lambda: opened(b, url))

    def shown():
        b.open(url.split('#')[0])
        return answer(b, CLICK, page)
    out = [start, median(shown), median(lambda: answer(b, SEARCH))]
    if page == 'timeline':
        mean, long = answer(b, FRAMES)
        out += [1000 / mean, long]
    return out


def line(name, size, wrote, values):
    cells = ['%10.0f' % wrote if wrote else '%10s' % '', '%8.2f' % size if size else '%8s' % ''] + ['%8.0f' % v for v in values[:4]] + ['%8.1f' % v for v in values[4:]]
    print('%-19s %s' % (name, ' '.join(cells)), flush=True)


def main():
    folder = tempfile.mkdtemp()
    words = {name: inputs.words(name, folder) for name in PAGES if name != 'timeline'}
    words['timeline'] = [os.path.join(folder, 'big.pt.trace.json')]
    browsers = {'': Browser()}
    if firefox():
        browsers[' firefox'] = Firefox()
    print('%-19s %10s %8s %8s %8s %8s %8s %8s' % ('input', 'write ms', 'MB', 'open ms', 'page ms', 'search', 'frames/s', 'long ms'))
    try:
        for name in ARGS.names or PAGES:
            if name == 'timeline':
                kineto.write_large(words[name][0], 1000000)
            path = os.path.join(folder, name + '.html')
            t = time.monotonic()
            inputs.report(ARGS.program, words[name], path)
            wrote = 1000 * (time.monotonic() - t)
            for suffix, b in browsers.items():
                line(name + suffix, os.path.getsize(path) / 1e6, wrote, measure(b, 'file://' + path, PAGES[name]))
            p = subprocess.Popen([ARGS.program, 'serve', *words[name]], stdout=subprocess.PIPE, text=True)
            line(name + ' served', 0, 0, measure(browsers[''], p.stdout.readline().strip(), PAGES[name]))
            p.send_signal(signal.SIGINT)
            p.communicate()
    finally:
        for b in browsers.values():
            b.close()
        shutil.rmtree(folder)


if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    a.add_argument('--program', default=os.path.join(inputs.ROOT, 'build/tfprof'))
    a.add_argument('names', nargs='*')
    ARGS = a.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    main()
