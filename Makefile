# SPDX-License-Identifier: Apache-2.0
#
# The whole build; tests/rules.mk links the programs of the tests. Objects go to build/CONFIG/, generated code to build/gen/
# (a release has it in generated/), and what the release configuration makes to build/ itself: tfprof, libtfprof.{a,so}.
#
#   make                          release
#   make CONFIG=debug             build/debug/...
#   make SAN=address,undefined    build/san-address-undefined/...
#   make COVERAGE=1               build/coverage/...
#   make V=1                      shows the commands; WERROR=1 makes warnings errors
#   make HAVE_LIBEDIT=0           builds as if that were not there (make config lists them)
#   make EMBED_CXX=0              links the program with the shared libraries of C++

VERSION := 0.1.0
SOVERSION := 0

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all lib units fuzzers collect-tests docs demo check check-deep check-real check-gpu gpu-bundle lint coverage fuzz oracle bench bench-compare \
	deps-build deps-check deps-deep deps-web check-web bench-web demo-run lint-run bench-original install uninstall format config help clean check-build syntax check-wheel check-fleet static fuzz-all FORCE

comma := ,
GOALS := $(or $(MAKECMDGOALS),all)
CC_DEFAULT := $(filter default,$(origin CC))
ifneq (,$(CC_DEFAULT))
CC := $(if $(shell command -v gcc),gcc,cc)
endif
PYTHON ?= python3
PKG_CONFIG ?= pkg-config
CLANG_FORMAT ?= clang-format

# As many jobs as there are CPUs, unless -j says otherwise.
ifeq (0,$(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

# ---- what has to be installed first -------------------------------------------------------------
# Targets that install what is missing, and then build with a make of their own: the libraries are
# looked for when that one starts.
NO_BUILD := help clean demo check check-web check-deep check-fleet check-real lint fuzz fuzz-all coverage deps-build deps-check deps-deep deps-web
BUILDS := $(filter-out $(NO_BUILD),$(GOALS))

deps-build deps-check deps-deep deps-web:
	@sh tools/deps.sh $(@:deps-%=%)
# One at a time: package managers lock.
deps-check: | $(if $(filter demo,$(GOALS)),deps-build)
deps-deep: | $(if $(filter check check-real format,$(GOALS)),deps-check)
demo: deps-build
check check-real format: deps-check
check-deep lint fuzz fuzz-all: deps-deep
check-web: deps-web

# ---- configuration ------------------------------------------------------------------------------
ifneq (,$(SAN))
$(if $(filter command,$(firstword $(origin CONFIG))),$(error SAN= names its configuration: leave CONFIG= out))
CONFIG := san-$(subst $(comma),-,$(SAN))
else ifneq (,$(COVERAGE))
CONFIG := coverage
endif
CONFIG ?= release
O := build/$(CONFIG)
BIN := $(if $(filter release,$(CONFIG)),build,$(O))
GEN := $(or $(wildcard generated),build/gen)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
	-Wconversion $(if $(filter 1,$(WERROR)),-Werror)

# The system that the compiler builds for: linux, macos or windows. Recording needs Linux; the files that only Linux has are
# replaced with src/cli/absent.c. src/port has the functions of POSIX that a system lacks.
MACHINE := $(if $(BUILDS),$(shell $(CC) -dumpmachine 2>/dev/null))
SYSTEM := $(or $(if $(findstring windows,$(MACHINE)),windows),$(if $(findstring macos,$(MACHINE))$(findstring darwin,$(MACHINE)),macos),linux)
ONLY_LINUX := $(addprefix src/cli/,ctl.c cupti_find.c cupti_load.c doctor.c mcp_confine.c proc.c record.c record_report.c \
	recording.c run_child.c \
	serve_clients.c)
NOT_HERE := $(if $(filter linux,$(SYSTEM)),src/cli/absent.c,$(ONLY_LINUX))
PORT_SRC := $(sort $(wildcard src/port/$(SYSTEM)/*.c))
PORT_PROGRAM := src/port/windows/windows_start.c
PORT_FLAGS_windows := -Isrc/port/windows/include -include src/port/windows/windows_posix.h -DPCRE2_STATIC -DTFP_BUILD=1
PORT_FLAGS_macos := -Isrc/port/macos/include -include src/port/macos/macos_posix.h
EXE := $(if $(filter windows,$(SYSTEM)),.exe)
SHARED := $(or $(if $(filter windows,$(SYSTEM)),tfprof.dll),$(if $(filter macos,$(SYSTEM)),libtfprof.dylib),libtfprof.so)
SHARED_LD_linux = -Wl,-soname,libtfprof.so.$(SOVERSION) -Wl,--version-script,src/lib/exports.map $(if $(SAN),,-Wl$(comma)-z$(comma)defs)
SHARED_LD_macos = -Wl,-install_name,@rpath/libtfprof.dylib
SHARED_LD_windows = -Wl,--out-implib,$(O)/tfprof.lib
PROGRAM_LD_windows = -Wl,--out-implib,$(O)/program.lib
# Where a probe writes its object: zig takes /dev/null for a folder when it builds for Windows.
NOWHERE := $(if $(filter windows,$(SYSTEM)),build/nowhere.obj,/dev/null)

# The third level needs a compiler and a C library that know it.
fortify := $(shell echo 'int x;' | $(CC) -include string.h -O2 -Werror -D_FORTIFY_SOURCE=3 -x c -c -o $(NOWHERE) - \
	2>/dev/null && echo -D_FORTIFY_SOURCE=3 || echo -D_FORTIFY_SOURCE=2)
harden_cc := -fstack-protector-strong -U_FORTIFY_SOURCE $(fortify)
harden_ld = $(if $(filter linux,$(SYSTEM)),-Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now)
ifeq (release,$(CONFIG))
CFLAGS ?= -O2 -g
else ifeq (check,$(CONFIG))
# As release, and fresh memory is filled so that a forgotten zeroing shows.
CFLAGS ?= -O2 -g
CONFIG_DEFS := -DTFPROF_TEST=1
else ifeq (debug,$(CONFIG))
CFLAGS ?= -Og -g3
CONFIG_DEFS := -DTFPROF_TEST=1
harden_cc :=
else ifeq (coverage,$(CONFIG))
CFLAGS ?= -O0 -g --coverage
CONFIG_DEFS := -DTFPROF_TEST=1
LDFLAGS += --coverage
harden_cc :=
else ifneq (,$(SAN))
CFLAGS ?= -O1 -g -fno-omit-frame-pointer
CONFIG_DEFS := -DTFPROF_TEST=1
SAN_FLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all $(if $(findstring address,$(SAN)),-ftrivial-auto-var-init=pattern)
harden_cc :=
else
$(error CONFIG=$(CONFIG) is none of release, check, debug; for sanitizers say SAN=..., else COVERAGE=1)
endif

ifneq (,$(BUILDS))
ifneq (ok,$(shell $(PKG_CONFIG) --exists libprotobuf-c libpcre2-8 zlib 2>/dev/null && echo ok))
$(error a library is missing: type tools/deps.sh build)
endif
try = $(shell echo 'int x;' | $(CC) -Werror $(1) -x c -c -o $(NOWHERE) - 2>/dev/null && echo $(1))
harden_cc += $(call try,-fcf-protection) $(call try,-fstack-clash-protection)

HAVE_WEB := $(or $(HAVE_WEB),$(if $(wildcard generated/web-1.c),1),$(shell tools/web.sh --probe && echo 1 || echo 0))
# A probe compiles and links tools/probe/NAME.c; a yes is kept, a no is asked again.
PROBES := HAVE_LIBEDIT HAVE_NCURSES HAVE_SNAPPY HAVE_DEMANGLE HAVE_SQLITE HAVE_EVENT HAVE_WEB
HAVE_LIBEDIT_PC := libedit
HAVE_NCURSES_PC := ncursesw
HAVE_SNAPPY_PC := snappy
HAVE_SQLITE_PC := sqlite3
HAVE_EVENT_PC := libevent_extra libevent_core
HAVE_DEMANGLE_LIBS := -lstdc++
probe = $(shell [ -e build/probe/$(1).yes ] && echo 1 || { mkdir -p build/probe && \
	$(CC) $(CFLAGS) tools/probe/$(1).c -o build/probe/$(1) $(LDFLAGS) \
		$(if $($(1)_PC),`$(PKG_CONFIG) --cflags --libs $($(1)_PC)`) $($(1)_LIBS) >build/probe/$(1).log 2>&1 && \
	touch build/probe/$(1).yes && echo 1 || echo 0; })
$(foreach p,$(PROBES),$(if $(filter undefined,$(origin $(p))),$(eval $(p) := $(call probe,$(p)))))

PC_LIB := libprotobuf-c libpcre2-8 zlib $(if $(filter 1,$(HAVE_SNAPPY)),snappy) $(if $(filter 1,$(HAVE_SQLITE)),sqlite3)
PC_PROGRAM := $(if $(filter 1,$(HAVE_LIBEDIT)),libedit) $(if $(filter 1,$(HAVE_NCURSES)),ncursesw) \
	$(if $(filter 1,$(HAVE_EVENT)),libevent_extra libevent_core)
PC_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PC_LIB) $(PC_PROGRAM))
LIBS := $(shell $(PKG_CONFIG) --libs $(PC_LIB)) $(if $(filter 1,$(HAVE_DEMANGLE)),$(HAVE_DEMANGLE_LIBS)) -lm
PROGRAM_LIBS := $(if $(strip $(PC_PROGRAM)),$(shell $(PKG_CONFIG) --libs $(PC_PROGRAM)))
# The program contains snappy and libstdc++ if both have archives, because loading libstdc++.so takes more than a quarter of a
# start. EMBED_CXX=0 links it with the shared libraries, as distributions need it.
CXX_NAMES := $(if $(filter 1,$(HAVE_SNAPPY)),snappy) stdc++
CXX_PATHS := $(filter /%,$(foreach l,$(CXX_NAMES),$(shell $(CC) -print-file-name=lib$(l).a 2>/dev/null)))
EMBED_CXX := $(if $(SAN)$(filter -L%,$(LIBS))$(filter 0,$(HAVE_DEMANGLE))$(filter-out $(words $(CXX_PATHS)),$(words $(CXX_NAMES))),0,1)
LINKED := $(if $(filter 1,$(EMBED_CXX)),$(filter-out -lsnappy -lstdc++ -lm,$(LIBS)) $(CXX_PATHS) -static-libgcc -lm,$(LIBS))
TEST_LIBS := $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null || echo -lcmocka)
endif

# Libraries that do not state their version in C.
PC_VERSION = $(foreach l,SNAPPY LIBEDIT NCURSES,$(if $(filter 1,$(HAVE_$(l))),-D$(l)_VERSION='"$(shell \
	$(PKG_CONFIG) --modversion $(HAVE_$(l)_PC))"'))
DEFS := -DTFPROF_VERSION='"$(VERSION)"' $(foreach p,$(PROBES),-D$(p)=$($(p))) $(PC_VERSION) $(CONFIG_DEFS)
STD := -std=gnu11
# Position independent everywhere: the same objects go into program, archive and shared library.
BASE_FLAGS := $(STD) $(PORT_FLAGS_$(SYSTEM)) -Isrc -Iinclude -isystem $(GEN) $(PC_CFLAGS) $(DEFS) -pthread -fPIC \
	-fvisibility=hidden '-ffile-prefix-map=$(CURDIR)/=' $(harden_cc) $(SAN_FLAGS)
ALL_LDFLAGS := -pthread $(SAN_FLAGS) $(harden_ld) $(if $(filter linux,$(SYSTEM)),-Wl$(comma)--as-needed) $(LDFLAGS)
PIE := $(if $(filter linux,$(SYSTEM)),-pie)

# ---- files --------------------------------------------------------------------------------------
# A folder of src belongs to the library, to the program (cli), to the collector (collect), or to one system (port).
SRC := $(filter-out src/collect/% src/port/% $(NOT_HERE),$(sort $(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c))) $(PORT_SRC)
PROGRAM_SRC := $(filter src/cli/% $(PORT_PROGRAM),$(SRC))
LIB_SRC := $(filter-out $(PROGRAM_SRC),$(SRC))
PROTO := $(sort $(wildcard proto/*.proto))
GEN_C := $(PROTO:proto/%.proto=$(GEN)/%.pb-c.c)
GEN_H := $(GEN_C:.c=.h)
# The collector runs inside other programs: it is built apart, and the encoder of spools with it.
COLLECT_SRC := $(sort $(wildcard src/collect/*.c)) src/io/block_encode.c src/base/num.c src/base/option.c
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
# Helpers that several unit tests share.
UNIT_HELP := $(filter-out $(UNIT_SRC),$(sort $(wildcard tests/unit/*.c)))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FAULTS := $(O)/faults/shim.so $(O)/faults/jail.so
FUZZ_DRIVER := $(wildcard tests/fuzz/driver.c)
FORMATTED = $(sort $(shell find src include tests tools examples -name '*.[ch]' 2>/dev/null))

WEB_C := $(GEN)/web-$(HAVE_WEB).c
SCHEMAS := $(sort $(wildcard docs/schema/*.json))
GEN_OBJ := $(GEN_C:$(GEN)/%.c=$(O)/obj/gen/%.o) $(WEB_C:$(GEN)/%.c=$(O)/obj/gen/%.o) $(O)/obj/gen/schemas.o
LIB_OBJ := $(LIB_SRC:%.c=$(O)/obj/%.o) $(GEN_OBJ)
PROGRAM_OBJ := $(PROGRAM_SRC:%.c=$(O)/obj/%.o)
UNITS := $(UNIT_SRC:tests/unit/%.c=$(O)/unit/%)
FUZZERS := $(if $(FUZZ_DRIVER),$(FUZZ_SRC:tests/fuzz/%.c=$(O)/fuzz/%))

say = $(if $(filter 1,$(V)),,@printf '  %-6s %s\n' $(1) $(2);)

## all: program, libraries, collector: build/tfprof, build/libtfprof.{a,so}, build/libtfprof_cupti.so
all: $(BIN)/tfprof$(EXE) lib $(if $(filter linux,$(SYSTEM)),$(BIN)/libtfprof_cupti.so)

## lib: the libraries alone
lib: $(BIN)/libtfprof.a $(BIN)/$(SHARED)

## units: the unit tests of this configuration, in build/CONFIG/unit/
units: $(UNITS)

fuzzers: $(FUZZERS)

# ---- compiling ----------------------------------------------------------------------------------
# Changes when the flags do: then everything is compiled again.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS) $(CFLAGS) $(BASE_FLAGS) $(WARN))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS) $(CFLAGS) $(BASE_FLAGS) $(WARN))' >$@

$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h: proto/%.proto
	@mkdir -p $(GEN)
	$(call say,PROTOC,$<)protoc -Iproto --c_out=$(GEN) $<

build/gen/schemas.c: tools/schemas.sh $(SCHEMAS)
	@mkdir -p $(@D)
	$(call say,GEN,$@)tools/schemas.sh $@ $(SCHEMAS)

$(O)/obj/gen/schemas.o: build/gen/schemas.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(BASE_FLAGS) -w -MMD -MP -c -o $@ $<

$(O)/obj/gen/%.o: $(GEN)/%.c $(O)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(BASE_FLAGS) -w -I$(GEN) -MMD -MP -c -o $@ $<

$(O)/obj/%.o: %.c $(O)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(BASE_FLAGS) $(WARN) -MMD -MP -c -o $@ $<

# ---- linking ------------------------------------------------------------------------------------
$(BIN)/libtfprof.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

$(BIN)/$(SHARED): $(LIB_OBJ) src/lib/exports.map
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) -shared $(SHARED_LD_$(SYSTEM)) $(ALL_LDFLAGS) -o $@ $(LIB_OBJ) $(LIBS)

$(BIN)/tfprof$(EXE): $(PROGRAM_OBJ) $(BIN)/libtfprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(PIE) $(PROGRAM_LD_$(SYSTEM)) $(ALL_LDFLAGS) -o $@ $(PROGRAM_OBJ) $(BIN)/libtfprof.a \
		$(LINKED) $(PROGRAM_LIBS)

# ---- collector ----------------------------------------------------------------------------------
# Needs no CUDA to be built; where its headers are, each field that is read is held against them.
COLLECT_OBJ := $(COLLECT_SRC:%.c=$(O)/obj/collector/%.o)
COLLECT_FLAGS := $(STD) -Isrc -DTFPROF_VERSION='"$(VERSION)"' -pthread -fPIC -fvisibility=hidden \
	'-ffile-prefix-map=$(CURDIR)/=' $(harden_cc) $(SAN_FLAGS)
CUDA_HOME ?= /usr/local/cuda
CUDA_INCLUDE := $(wildcard $(CUDA_HOME)/include $(CUDA_HOME)/extras/CUPTI/include)
CUPTI_LAYOUT := $(if $(wildcard $(addsuffix /cupti.h,$(CUDA_INCLUDE))),$(O)/obj/collector/layout.ok)

$(O)/obj/collector/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(COLLECT_FLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(O)/obj/collector/layout.ok: tools/probe/cupti_layout.c src/collect/cupti_abi.h
	@mkdir -p $(@D)
	$(call say,CHECK,$<)$(CC) $(STD) -Isrc $(CUDA_INCLUDE:%=-isystem %) -fsyntax-only $< && touch $@

$(BIN)/libtfprof_cupti.so: $(COLLECT_OBJ) $(CUPTI_LAYOUT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) -shared -Wl,-soname,libtfprof_cupti.so $(ALL_LDFLAGS) \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,-z,nodelete -o $@ $(COLLECT_OBJ) -ldl

include tests/rules.mk

# Manual pages and completions are made from the tables; what is made is kept in docs/.
GEN_DOCS_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard tools/gen_docs*.c))
$(O)/gen_docs: $(GEN_DOCS_OBJ) $(O)/program.a $(BIN)/libtfprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(LIBS) $(PROGRAM_LIBS)

## docs: manual pages, completions and Python's methods, again
docs: $(O)/gen_docs
	$(O)/gen_docs docs python/tfprof/_commands.py

.SECONDARY:
-include $(LIB_OBJ:.o=.d) $(PROGRAM_OBJ:.o=.d) $(COLLECT_OBJ:.o=.d) $(GEN_DOCS_OBJ:.o=.d) $(HELPER_OBJ:.o=.d) \
	$(UNIT_SRC:%.c=$(O)/obj/%.d) $(UNIT_HELP:%.c=$(O)/obj/%.d) \
	$(FUZZ_SRC:%.c=$(O)/obj/%.d) $(FUZZ_DRIVER:%.c=$(O)/obj/%.d)

# ---- using it -----------------------------------------------------------------------------------
## demo: build, then show where a recorded training step spends time, memory and operations
DEMO := build/tfprof scope testdata/example/profile_100 -max_depth 2 -order_by micros -select micros,bytes,params,float_ops
demo:
	+@$(MAKE) --no-print-directory demo-run
demo-run: build/tfprof build/libtfprof_cupti.so
	@echo
	@echo '$$ $(DEMO)'
	@$(DEMO)

# GNU's names of the folders are accepted too: prefix, bindir, libdir, includedir, mandir.
prefix ?= /usr/local
PREFIX ?= $(prefix)
ifdef bindir
BINDIR ?= $(bindir)
endif
ifdef libdir
LIBDIR ?= $(libdir)
endif
ifdef includedir
INCLUDEDIR ?= $(includedir)
endif
ifdef mandir
MANDIR ?= $(mandir)
endif
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
INSTALL ?= install
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
MAN := $(sort $(wildcard docs/man/*.1))

# Libraries that have no module of their own on every system come last, in link order.
define PC_FILE
prefix=$(PREFIX)
libdir=$(LIBDIR:$(PREFIX)/%=$${prefix}/%)
includedir=$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)

Name: tfprof
Description: Profiler for TensorFlow models: scope, graph, op and code views
Version: $(VERSION)
Requires.private: libprotobuf-c libpcre2-8 zlib
Libs: -L$${libdir} -ltfprof
Libs.private: $(if $(filter 1,$(HAVE_SNAPPY)),-lsnappy )$(if $(filter 1,$(HAVE_SQLITE)),-lsqlite3 )$(if $(filter 1,$(HAVE_SNAPPY) $(HAVE_DEMANGLE)),-lstdc++ )-lm -pthread
Cflags: -I$${includedir}
endef
export PC_FILE

# The program finds the collector by its way from BINDIR to LIBDIR; where that is not the usual one,
# a program that knows it is linked.
PLACE := $(or $(shell realpath -ms --relative-to='$(BINDIR)' '$(LIBDIR)/tfprof' 2>/dev/null),../lib/tfprof)
PLACE_O := $(O)/installed/$(subst /,-,$(PLACE))
INSTALLED := $(if $(filter-out ../lib/tfprof,$(PLACE)),$(PLACE_O)/tfprof,$(BIN)/tfprof)
$(PLACE_O)/recording.o: src/cli/recording.c $(O)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(BASE_FLAGS) $(WARN) -DCOLLECTOR_PLACE='"$(PLACE)"' -MMD -MP -c -o $@ $<
$(PLACE_O)/tfprof: $(PLACE_O)/recording.o $(filter-out %/recording.o,$(PROGRAM_OBJ)) $(BIN)/libtfprof.a
	$(call say,LD,$@)$(CC) $(CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $^ $(LINKED) $(PROGRAM_LIBS)
-include $(PLACE_O)/recording.d

# The program with every library in it. It runs without a C library on the system, on any Linux from 3.10 on.
STATIC_O := $(O)/static
STATIC_LIBS = $(shell $(PKG_CONFIG) --static --libs $(PC_LIB) $(PC_PROGRAM)) $(if $(filter 1,$(HAVE_LIBEDIT)),-lmd) \
	$(if $(filter 1,$(HAVE_SNAPPY) $(HAVE_DEMANGLE)),-lstdc++) -lm
# Packed relocations make it 4 % smaller. A program shows whether the linker and the C library know them.
PACKED = -Wl,-z,pack-relative-relocs
STATIC_PACKED = $(shell echo 'int x, *volatile p = &x; int main(void) { return *p; }' | $(CC) -static-pie $(PACKED) \
	-x c -o $(STATIC_O)/packed - 2>/dev/null && $(STATIC_O)/packed 2>/dev/null && echo $(PACKED))
$(STATIC_O)/cupti_load.o: src/cli/cupti_load.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(BASE_FLAGS) $(WARN) -DTFPROF_STATIC=1 -MMD -MP -c -o $@ $<
$(STATIC_O)/tfprof: $(STATIC_O)/cupti_load.o $(filter-out %/cupti_load.o,$(PROGRAM_OBJ)) $(BIN)/libtfprof.a
	$(call say,LD,$@)$(CC) $(CFLAGS) -static-pie -Wl,--gc-sections $(STATIC_PACKED) $(ALL_LDFLAGS) -o $@ $^ $(STATIC_LIBS)
-include $(STATIC_O)/cupti_load.d

## static: the program alone, linked statically and stripped: build/tfprof-static
static: $(BIN)/tfprof-static
$(BIN)/tfprof-static: $(STATIC_O)/tfprof
	strip -o $@ $<

## install: into DESTDIR$(prefix), prefix=/usr/local; PREFIX is another name of prefix
install: $(INSTALLED) $(BIN)/libtfprof.a $(BIN)/libtfprof.so $(BIN)/libtfprof_cupti.so
	$(INSTALL) -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(LIBDIR)" "$(DESTDIR)$(PKGCONFIGDIR)" \
		"$(DESTDIR)$(INCLUDEDIR)/tfprof"
	$(INSTALL) -m 755 $(INSTALLED) "$(DESTDIR)$(BINDIR)/tfprof"
	$(INSTALL) -m 644 $(BIN)/libtfprof.a "$(DESTDIR)$(LIBDIR)/libtfprof.a"
	$(INSTALL) -m 755 $(BIN)/libtfprof.so "$(DESTDIR)$(LIBDIR)/libtfprof.so.$(VERSION)"
	ln -sf libtfprof.so.$(VERSION) "$(DESTDIR)$(LIBDIR)/libtfprof.so.$(SOVERSION)"
	ln -sf libtfprof.so.$(SOVERSION) "$(DESTDIR)$(LIBDIR)/libtfprof.so"
	$(INSTALL) -d "$(DESTDIR)$(LIBDIR)/tfprof"
	$(INSTALL) -m 755 $(BIN)/libtfprof_cupti.so "$(DESTDIR)$(LIBDIR)/tfprof/libtfprof_cupti.so"
	$(INSTALL) -m 644 include/tfprof/tfprof.h "$(DESTDIR)$(INCLUDEDIR)/tfprof/tfprof.h"
	printf '%s\n' "$$PC_FILE" >"$(DESTDIR)$(PKGCONFIGDIR)/tfprof.pc"
	$(INSTALL) -d "$(DESTDIR)$(MANDIR)/man1" "$(DESTDIR)$(BASHDIR)" "$(DESTDIR)$(ZSHDIR)" \
		"$(DESTDIR)$(FISHDIR)"
	$(INSTALL) -m 644 $(MAN) "$(DESTDIR)$(MANDIR)/man1"
	$(INSTALL) -m 644 docs/completion/tfprof.bash "$(DESTDIR)$(BASHDIR)/tfprof"
	$(INSTALL) -m 644 docs/completion/_tfprof "$(DESTDIR)$(ZSHDIR)/_tfprof"
	$(INSTALL) -m 644 docs/completion/tfprof.fish "$(DESTDIR)$(FISHDIR)/tfprof.fish"

## uninstall: removes what install put there
uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/tfprof" "$(DESTDIR)$(LIBDIR)/libtfprof.a" \
		"$(DESTDIR)$(LIBDIR)/libtfprof.so" "$(DESTDIR)$(LIBDIR)/libtfprof.so.$(SOVERSION)" \
		"$(DESTDIR)$(LIBDIR)/libtfprof.so.$(VERSION)" "$(DESTDIR)$(PKGCONFIGDIR)/tfprof.pc" \
		"$(DESTDIR)$(LIBDIR)/tfprof/libtfprof_cupti.so" \
		"$(DESTDIR)$(INCLUDEDIR)/tfprof/tfprof.h" "$(DESTDIR)$(BASHDIR)/tfprof" \
		"$(DESTDIR)$(ZSHDIR)/_tfprof" "$(DESTDIR)$(FISHDIR)/tfprof.fish" \
		$(MAN:docs/man/%="$(DESTDIR)$(MANDIR)/man1/%")

# ---- tests --------------------------------------------------------------------------------------
# Each tier builds its configurations with a make of its own, then tests/check/run.py runs and counts.
check-build: $(BIN)/tfprof lib units fuzzers collect-tests $(O)/gen_docs $(if $(SAN),,$(FAULTS)) $(O)/spool_make $(O)/trace_dump \
	$(O)/obj/tests/bench/bench.o
	@:

# What clang thinks of the same sources, where there is one.
SYNTAX_OK := $(patsubst %.c,build/clang/%.ok,$(SRC) $(filter src/collect/%,$(COLLECT_SRC)) \
	$(UNIT_SRC) $(UNIT_HELP))
syntax: $(if $(shell command -v clang),$(SYNTAX_OK))
	@:
build/clang/%.ok: %.c $(O)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call say,CLANG,$<)clang $(STD) -Isrc -Iinclude -isystem $(GEN) $(PC_CFLAGS) $(DEFS) $(WARN) \
		-fsyntax-only -MMD -MP -MT $@ -MF $(@:.ok=.d) $< && touch $@
-include $(SYNTAX_OK:.ok=.d)

# Static analysis. A tool checks a file again when the file, or a file that it includes, changes.
# gcc does not relate the length of a text to its pointer: clang-tidy checks for NULL arguments.
# Short checksum tables save the tools minutes. cppcheck reads no system headers; readdir_r is deprecated.
LINT_SRC := $(filter-out src/port/%,$(sort $(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c)))
LINT_FLAGS = $(STD) -Isrc -Iinclude -isystem $(GEN) $(PC_CFLAGS) $(DEFS) -D'CRC_256(f)=0'
LINT_gcc = gcc $(LINT_FLAGS) -O1 -fanalyzer -Wno-analyzer-null-argument -Werror -MMD -MP -MF build/lint/$*.d \
	-MT '$(LINT_TOOLS:%=build/lint/%/$*.ok)' -c -o /dev/null $<
LINT_clang-tidy = timeout 3600 clang-tidy --quiet $< -- $(LINT_FLAGS) -Xclang -analyzer-config -Xclang max-nodes=75000
LINT_cppcheck = timeout 3600 cppcheck --quiet --language=c --std=c11 --platform=unix64 --library=posix,gnu \
	--enable=warning,performance,portability --max-configs=1 --inline-suppr --suppress=readdirCalled \
	--error-exitcode=1 -Isrc -Iinclude $(DEFS) -D__linux__=1 -D__x86_64__=1 -D'CRC_256(f)=0' \
	-D_Noreturn='__attribute__((noreturn))' $<
LINT_TOOLS := gcc clang-tidy cppcheck
LINT_HAVE := $(if $(filter lint-run,$(GOALS)),$(foreach t,$(LINT_TOOLS),$(if $(shell command -v $(t)),$(t))))
LINT_OK := $(foreach t,$(LINT_HAVE),$(LINT_SRC:%.c=build/lint/$(t)/%.ok))
## lint: static analysis with gcc -fanalyzer, clang-tidy and cppcheck
lint:
	+@$(MAKE) --no-print-directory lint-run
lint-run: $(LINT_OK)
	@echo '$(words $(LINT_OK)) passed, 0 failed, $(words $(filter-out $(LINT_HAVE),$(LINT_TOOLS))) skipped'
define LINT_RULE
build/lint/$(1)/%.ok: %.c .clang-tidy $$(O)/flags | $$(GEN_H)
	@mkdir -p $$(@D) $$(dir build/lint/$$*)
	$$(call say,LINT,'$(1) $$<')$$(LINT_$(1)) >$$(@:.ok=.log) 2>&1 || { cat $$(@:.ok=.log); exit 1; }
	@touch $$@
endef
$(foreach t,$(LINT_TOOLS),$(eval $(call LINT_RULE,$(t))))
-include $(LINT_SRC:%.c=build/lint/%.d)

# Goals given together do not build the same files at the same time.
check check-deep check-real: | $(filter all lib demo install,$(GOALS))
check-deep: | $(filter check,$(GOALS))
check-real: | $(filter check check-deep,$(GOALS))

CHECK = $(PYTHON) -B tests/check/run.py $(if $(T),--filter '$(T)')

## check: installs what is missing, builds with -Werror, runs every quick test; T=name runs some
check:
	+@$(MAKE) --no-print-directory CONFIG=check WERROR=1 check-build syntax
	@$(CHECK) --bin build/check quick

## check-web: reports in a headless Chromium; screenshots go to build/web/
## check-deep: the same under ASan, UBSan, TSan and MSan, the fuzz corpora, static analysis
check-deep:
	+@$(MAKE) --no-print-directory SAN=address,undefined check-build oracle
	+@$(MAKE) --no-print-directory SAN=thread check-build
	+@$(MAKE) --no-print-directory CC=clang SAN=memory units
	+@$(MAKE) --no-print-directory CONFIG=check WERROR=1 build/check/tfprof lib units collect-tests \
		build/check/spool_make build/check/faults/shim.so build/check/faults/jail.so static
	@$(CHECK) --bin build/san-address-undefined --tsan build/san-thread --msan build/san-memory deep

## check-wheel: pip builds ./python into a wheel and installs it in an empty environment
check-wheel:
	@$(PYTHON) -B tests/wheel/run.py

## check-fleet: fleets on a process pool and on Spark, in a scratch environment of Python
check-fleet:
	+@$(MAKE) --no-print-directory CONFIG=check build/check/tfprof lib
	@$(CHECK) --bin build/check --filter fleet deep

## check-real: upstream's inputs and answers, which stay outside: REALDATA=dir GOLDEN=dir MODERN=dir T=name
check-real:
	+@$(MAKE) --no-print-directory CONFIG=check WERROR=1 build/check/tfprof build/check/trace_dump lib
	@$(CHECK) --bin build/check --realdata '$(REALDATA)' --golden '$(GOLDEN)' --modern '$(MODERN)' real

## coverage: lines and branches that the quick tests and the fuzz corpora reach, by folder
coverage:
	+@$(MAKE) --no-print-directory COVERAGE=1 check-build
	@find build/coverage -name '*.gcda' -delete
	@$(CHECK) --bin build/coverage covered; ok=$$?; \
		$(PYTHON) -B tools/coverage.py build/coverage --least 95 src/io src/model src/trace src/view src/device src/lib \
			--least 90 src/cli && exit $$ok

FUZZ := address,undefined,fuzzer-no-link
FUZZ_O := build/san-$(subst $(comma),-,$(FUZZ))
## fuzz: one fuzz target for S seconds: T=graph S=600 REALDATA=dir; finds go to build/fuzz/T/
fuzz:
	@$(if $(wildcard tests/fuzz/fuzz_$(T).c),,$(error T= is one of $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)))
	+@$(MAKE) --no-print-directory CC=clang SAN=$(FUZZ) $(FUZZ_O)/fuzz/fuzz_$(T)
	@mkdir -p build/fuzz/$(T)/found testdata/fuzz/$(T)
	@$(PYTHON) -B tests/fuzz/seeds.py $(T) build/fuzz/$(T)/seeds testdata $(if $(REALDATA),'$(REALDATA)')
	$(FUZZ_O)/fuzz/fuzz_$(T) -max_total_time=$(or $(S),600) -artifact_prefix=build/fuzz/$(T)/ \
		build/fuzz/$(T)/found testdata/fuzz/$(T) build/fuzz/$(T)/seeds

## fuzz-all: every fuzz target in turn, MINUTES=n in all; ADD=1 keeps what reaches new code in testdata/fuzz
fuzz-all:
	+@$(MAKE) --no-print-directory CC=clang SAN=$(FUZZ) fuzzers
	@$(PYTHON) -B tests/fuzz/all.py --bin $(FUZZ_O)/fuzz --minutes '$(or $(MINUTES),10)' $(if $(ADD),--add) \
		$(if $(REALDATA),--realdata '$(REALDATA)')

## check-gpu: the collector on a machine with a GPU; elsewhere it says that there is none
check-gpu: $(BIN)/tfprof $(BIN)/libtfprof_cupti.so $(O)/fakes/dump $(O)/fakes/ranges.so $(O)/gpu/program
	@$(PYTHON) -B tests/gpu/run.py --bin $(BIN) --dump $(O)/fakes/dump $(if $(OUT),--out '$(OUT)') $(T)

## gpu-bundle: build/tfprof-gpu.tar.gz, for a machine with a GPU and nothing but its driver and Python
gpu-bundle:
	@packaging/portable.sh x86_64 out/tfprof out/libtfprof_cupti.so obj/fakes/dump obj/fakes/ranges.so obj/gpu/program
	@$(PYTHON) -B tests/gpu/bundle.py --out build/tfprof-gpu.tar.gz

# ---- speed --------------------------------------------------------------------------------------
BENCH = $(PYTHON) -B tests/bench/bench.py --bench build/bench/bench --program build/tfprof --spool-make $(O)/spool_make \
	$(if $(SIZES),--sizes '$(SIZES)') $(if $(STEPS),--steps '$(STEPS)') $(if $(RUNS),--runs $(RUNS)) \
	--json '$(or $(JSON),build/bench/last.json)'

## bench: speed and memory on generated inputs: SIZES=1k,10k,100k,300k,1M STEPS=1,10,100 RUNS=5 JSON=file
bench: build/bench/bench build/tfprof $(O)/spool_make collect-tests
	@$(BENCH)

## bench-compare: the same, and what changed since BASE=file, a JSON file that make bench left
bench-compare: build/bench/bench build/tfprof $(O)/spool_make collect-tests
	@$(if $(BASE),,$(error BASE=file is missing: build/bench/last.json of an earlier make bench))
	@$(BENCH) --base '$(BASE)'

## bench-web: how long reports take to be written, to open and to answer in Chromium
## bench-original: the same beside the original, where TFPROF_ORACLE or python3 can import tensorflow
bench-original: build/bench/bench build/tfprof $(O)/spool_make collect-tests
	@$(BENCH) --original '$(or $(TFPROF_ORACLE),$(PYTHON))'

## format: clang-format on every C file
format:
	$(CLANG_FORMAT) -i $(FORMATTED)

## measure: figures on the structure of the code; `make check` first, for those from symbol tables
measure:
	@tools/measure.py

## config: what was found, and with what it is built
config:
	@printf '%-14s %s\n' version '$(VERSION)' config '$(CONFIG)' CC '$(CC)' CFLAGS '$(CFLAGS)'
	@printf '%-14s %s\n' $(foreach p,$(PROBES),$(p) '$($(p))')
	@printf '%-14s %s\n' flags '$(subst ','\'',$(BASE_FLAGS))'
	@printf '%-14s %s\n' libraries '$(LIBS)' program '$(LINKED) $(PROGRAM_LIBS)'

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): */\1\t/p' Makefile | while IFS='	' read -r t d; do \
		printf '  %-14s %s\n' "$$t" "$$d"; done

## clean: removes build/
clean:
	rm -rf build
