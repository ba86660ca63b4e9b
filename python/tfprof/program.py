# SPDX-License-Identifier: Apache-2.0
"""Finds and starts the program that belongs to this package."""
import os
import shutil
import subprocess
import sys
import sysconfig
from typing import List, NoReturn, Optional


def find() -> Optional[str]:
    """Returns the path of the program: beside the library that TFPROF_LIBRARY names, otherwise among the scripts of
    this Python, otherwise in PATH. None if there is none."""
    given = os.environ.get('TFPROF_LIBRARY')
    folders = [os.path.dirname(os.path.abspath(given))] if given else []
    return shutil.which('tfprof', path=os.pathsep.join(folders + [sysconfig.get_path('scripts')])) or shutil.which('tfprof')


def run(words: List[str]) -> NoReturn:
    """Replaces this process by the program; on Windows, which cannot do that, ends with its status. The exit status is 127 if
    the program is not installed."""
    path = find()
    if path is None:
        print('tfprof: the program is not installed; pip install ./python installs it with the package', file=sys.stderr)
        sys.exit(127)
    if os.name == 'nt':
        sys.exit(subprocess.call([path] + words))
    os.execv(path, [path] + words)
