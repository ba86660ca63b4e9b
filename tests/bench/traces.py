# SPDX-License-Identifier: Apache-2.0
"""Measures the op view of traces that scripts of tests/trace make."""
import json
import os
import statistics
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'trace'))

TRACES = (('JSON trace', 'kineto', 'write_large', 'ten_million.pt.trace.json', 10000000),
          ('Perfetto trace', 'pftrace', 'write_large', 'five_million.pftrace', 5000000),
          ('XSpace', 'xspace', 'write_large', 'five_million_mixed.xplane.pb', 5000000),
          ('XSpace of small events', 'xspace', 'write_small', 'five_million.xplane.pb', 5000000))


def measure(bench, program, folder, runs):
    """Returns rows of speed and memory: of each trace, and of the JSON in gzip. Traces are made once and kept in folder."""

    def rows_of(name, file, size, n):
        ask = [bench, '-x', program, file, 'op', '-output', 'none']
        answers = [json.loads(subprocess.run(ask, stdout=subprocess.PIPE, check=True).stdout) for _ in range(runs)]
        cpu, peak = (statistics.median(x[k] for x in answers) for k in ('cpu', 'peak'))
        return {name: {'cpu': cpu, 'mb': size / 1e6, 'mbps': size / cpu / 1e6, 'events_per_s': n / cpu}, name + ', memory': {'peak_per_byte': peak / size}}

    rows = {}
    for name, module, write, file, n in TRACES:
        path = os.path.join(folder, file)
        if not os.path.exists(path):
            getattr(__import__(module), write)(path + '~', n)
            os.rename(path + '~', path)
        rows.update(rows_of(name + ', op', path, os.path.getsize(path), n))
        if module == 'kineto':
            if not os.path.exists(path + '.gz'):
                subprocess.run(['gzip', '-1', '-k', path], check=True)
            rows.update(rows_of(name + ' in gzip, op', path + '.gz', os.path.getsize(path), n))
    return rows
