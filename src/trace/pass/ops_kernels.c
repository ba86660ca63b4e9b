/* SPDX-License-Identifier: Apache-2.0
 *
 * Device work by name, category, device and phase, with the op that most of it belongs to.
 */
#include "base/sort.h"
#include "trace/pass/ops_internal.h"

/* Time of a kernel that belongs to an op. */
struct kernel_share {
	uint32_t kernel, op;
	int64_t total;
};

static struct kernel_row *row_of(struct finding *x, const struct slice *s)
{
	struct trace_ops *o = x->to;
	uint32_t device = o->t->tracks.v[s->track].device, i = (uint32_t)o->kernels.n;
	uint64_t kind = (uint64_t)x->phase * CATEGORY_N + s->category;
	uint64_t key = (uint64_t)s->name << 32 | kind << 24 | device;
	struct kernel_row made = { .name = s->name,
		.category = s->category,
		.phase = x->phase,
		.device = device,
		.min = s->length,
		.max = s->length };

	if (!imap_get(&x->kernel_of, key, &i)) {
		imap_put(&x->kernel_of, key, i, false);
		VEC_PUSH(o->a, &o->kernels, made);
	}
	return &o->kernels.v[i];
}

/* Returns the share of an op in the row of a slice's kernel. Caches it for the next slice of the
 * same event. */
static struct kernel_share *share_of(struct finding *x, const struct slice *s, uint32_t op)
{
	uint32_t *last = &x->work[s->event].share, kernel, i;

	if (*last && x->shares.v[*last - 1].op == op &&
	        x->to->kernels.v[x->shares.v[*last - 1].kernel].device ==
	                x->to->t->tracks.v[s->track].device)
		return &x->shares.v[*last - 1];
	kernel = (uint32_t)(row_of(x, s) - x->to->kernels.v);
	i = (uint32_t)x->shares.n;
	if (imap_put(&x->share_of, (uint64_t)kernel << 32 | op, i, false))
		VEC_PUSH(x->a, &x->shares, ((struct kernel_share){ kernel, op, 0 }));
	else
		imap_get(&x->share_of, (uint64_t)kernel << 32 | op, &i);
	*last = i + 1;
	return &x->shares.v[i];
}

void ops_add_kernel(struct finding *x, const struct slice *s, uint32_t op)
{
	struct kernel_share *share = share_of(x, s, op);
	struct kernel_row *k = &x->to->kernels.v[share->kernel];

	k->count++;
	k->total = num_add(k->total, s->length);
	k->min = s->length < k->min ? s->length : k->min;
	k->max = s->length > k->max ? s->length : k->max;
	share->total = num_add(share->total, s->length);
}

static int compare_rows(const void *ops, uint32_t a, uint32_t b)
{
	const struct trace_ops *o = ops;
	const struct kernel_row *x = &o->kernels.v[a], *y = &o->kernels.v[b];
	int c = 0;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	c = str_cmp(trace_str(o->t, x->name), trace_str(o->t, y->name));
	c = c ? c : (x->device > y->device) - (x->device < y->device);
	return c ? c : (x->phase > y->phase) - (x->phase < y->phase);
}

void ops_end_kernels(struct finding *x)
{
	struct trace_ops *o = x->to;
	size_t n = o->kernels.n;
	int64_t *most = ARENA_ARRAY(x->a, n, int64_t);
	struct kernel_row *old = ARENA_ARRAY(x->a, n, struct kernel_row);

	for (size_t i = 0; i < x->shares.n; i++) {
		const struct kernel_share *s = &x->shares.v[i];
		if (s->total > most[s->kernel] || !o->kernels.v[s->kernel].has_op) {
			most[s->kernel] = s->total;
			o->kernels.v[s->kernel].op = s->op;
			o->kernels.v[s->kernel].has_op = true;
		}
	}
	const uint32_t *order = sort_order(x->a, n, compare_rows, o);
	if (n)
		memcpy(old, o->kernels.v, n * sizeof *old);
	for (size_t i = 0; i < n; i++)
		o->kernels.v[i] = old[order[i]];
}
