#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the Python package and its metadata into a folder, without the library: packaging/python_files.py FOLDER"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'python', 'build_backend'))
import wheel  # noqa: E402


def main(folder):
    for name, path in sorted(wheel.package_files().items()):
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
    info = os.path.join(folder, 'tfprof-%s.dist-info' % wheel.version())
    os.makedirs(info, exist_ok=True)
    with open(os.path.join(info, 'METADATA'), 'w', encoding='utf-8') as f:
        f.write(wheel.metadata())


if __name__ == '__main__':
    main(sys.argv[1])
