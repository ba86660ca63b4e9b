#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds wheels for any Linux with glibc 2.17 or later, and for any Linux with musl 1.2 or later:
#   packaging/wheel.sh [x86_64|aarch64|x86_64-musl|aarch64-musl]...
# They go to build/wheel/. Status 3: compiler or sources cannot be downloaded.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD/build/wheel
for target in "${@:-$(uname -m)}"; do
	packaging/portable.sh "$target" out/tfprof out/libtfprof.so out/libtfprof_cupti.so
	case $target in
	*-musl) tags="'musllinux_1_2_${target%-musl}'" ;;
	*) tags="'manylinux2014_$target', 'manylinux_2_17_$target'" ;;
	esac
	name=$("${PYTHON:-python3}" -B -c "import sys; sys.path.insert(0, 'python/build_backend'); import wheel
print(wheel.pack('$top', [$tags], '$top/$target/out', '$top/$target/libraries/licences'))")
	echo "build/wheel/$name"
done
