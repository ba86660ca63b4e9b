/* SPDX-License-Identifier: Apache-2.0
 *
 * Interned texts of Perfetto traces. A sequence that clears its state begins a new generation,
 * whose ids replace the previous ids.
 */
#include "trace/read/perfetto/perfetto_internal.h"

struct text_key {
	uint64_t iid;
	uint32_t sequence, kind;
};

/* Categories of GPU tracing tools, as Perfetto and other tools write them. */
static const struct {
	const char *name;
	enum trace_category category;
} categories[] = {
	{ "kernel_dispatch", CATEGORY_KERNEL },
	{ "kernel", CATEGORY_KERNEL },
	{ "memory_copy", CATEGORY_COPY },
	{ "gpu_memcpy", CATEGORY_COPY },
	{ "gpu_memset", CATEGORY_SET },
	{ "hip_api", CATEGORY_CALL },
	{ "hip_runtime_api", CATEGORY_CALL },
	{ "hip_compiler_api", CATEGORY_CALL },
	{ "hsa_api", CATEGORY_CALL },
	{ "cuda_runtime", CATEGORY_CALL },
	{ "cuda_driver", CATEGORY_CALL },
	{ "marker_api", CATEGORY_ANNOTATION },
	{ "user_annotation", CATEGORY_ANNOTATION },
};

enum trace_category pf_category(struct str name)
{
	if (str_starts(name, S("rocm_")))
		name = str_sub(name, sizeof "rocm_" - 1, SIZE_MAX);
	for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
		if (str_eq(name, str_of(categories[i].name)))
			return categories[i].category;
	return CATEGORY_OP;
}

uint32_t pf_key(struct perfetto *x, struct str name)
{
	if (str_eq(name, S("corr_id")) || str_eq(name, S("correlation")))
		return PF_CORRELATION;
	if (str_eq(name, S("copy_bytes")) || str_eq(name, S("bytes")))
		return ARG_BYTES;
	return build_key(x->b, name);
}

/* Adds one message { iid, text }. For a context, adds the number of its process. */
static void add_text(
        struct perfetto *x, const struct pf_sequence *q, enum pf_kind kind, struct str message)
{
	struct text_key key = { .sequence = q->id, .kind = kind };
	struct pf_text made = { .generation = q->generation, .value = ID_NONE };
	struct leaf l = leaf_of(message);
	struct str text = S("");
	size_t before = x->text_keys.n;
	uint32_t i;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): key.iid = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): made.pid = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): text = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	if (l.bad)
		return;
	made.text = build_string(x->b, text);
	if (kind == PF_CATEGORY)
		made.value = pf_category(text);
	else if (kind == PF_KEY)
		made.value = pf_key(x, text);
	i = intern_add(&x->text_keys, str_make(&key, sizeof key));
	if (x->text_keys.n != before)
		VEC_PUSH(x->a, &x->texts, made);
	else
		x->texts.v[i] = made;
}

void pf_intern(struct perfetto *x, const struct pf_sequence *q, struct str data)
{
	struct leaf l = leaf_of(data);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(PF_CATEGORY, WIRE_BYTES):
		case LEAF_TAG(PF_NAME, WIRE_BYTES):
		case LEAF_TAG(PF_KEY, WIRE_BYTES):
		case LEAF_TAG(PF_CONTEXT, WIRE_BYTES):
		case LEAF_TAG(PF_STAGE, WIRE_BYTES):
		case LEAF_TAG(PF_TEXT, WIRE_BYTES):
			add_text(x, q, (enum pf_kind)(l.tag >> 3), leaf_bytes(&l));
			break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

const struct pf_text *pf_text(
        const struct perfetto *x, const struct pf_sequence *q, enum pf_kind kind, uint64_t iid)
{
	const struct text_key key = { .iid = iid, .sequence = q->id, .kind = kind };
	uint32_t i = intern_find(&x->text_keys, str_make(&key, sizeof key));

	return i != ID_NONE && x->texts.v[i].generation == q->generation ? &x->texts.v[i] : NULL;
}
