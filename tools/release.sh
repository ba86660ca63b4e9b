#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the files of a release from the current commit, in build/dist/:
#   tools/release.sh VERSION [URL]
#   tfprof-VERSION.tar.gz     the tracked files and generated/: builds without protoc, esbuild and Python
#   python/tfprof-VERSION.tar.gz   source distribution for pip
#   tfprof-VERSION.md         section of CHANGELOG.md
#   tfprof-VERSION.spdx.json  bill of materials
#   tfprof-VERSION.intoto.json  provenance: an in-toto statement (SLSA 1.0, unsigned) of the files, the commit and the tools
#   recipes/                  the recipes of packaging/ with version, checksum and URL; only if URL is given, the folder that
#                             the tarball will be downloaded from
#   SHA256SUMS                checksums of all files
# The Makefile states the version; VERSION repeats it so that no release is made by accident. The interface of the library
# has to be compatible with the interface that the last tag v* recorded, or else with the one in packaging/abi,
# which has to have all its functions.
# The same commit always gives the same bytes. ABI=0 skips the comparison of the interface, which builds the library
# and needs abidiff.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
fail() {
	echo "tools/release.sh: $*" >&2
	exit 1
}
[ $# -ge 1 ] || fail 'usage: tools/release.sh VERSION [URL]'
version=$1 url=${2-}
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CONFIG
export LC_ALL=C TZ=UTC

echo "$version" | grep -Eqx '(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?' ||
	fail "$version is not a semantic version (example: 1.2.3)"
stated=$(sed -n 's/^VERSION := //p' Makefile)
[ "$stated" = "$version" ] || fail "Makefile: VERSION is $stated: $version expected"
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail 'there are uncommitted changes'
grep -q "tfprof $version\"" docs/man/tfprof.1 || fail "docs/man is not of version $version: type make docs"

out=$top/build/dist name=tfprof-$version
rm -rf "$out"
mkdir -p "$out"
awk -v v="$version" '/^## / { on = $2 == v; next } on' CHANGELOG.md | sed '/./,$!d' >"$out/$name.md"
[ -s "$out/$name.md" ] || fail "CHANGELOG.md: no section for $version: a line '## $version' expected"
grep -Eqx "## $version \\([0-9]{4}-[0-9]{2}-[0-9]{2}\\)" CHANGELOG.md ||
	fail "CHANGELOG.md: version $version has no date: a line such as '## $version (2026-01-31)' expected"

# ---- interface ----
if [ "${ABI-1}" = 1 ]; then
	make --no-print-directory lib >"$out/make.log" 2>&1 || { tail -n 20 "$out/make.log" >&2; fail 'make lib failed'; }
	rm "$out/make.log"
	soname=$(readelf -d build/libtfprof.so | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
	recorded=packaging/abi/$soname.$(uname -m).xml
	last=$(git describe --tags --abbrev=0 --match 'v*' --exclude "v$version" 2>/dev/null || true)
	if [ -n "$last" ] && git cat-file -e "$last:$recorded" 2>/dev/null; then
		git show "$last:$recorded" >"$out/last.xml"
		packaging/abi.sh --against "$out/last.xml" build/libtfprof.so || fail "the interface is incompatible with $last: raise SOVERSION"
		rm "$out/last.xml"
	fi
	packaging/abi.sh build/libtfprof.so || fail "the interface differs from $recorded"
	for f in $(nm -D --defined-only build/libtfprof.so | sed -n 's/.* T \(tfp_[a-z_]*\)@*.*/\1/p'); do
		grep -q "<elf-symbol name='$f'" "$recorded" ||
			fail "$recorded lacks $f: type packaging/abi.sh --record build/libtfprof.so"
	done
fi

# ---- tarball ----
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="$name/" HEAD | tar -xf - -C "$work"
modules=$(cd proto && ls ./*.proto | sed 's|^\./||; s|\.proto$||')
# shellcheck disable=SC2086,SC2046
make --no-print-directory -C "$work/$name" GEN=generated HAVE_WEB=1 generated/web-1.c \
	$(printf 'generated/%s.pb-c.c ' $modules) >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail 'no generated files'; }
rm -rf "$work/$name/build"
tar -cf - -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" "$name" |
	gzip -9n >"$out/$name.tar.gz"
sum=$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)

# ---- source distribution ----
mkdir "$out/python"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) PYTHONPATH=python/build_backend python3 -B -c "
import backend
backend.build_sdist('$out/python')" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail 'no source distribution'; }

# ---- bill of materials, recipes, provenance, checksums ----
python3 -B tools/sbom.py "$version" "$sum" "$(git log -1 --format=%ct)" >"$out/$name.spdx.json"
if [ -n "$url" ]; then
	mkdir "$out/recipes"
	for f in conda/recipe.yaml homebrew/tfprof.rb; do
		sed "s|@VERSION@|$version|g; s|@SHA256@|$sum|g; s|@URL@|$url/$name.tar.gz|g" "packaging/$f" >"$out/recipes/$(basename "$f")"
	done
fi
python3 -B tools/provenance.py "$version" "$(git rev-parse HEAD)" "$(git log -1 --format=%ct)" "$out" >"$work/provenance"
mv "$work/provenance" "$out/$name.intoto.json"
cd "$out"
find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs sha256sum >SHA256SUMS
echo 'build/dist:'
cat SHA256SUMS
