#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
#
# Builds the fuzz targets and their seed corpora as OSS-Fuzz expects it: with $CC, $CXX, $CFLAGS and
# $LIB_FUZZING_ENGINE, into $OUT. The programs run where no library of ours is installed, so all but those of the
# C library are linked statically. tests/fuzz/oss-fuzz/try.sh runs it without OSS-Fuzz.
cd "${SRC:-/src}/tfprof"
static="-Wl,-Bstatic -lprotobuf-c -lpcre2-8 -lz -lsnappy -lsqlite3 -lstdc++ -Wl,-Bdynamic -lm"
make -j"$(nproc)" CONFIG=debug CC="$CC" CFLAGS="$CFLAGS" FUZZ_ENGINE="$LIB_FUZZING_ENGINE" FUZZ_LD="$CXX" \
	HAVE_LIBEDIT=0 HAVE_SNAPPY=1 HAVE_DEMANGLE=1 LIBS="$static" fuzzers
for program in build/debug/fuzz/fuzz_*; do
	name=$(basename "$program")
	target=${name#fuzz_}
	cp "$program" "$OUT/$name"
	python3 -B tests/fuzz/seeds.py "$target" "build/fuzz/$target/oss-seeds" testdata
	zip -q -j -r "$OUT/${name}_seed_corpus.zip" "testdata/fuzz/$target" "build/fuzz/$target/oss-seeds"
done
