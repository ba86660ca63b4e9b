# SPDX-License-Identifier: Apache-2.0
"""Unit tests: one cmocka program for each test_NAME.c."""
import glob
import os
import re

from step import ROOT, Step, cmocka, under_valgrind

SOURCES = sorted(glob.glob(os.path.join(ROOT, 'tests', 'unit', 'test_*.c')))
NAMES = [os.path.basename(s)[:-2] for s in SOURCES]
THREADS = re.compile(r'par|input|session|api')  # tests of parallel code
# Readers of recordings, and parts of the collector.
RECORDINGS = re.compile(r'test_(block|recording_join|device_use|demangle|names|plan|pool|ring)$')
# MSan cannot track memory that uninstrumented libraries write. Tests that read such memory, and the libraries:
MSAN_BLIND = {'test_api_recording': 'PCRE2, why a pattern is wrong', 'test_pprof': 'protobuf-c',
              'test_profilepb': 'protobuf-c', 'test_resultpb': 'protobuf-c', 'test_pattern': 'PCRE2, why a pattern is wrong',
              'test_gzip_inputs': 'SQLite', 'test_pattern_limits': 'PCRE2', 'test_pattern_subst': 'PCRE2', 'test_sstable': 'snappy'}


def test(name, build, valgrind=False):
    def step(places):
        program = os.path.join(places[build], 'unit', name)
        return cmocka(under_valgrind(program) if valgrind else program)
    return step


STEPS = [Step(n, 'quick deep covered', test(n, 'bin')) for n in NAMES]
STEPS += [Step('tsan-' + n, 'deep', test(n, 'tsan')) for n in NAMES if THREADS.search(n) or RECORDINGS.match(n)]
STEPS += [Step('msan-' + n, 'deep', test(n, 'msan')) for n in NAMES if n not in MSAN_BLIND]
STEPS += [Step('valgrind-' + n, 'deep', test(n, 'plain', valgrind=True)) for n in NAMES if RECORDINGS.match(n)]
