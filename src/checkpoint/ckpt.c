/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a checkpoint of version 1 or 2 and passes each question to the reader of its format.
 */
#include <inttypes.h>
#include <unistd.h>

#include "base/num.h"
#include "io/paths.h"
#include "checkpoint/ckpt_internal.h"

bool ckpt_open(struct ckpt **out, struct arena *a, struct str path, struct err *e)
{
	struct ckpt *c = ARENA_NEW(a, struct ckpt);
	bool ok;

	c->a = a;
	c->path = str_copy(a, path);
	c->shard_now = UINT32_MAX;
	c->shard.fd = -1;
	c->bundle = access(str_z(a, str_fmt(a, "%.*s.index", STR(path))), F_OK) == 0;
	ok = c->bundle ? v2_open(c, e) : v1_open(c, e);
	if (ok)
		*out = c;
	else
		ckpt_close(c);
	return ok;
}

void ckpt_close(struct ckpt *c)
{
	if (!c)
		return;
	if (c->bundle)
		table_close(&c->index);
	rfile_close(&c->shard);
	for (uint32_t i = 0; i < c->n_files; i++)
		table_close(&c->files[i].table);
}

struct str ckpt_whole(struct arena *a, struct str path)
{
	size_t dot = str_rfind_char(path, '.');
	struct str end = dot == SIZE_MAX ? STR_NONE : str_sub(path, dot, SIZE_MAX);
	bool part =
	        str_eq(end, S(".index")) || str_eq(end, S(".meta")) || str_starts(end, S(".data-"));
	struct str name = str_sub(path, 0, dot);

	return part && path_exists(a, str_fmt(a, "%.*s.index", STR(name))) ? name : path;
}

struct str ckpt_path(const struct ckpt *c)
{
	return c->path;
}

bool ckpt_is_bundle(const struct ckpt *c)
{
	return c->bundle;
}

uint64_t ckpt_version(const struct ckpt *c)
{
	return c->version;
}

uint32_t ckpt_shards(const struct ckpt *c)
{
	return c->bundle ? c->shards : c->n_files;
}

struct str ckpt_shard_path(const struct ckpt *c, uint32_t i, struct arena *a)
{
	if (!c->bundle)
		return c->files[i].table.file.path;
	return shard_path(c, i, a);
}

bool ckpt_find(
        struct ckpt *c, struct str name, struct arena *a, struct ckpt_tensor *t, struct err *e)
{
	return c->bundle ? v2_find(c, name, a, t, e) : v1_find(c, name, a, t, e);
}

struct ckpt_list *ckpt_list(struct ckpt *c, struct arena *a, struct err *e)
{
	struct ckpt_list *l = ARENA_NEW(a, struct ckpt_list);

	l->c = c;
	l->e = e;
	if (c->bundle)
		table_at_init(&l->at, &c->index, c->a, e);
	return l;
}

bool ckpt_next(struct ckpt_list *l, struct arena *a, struct ckpt_tensor *t)
{
	if (!l->c->bundle)
		return v1_at(l->c, &l->i, a, t, l->e);
	return v2_next(l->c, &l->at, a, t);
}

uint64_t ckpt_bytes(struct ckpt *c, const struct ckpt_tensor *t, struct arena *a)
{
	uint64_t all = t->n_slices ? 0 : t->size;
	struct err e = { .a = a };
	struct ckpt_part p;

	if (t->type->size)
		return (uint64_t)num_mul(t->elements, t->type->size);
	for (uint32_t i = 0; c->bundle && i < t->n_slices; i++)
		if (v2_part(c, t, i, a, &p, &e))
			all += p.size;
	return all;
}
