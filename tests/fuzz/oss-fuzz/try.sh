#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
#
# Runs build.sh on a copy of the tracked files with the local clang and libFuzzer, and each target for a few inputs.
here=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/tfprof" "$work/out"
git -C "$here" ls-files -z --cached --others --exclude-standard | (cd "$here" && xargs -0 cp --parents -t "$work/src/tfprof")
SRC=$work/src OUT=$work/out CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
	CFLAGS='-O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,fuzzer-no-link' \
	bash "$here/tests/fuzz/oss-fuzz/build.sh" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
passed=0 failed=0
for program in "$work"/out/fuzz_*; do
	case $program in *.zip) continue ;; esac
	name=$(basename "$program")
	mkdir "$work/$name"
	if ldd "$program" | grep -qE 'protobuf|pcre|libz|snappy|sqlite' ||
		! (cd "$work/$name" && unzip -q "$program"_seed_corpus.zip -d seeds && "$program" -runs=200 seeds) >"$work/log" 2>&1; then
		echo "FAILED $name"
		tail -n 5 "$work/log"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$passed" -gt 0 ] && [ "$failed" = 0 ]
