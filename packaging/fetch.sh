#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Puts the upstream tarballs that packaging/sources.txt lists into a folder, and checks their SHA-256:
#   packaging/fetch.sh FOLDER
# What is there already is only checked. The rest comes from the Debian archive that apt is configured for (with
# lists of its own: the system's stay as they are); elsewhere, put the files there by hand.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

tarball() { # name of the package: its tarball, if it is there
	for f in "$1"_*.orig.tar.*; do
		case $f in *.asc | *'*'*) ;; *) echo "$f" ;; esac
	done
}

check() { # name sha256
	f=$(tarball "$1")
	[ -n "$f" ] && echo "$2  $f" | sha256sum --check --quiet --status
}

missing=
while read -r name version sum _; do
	case $name in '#'* | '') continue ;; esac
	check "$name" "$sum" || missing="$missing $name=$version"
done <"$here/sources.txt"
[ -z "$missing" ] && exit 0

command -v apt-get >/dev/null || {
	echo "packaging/fetch.sh: put the tarballs of$missing into $1" >&2
	exit 1
}
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
mkdir -p "$lists/parts" "$lists/lists/partial" "$lists/cache/archives/partial"
for f in /etc/apt/sources.list.d/*.sources; do
	[ -e "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" >"$lists/parts/$(basename "$f")"
done
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -e "$f" ] && sed -n 's/^deb /deb-src /p' "$f" >"$lists/parts/$(basename "$f" .list).list"
done
apt() {
	apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$lists/parts" \
		-o Dir::State::Lists="$lists/lists" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root "$@"
}
apt update
# The archive may have another revision of the package, with the same upstream tarball.
for package in $missing; do
	apt source --download-only --tar-only "$package" >/dev/null 2>&1 ||
		apt source --download-only --tar-only "${package%%=*}" >/dev/null || true
done
while read -r name version sum _; do
	case $name in '#'* | '') continue ;; esac
	check "$name" "$sum" || {
		echo "packaging/fetch.sh: $name $version: the tarball is missing or has another SHA-256" >&2
		exit 1
	}
done <"$here/sources.txt"
