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

/* ---- common paths ---- */

/* The levels that the paths of the ops of a kernel have in common. */
struct common_path {
	struct str before, after; /* levels at the start and at the end; may be empty */
};

/* Returns the path of an op, without the phase before it. */
static struct str path_of(const struct finding *x, uint32_t op)
{
	struct str path = intern_str(&x->to->strings, x->to->ops.v[op].name);
	size_t slash = x->by == TRACE_BY_PHASE ? str_find_char(path, '/') : SIZE_MAX;

	return slash == SIZE_MAX ? path : str_sub(path, slash + 1, SIZE_MAX);
}

/* Returns the levels at the start of path that another path has, too, without the slash after
 * them. */
static struct str common_start(struct str path, struct str other)
{
	size_t n = 0, level = 0;

	for (; n < path.n && n < other.n && path.p[n] == other.p[n]; n++)
		if (path.p[n] == '/')
			level = n;
	bool ends = (n == path.n || path.p[n] == '/') && (n == other.n || other.p[n] == '/');
	return str_sub(path, 0, ends ? n : level);
}

/* Returns the levels at the end of path that another path has, too. */
static struct str common_end(struct str path, struct str other)
{
	size_t n = 0, level = 0;

	for (; n < path.n && n < other.n && path.p[path.n - 1 - n] == other.p[other.n - 1 - n]; n++)
		if (path.p[path.n - 1 - n] == '/')
			level = n;
	bool begins = (n == path.n || path.p[path.n - 1 - n] == '/') &&
	              (n == other.n || other.p[other.n - 1 - n] == '/');
	return str_sub(path, path.n - (begins ? n : level), SIZE_MAX);
}

/* Returns the text for several ops: "aten::linear/aten::addmm (17 places)". Paths are shortened at
 * the start, because their last parts identify the op. */
static struct str common_text(
        const struct finding *x, const struct kernel_row *k, const struct common_path *common)
{
	/* in some sources, the kernel is the last level of the path */
	if (common->after.n && !str_eq(common->after, trace_str(x->to->t, k->name)))
		return str_fmt(x->a, "%.*s (%u places)", STR(common->after), k->ops);
	if (common->before.n)
		return str_fmt(x->a, "%.*s/... (%u places)", STR(common->before), k->ops);
	return str_fmt(x->a, "%.*s and %u more", STR(path_of(x, k->op)), k->ops - 1);
}

/* Sets the common path of each kernel. */
static void find_common(struct finding *x)
{
	struct trace_ops *o = x->to;
	struct common_path *v = ARENA_ARRAY(x->a, o->kernels.n, struct common_path);

	for (size_t i = 0; i < x->shares.n; i++) {
		const struct kernel_share *s = &x->shares.v[i];
		struct kernel_row *k = &o->kernels.v[s->kernel];
		struct str path = path_of(x, s->op);
		if (!k->ops++) {
			v[s->kernel] = (struct common_path){ path, path };
			continue;
		}
		v[s->kernel].before = common_start(v[s->kernel].before, path);
		v[s->kernel].after = common_end(v[s->kernel].after, path);
	}
	for (size_t i = 0; i < o->kernels.n; i++) {
		struct kernel_row *k = &o->kernels.v[i];
		k->common = intern_add(
		        &o->strings, k->ops > 1 ? common_text(x, k, &v[i]) : path_of(x, k->op));
	}
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
	find_common(x);
	const uint32_t *order = sort_order(x->a, n, compare_rows, o);
	if (n)
		memcpy(old, o->kernels.v, n * sizeof *old);
	for (size_t i = 0; i < n; i++)
		o->kernels.v[i] = old[order[i]];
}
