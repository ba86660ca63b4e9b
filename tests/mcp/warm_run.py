#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time of the first call of each view on a trace of 100 MB, after `open`, and compares the memory of the
server with the memory of the prompt for the same commands.

    tests/mcp/warm_run.py --program build/check/tfprof --folder build/mcp-warm
"""
import argparse
import os
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'trace')]
import kineto  # noqa: E402
from client import Server  # noqa: E402

EVENTS = 290000  # about 100 MB
MOST_MS = 50
PEEK_MOST_MS = 250  # groups the trace anew
MEMORY_MOST = 1.15  # limit, as a multiple of the memory of the prompt
VIEWS = 'kernels devices steps critical idle why roofline flops op top scope code'.split()


def cpu_ms(pid):
    folder = '/proc/%d/task' % pid
    return sum(int(open(os.path.join(folder, t, 'schedstat')).read().split()[0]) for t in os.listdir(folder)) / 1e6


def peak_bytes(pid):
    with open('/proc/%d/status' % pid) as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith('VmHWM'))


def measure(program, path):
    """Returns (name, milliseconds) of each call after `open`, and the largest memory of the server."""
    times = []
    with Server(program, '--allow', os.path.dirname(path)) as server:
        pid = server.process.pid
        server.call('open', path=path)
        for tool, more in [('summary', {})] + [('table', {'view': v}) for v in VIEWS] + [('peek', {'name': 'aten::op5'})]:
            before = cpu_ms(pid)
            server.ask('tools/call', name=tool, arguments=dict(more, file=path))  # some views have no rows
            times.append((more.get('view', tool), cpu_ms(pid) - before))
        return times, peak_bytes(pid)


def prompt_peak(program, path):
    lines = '\n'.join(['summary'] + VIEWS + ['peek aten::op5', ''])
    subprocess.run([program, path], input=lines.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', required=True, type=os.path.abspath)
    p.add_argument('--folder', required=True, type=os.path.abspath)
    args = p.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    path = os.path.join(args.folder, 'warm.pt.trace.json')
    if not os.path.exists(path):
        kineto.write_large(path + '~', EVENTS)
        os.rename(path + '~', path)
    share = 1 / prompt_peak(args.program, path)  # before the server starts, because its memory would count, too
    times, peak = measure(args.program, path)
    share *= peak
    print(', '.join('%s %.1f ms' % x for x in times) + '; memory %.2f x that of the prompt' % share)
    bad = [name for name, ms in times if ms > (PEEK_MOST_MS if name == 'peek' else MOST_MS)] + ['memory'] * (share > MEMORY_MOST)
    for name in bad:
        print('FAILED  %s' % name)
    print('%d passed, %d failed, 0 skipped' % (len(times) + 1 - len(bad), len(bad)))
    sys.exit(1 if bad else 0)
