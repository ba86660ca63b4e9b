/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of operations in the form of TensorFlow's own tracers: "gemm regs:32 shm:0 grid:64,1,1
 * block:256,1,1@@forward/gemm". Made only if run metadata may be written. A label is an index in
 * the list of labels, from 1; 0: none.
 */
#include <assert.h>

#include "model/read/recording_place.h"

/* Key of a label, without padding, because padding would be hashed too. */
struct label_key {
	uint64_t bytes;
	uint32_t leaf, numbers[9];
};
static_assert(sizeof(struct label_key) == 48, "a key has no padding");

/* True if labels are stored and this label does not exist yet. Otherwise sets *label to the label,
 * or to 0. */
static bool is_new(const struct recording_lowering *r, const struct label_key *k, uint64_t *hash,
        uint32_t *label)
{
	*label = 0;
	if (!ingest_model(r->to)->keep_annotations)
		return false;
	*hash = hash_bytes(k, sizeof *k);
	return !imap_get(&r->label_of, *hash, label);
}

/* Adds a label. Fields of protobuf are UTF-8, so invalid bytes of names become '_'. */
static uint32_t add(struct recording_lowering *r, uint64_t hash, struct str text)
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

uint32_t labels_kernel(struct recording_lowering *r, uint32_t leaf, const struct spool_kernel *k)
{
	uint32_t shared = k->static_shared + k->dynamic_shared, label;
	struct label_key key = { 0, leaf,
		{ k->registers, shared, k->grid[0], k->grid[1], k->grid[2], k->block[0],
		        k->block[1], k->block[2] } };
	uint64_t hash;

	if (is_new(r, &key, &hash, &label))
		label = add(r, hash,
		        str_fmt(r->a, "%.*s regs:%u shm:%u grid:%u,%u,%u block:%u,%u,%u",
		                STR(r->all.names.leaves.v[leaf].full), k->registers, shared,
		                k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
		                k->block[2]));
	return label;
}

/* Returns the text for a CUpti_ActivityMemoryKind. */
static const char *memory(uint8_t kind)
{
	static const char *const names[] = { "Unknown", "Pageable", "Pinned", "Device", "Array",
		"Managed", "Device static", "Managed static" };

	return names[kind < sizeof names / sizeof *names ? kind : 0];
}

uint32_t labels_copy(struct recording_lowering *r, uint32_t leaf, const struct spool_copy *c)
{
	struct label_key key = { c->bytes, leaf, { c->from, c->to } };
	uint64_t hash;
	uint32_t label;

	if (is_new(r, &key, &hash, &label))
		label = add(r, hash,
		        str_fmt(r->a, "%.*s %llu bytes (%s to %s)",
		                STR(r->all.names.leaves.v[leaf].full), (unsigned long long)c->bytes,
		                memory(c->from), memory(c->to)));
	return label;
}

uint32_t labels_set(struct recording_lowering *r, uint32_t leaf, const struct spool_set *s)
{
	struct label_key key = { s->bytes, leaf, { s->memory } };
	uint64_t hash;
	uint32_t label;

	if (is_new(r, &key, &hash, &label))
		label = add(r, hash,
		        str_fmt(r->a, "%.*s %llu bytes (%s)", STR(r->all.names.leaves.v[leaf].full),
		                (unsigned long long)s->bytes, memory(s->memory)));
	return label;
}

uint32_t labels_of_node(struct recording_lowering *r, uint32_t label, struct str node)
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
