/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the collector's assumptions against the real libcupti, without a driver. Compiled with
 * CUPTI's own headers: real_cupti LIBCUPTI. Records are filled by the names of CUPTI's fields,
 * iterated by CUPTI, and read through our prefixes. Then the collector's choice of API functions is
 * applied to all of them.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "collect/cupti_abi.h"
#include "collect/decode.h"

#if CUPTI_API_VERSION >= 130400
typedef CUpti_ActivityKernel13 kernel;
typedef CUpti_ActivityMemcpy7 memcpy_record;
typedef CUpti_ActivityMemset5 memset_record;
typedef CUpti_ActivityMemory4 memory_record;
#elif CUPTI_API_VERSION >= 130001
typedef CUpti_ActivityKernel10 kernel;
typedef CUpti_ActivityMemcpy6 memcpy_record;
typedef CUpti_ActivityMemset4 memset_record;
typedef CUpti_ActivityMemory4 memory_record;
#elif CUPTI_API_VERSION >= 24
typedef CUpti_ActivityKernel9 kernel;
typedef CUpti_ActivityMemcpy6 memcpy_record;
typedef CUpti_ActivityMemset4 memset_record;
typedef CUpti_ActivityMemory3 memory_record;
#else
typedef CUpti_ActivityKernel8 kernel;
typedef CUpti_ActivityMemcpy5 memcpy_record;
typedef CUpti_ActivityMemset4 memset_record;
typedef CUpti_ActivityMemory3 memory_record;
#endif

static int bad;

#define SAME(what, a, b)                                                                           \
	do {                                                                                       \
		if ((unsigned long long)(a) != (unsigned long long)(b)) {                          \
			printf("%s: %llu is not %llu\n", what, (unsigned long long)(a),            \
			        (unsigned long long)(b));                                          \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)

static _Alignas(8) uint8_t buffer[1 << 14];
static size_t used;

static void *add(size_t size, unsigned kind)
{
	void *p = buffer + used;

	used += size;
	memcpy(p, &kind, sizeof kind);
	return p;
}

/* A record of each kind, filled by the names of CUPTI's own headers. */
static void make_records(void)
{
	kernel *k = add(sizeof *k, ACT_KERNEL);
	memcpy_record *c = add(sizeof *c, ACT_MEMCPY);
	memset_record *s = add(sizeof *s, ACT_MEMSET);
	CUpti_ActivityAPI *a = add(sizeof *a, ACT_RUNTIME);
	memory_record *m = add(sizeof *m, ACT_MEMORY);

	*k = (kernel){ .kind = k->kind,
		.start = 11,
		.end = 12,
		.streamId = 13,
		.correlationId = 14,
		.name = "name",
		.gridX = 15,
		.blockZ = 16,
		.graphNodeId = 17,
		.graphId = 18 };
	*c = (memcpy_record){ .kind = c->kind,
		.copyKind = 2,
		.bytes = 21,
		.end = 22,
		.correlationId = 23,
		.graphNodeId = 24,
		.graphId = 25 };
	*s = (memset_record){
		.kind = s->kind, .bytes = 31, .correlationId = 32, .memoryKind = 3, .graphId = 33
	};
	*a = (CUpti_ActivityAPI){
		.kind = a->kind, .cbid = 211, .start = 41, .threadId = 42, .correlationId = 43
	};
	*m = (memory_record){
		.kind = m->kind, .memoryOperationType = 1, .bytes = 51, .timestamp = 52
	};
	add(sizeof *k, ACT_KERNEL);
}

/* Our names find and read the fields. */
static void records(int (*next)(uint8_t *, size_t, union rec **))
{
	union rec *r = NULL;

	make_records();
	if (next(buffer, used, &r) || !r) {
		printf("this CUPTI steps over no records without a driver\n");
		return;
	}
	SAME("kernel", (uint8_t *)r - buffer, 0);
	SAME("kernel.start", r->kernel.start, 11);
	SAME("kernel.stream", r->kernel.stream, 13);
	SAME("kernel.correlation", r->kernel.correlation, 14);
	SAME("kernel.grid", r->kernel.grid_x, 15);
	SAME("kernel.block", r->kernel.block_z, 16);
	SAME("kernel.node", r->kernel.graph_node, 17);
	SAME("kernel.graph", r->kernel.graph, 18);
	SAME("kernel.name", strcmp(r->kernel.name, "name"), 0);
	SAME("next", next(buffer, used, &r), 0);
	SAME("copy", r->kind, ACT_MEMCPY);
	SAME("copy.bytes", r->copy.bytes, 21);
	SAME("copy.correlation", r->copy.correlation, 23);
	SAME("copy.graph", r->copy.graph, 25);
	SAME("next", next(buffer, used, &r), 0);
	SAME("set.bytes", r->set.bytes, 31);
	SAME("set.graph", r->set.graph, 33);
	SAME("next", next(buffer, used, &r), 0);
	SAME("api.cbid", r->api.cbid, 211);
	SAME("api.thread", r->api.thread, 42);
	SAME("next", next(buffer, used, &r), 0);
	SAME("memory.bytes", r->memory.bytes, 51);
	SAME("memory.time", r->memory.time, 52);
	/* The last record is truncated. */
	SAME("end", next(buffer, used - 8, &r) != 0, 1);
}

/* Numbers of functions that must be kept, and some that must not. */
static void calls(int (*name_of)(uint32_t, uint32_t, const char **))
{
	static const uint32_t runtime[] = { 211, 214, 269, 270, 311, 312, 430, 431, 164 };
	static const uint32_t driver[] = { 307, 442, 477, 514, 515, 652, 653, 308, 309 };
	const char *name;
	unsigned kept = 0, all = 0;

	if (name_of(CB_RUNTIME, 211, &name)) {
		printf("this CUPTI tells no names without a driver\n");
		return;
	}
	for (unsigned i = 0; i < sizeof runtime / sizeof *runtime; i++)
		if (!name_of(CB_RUNTIME, runtime[i], &name) && runtime[i] != 164)
			SAME(name, decode_wants(name), 1);
	for (unsigned i = 0; i < sizeof driver / sizeof *driver; i++)
		if (!name_of(CB_DRIVER, driver[i], &name))
			SAME(name, decode_wants(name), 1);
#if CUPTI_API_VERSION >= 130001
	SAME("505", name_of(CB_RUNTIME, 505, &name), 0);
	SAME(name, decode_wants(name), 1);
#endif
	for (uint32_t i = 1; i < 1200; i++)
		for (uint32_t d = CB_DRIVER; d <= CB_RUNTIME; d++)
			if (!name_of(d, i, &name) && name) {
				all++;
				kept += decode_wants(name);
				if (strstr(name, "GetDevice") || strstr(name, "CtxGetCurrent"))
					SAME(name, decode_wants(name), 0);
			}
	printf("%u of %u functions are kept\n", kept, all);
}

int main(int argc, char **argv)
{
	void *h = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*next)(uint8_t *, size_t, union rec **);
	int (*name_of)(uint32_t, uint32_t, const char **);

	if (!h) {
		printf("%s\n", dlerror());
		return 2;
	}
	next = (int (*)(uint8_t *, size_t, union rec **))dlsym(h, "cuptiActivityGetNextRecord");
	name_of = (int (*)(uint32_t, uint32_t, const char **))dlsym(h, "cuptiGetCallbackName");
	records(next);
	calls(name_of);
	return bad != 0;
}
