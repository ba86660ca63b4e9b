/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings of GPU work, through the views, `gpu` and `ctl status`. Checksums are corrected first,
 * so that the fuzzer reaches the code after their check.
 */
#include "rig.h"

#include "base/bits.h"
#include "base/crc32c.h"
#include "trace/read/recording/recordings.h"
#include "trace/pass/link.h"
#include "trace/pass/usage.h"
#include "export/table/device_tables.h"

static void put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

/* Corrects the checksums of consecutive blocks. */
static void mend(uint8_t *p, size_t n)
{
	for (size_t at = 0; n - at >= SPOOL_HEADER;) {
		uint8_t *h = p + at;
		uint32_t payload = le32_get(h + 12);
		if (memcmp(h, SPOOL_MAGIC, SPOOL_MAGIC_SIZE) != 0 ||
		        payload > n - at - SPOOL_HEADER)
			return;
		put32(h + 36, crc32c(h + SPOOL_HEADER, payload));
		put32(h + 40, crc32c(h, 40));
		at += SPOOL_HEADER + payload;
	}
}

struct ask_gpu {
	struct str path;
	struct sink *out;
};

/* Runs `gpu` and the summary of a recording. */
static bool ask_gpu(struct session *s, void *ctx)
{
	const struct ask_gpu *request = ctx;
	struct arena *a = &s->query_arena;
	struct err e = { .a = a };
	struct recording_facts look;
	struct recording_file twice[2] = { { .path = request->path }, { .path = request->path } };
	struct recording_set set = { .v = twice, .n = 2 }; /* two processes on the same GPUs */
	struct recording_options o = { .recover = true, .step_implied = true };
	const struct recording_request all = { .wants = ARG_BITS_ALL, .say = true };
	const struct device_request how = { .say = true };
	struct device_use u;
	size_t tables;

	if (!device_use_read(&u, &set, &o, &how, a, &s->notes, &s->error))
		return false;
	const struct table *v = device_sections(
	        &(struct device_workers){ &(struct device_worker){ .u = &u }, 1 }, &tables, a);
	for (size_t i = 0; i < tables; i++) {
		sink_fmt(request->out, "%s\n", v[i].title);
		table_put_text(&v[i], 20, 0, request->out);
		table_put_text(&v[i], 3, 60, request->out);
	}
	struct trace *t = trace_new(a);
	struct trace_links links;
	struct trace_usage usage;
	if (!recording_trace(t, &set, &o, &all, &s->notes, &s->error))
		return false;
	trace_link(t, &links, a);
	trace_usage(t, &(struct usage_request){ .links = &links }, &usage, a);
	sink_fmt(request->out, "%zu devices\n", usage.devices.n);
	if (recording_summary(a, request->path, &look, &e)) {
		struct sb lost = sb_in(a);
		recording_lost_text(&lost, &look.lost, look.fault.bytes);
		sink_put(request->out, sb_str(&lost));
	}
	return true;
}

static struct str answer_of_gpu(struct arena *a, struct str path)
{
	struct ask_gpu request = { path, sink_memory(a) };
	struct session *s = session_new(FUZZ_LIMIT);

	if (!s)
		abort();
	session_guard(s, ask_gpu, &request);
	session_free(s);
	return sink_text(request.out);
}

static void fuzz_gpu(const uint8_t *data, size_t size)
{
	struct account account = { 0 };
	struct work work = { .account = &account };
	struct arena a;

	if (setjmp(work.escape))
		abort();
	arena_init(&a, &work);
	struct str path = fuzz_file(&a, "host-1-1-1.tfspool", data, size);
	if (!str_eq(answer_of_gpu(&a, path), answer_of_gpu(&a, path)))
		abort();
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	mend(copy, size);
	fuzz_bytes(ROLE_SPOOL, copy, size);
	fuzz_gpu(copy, size);
	free(copy);
	return 0;
}
