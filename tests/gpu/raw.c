/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw buffers of CUPTI as test inputs. Capturing enables one kind of record at a time, does known
 * work and writes three files: NAME-VERSION.bin has the bytes as CUPTI left them, .names the texts
 * that pointers in them led to ("OFFSET TEXT"), .expected the lines that reading must give, made
 * from the work and not from the records. Reading puts the texts behind their pointers again, lets
 * libcupti's own iterator step over the records, and prints what the collector reads of each.
 */
#include "gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE  ((size_t)64 << 10)
#define BUFFERS_MAX  256
#define CAPTURE_MAX  ((size_t)1 << 20)
#define GRAPH_NODES  5
#define CALLBACK_IDS 2048u

/* ---- libcupti ---- */

/* Buffers that CUPTI has returned since the last capture. */
static struct {
	uint8_t *data;
	size_t valid;
} done[BUFFERS_MAX];
static unsigned n_done;

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(64, BUFFER_SIZE);
	memset(*buffer, 0, BUFFER_SIZE);
	*size = BUFFER_SIZE;
	*most = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	unsigned i = __atomic_fetch_add(&n_done, 1, __ATOMIC_RELAXED);

	(void)context, (void)stream, (void)size;
	if (i < BUFFERS_MAX) {
		done[i].data = buffer;
		done[i].valid = valid;
	}
}

static _Atomic unsigned version_calls; /* callbacks for cuDriverGetVersion */

static void called_back(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user, (void)data;
	version_calls += domain == CB_DRIVER && cbid == CBID_DRIVER_VERSION;
}

static void *handle;

static void begin_session(void)
{
	gpu_open();
	gpu_cupti();
	gpu_must(cupti.Subscribe(&handle, called_back, NULL), "cuptiSubscribe");
	gpu_must(cupti.ActivityRegisterCallbacks(requested, completed),
	        "cuptiActivityRegisterCallbacks");
	gpu_begin();
}

/* ---- records as lines ---- */

/* Returns the place of the pointer to a text in a record; 0 without a text. */
static size_t name_at(const union rec *r)
{
	switch (r->kind) {
	case ACT_KERNEL: return 104;
	case ACT_MEMORY: return 64;
	case ACT_DEVICE: return 136;
	default: return 0;
	}
}

static void print_uuid(FILE *to, const uint8_t uuid[16])
{
	fprintf(to, "device ");
	for (unsigned i = 0; i < 16; i++)
		fprintf(to, "%02x", uuid[i]);
	fputc('\n', to);
}

static void print_call(const union rec *r)
{
	const char *name = NULL;
	uint32_t domain = r->kind == ACT_RUNTIME ? CB_RUNTIME : CB_DRIVER;

	if (!cupti.GetCallbackName(domain, r->api.cbid, &name) && strstr(name, "LaunchKernel"))
		printf("call %s\n", name);
}

static void print_kernel(const struct rec_kernel *k, const char *name)
{
	printf("%s grid %d %d %d block %d\n", k->graph_node ? "node" : name, k->grid_x, k->grid_y,
	        k->grid_z, k->block_x);
}

static void print_record(const union rec *r, const char *name)
{
	switch (r->kind) {
	case ACT_KERNEL: print_kernel(&r->kernel, name); break;
	case ACT_MEMCPY: printf("copy %u %" PRIu64 "\n", r->copy.copy_kind, r->copy.bytes); break;
	case ACT_MEMSET: printf("set %" PRIu64 "\n", r->set.bytes); break;
	case ACT_DRIVER:
	case ACT_RUNTIME: print_call(r); break;
	case ACT_MEMORY:
		if (r->memory.operation == MEMORY_OP_ALLOC)
			printf("allocation %" PRIu64 "\n", r->memory.bytes);
		break;
	case ACT_SYNC: printf("synchronisation %u\n", r->sync.type); break;
	case ACT_GRAPH: printf("graph\n"); break;
	case ACT_DEVICE: print_uuid(stdout, r->device.uuid); break;
	default: break;
	}
}

/* ---- capturing ---- */

struct capture {
	const char *folder, *name;
	uint8_t *bytes; /* CAPTURE_MAX */
	size_t n;
};

static FILE *file_of(const struct capture *c, const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s-%u.%s", c->folder, c->name, cupti.version, suffix);
	FILE *f = fopen(path, "wb");
	if (!f) {
		perror(path);
		exit(71);
	}
	return f;
}

/* Appends the buffer and the texts to which its pointers point. */
static void take_buffer(struct capture *c, FILE *names, uint8_t *data, size_t valid)
{
	union rec *r = NULL;

	if (valid > CAPTURE_MAX - c->n)
		return;
	while (!cupti.ActivityGetNextRecord(data, valid, &r)) {
		size_t at = name_at(r);
		const char *text;
		if (!at)
			continue;
		memcpy(&text, (uint8_t *)r + at, sizeof text);
		if (text)
			fprintf(names, "%zu %s\n", c->n + (size_t)((uint8_t *)r - data) + at, text);
	}
	memcpy(c->bytes + c->n, data, valid);
	c->n += valid;
}

static void finish_capture(struct capture *c)
{
	FILE *names = file_of(c, "names"), *bin;

	c->n = 0;
	for (unsigned i = 0; i < n_done && i < BUFFERS_MAX; i++) {
		take_buffer(c, names, done[i].data, done[i].valid);
		free(done[i].data);
	}
	n_done = 0;
	fclose(names);
	bin = file_of(c, "bin");
	fwrite(c->bytes, 1, c->n, bin);
	fclose(bin);
}

/* ---- the work of each kind, and the expected records ---- */

static void work_kernels(FILE *expected)
{
	for (unsigned i = 1; i <= 5; i++) {
		gpu_launch_grid(i, 2, 3, 32 * i);
		fprintf(expected, "empty_kernel grid %u 2 3 block %u\n", i, 32 * i);
	}
}

static void work_calls(FILE *expected)
{
	gpu_launch(3, NULL);
	for (unsigned i = 0; i < 3; i++)
		fprintf(expected, "call cuLaunchKernel\n");
}

static void work_copies(FILE *expected)
{
	for (size_t n = 4096; n <= 16384; n *= 2) {
		gpu_copies(n);
		fprintf(expected, "copy 1 %zu\ncopy 2 %zu\n", n, n);
	}
}

static void work_sets(FILE *expected)
{
	gpu_copies(8192);
	fprintf(expected, "set 8192\n");
}

static void work_memory(FILE *expected)
{
	gpu_copies(12288);
	fprintf(expected, "allocation 12288\n");
}

static void work_sync(FILE *expected)
{
	DO(cu.cuCtxSynchronize());
	fprintf(expected, "synchronisation 4\n");
}

static void *graph, *graph_stream;

static void work_graph_nodes(FILE *expected)
{
	DO(cu.cuGraphLaunch(graph, graph_stream));
	for (unsigned i = 0; i < GRAPH_NODES; i++)
		fprintf(expected, "node grid 1 1 1 block 1\n");
}

static void work_graph(FILE *expected)
{
	DO(cu.cuGraphLaunch(graph, graph_stream));
	fprintf(expected, "graph\n");
}

static void work_device(FILE *expected)
{
	uint8_t uuid[16];

	DO(cu.cuDeviceGetUuid_v2(uuid, cu.device));
	print_uuid(expected, uuid);
}

static void work_nothing(FILE *expected)
{
	(void)expected;
	gpu_launch(5, NULL);
}

static const struct {
	const char *name;
	uint32_t kind;
	void (*work)(FILE *expected);
	int synchronizes; /* the work itself does this */
} kinds[] = {
	{ "kernel", ACT_KERNEL, work_kernels, 0 },
	{ "memcpy", ACT_MEMCPY, work_copies, 0 },
	{ "memset", ACT_MEMSET, work_sets, 0 },
	{ "driver", ACT_DRIVER, work_calls, 0 },
	{ "memory", ACT_MEMORY, work_memory, 0 },
	{ "synchronization", ACT_SYNC, work_sync, 1 },
	{ "overhead", ACT_OVERHEAD, work_nothing, 0 },
	{ "graph_nodes", ACT_KERNEL, work_graph_nodes, 0 },
	{ "graph", ACT_GRAPH, work_graph, 0 },
	{ "device", ACT_DEVICE, work_device, 0 },
	{ "context", ACT_CONTEXT, work_nothing, 0 },
};

static int enable(uint32_t kind)
{
	if (kind == ACT_DEVICE || kind == ACT_CONTEXT)
		return cupti.ActivityEnableAndDump ? cupti.ActivityEnableAndDump(kind) : -1;
	return cupti.ActivityEnable(kind);
}

int raw_capture(const char *folder)
{
	static uint8_t bytes[CAPTURE_MAX];
	struct capture c = { .folder = folder, .bytes = bytes };

	begin_session();
	graph = gpu_graph(GRAPH_NODES, &graph_stream);
	printf("{\"version\": %u", cupti.version);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		c.name = kinds[i].name;
		FILE *expected = file_of(&c, "expected");
		int status = enable(kinds[i].kind);
		if (!status) {
			kinds[i].work(expected);
			if (!kinds[i].synchronizes)
				DO(cu.cuCtxSynchronize());
			cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
			cupti.ActivityDisable(kinds[i].kind);
			cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
		}
		fclose(expected);
		finish_capture(&c);
		printf(", \"%s\": [%d, %zu]", c.name, status, c.n);
	}
	printf("}\n");
	return 0;
}

/* ---- reading ---- */

/* Reads a whole file, with a NUL after it. */
static uint8_t *load(const char *path, const char *suffix, size_t *n)
{
	char name[4096];
	uint8_t *p = aligned_alloc(64, 2 * CAPTURE_MAX);

	snprintf(name, sizeof name, "%.*s%s", (int)(strlen(path) - strlen("bin")), path, suffix);
	FILE *f = fopen(name, "rb");
	if (!f || !p) {
		perror(name);
		exit(71);
	}
	*n = fread(p, 1, 2 * CAPTURE_MAX - 1, f);
	p[*n] = 0;
	fclose(f);
	return p;
}

/* Restores the text of each pointer; all other pointers become NULL. */
static void relocate(uint8_t *bytes, size_t n, char *names)
{
	union rec *r = NULL;

	while (!cupti.ActivityGetNextRecord(bytes, n, &r))
		if (name_at(r))
			memset((uint8_t *)r + name_at(r), 0, sizeof(char *));
	for (char *line = strtok(names, "\n"); line; line = strtok(NULL, "\n")) {
		char *text;
		size_t at = strtoull(line, &text, 10);
		if (*text != ' ' || at % 8 || at > n || n - at < sizeof text) {
			fprintf(stderr, "no pointer can be at '%s'\n", line);
			exit(1);
		}
		text++;
		memcpy(bytes + at, &text, sizeof text);
	}
}

int raw_read(const char *path)
{
	size_t n, n_names;
	uint8_t *bytes = load(path, "bin", &n);
	char *names = (char *)load(path, "names", &n_names);
	union rec *r = NULL;
	int status;

	gpu_cupti();
	relocate(bytes, n, names);
	while (!(status = cupti.ActivityGetNextRecord(bytes, n, &r))) {
		const char *name = NULL;
		if (name_at(r))
			memcpy(&name, (uint8_t *)r + name_at(r), sizeof name);
		print_record(r, name ? name : "(no name)");
	}
	free(bytes);
	free(names);
	return status != CUPTI_E_MAX_LIMIT_REACHED;
}

/* ---- questions to CUPTI ---- */

int cupti_refused(void)
{
	unsigned asked = 0, refused = 0;
	int version;

	begin_session();
	if (cupti.EnableCallback)
		cupti.EnableCallback(1, handle, CB_DRIVER, CBID_DRIVER_VERSION);
	DO(cu.cuDriverGetVersion(&version));
	printf("{\"refused\": [");
	for (uint32_t domain = CB_DRIVER; domain <= CB_RUNTIME; domain++) {
		int (*on)(uint32_t, uint8_t) = domain == CB_DRIVER ? cupti.ActivityEnableDriverApi
		                                                   : cupti.ActivityEnableRuntimeApi;
		for (uint32_t id = 1; on && id < CALLBACK_IDS; id++) {
			const char *name = NULL;
			if (cupti.GetCallbackName(domain, id, &name) || !name)
				continue;
			int status = on(id, 1);
			asked++;
			if (status)
				printf("%s[\"%s\", %d]", refused++ ? ", " : "", name, status);
			else
				on(id, 0);
		}
	}
	printf("], \"asked\": %u, \"version\": %u, \"version_calls\": %u}\n", asked, cupti.version,
	        (unsigned)version_calls);
	return 0;
}

int cupti_clock(unsigned readings)
{
	begin_session();
	printf("[");
	for (unsigned i = 0; i < readings; i++) {
		uint64_t theirs = 0, before = gpu_now();
		gpu_must(cupti.GetTimestamp(&theirs), "cuptiGetTimestamp");
		uint64_t after = gpu_now();
		printf("%s[%" PRId64 ", %" PRIu64 "]", i ? ", " : "",
		        (int64_t)(theirs - (before + (after - before) / 2)), after - before);
		if (i % 100 == 99)
			gpu_launch(1, NULL);
	}
	printf("]\n");
	return 0;
}
