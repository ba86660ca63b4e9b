# SPDX-License-Identifier: Apache-2.0
"""What a program was built with: `tfprof --version` says which optional libraries."""
import subprocess


def has(program, part):
    """Whether it has `part`: libedit, snappy or demangler."""
    said = subprocess.run([program, '--version'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout
    return part + ' yes' in said.decode()
