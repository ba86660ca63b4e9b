#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds wheels for any Linux with glibc 2.17 or later: packaging/wheel.sh [x86_64|aarch64]...
# They go to build/wheel/. Status 3: compiler or sources cannot be downloaded.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD/build/wheel
for arch in "${@:-$(uname -m)}"; do
	packaging/portable.sh "$arch" out/tfprof out/libtfprof.so out/libtfprof_cupti.so
	name=$("${PYTHON:-python3}" -B -c "import sys; sys.path.insert(0, 'python/build_backend'); import wheel
print(wheel.pack('$top', ['manylinux2014_$arch', 'manylinux_2_17_$arch'], '$top/$arch/out', '$top/$arch/libraries/licences'))")
	echo "build/wheel/$name"
done
