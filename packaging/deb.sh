#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Debian packages tfprof, libtfprof0, libtfprof-dev and python3-tfprof in a scratch copy of the tracked files:
#   packaging/deb.sh [FOLDER]
# The packages go to FOLDER, build/deb without one. Their revision is 0upstream1, which sorts before the revisions of Debian itself.
# debian/changelog is made of the version in the Makefile and of the commit's date; DEBFULLNAME and DEBEMAIL name the
# maintainer, otherwise it is the author of the commit. Status 3: tools that build packages are missing.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
to=${1-build/deb}
for tool in dpkg-buildpackage dh dh_python3; do
	command -v "$tool" >/dev/null || {
		echo "packaging/deb.sh: $tool is missing: install dpkg-dev, debhelper and dh-python" >&2
		exit 3
	}
done
version=$(sed -n 's/^VERSION := //p' Makefile)
maintainer="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH

mkdir -p "$to"
to=$(cd "$to" && pwd)
work=$to/work
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
source=$work/tfprof-$version
mkdir -p "$source"
git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$source"
tar -czf "$work/tfprof_$version.orig.tar.gz" -C "$work" --sort=name --owner=0 --group=0 --numeric-owner \
	--mtime="@$SOURCE_DATE_EPOCH" "tfprof-$version"

cp -R packaging/debian "$source/debian"
sed -i "s|@MAINTAINER@|$(printf '%s' "$maintainer" | sed 's/[\\&|]/\\&/g')|" "$source/debian/control"
printf 'tfprof (%s-0upstream1) unstable; urgency=medium\n\n  * Release %s; its changes are in CHANGELOG.md.\n\n -- %s  %s\n' \
	"$version" "$version" "$maintainer" "$(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")" >"$source/debian/changelog"

# The jobs and configuration of a make around this one are not for the packages.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CONFIG
cd "$source"
dpkg-buildpackage -us -uc -F >"$work/build.log" 2>&1 || {
	tail -n 30 "$work/build.log" >&2
	exit 1
}
rm -f "$to"/*tfprof*
cp "$work"/*tfprof*_* "$to/"
cd "$to"
echo "in ${to#"$top"/}:"
ls -1 -- *.deb
