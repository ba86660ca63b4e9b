#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks the symbols of the built library: it exports only tfp_ names, has every function of the public header, and is not linked
# with a prompt library. The Debian package, which does not build otherwise, lists the same functions.
#   tools/check_symbols.sh DIR       DIR has libtfprof.so
set -u
lib=${1-build}/libtfprof.so
header=$(dirname "$0")/../include/tfprof/tfprof.h
passed=0
failed=0

# Counts one check: what it is about, and what is wrong (empty: nothing).
judge() {
	if [ -z "$2" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$1:"
		echo "$2" | sed 's/^/  /'
	fi
}

[ -e "$lib" ] || { echo "no $lib"; echo '0 passed, 1 failed, 0 skipped'; exit 1; }
# The sanitizers and the coverage runtime add symbols.
shown=$(nm -D --defined-only "$lib" | awk '$2 != "A" {print $NF}' | sed 's/@.*//' |
	grep -v -e '^__asan' -e '^__ubsan' -e '^__tsan' -e '^__gcov' -e '^_init$' -e '^_fini$' | sort -u)
judge 'exported, but not tfp_' "$(echo "$shown" | grep -v '^tfp_')"

declared=$(sed -n 's/.*[ *]\(tfp_[a-z0-9_]*\)(.*/\1/p' "$header" | sort -u)
missing=$(for f in $declared; do
	# A callback type in a parameter list is not a function of the library.
	grep -q "(\*$f)" "$header" || echo "$shown" | grep -qx "$f" || echo "$f"
done)
judge 'declared in the public header, but not exported' "$missing"
hidden=$(for f in $shown; do echo "$declared" | grep -qx "$f" || echo "$f"; done)
judge 'exported, but not declared in the public header' "$hidden"

recorded=$(sed -n 's/^ \(tfp_[a-z0-9_]*\)@Base .*/\1/p' "$(dirname "$0")/../packaging/debian/libtfprof0.symbols" | sort)
judge 'exported, but not in packaging/debian/libtfprof0.symbols' "$(for f in $shown; do echo "$recorded" | grep -qx "$f" || echo "$f"; done)"
judge 'in packaging/debian/libtfprof0.symbols, but not exported' "$(for f in $recorded; do echo "$shown" | grep -qx "$f" || echo "$f"; done)"

judge 'the library must not need these' "$(ldd "$lib" | grep -E 'edit|readline|tinfo|ncurses')"
judge 'not found' "$(ldd "$lib" | grep 'not found')"
judge 'writable and executable memory' "$(readelf -lW "$lib" | grep 'GNU_STACK.*RWE')"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
