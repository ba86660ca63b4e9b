#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that analyses a trace, on every file of the fuzz corpus: no answer ends with a sanitizer report or a signal."""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'))
import cases  # noqa: E402

CORPORA = ['chrome', 'flight', 'nsys', 'onnxruntime', 'perfetto', 'pprof', 'profile', 'rocprof', 'snapshot', 'spool', 'trt_layers', 'trt_times', 'xspace']
COMMANDS = ['summary', 'why', 'idle', 'idle -by step', 'critical', 'what-if host*0.5', 'what-if --each=kernel', 'devices', 'kernels', 'steps', 'phases', 'roofline', 'flops', 'memory',
            'collectives', 'top', 'op -stats', 'scope -select micros,critical_micros', 'code', 'peek .*', 'op -by module', 'scope -output timeline:outfile=/dev/null']
SANITIZERS = {'ASAN_OPTIONS': 'exitcode=99', 'UBSAN_OPTIONS': 'print_stacktrace=1', 'COLUMNS': '80'}


def corpus_of(name):
    def case(t):
        for path in sorted(glob.glob(os.path.join(cases.TESTDATA, 'fuzz', name, '*'))):
            p = subprocess.run([t.program, path, '-quiet'], input='\n'.join(COMMANDS) + '\n', capture_output=True, text=True, errors='replace', timeout=600,
                               env=dict(os.environ, **SANITIZERS))
            assert p.returncode in (0, 1, 3), '%s: status %d: %s' % (path, p.returncode, p.stderr[-3000:])
    case.__name__ = name
    case.__doc__ = 'The corpus of ' + name + '.'
    return case


if __name__ == '__main__':
    arguments = cases.arguments(__doc__)
    sys.exit(cases.run([corpus_of(n) for n in CORPORA if not arguments.names or n in arguments.names], arguments))
