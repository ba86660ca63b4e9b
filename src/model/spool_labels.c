/* SPDX-License-Identifier: Apache-2.0
 *
 * What timelines of other tools show of an operation, in the words of TensorFlow's own tracers:
 * "gemm regs:32 shm:0 grid:64,1,1 block:256,1,1@@forward/gemm". Made only where run metadata may be
 * written. A label is an index in the list of labels, 1 and up; 0: there is none.
 */
#include "model/spools_internal.h"

/* What tells labels apart. */
struct label_key {
	uint32_t leaf, numbers[8];
	uint64_t bytes;
};

/* The label of a key if it is known, else 0 and a place for it in *hash. */
static uint32_t known(const struct reading_spools *r, const struct label_key *k, uint64_t *hash)
{
	uint32_t label = 0;

	*hash = hash_bytes(k, sizeof *k);
	return imap_get(&r->label_of, *hash, &label) ? label : 0;
}

/* Adds a label. Fields of protobuf are UTF-8; where names are not, odd bytes become '_'. */
static uint32_t add(struct reading_spools *r, uint64_t hash, struct str text)
{
	if (!str_is_utf8(text)) {
		char *p = str_z(r->a, text);
		for (size_t i = 0; i < text.n; i++)
			p[i] = p[i] & 0x80 ? '_' : p[i];
		text.p = p;
	}
	strs_add(r->a, &r->labels, text);
	imap_put(&r->label_of, hash, (uint32_t)r->labels.n, false);
	return (uint32_t)r->labels.n;
}

static bool are_wanted(const struct reading_spools *r)
{
	return ingest_model(r->to)->keeps_said;
}

uint32_t labels_kernel(struct reading_spools *r, uint32_t leaf, const struct spool_kernel *k)
{
	uint32_t shared = k->static_shared + k->dynamic_shared, label;
	struct label_key key = { leaf,
		{ k->registers, shared, k->grid[0], k->grid[1], k->grid[2], k->block[0],
		        k->block[1], k->block[2] },
		0 };
	uint64_t hash;

	if (!are_wanted(r))
		return 0;
	label = known(r, &key, &hash);
	if (label)
		return label;
	return add(r, hash,
	        str_fmt(r->a, "%.*s regs:%u shm:%u grid:%u,%u,%u block:%u,%u,%u",
	                STR(r->names.leaves.v[leaf].full), k->registers, shared, k->grid[0],
	                k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]));
}

/* CUpti_ActivityMemoryKind. */
static const char *memory(uint8_t kind)
{
	static const char *const names[] = { "Unknown", "Pageable", "Pinned", "Device", "Array",
		"Managed", "Device static", "Managed static" };

	return names[kind < sizeof names / sizeof *names ? kind : 0];
}

uint32_t labels_copy(struct reading_spools *r, uint32_t leaf, const struct spool_copy *c)
{
	struct label_key key = { leaf, { c->from, c->to }, c->bytes };
	uint64_t hash;
	uint32_t label;

	if (!are_wanted(r))
		return 0;
	label = known(r, &key, &hash);
	if (label)
		return label;
	return add(r, hash,
	        str_fmt(r->a, "%.*s %llu bytes (%s to %s)", STR(r->names.leaves.v[leaf].full),
	                (unsigned long long)c->bytes, memory(c->from), memory(c->to)));
}

uint32_t labels_set(struct reading_spools *r, uint32_t leaf, const struct spool_set *s)
{
	struct label_key key = { leaf, { s->memory }, s->bytes };
	uint64_t hash;
	uint32_t label;

	if (!are_wanted(r))
		return 0;
	label = known(r, &key, &hash);
	if (label)
		return label;
	return add(r, hash,
	        str_fmt(r->a, "%.*s %llu bytes (%s)", STR(r->names.leaves.v[leaf].full),
	                (unsigned long long)s->bytes, memory(s->memory)));
}

uint32_t labels_of_node(struct reading_spools *r, uint32_t label, struct str node)
{
	struct arena_mark mark = arena_mark(r->a);
	uint32_t id;

	if (!label)
		return 0;
	id = ingest_string(
	        r->to, str_fmt(r->a, "%.*s@@%.*s", STR(r->labels.v[label - 1]), STR(node)));
	arena_reset(r->a, mark);
	return 1 + id;
}
