#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers questions about the traces of testdata with a few calls and few tokens, and compares the answers with known ones.

    tests/mcp/questions_run.py --program build/check/tfprof
"""
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
from client import Server  # noqa: E402
from questions import QUESTIONS  # noqa: E402

CALLS_MOST, BYTES_MOST = 4, 8000 * 5 // 2  # tokens have more than 2.5 bytes on average; tokens_run.py counts them

if __name__ == '__main__':
    args = cases.arguments(__doc__)
    failed = 0
    with Server(args.program, '--allow', cases.TESTDATA) as server:
        for question, calls, answer_of, expected in QUESTIONS:
            try:
                texts = [server.text(tool, **arguments) for tool, arguments in calls]
                found = answer_of(*map(json.loads, texts))
                assert len(calls) <= CALLS_MOST and sum(map(len, texts)) <= BYTES_MOST, sum(map(len, texts))
                cases.equal(found, expected)
            except (AssertionError, KeyError, IndexError, TypeError, ValueError) as e:
                failed += 1
                print('%s %s: %s' % (question, type(e).__name__, e))
    print('%d passed, %d failed, 0 skipped' % (len(QUESTIONS) - failed, failed))
    sys.exit(1 if failed else 0)
