#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the files of a release from the current commit, in build/dist/, and tests them:
#   tools/release.sh [--without PART,...] VERSION [URL]
#
# VERSION    version that the Makefile states; it is repeated so that no release is made by accident
# URL        address of the folder from which the tarball will be downloaded, for the recipes; without it, none are made
# --without  leaves parts out: abi (comparison of the interface), check (make check), tests (of the packages), wheels,
#            programs (and image), deb, image
#
#   tfprof-VERSION.tar.gz       the tracked files and generated/: builds without protoc, esbuild and Python
#   tfprof-VERSION.md           section of CHANGELOG.md
#   tfprof-VERSION.spdx.json    bill of materials
#   tfprof-VERSION.intoto.json  provenance: an in-toto statement (SLSA 1.0, unsigned) of the files, the commit and the tools
#   python/                     source distribution for pip, and a wheel for each system in packaging/targets.txt
#   programs/                   programs without dependencies
#   debian/                     Debian packages for this processor
#   image/                      container images, for podman load, docker load and skopeo
#   recipes/                    the recipes of packaging/ with version, checksum and addresses
#   SHA256SUMS                  checksums of all files
#
# The interface of the library has to be compatible with the one that the last tag v* recorded, and packaging/abi has to record
# all functions. PROJECT_URL is the address of the project in recipes and in the metadata of Python; without it, they have none.
# Programs for the other processor are tested under qemu-user-static, programs for Windows under wine. Equal commits and addresses
# give equal bytes. build/release.log has the output of all steps. After a failure, what is compiled in build/wheel is used again.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD
fail() {
	echo "tools/release.sh: $*" >&2
	exit 1
}
if [ "${1-}" = --help ]; then
	sed -n '4,/^[^#]/ s/^# \{0,1\}//p' tools/release.sh
	exit
fi
without=''
if [ "${1-}" = --without ]; then
	without=${2-}
	shift 2
fi
[ $# -ge 1 ] || fail 'usage: tools/release.sh [--without PART,...] VERSION [URL]'
for part in ${without//,/ }; do
	case $part in
	abi | check | tests | wheels | programs | deb | image) ;;
	*) fail "--without $part: abi, check, tests, wheels, programs, deb or image expected" ;;
	esac
done
with() { case ,$without, in *,$1,*) false ;; esac }
version=$1 url=${2-}
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CONFIG
export LC_ALL=C TZ=UTC

echo "$version" | grep -Eqx '(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?' ||
	fail "$version is not a semantic version (example: 1.2.3)"
stated=$(sed -n 's/^VERSION := //p' Makefile)
[ "$stated" = "$version" ] || fail "Makefile: VERSION is $stated: $version expected"
[ -z "$(git status --porcelain)" ] || fail 'there are uncommitted changes or untracked files'
grep -q "tfprof $version\"" docs/man/tfprof.1 || fail "docs/man is not of version $version: type make docs"

missing=''
need() { # program, package of Debian that has it
	command -v "$1" >/dev/null || missing="$missing $2"
}
if with abi; then need abidiff abigail-tools; fi
if with wheels || with programs; then
	need tclsh tcl
	if with tests; then need qemu-aarch64-static qemu-user-static; fi
fi
if with wheels && with tests; then need wine wine; fi
if with deb; then
	need dpkg-buildpackage dpkg-dev
	need dh debhelper
	need dh_python3 dh-python
	if with tests; then need lintian lintian; fi
fi
[ -z "$missing" ] || fail "programs are missing: install the packages$missing"

out=$top/build/dist name=tfprof-$version log=$top/build/release.log
rm -rf "$out"
mkdir -p "$out"
awk -v v="$version" '/^## / { on = $2 == v; next } on' CHANGELOG.md | sed '/./,$!d' >"$out/$name.md"
[ -s "$out/$name.md" ] || fail "CHANGELOG.md: no section for $version: a line '## $version' expected"
grep -Eqx "## $version \\([0-9]{4}-[0-9]{2}-[0-9]{2}\\)" CHANGELOG.md ||
	fail "CHANGELOG.md: version $version has no date: a line such as '## $version (2026-01-31)' expected"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "tools/release.sh: version $version of commit $(git rev-parse HEAD)" >"$log"
TIMEFORMAT='%0R %0U %0S'
step() { # what, then a command: prints how long it takes, the counts of tests, and the end of its output if it fails
	local what=$1 failed='' seconds user system
	shift
	echo "tools/release.sh: $what" >&2
	{ time "$@" >"$work/log" 2>&1; } 2>"$work/time" || failed=1
	read -r seconds user system <"$work/time"
	{ echo "==== $what"; cat "$work/log"; } >>"$log"
	[ -z "$failed" ] || { tail -n 30 "$work/log" >&2; fail "$what: failed; $log has all its output"; }
	echo "  $seconds s, $((user + system)) s of CPU" | tee -a "$log" >&2
	grep -E ': skipped: |^skipped: |^[0-9]+ passed, ' "$work/log" | sed 's/^/  /' >&2 || true
}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# ---- interface ----
if with abi || with tests; then
	step 'make' make --no-print-directory all
fi
if with abi; then
	soname=$(readelf -d build/libtfprof.so | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
	recorded=packaging/abi/$soname.$(uname -m).xml
	last=$(git describe --tags --abbrev=0 --match 'v*' --exclude "v$version" 2>/dev/null || true)
	if [ -n "$last" ] && git cat-file -e "$last:$recorded" 2>/dev/null; then
		git show "$last:$recorded" >"$work/last.xml"
		packaging/abi.sh --against "$work/last.xml" build/libtfprof.so || fail "the interface is incompatible with $last: raise SOVERSION"
	fi
	packaging/abi.sh build/libtfprof.so || fail "the interface differs from $recorded"
	for f in $(nm -D --defined-only build/libtfprof.so | sed -n 's/.* T \(tfp_[a-z_]*\)@*.*/\1/p'); do
		grep -q "<elf-symbol name='$f'" "$recorded" ||
			fail "$recorded lacks $f: type packaging/abi.sh --record build/libtfprof.so"
	done
fi
if with check; then
	step 'make check' make --no-print-directory check
fi

# ---- tarball, source distribution ----
git archive --prefix="$name/" HEAD | tar -xf - -C "$work"
modules=$(cd proto && ls ./*.proto | sed 's|^\./||; s|\.proto$||')
# shellcheck disable=SC2086,SC2046
step 'generated code' make --no-print-directory -C "$work/$name" GEN=generated HAVE_WEB=1 generated/web-1.c \
	$(printf 'generated/%s.pb-c.c ' $modules)
rm -rf "$work/$name/build"
tar -cf - -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name" |
	gzip -9n >"$out/$name.tar.gz"
sum=$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)
mkdir "$out/python"
PYTHONPATH=python/build_backend step 'source distribution' python3 -B -c "
import backend
backend.build_sdist('$out/python')"

# ---- bill of materials, recipes ----
python3 -B tools/sbom.py "$version" "$sum" "$SOURCE_DATE_EPOCH" >"$out/$name.spdx.json"
if [ -n "$url" ]; then
	mkdir "$out/recipes"
	home='/@HOMEPAGE@/d'
	[ -z "${PROJECT_URL-}" ] || home="s|@HOMEPAGE@|$PROJECT_URL|g"
	for f in conda/recipe.yaml homebrew/tfprof.rb; do
		sed "s|@VERSION@|$version|g; s|@SHA256@|$sum|g; s|@URL@|$url/$name.tar.gz|g; $home" "packaging/$f" \
			>"$out/recipes/$(basename "$f")"
	done
fi

# ---- what is built ----
if with wheels; then
	for target in $(awk '!/^#/ { print $1 }' packaging/targets.txt); do
		step "wheel for $target" packaging/wheel.sh "$target"
		cp "build/wheel/$(basename "$(tail -n 1 "$work/log")")" "$out/python/"
	done
	if with tests; then
		for wheel in "$out"/python/*.whl; do
			tests=wheel/run.py
			case $wheel in *-win_*.whl | *-macosx_*.whl) tests='port/run.py --program build/tfprof' ;; esac
			# shellcheck disable=SC2086
			step "tests of ${wheel##*/}" python3 -B tests/$tests --wheel "$wheel"
		done
	fi
fi
if with programs; then
	mkdir "$out/programs"
	for arch in x86_64 aarch64; do
		step "program for $arch" packaging/portable.sh "$arch-musl" obj/static/tfprof
		cp "build/wheel/$arch-musl/obj/static/tfprof" "$out/programs/$name-linux-$arch"
	done
	if with tests; then
		for program in "$out"/programs/*; do
			step "tests of ${program##*/}" python3 -B tests/static/run.py --program build/tfprof --static "$program"
		done
	fi
	if with image; then
		mkdir "$out/image"
		for arch in x86_64:amd64 aarch64:arm64; do
			LICENCES=build/wheel/${arch%:*}-musl/libraries/licences step "image for ${arch#*:}" python3 -B packaging/image.py \
				"$version" "${arch#*:}" "$SOURCE_DATE_EPOCH" "$out/programs/$name-linux-${arch%:*}" "$out/image/$name-${arch#*:}.tar"
		done
	fi
fi
if with deb; then
	step 'Debian packages' packaging/deb.sh
	if with tests; then
		step 'tests of the Debian packages' python3 -B tests/deb/run.py --bin build --packages build/deb
	fi
	mkdir "$out/debian"
	cp build/deb/*.deb "$out/debian/"
fi

# ---- provenance, checksums ----
python3 -B tools/provenance.py "$version" "$(git rev-parse HEAD)" "$SOURCE_DATE_EPOCH" "$out" >"$work/provenance"
mv "$work/provenance" "$out/$name.intoto.json"
cd "$out"
find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs sha256sum >SHA256SUMS
echo 'build/dist:'
cat SHA256SUMS
