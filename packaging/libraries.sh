#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds static libraries of the sources in FOLDER for wheels, with the compilers in CC and CXX:
#   CC=... CXX=... AR=... packaging/libraries.sh FOLDER PREFIX [HOST]
# HOST is a GNU triple, for cross-compiling; BUILD_CC is then a compiler for this machine that takes the same flags.
# PREFIX gets include/, lib/ and pkg-config files; licences go to PREFIX/licences. A library that is there is not built
# again. A configure script is run only where a library needs it. Debugging information would contain the names of temporary
# folders.
set -eu
sources=$(cd "$1" && pwd)
mkdir -p "$2"
prefix=$(cd "$2" && pwd)
host=${3-}
: "${CC:=cc}" "${CXX:=c++}" "${AR:=ar}" "${BUILD_CC:=cc}"
flags='-O2 -g0 -w -fPIC -fvisibility=hidden'
jobs=$(nproc 2>/dev/null || echo 2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$prefix/include" "$prefix/lib/pkgconfig" "$prefix/licences"

unpack() { # package: leaves its files in $work/PACKAGE and goes there
	mkdir "$work/$1"
	for f in "$sources/$1"_*.orig.tar.*; do
		case $f in *.asc) ;; *) tar -xf "$f" -C "$work/$1" --strip-components=1 ;; esac
	done
	cd "$work/$1"
}

compile() { # library compiler flags... -- files...
	library=$1 compiler=$2
	shift 2
	given=
	while [ "$1" != -- ]; do
		given="$given $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c "$compiler $flags $given "'-c "$1" -o "$(basename "$1").o"' sh {}
	rm -f "$prefix/lib/$library"
	for f in "$@"; do echo "$(basename "$f").o"; done | xargs $AR rcsD "$prefix/lib/$library"
}

module() { # name version libs
	printf 'prefix=%s\nName: %s\nDescription: %s\nVersion: %s\nLibs: -L${prefix}/lib %s\nCflags: -I${prefix}/include\n' \
		"$prefix" "$1" "$1" "$2" "$3" >"$prefix/lib/pkgconfig/$1.pc"
}

build_protobuf_c() {
	unpack protobuf-c
	compile libprotobuf-c.a "$CC" -I. '-DPACKAGE_VERSION=\"1.4.1\"' '-DPACKAGE_STRING=\"protobuf-c\ 1.4.1\"' -- protobuf-c/protobuf-c.c
	mkdir -p "$prefix/include/protobuf-c"
	cp protobuf-c/protobuf-c.h "$prefix/include/protobuf-c/"
	cp LICENSE "$prefix/licences/protobuf-c"
	module libprotobuf-c 1.4.1 -lprotobuf-c
}

build_zlib() {
	unpack zlib
	# gzip data contains the number of the system; with 3 (Unix) they are equal everywhere. macOS has fdopen.
	sed -i 's/define OS_CODE  *[0-9]*/define OS_CODE 3/' zutil.h
	compile libz.a "$CC" -Dfdopen=fdopen -D_LARGEFILE64_SOURCE=1 -DHAVE_UNISTD_H -DHAVE_STDARG_H -- adler32.c compress.c crc32.c deflate.c \
		gzclose.c gzlib.c gzread.c gzwrite.c infback.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c
	cp zlib.h zconf.h "$prefix/include/"
	sed -n '/Copyright notice/,$p' README >"$prefix/licences/zlib"
	module zlib 1.2.13 -lz
}

build_pcre2() {
	unpack pcre2
	cp src/config.h.generic src/config.h
	cp src/pcre2.h.generic src/pcre2.h
	cp src/pcre2_chartables.c.dist src/pcre2_chartables.c
	set -- src/pcre2_auto_possess.c src/pcre2_chartables.c src/pcre2_compile.c src/pcre2_config.c src/pcre2_context.c \
		src/pcre2_convert.c src/pcre2_dfa_match.c src/pcre2_error.c src/pcre2_extuni.c src/pcre2_find_bracket.c \
		src/pcre2_jit_compile.c src/pcre2_maketables.c src/pcre2_match.c src/pcre2_match_data.c src/pcre2_newline.c \
		src/pcre2_ord2utf.c src/pcre2_pattern_info.c src/pcre2_script_run.c src/pcre2_serialize.c \
		src/pcre2_string_utils.c src/pcre2_study.c src/pcre2_substitute.c src/pcre2_substring.c src/pcre2_tables.c \
		src/pcre2_ucd.c src/pcre2_valid_utf.c src/pcre2_xclass.c
	compile libpcre2-8.a "$CC" -DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -DPCRE2_STATIC -DSUPPORT_UNICODE -DSUPPORT_JIT \
		-DSUPPORT_PCRE2_8 -DHAVE_MEMFD_CREATE=0 -Isrc -- "$@"
	cp src/pcre2.h "$prefix/include/"
	cp LICENCE "$prefix/licences/pcre2"
	module libpcre2-8 10.42 -lpcre2-8
}

build_snappy() {
	unpack snappy
	posix=1 has='-DHAVE_SYS_MMAN_H=1 -DHAVE_SYS_UIO_H=1'
	case $host in *-mingw32) posix=0 has='' ;; esac
	sed -e "s/\${HAVE_SYS_UIO_H_01}/$posix/" -e 's/\${PROJECT_VERSION_MAJOR}/1/' -e 's/\${PROJECT_VERSION_MINOR}/1/' \
		-e 's/\${PROJECT_VERSION_PATCH}/9/' snappy-stubs-public.h.in >snappy-stubs-public.h
	# GCC's spelling of a constraint that clang does not take.
	sed -i 's/ *: "cc");/ : );/; s/"+rm"/"+r"/' snappy.cc
	compile libsnappy.a "$CXX" -std=c++11 -fno-exceptions -fno-rtti -DNDEBUG -DHAVE_UNISTD_H=1 $has \
		-DHAVE_BUILTIN_EXPECT=1 -DHAVE_BUILTIN_CTZ=1 -I. -- \
		snappy.cc snappy-c.cc snappy-sinksource.cc snappy-stubs-internal.cc
	cp snappy-c.h "$prefix/include/"
	cp COPYING "$prefix/licences/snappy"
	module snappy 1.1.9 -lsnappy
}

# The demangler that GCC's C++ runtime has too: builds with other compilers then name functions in the same way. Two of its headers
# declare the rest of libiberty, whose licence has no exception for linking; the demangler needs one macro of them.
build_libiberty() {
	unpack libiberty
	mkdir own
	cp include/demangle.h own/
	: >own/libiberty.h
	echo '#define ATTRIBUTE_UNUSED __attribute__((unused))' >own/ansidecl.h
	compile libdemangle.a "$CC" -DIN_GLIBCPP_V3 -DHAVE_STDLIB_H -DHAVE_STRING_H -Iown -- libiberty/cp-demangle.c
	sed -n '1,/\*\//p' libiberty/cp-demangle.c >"$prefix/licences/libiberty"
}

# Its single source file is made with tclsh, once for all targets. Nothing of it can load code or write.
build_sqlite3() {
	made=$sources/../sqlite3-3.40.1
	if [ ! -e "$made" ]; then
		command -v tclsh >/dev/null || { echo "packaging/libraries.sh: tclsh is missing: install tcl" >&2; exit 1; }
		unpack sqlite3
		make -f Makefile.linux-gcc TOP=. OPTS= BCC="$BUILD_CC" sqlite3.c >make.log 2>&1 || { tail -n 20 make.log >&2; exit 1; }
		mkdir "$work/made"
		cp sqlite3.c sqlite3.h LICENSE.md "$work/made/"
		mv "$work/made" "$made"
	fi
	mkdir "$work/amalgamation"
	cd "$work/amalgamation"
	cp "$made/sqlite3.c" "$made/sqlite3.h" "$made/LICENSE.md" .
	compile libsqlite3.a "$CC" -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_DQS=0 -DSQLITE_DEFAULT_MEMSTATUS=0 \
		-DSQLITE_THREADSAFE=2 -DSQLITE_USE_URI=0 -- sqlite3.c
	cp sqlite3.h "$prefix/include/"
	cp LICENSE.md "$prefix/licences/sqlite3"
	module sqlite3 3.40.1 -lsqlite3
}

# With the usual terminals built in for systems that have no database of terminals.
build_ncurses() {
	unpack ncurses
	./configure -q ${host:+--host=$host --with-build-cc="$BUILD_CC"} --prefix=/usr --with-termlib --without-shared \
		--without-debug --without-ada --without-cxx --without-cxx-binding --without-progs --without-tests --without-manpages --disable-db-install \
		--without-gpm --without-dlsym --enable-widec --with-default-terminfo-dir=/usr/share/terminfo \
		--with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo \
		--with-fallbacks=xterm-256color,xterm,linux,vt100,screen-256color,screen,tmux-256color,dumb,ansi \
		CC="$CC" CFLAGS="$flags" AR="$AR" >configure.log 2>&1 ||
		{ tail -n 20 configure.log >&2; exit 1; }
	make -j"$jobs" -C include >make.log 2>&1 &&
		make -j"$jobs" -C ncurses ../lib/libtinfow.a ../lib/libncursesw.a >>make.log 2>&1 ||
		{ tail -n 20 make.log >&2; exit 1; }
	cp lib/libtinfow.a "$prefix/lib/libtinfo.a"
	cp lib/libncursesw.a "$prefix/lib/"
	cp include/curses.h include/term.h include/termcap.h include/unctrl.h include/ncurses_dll.h "$prefix/include/"
	cp COPYING "$prefix/licences/ncurses"
	module ncursesw 6.4 '-lncursesw -ltinfo'
}

build_libedit() {
	unpack libedit
	./configure -q ${host:+--host=$host} --prefix="$prefix" --disable-shared --enable-static --disable-examples CC="$CC" \
		CFLAGS="$flags -D__STDC_ISO_10646__=201103L -I$prefix/include" LDFLAGS="-L$prefix/lib" LIBS=-ltinfo AR="$AR" \
		ac_cv_lib_ncurses_tgetent=no ac_cv_lib_curses_tgetent=no ac_cv_lib_termcap_tgetent=no ac_cv_lib_tinfo_tgetent=yes \
		>configure.log 2>&1 || { tail -n 20 configure.log >&2; exit 1; }
	make -C src vi.h emacs.h common.h fcns.h help.h func.h >make.log 2>&1 &&
		make -j"$jobs" -C src libedit.la >>make.log 2>&1 || { tail -n 20 make.log >&2; exit 1; }
	cp src/.libs/libedit.a "$prefix/lib/"
	mkdir -p "$prefix/include/editline"
	cp src/histedit.h "$prefix/include/"
	cp src/editline/readline.h "$prefix/include/editline/"
	cp COPYING "$prefix/licences/libedit"
	module libedit 3.1 '-ledit -ltinfo'
}

# The event loop and the HTTP server, without TLS and threads.
build_libevent() {
	unpack libevent
	./configure -q ${host:+--host=$host} --prefix="$prefix" --disable-shared --enable-static --disable-openssl \
		--disable-thread-support --disable-samples --disable-libevent-regress --disable-debug-mode \
		CC="$CC" CFLAGS="$flags" AR="$AR" >configure.log 2>&1 || { tail -n 20 configure.log >&2; exit 1; }
	make include/event2/event-config.h >make.log 2>&1 &&
		make -j"$jobs" libevent_core.la libevent_extra.la >>make.log 2>&1 || { tail -n 20 make.log >&2; exit 1; }
	cp .libs/libevent_core.a .libs/libevent_extra.a "$prefix/lib/"
	mkdir -p "$prefix/include/event2"
	cp include/event2/*.h "$prefix/include/event2/"
	cp LICENSE "$prefix/licences/libevent"
	module libevent_core 2.1.12 -levent_core
	module libevent_extra 2.1.12 -levent_extra
}

# Readers for macOS and Windows: without the line editor, the full-screen view and the server.
packages='protobuf-c zlib pcre2 snappy libiberty sqlite3'
case $host in *-mingw32 | *-darwin) ;; *) packages="$packages ncurses libedit libevent" ;; esac
for package in $packages; do
	if [ ! -e "$prefix/$package.done" ]; then
		"build_$(echo "$package" | tr - _)"
		touch "$prefix/$package.done"
	fi
done
