#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds wheels for any Linux with glibc 2.17 or later, for any Linux with musl 1.2 or later, and, without the collector, for
# macOS and Windows:
#   packaging/wheel.sh [x86_64|aarch64|x86_64-musl|aarch64-musl|x86_64-macos|aarch64-macos|x86_64-windows]...
# They go to build/wheel/. Status 3: compiler or sources cannot be downloaded.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD/build/wheel
for target in "${@:-$(uname -m)}"; do
	case $target in
	*-windows) files='out/tfprof.exe out/tfprof.dll' ;;
	*-macos) files='out/tfprof out/libtfprof.dylib' ;;
	*) files='out/tfprof out/libtfprof.so out/libtfprof_cupti.so' ;;
	esac
	# shellcheck disable=SC2086
	packaging/portable.sh "$target" $files
	case $target in
	x86_64-windows) tags="'win_amd64'" ;;
	x86_64-macos) tags="'macosx_11_0_x86_64'" ;;
	aarch64-macos) tags="'macosx_11_0_arm64'" ;;
	*-musl) tags="'musllinux_1_2_${target%-musl}'" ;;
	*) tags="'manylinux2014_$target', 'manylinux_2_17_$target'" ;;
	esac
	name=$("${PYTHON:-python3}" -B -c "import sys; sys.path.insert(0, 'python/build_backend'); import wheel
print(wheel.pack('$top', [$tags], '$top/$target/out', '$top/$target/libraries/licences'))")
	echo "build/wheel/$name"
done
