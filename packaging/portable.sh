#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds programs and libraries that run on any Linux with glibc 2.17 or later, on any Linux with musl 1.2 or later, on macOS 11
# or later, or on 64-bit Windows 10 or later:
#   packaging/portable.sh TARGET FILE...
# TARGET is a name in packaging/targets.txt, such as x86_64-musl. FILE is a target of make below build/wheel/TARGET: out/tfprof,
# obj/gpu/program; obj/static/tfprof (musl) needs no library of the system. The compiler is zig's (ZIG=command, else the package
# ziglang of PyPI); the C libraries are built from the sources in packaging/sources.txt and linked statically. Downloads and
# libraries are kept in build/wheel. zig also compiles its C library, libc++ and compiler-rt, which takes more than a minute of
# CPU for each target: several clones can share them in the folder ZIG_GLOBAL_CACHE_DIR, which has them by the hash of their
# inputs. Equal sources give equal bytes. Status 3: compiler or sources cannot be downloaded.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD/build/wheel
python=${PYTHON:-python3}
ziglang=0.17.1
name=${1-}
read -r triple target _ <<<"$(awk -v name="$name" '$1 == name { print $2, $3 }' packaging/targets.txt)"
if [ -z "$triple" ] || [ $# -lt 2 ]; then
	echo "packaging/portable.sh: a target and files expected, not '$*'; targets:" \
		"$(awk '!/^#/ { printf " %s", $1 }' packaging/targets.txt)" >&2
	exit 2
fi
shift
mkdir -p "$top"

if [ -z "${ZIG-}" ]; then
	[ -d "$top/zig-$ziglang" ] || "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
		--target "$top/zig-$ziglang" "ziglang==$ziglang" || exit 3
	ZIG=$top/zig-$ziglang/ziglang/zig
fi
export ZIG ZIG_GLOBAL_CACHE_DIR="${ZIG_GLOBAL_CACHE_DIR:-$top/zig-cache}" ZIG_LOCAL_CACHE_DIR="$top/zig-cache"
packaging/fetch.sh "$top/sources" || exit 3

here=$top/$name
mkdir -p "$here/bin"
# zig compiles the libraries that it has (C library, libc++, compiler-rt) once for each set of these options. With equal ones
# everywhere, it compiles them once for each target. Programs that only the build runs are linked with musl.
built='-O2 -g0 -s -fPIC'
for tool in cc:"cc -target $target $built" c++:"c++ -target $target $built" ar:ar ranlib:ranlib \
	build-cc:"cc -target $(uname -m)-linux-musl $built"; do
	printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$ZIG" "${tool#*:}" >"$here/bin/${tool%%:*}"
done
chmod +x "$here"/bin/*

stamp=$(cat packaging/libraries.sh packaging/sources.txt; "$ZIG" version)
if [ "$(cat "$here/libraries.stamp" 2>/dev/null)" != "$stamp" ]; then
	[ ! -e "$here/libraries.stamp" ] || rm -rf "$here/libraries" "$here/libraries.stamp"
	CC=$here/bin/cc CXX=$here/bin/c++ AR=$here/bin/ar RANLIB=$here/bin/ranlib BUILD_CC=$here/bin/build-cc \
		packaging/libraries.sh "$top/sources" "$here/libraries" "$triple"
	echo "$stamp" >"$here/libraries.stamp"
fi

# The programs also contain parts of zig: compiler-rt, libc++ and, without shared libraries, musl; on Windows mingw-w64.
lib=$("$ZIG" env | sed -n 's/.*lib_dir"* *[=:] *"\(.*\)".*/\1/p')
cp "$(dirname "$lib")/LICENSE" "$here/libraries/licences/zig"
cp "$lib/libcxx/LICENSE.TXT" "$here/libraries/licences/libc++"
case $name in
*-musl) cp "$lib/libc/musl/COPYRIGHT" "$here/libraries/licences/musl" ;;
*-windows) cp "$lib/libc/mingw/COPYING" "$here/libraries/licences/mingw-w64" ;;
esac

terminals=1 dynamic=''
case $name in
*-musl) dynamic=-dynamic ;;
*-macos | *-windows) terminals=0 ;;
esac
# Probes would ask for libraries of this machine: all of them are there. No debugging information: files are small.
for file in "$@"; do
	link=$dynamic
	[ "${file##*/static/}" = "$file" ] || link=''
	PKG_CONFIG_LIBDIR=$here/libraries/lib/pkgconfig PKG_CONFIG_PATH='' make --no-print-directory CONFIG=release \
		O="$here/obj" BIN="$here/out" CC="$here/bin/cc" AR="$here/bin/ar" CFLAGS='-O2 -g0' LDFLAGS="-s $link" \
		HAVE_LIBEDIT=$terminals HAVE_NCURSES=$terminals HAVE_SNAPPY=1 HAVE_SQLITE=1 HAVE_EVENT=$terminals HAVE_DEMANGLE=1 HAVE_DEMANGLE_LIBS="-ldemangle -lc++" \
		STATIC_LIBS='$(LIBS) $(PROGRAM_LIBS)' "$here/$file"
done
