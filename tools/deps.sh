#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Finds what is missing for a level of work and installs exactly that.
#   tools/deps.sh build    to build the program and the library
#   tools/deps.sh check    and to run the quick tests
#   tools/deps.sh deep     and to run the deep ones
#   tools/deps.sh web      to run the quick tests and those of pages in a browser
# With --dry-run before the level it only says what is missing. Nothing missing: silent, status 0.
# On systems without apt-get, or without root or sudo, it prints what to type and ends with 1.
set -u

dry=
if [ "${1-}" = --dry-run ]; then
	dry=1
	shift
fi
level=${1-build}
case $level in
build) levels='build' ;;
check) levels='build check' ;;
deep) levels='build check deep' ;;
web) levels='build check web' ;;
*)
	echo "usage: tools/deps.sh [--dry-run] build|check|deep|web" >&2
	exit 2
	;;
esac

# One line a need: level, kind (pc: pkg-config module; cmd: a program; fn: a function below), what,
# then the package of Debian, Fedora, Arch and Homebrew ("-": comes with another one).
needs='
build fn  have_cc            gcc,libc6-dev       gcc                 gcc              -
build cmd make               make                make                make             make
build cmd pkg-config         pkg-config          pkgconf-pkg-config  pkgconf          pkgconf
build cmd protoc             protobuf-compiler   protobuf-compiler   protobuf         protobuf
build cmd protoc-gen-c       protobuf-c-compiler protobuf-c-compiler protobuf-c       protobuf-c
build pc  libprotobuf-c      libprotobuf-c-dev   protobuf-c-devel    protobuf-c       protobuf-c
build pc  libpcre2-8         libpcre2-dev        pcre2-devel         pcre2            pcre2
build pc  zlib               zlib1g-dev          zlib-devel          zlib             zlib
build pc  libedit            libedit-dev         libedit-devel       libedit          libedit
build pc  ncursesw           libncurses-dev      ncurses-devel       ncurses          ncurses
build pc  snappy             libsnappy-dev       snappy-devel        snappy           snappy
build pc  sqlite3            libsqlite3-dev      sqlite-devel        sqlite           sqlite
build pc  libevent_extra      libevent-dev        libevent-devel      libevent         libevent
build cmd esbuild            esbuild             golang-github-evanw-esbuild esbuild  esbuild
build fn  have_d3            node-d3-scale       -                   -                -
build fn  have_stdcxx        g++                 libstdc++-devel     -                -
check pc  cmocka             libcmocka-dev       libcmocka-devel     cmocka           cmocka
check cmd python3            python3             python3             python           python3
check cmd clang-format       clang-format        clang-tools-extra   clang            clang-format
check cmd tmux               tmux                tmux                tmux             tmux
check cmd less               less                less                less             less
check cmd localedef          libc-bin            glibc-common        glibc            -
check fn  have_locales       locales             glibc-locale-source glibc            -
check fn  have_jsonschema    python3-jsonschema  python3-jsonschema  python-jsonschema -
check cmd man                man-db              man-db              man-db           -
web   cmd chromium           chromium            chromium            chromium         -
web   cmd chromedriver       chromium-driver     chromedriver        -                -
web   fn  have_firefox       firefox-esr         firefox             firefox          -
deep  cmd clang              clang               clang               clang            llvm
deep  fn  have_clang_rt      @clang_rt           compiler-rt         compiler-rt      -
deep  cmd clang-tidy         clang-tidy          clang-tools-extra   -                llvm
deep  cmd cppcheck           cppcheck            cppcheck            cppcheck         cppcheck
deep  cmd g++                g++                 gcc-c++             -                -
deep  cmd valgrind           valgrind            valgrind            valgrind         -
deep  cmd zsh                zsh                 zsh                 zsh              zsh
deep  cmd fish               fish                fish                fish             fish
deep  pc  protobuf           libprotobuf-dev     protobuf-devel      -                -
deep  fn  have_deb           dpkg-dev,debhelper,dh-python,lintian,abigail-tools - - -
'

have() { command -v "$1" >/dev/null 2>&1; }

# A release contains the generated code; then these programs are not needed.
generated() {
	case $1 in protoc | protoc-gen-c | esbuild) [ -d generated ] ;; *) false ;; esac
}

# A C compiler that also finds the C library's headers.
have_cc() {
	have "${CC:-cc}" || have gcc || have clang || return 1
	[ -e /usr/include/stdio.h ] || ! have apt-get
}

# The C++ runtime library, which contains the demangler; not needed if another one is installed.
have_stdcxx() {
	for c in "${CC:-cc}" gcc clang; do
		have "$c" && [ -e "$("$c" -print-file-name=libstdc++.so)" ] && return 0
	done
	[ "$(uname -s)" = Darwin ]
}

# The scales of the page: a package of Debian, elsewhere one of npm, which no package manager installs.
have_d3() {
	[ -d generated ] || [ -e /usr/share/nodejs/d3-scale ] || [ -e node_modules/d3-scale ] || ! have apt-get
}

# Pages are also opened in Firefox. It is "firefox-esr" on Debian, "firefox" elsewhere.
have_firefox() { have firefox-esr || have firefox || ! have apt-get; }

# The locale sources for localedef; not needed without localedef.
have_locales() { [ -e /usr/share/i18n/locales/de_DE ] || ! have localedef; }

# The validator of JSON schemas, for the Python that is used or the one that packages are for.
have_jsonschema() {
	for p in python3 /usr/bin/python3; do
		"$p" -c 'import jsonschema' 2>/dev/null && return 0
	done
	[ "$(uname -s)" = Darwin ]
}

# Tools that build and check Debian packages.
have_deb() {
	! have apt-get || { have dpkg-buildpackage && have dh && have dh_python3 && have lintian && have abidw; }
}

# The run-time libraries of clang's sanitizers and fuzzer.
have_clang_rt() {
	have clang || return 1
	for rt in "$(clang -print-file-name=libclang_rt.fuzzer-"$(uname -m)".a)" \
		"$(clang -print-file-name=libclang_rt.fuzzer.a)"; do
		[ -e "$rt" ] && return 0
	done
	[ "$(uname -s)" = Darwin ]
}

# All modules of the wanted levels at once: the usual case, one process.
all_modules() {
	modules=$(echo "$needs" | while read -r l kind what _; do
		case " $levels " in *" $l "*) [ "$kind" = pc ] && echo "$what" ;; esac
	done)
	# shellcheck disable=SC2086
	have pkg-config && pkg-config --exists $modules 2>/dev/null
}
all_modules && modules_ok=1 || modules_ok=

present() { # kind what
	case $1 in
	cmd) have "$2" || generated "$2" ;;
	pc) [ -n "$modules_ok" ] || { have pkg-config && pkg-config --exists "$2" 2>/dev/null; } ;;
	fn) "$2" ;;
	esac
}

# Words of the missing lines in one column (1 Debian, 2 Fedora, 3 Arch, 4 Homebrew).
missing=$(echo "$needs" | while read -r l kind what deb fed arch brew; do
	case " $levels " in *" $l "*) ;; *) continue ;; esac
	present "$kind" "$what" || echo "$deb $fed $arch $brew"
done)
[ -z "$missing" ] && exit 0

column() {
	echo "$missing" | while read -r deb fed arch brew; do
		case $1 in deb) w=$deb ;; fed) w=$fed ;; arch) w=$arch ;; *) w=$brew ;; esac
		[ "$w" = - ] || echo "$w"
	done | tr ',' '\n' | sort -u | tr '\n' ' ' | sed 's/ $//'
}

# The package of clang's run time carries clang's version in its name.
clang_rt_package() {
	v=
	if have clang; then
		v=$(clang -dumpversion | cut -d. -f1)
	elif have apt-cache; then
		v=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p' |
			head -n 1)
	fi
	echo "libclang-rt-${v:-14}-dev"
}
debian() { column deb | sed "s/@clang_rt/$(clang_rt_package)/"; }

if [ -n "$dry" ]; then
	echo "missing: $(debian)"
	exit 1
fi

root=
if [ "$(id -u)" != 0 ]; then
	root=sudo
	[ -t 0 ] || root='sudo -n'
fi
tell() {
	{
		echo "tfprof needs packages that are not installed. Type:"
		if have apt-get; then
			echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $(debian)"
		elif have dnf; then
			echo "  sudo dnf install -y $(column fed)"
		elif have pacman; then
			echo "  sudo pacman -S --needed $(column arch)"
		elif have brew; then
			echo "  brew install $(column brew)"
		fi
		echo "Their names: Debian, Ubuntu: $(debian)"
		echo "             Fedora:         $(column fed)"
		echo "             Arch:           $(column arch)"
		echo "             macOS (brew):   $(column brew)"
	} >&2
	exit 1
}

have apt-get || tell
# shellcheck disable=SC2086
if [ -n "$root" ] && { ! have sudo || ! $root true 2>/dev/null; }; then
	tell
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
quietly() {
	"$@" </dev/null >"$log" 2>&1 && return 0
	tail -n 20 "$log" >&2
	echo "tools/deps.sh: failed: $*" >&2
	tell
}
quietly $root apt-get update
packages=$(debian)
echo "tools/deps.sh: installing $packages" >&2
# shellcheck disable=SC2086
quietly $root env DEBIAN_FRONTEND=noninteractive \
	apt-get install -y --no-install-recommends $packages
