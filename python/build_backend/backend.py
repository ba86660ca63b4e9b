# SPDX-License-Identifier: Apache-2.0
"""The build backend for `pip install ./python`: builds tfprof with make in the parent folder, for this machine, and
packs a wheel. packaging/wheel.sh makes wheels for other machines."""
import os
import subprocess
import sys
import sysconfig

import wheel

BUILT = ('build/tfprof', 'build/libtfprof.so', 'build/libtfprof_cupti.so')


class UnsupportedOperation(Exception):
    """Raised because this backend does not make source distributions."""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if not os.path.exists(os.path.join(wheel.ROOT, 'Makefile')):
        raise SystemExit('tfprof is built from its whole repository: pip install ./python in a clone of it')
    # The jobs of a make around pip are not for this one.
    env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'MAKEOVERRIDES')}
    status = subprocess.call(['make', '--no-print-directory', '-C', wheel.ROOT] + list(BUILT), env=env, stdout=sys.stderr)
    if status:
        raise SystemExit('tfprof cannot be built (status %d of make); tools/deps.sh build installs what it needs' % status)
    platform = sysconfig.get_platform().replace('-', '_').replace('.', '_')
    return wheel.pack(wheel_directory, [platform], os.path.join(wheel.ROOT, 'build'))


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation('the sources are those of the repository, not of its folder python')


def get_requires_for_build_wheel(config_settings=None):
    return []
