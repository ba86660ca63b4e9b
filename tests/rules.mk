# SPDX-License-Identifier: Apache-2.0
#
# How the programs of the tests are linked; what runs them stands in the Makefile, which includes this.

# ---- collector ----------------------------------------------------------------------------------
# A driver and CUPTIs without a GPU, and a program that uses them.
LOSSY_CUPTI := $(addprefix $(O)/losses/,11.8/libcupti.so.11.8 12.9/libcupti.so.12 13.0/libcupti.so.13 13.2/libcupti.so.13 \
	13.4/libcupti.so.13)
LOSSES := $(O)/losses/libcuda.so.1 $(LOSSY_CUPTI) $(O)/losses/program
FAKE_LIBS := $(addprefix $(O)/fakes/,libcuda.so.1 libcupti.so.13 libcupti.so.12 libcupti.so.11.8 \
	bare/libcupti.so.13 broken/libcupti.so.13 new/libcupti.so.13 several/libcupti.so.13 bad/libcupti.so.13 libnvtx.so ranges.so client.so gpu/libcuda.so.1 \
	gpu/libcudart.so.13 gpu/libcublas.so.13 gpu/libcudnn.so.9)
FAKE_CUPTI := $(wildcard tests/fakes/fake_cupti*.[ch]) tests/fakes/fake_cuda.h
# Variables of threads are in the space that the loader reserves: else a thread allocates them at the first use, which may
# change errno, and the tests would blame the collector.
FAKE_CC = $(CC) -ftls-model=initial-exec $(CFLAGS) $(STD) -pthread -fPIC -Wall -Wextra $(SAN_FLAGS)
FAKE_FLAGS = -fvisibility=hidden
collect-tests: $(FAKE_LIBS) $(O)/fakes/program $(O)/fakes/dump $(O)/gpu/program $(BIN)/libtfprof_cupti.so $(LOSSES)

$(O)/fakes/libcuda.so.1: tests/fakes/fake_cuda.c tests/fakes/fake_cuda.h
$(filter $(O)/fakes/libcupti.%,$(FAKE_LIBS)): $(FAKE_CUPTI)
$(O)/fakes/libcupti.so.13: FAKE_FLAGS += -DFAKE_VERSION=130001
$(O)/fakes/libcupti.so.12: FAKE_FLAGS += -DFAKE_VERSION=28
$(O)/fakes/libcupti.so.11.8: FAKE_FLAGS += -DFAKE_VERSION=18
$(O)/fakes/new/libcupti.so.13: $(FAKE_CUPTI)
$(O)/fakes/new/libcupti.so.13: FAKE_FLAGS += -DFAKE_VERSION=130401
$(O)/fakes/several/libcupti.so.13: $(FAKE_CUPTI)
$(O)/fakes/several/libcupti.so.13: FAKE_FLAGS += -DFAKE_VERSION=130500
# Only what a session cannot do without; and less than that.
$(O)/fakes/bare/libcupti.so.13: $(FAKE_CUPTI)
$(O)/fakes/bare/libcupti.so.13: FAKE_FLAGS += -DFAKE_BARE
$(O)/fakes/broken/libcupti.so.13: tests/fakes/fake_broken.c
$(O)/fakes/broken/libcupti.so.13: FAKE_FLAGS :=
# One that ends the process where it cannot start.
$(O)/fakes/bad/libcupti.so.13: tests/fakes/fake_bad.c
$(O)/fakes/bad/libcupti.so.13: FAKE_FLAGS :=
# Another tool that listens to ranges.
$(O)/fakes/libnvtx.so: tests/fakes/fake_nvtx.c
$(O)/fakes/libnvtx.so: FAKE_FLAGS :=
# A client that only counts records, for make bench.
$(O)/fakes/client.so: tests/fakes/fake_client.c
# Ranges for who is no C program; a driver that has a GPU, and libraries on it.
$(O)/fakes/ranges.so: tests/gpu/ranges.c tests/inject/nvtx_mini.h
$(O)/fakes/ranges.so: FAKE_FLAGS := -Itests/inject
$(O)/fakes/gpu/libcuda.so.1: tests/fakes/fake_cuda.c tests/fakes/fake_gpu.c tests/fakes/fake_cuda.h
GPU_LIBS := $(filter $(O)/fakes/gpu/%,$(filter-out %/libcuda.so.1,$(FAKE_LIBS)))
$(GPU_LIBS): tests/fakes/fake_libraries.c tests/fakes/fake_cuda.h $(O)/fakes/gpu/libcuda.so.1
$(GPU_LIBS): FAKE_FLAGS = -fvisibility=hidden -Wl,--no-as-needed $(O)/fakes/gpu/libcuda.so.1
$(FAKE_LIBS):
	@mkdir -p $(@D)
	$(call say,LD,$@)$(FAKE_CC) $(FAKE_FLAGS) -shared -Wl,-soname,$(@F) -o $@ $(filter %.c,$^) -ldl

$(O)/fakes/program: $(wildcard tests/inject/program*.[ch]) tests/inject/module.c tests/inject/nvtx_mini.h \
		tests/fakes/fake_cuda.h $(O)/fakes/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,LD,$@)$(FAKE_CC) -o $@ $(filter %.c,$^) $(O)/fakes/libcuda.so.1 \
		-Wl,-rpath,'$$ORIGIN' -ldl

# A driver and CUPTIs that lose records, and a program whose losses are known; written without those above.
$(O)/losses/libcuda.so.1: tests/losses/driver.c tests/losses/driver.h
$(LOSSY_CUPTI): $(wildcard tests/losses/cupti*.[ch]) tests/losses/driver.h $(O)/losses/libcuda.so.1
$(O)/losses/11.8/libcupti.so.11.8: FAKE_FLAGS += -DVERSION=18
$(O)/losses/12.9/libcupti.so.12: FAKE_FLAGS += -DVERSION=28
$(O)/losses/13.0/libcupti.so.13: FAKE_FLAGS += -DVERSION=130001
$(O)/losses/13.2/libcupti.so.13: FAKE_FLAGS += -DVERSION=130200
$(O)/losses/13.4/libcupti.so.13: FAKE_FLAGS += -DVERSION=130401
$(O)/losses/libcuda.so.1 $(LOSSY_CUPTI):
	@mkdir -p $(@D)
	$(call say,LD,$@)$(FAKE_CC) $(FAKE_FLAGS) -shared -Wl,-soname,$(@F) -o $@ $(filter %.c %.so.1,$^) -ldl
$(O)/losses/program: $(addprefix tests/losses/,program.c thief.c thief.h driver.h) tests/inject/nvtx_mini.h $(O)/losses/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,LD,$@)$(FAKE_CC) -o $@ $(filter %.c,$^) $(O)/losses/libcuda.so.1 -Wl,-rpath,'$$ORIGIN' -ldl

# The program of the quick checks on a GPU; it opens the driver at run time.
$(O)/gpu/program: $(addprefix tests/gpu/,program.c client.c gpu.c raw.c gpu.h kernels.ptx) tests/inject/nvtx_mini.h \
		src/collect/cupti_abi.h
	@mkdir -p $(@D)
	$(call say,LD,$@)$(FAKE_CC) -Isrc -o $@ $(filter %.c,$^) -ldl

# ---- engine -------------------------------------------------------------------------------------
# A unit test sees every internal function, those of the program too.
$(O)/program.a: $(filter-out %/main.o,$(PROGRAM_OBJ))
	@mkdir -p $(@D)
	@rm -f $@ && $(AR) rcs $@ $(filter-out %/main.o,$(PROGRAM_OBJ))

$(O)/collector.a: $(COLLECT_OBJ)
	@mkdir -p $(@D)
	@rm -f $@ && $(AR) rcs $@ $(COLLECT_OBJ)

$(O)/unit/%: $(O)/obj/tests/unit/%.o $(UNIT_HELP:%.c=$(O)/obj/%.o) $(O)/collector.a $(O)/program.a \
		$(BIN)/libtfprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(LIBS) $(PROGRAM_LIBS) $(TEST_LIBS)

# A fuzzing engine has a main of its own; without one the driver replays a corpus. An engine in C++ needs FUZZ_LD=c++.
FUZZ_ENGINE ?= $(if $(findstring fuzzer,$(SAN)),-fsanitize=fuzzer)
FUZZ_LD ?= $(CC)
FUZZ_MAIN := $(if $(FUZZ_ENGINE),,$(FUZZ_DRIVER:%.c=$(O)/obj/%.o))
$(O)/fuzz/%: $(O)/obj/tests/fuzz/%.o $(FUZZ_MAIN) $(O)/program.a $(BIN)/libtfprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(FUZZ_LD) $(CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(FUZZ_ENGINE) $(LIBS) $(PROGRAM_LIBS)

# Preloaded by tests: what makes calls fail, and what forbids them.
$(O)/faults/%.so: tests/faults/%.c
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -O1 -g $(WARN) -Wno-missing-prototypes -shared -fPIC -pthread -o $@ $< -ldl

# Makes spools for tests and benches; like the collector it links nothing of ours but the encoder.
$(O)/spool_make: $(O)/obj/tests/spool/spool_make.o $(O)/obj/src/io/block_encode.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $^

# These link the library and nothing else: what prints spools, what measures speed, what tries messages.
$(O)/fakes/dump: $(O)/obj/tests/inject/dump.o
build/bench/bench: $(O)/obj/tests/bench/bench.o
$(O)/oracle/pb_try: $(O)/obj/tests/oracle/pb_try.o $(O)/obj/tests/unit/pb_twin.o
$(O)/trace_dump: $(O)/obj/tests/trace/trace_dump.o
HELPERS := $(O)/fakes/dump build/bench/bench $(O)/oracle/pb_try $(O)/trace_dump
$(HELPERS): $(BIN)/libtfprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
HELPER_OBJ := $(addprefix $(O)/obj/tests/,inject/dump.o spool/spool_make.o bench/bench.o oracle/pb_try.o trace/trace_dump.o)

# What libprotobuf says about the same messages; only the deep tests need a C++ compiler.
PB_CC := $(PROTO:proto/%.proto=build/gen-cc/%.pb.cc)
oracle: $(O)/oracle/pb_try build/gen-cc/pb_judge
build/gen-cc/%.pb.cc: proto/%.proto
	@mkdir -p $(@D)
	$(call say,PROTOC,$@)protoc -Iproto --cpp_out=$(@D) $<
build/gen-cc/pb_judge: tests/oracle/pb_judge.cc $(PB_CC)
	$(call say,CXX,$@)$(CXX) -O1 -w -Ibuild/gen-cc `$(PKG_CONFIG) --cflags protobuf` -o $@ $^ \
		`$(PKG_CONFIG) --libs protobuf`

# ---- pages --------------------------------------------------------------------------------------
# Bundled with esbuild and d3-scale, where there are such.
$(WEB_C): $(wildcard web/*) tools/web.sh src/metric/metric.def
	@mkdir -p $(GEN)
	$(call say,WEB,$@)tools/web.sh $(HAVE_WEB) $@

check-web:
	+@$(MAKE) --no-print-directory CONFIG=check WERROR=1 build/check/tfprof
	@[ -e build/web/node_modules/axe-core/axe.min.js ] || ! command -v npm >/dev/null || \
		npm install --silent --no-audit --no-fund --no-package-lock --prefix build/web axe-core@4 >/dev/null 2>&1 || :
	@$(CHECK) --bin build/check web

bench-web: build/tfprof
	@$(PYTHON) -B tests/web/bench.py --program build/tfprof
