/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints of both versions: two bytes say where the input is cut in two. Version 2: the index,
 * then the data; version 1: the first part is a table by itself. Every tensor is listed and read,
 * and everything is verified.
 */
#include "checkpoint/ckpt.h"
#include "rig.h"

static bool read_tensors(struct ckpt *c, struct arena *a)
{
	struct err e = { .a = a };
	struct ckpt_list *l = ckpt_list(c, a, &e);
	struct ckpt_tensor t;
	struct ckpt_values v;

	while (l && ckpt_next(l, a, &t)) {
		struct err bad = { .a = a };
		struct ckpt_read *r = ckpt_read(c, &t, a, &bad);
		int64_t n = 0;
		while (r && n < 100000 && ckpt_read_next(r, &v))
			n += (int64_t)v.n;
		ckpt_bytes(c, &t, a);
	}
	e = (struct err){ .a = a };
	return ckpt_verify(c, NULL, a, &e);
}

static void try_path(struct str path)
{
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct ckpt *volatile c = NULL;
	struct arena a, query;

	arena_init(&a, &work);
	arena_init(&query, &work);
	if (!setjmp(work.escape)) {
		struct err e = { .a = &a };
		struct ckpt *opened = NULL;
		if (ckpt_open(&opened, &a, path, &e)) {
			c = opened;
			read_tensors(opened, &query);
		} else if (!e.text.n) {
			abort();
		}
	}
	ckpt_close(c);
	arena_free(&query);
	arena_free(&a);
}

static void try_files(struct arena *a, const uint8_t *data, size_t size, size_t cut)
{
	struct str index = fuzz_file(a, "m.index", data, cut);

	fuzz_file(a, "m.data-00000-of-00001", data + cut, size - cut);
	try_path(str_sub(index, 0, index.n - 6));
	try_path(fuzz_file(a, "v1", data, cut));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct account account = { 0 };
	struct work work = { .account = &account };
	struct arena a;

	if (size < 2)
		return 0;
	if (setjmp(work.escape))
		abort();
	arena_init(&a, &work);
	size_t cut = (size_t)data[0] | (size_t)data[1] << 8;
	try_files(&a, data + 2, size - 2, cut < size - 2 ? cut : size - 2);
	arena_free(&a);
	return 0;
}
