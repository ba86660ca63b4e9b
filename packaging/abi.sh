#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares the interface of a built library with the recorded one of its soname, with libabigail:
#   packaging/abi.sh LIBRARY            status 1 if programs that were built with the recorded interface would break
#   packaging/abi.sh --against FILE LIBRARY   the same with another recorded interface
#   packaging/abi.sh --record LIBRARY   records it: at a release, and when the soname changes
# New functions are allowed. The library needs debugging information. Status 3: abidw and abidiff are missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
record='' file=''
case $1 in
--record)
	record=1
	shift
	;;
--against)
	file=$2
	shift 2
	;;
esac
command -v abidiff >/dev/null && command -v abidw >/dev/null || {
	echo 'packaging/abi.sh: abidiff is missing: install abigail-tools' >&2
	exit 3
}
soname=$(readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
[ -n "$file" ] || file=$here/abi/$soname.$(uname -m).xml
public=$here/../include/tfprof

if [ -n "$record" ]; then
	mkdir -p "$here/abi"
	abidw --exported-interfaces-only --headers-dir "$public" --drop-private-types --no-elf-needed --no-corpus-path \
		--no-comp-dir-path --no-show-locs --out-file "$file" "$1"
	exit
fi
[ -e "$file" ] || {
	echo "packaging/abi.sh: $soname: no interface is recorded: record it with packaging/abi.sh --record $1" >&2
	exit 1
}
# Bits of its status: 1 and 2 errors, 4 a change, 8 an incompatible change.
status=0
abidiff --exported-interfaces-only --headers-dir2 "$public" --drop-private-types "$file" "$1" || status=$?
[ $((status & 11)) = 0 ]
