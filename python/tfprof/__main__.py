# SPDX-License-Identifier: Apache-2.0
"""Runs the program: python -m tfprof summary trace.json"""
import sys

from .program import run

if __name__ == '__main__':
    sys.exit(run(sys.argv[1:]))
