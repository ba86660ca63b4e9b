#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks the hardening of the release binaries.
#   tools/check_hardening.sh DIR       DIR has tfprof and libtfprof.so
set -u
dir=${1-build}
passed=0
failed=0
skipped=0

# Counts one check: what it is about, and a command that must succeed.
judge() {
	what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$what"
	fi
}

dynamic() { readelf -dW "$1" | grep -q "$2"; }
headers() { readelf -lW "$1" | grep -q "$2"; }
calls() { readelf --dyn-syms -W "$1" | grep -q " UND $2"; }
not() { ! "$@"; }
# Every function of ours that may be called through a pointer begins with a landing place.
landing() {
	objdump -d --no-show-raw-insn --disassemble="$2" "$1" | grep -q 'endbr64'
}

for file in "$dir/tfprof" "$dir/libtfprof.so"; do
	[ -e "$file" ] || { echo "no $file"; failed=$((failed + 1)); continue; }
	judge "$file is not position independent" sh -c "readelf -hW '$file' | grep -q 'Type: *DYN'"
	judge "$file: relocations stay writable" headers "$file" GNU_RELRO
	judge "$file: functions are bound late" dynamic "$file" BIND_NOW
	judge "$file: no stack protector" calls "$file" __stack_chk_fail
	judge "$file: C library calls are not checked" calls "$file" '__[a-z]*_chk'
	judge "$file: the stack is executable" sh -c "readelf -lW '$file' | grep GNU_STACK | grep -q 'RW '"
	judge "$file: a segment is writable and executable" not headers "$file" ' RWE '
	judge "$file: it looks for libraries in folders of its own" not dynamic "$file" 'R.*PATH'
	judge "$file: relocations in code" not dynamic "$file" TEXTREL
done
judge "$dir/tfprof is no PIE" dynamic "$dir/tfprof" 'Flags:.* PIE'
if [ "$(uname -m)" = x86_64 ]; then
	judge "$dir/libtfprof.so: tfp_open does not begin with endbr64" landing "$dir/libtfprof.so" tfp_open
	judge "$dir/tfprof: main does not begin with endbr64" landing "$dir/tfprof" main
else
	skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
