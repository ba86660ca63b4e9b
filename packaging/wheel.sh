#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds wheels for any Linux with glibc 2.17 or later, for any Linux with musl 1.2 or later, and, without the collector, for
# macOS and Windows:
#   packaging/wheel.sh [TARGET]...
# TARGET is a name in packaging/targets.txt, which has their platform tags; the default is this machine. The wheels go to
# build/wheel/. Status 3: compiler or sources cannot be downloaded.
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
	tags=$(awk -v name="$target" '$1 == name { print $4 }' packaging/targets.txt)
	name=$("${PYTHON:-python3}" -B -c "import sys; sys.path.insert(0, 'python/build_backend'); import wheel
print(wheel.pack('$top', '$tags'.split(','), '$top/$target/out', '$top/$target/libraries/licences'))")
	echo "build/wheel/$name"
done
