/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes that compare kernels with the peaks of the device, by the float operations and bytes of
 * the ops that launched them. If an op launched several kernels, each of them is compared with the
 * whole op, so the reported saving is too small.
 */
#include "flops/peak.h"
#include "why/why_internal.h"

/* The float operations of an op with its inputs. */
struct counted_op {
	struct flops f; /* lack: no number is known */
	enum flops_class class;
};

/* The ops that launched kernels, each event once. */
struct counted_ops {
	struct imap of_event;
	VEC(struct counted_op) v;
	struct arena *a;
};

static struct counted_op count_op(const struct why_scene *s, const struct slice *op)
{
	struct str name = trace_str(s->t, op->name);
	const struct op_row *row = flops_find_op(name);

	if (!row)
		return (struct counted_op){ .f = { .lack = LACK_FORMULA } };
	const struct op_call c = flops_read_call(row, name, slice_text(s->t, op, ARG_SHAPES),
	        slice_text(s->t, op, ARG_DTYPES), slice_text(s->t, op, ARG_VALUES));
	return (struct counted_op){ flops_of_call(&c), flops_class_of(row->formula) };
}

/* Returns the op that launched a kernel; NULL if its float operations are unknown. */
static const struct counted_op *op_of(
        const struct why_scene *s, const struct depend_node *n, struct counted_ops *known)
{
	struct slice kernel, op;
	uint32_t number, i = (uint32_t)known->v.n;

	trace_slice(s->t, n->slice, &kernel);
	number = link_op(s->d->links, &kernel, link_launch(s->d->links, &kernel));
	if (number == ID_NONE)
		return NULL;
	trace_slice(s->t, number, &op);
	if (!imap_get(&known->of_event, op.event, &i)) {
		imap_put(&known->of_event, op.event, i, false);
		VEC_PUSH(known->a, &known->v, count_op(s, &op));
	}
	const struct counted_op *found = &known->v.v[i];
	return found->f.lack == LACK_NOTHING && found->f.type != NUMBERS_OTHER ? found : NULL;
}

static bool is_kernel(const struct depend_node *n)
{
	return !n->host && n->class == USAGE_COMPUTE;
}

/* Returns the peaks of the device of a kernel, or NULL. */
static const struct peak *peak_of(const struct why_scene *s, const struct depend_node *n)
{
	return s->peaks[s->t->tracks.v[n->track].device];
}

/* True if the peaks of the device of some kernel are known. */
static bool has_peaks(const struct why_scene *s)
{
	for (size_t i = 0; i < s->d->nodes.n; i++)
		if (is_kernel(&s->d->nodes.v[i]) && peak_of(s, &s->d->nodes.v[i]))
			return true;
	return false;
}

/* Returns the time for reading the inputs and writing the outputs once, ticks. */
static double memory_time(const struct why_scene *s, const struct peak *p, const struct flops *f)
{
	double bytes =
	        (double)(f->read > 0 ? f->read : 0) + (double)(f->written > 0 ? f->written : 0);

	return bytes / (p->gbytes * 1e3) * (double)s->t->ticks_per_us;
}

struct why_matrix why_matrix_work(const struct why_scene *s, struct arena *a)
{
	struct counted_ops ops = { .a = a };
	struct why_matrix x = { 0 };

	imap_init(&ops.of_event, a);
	for (size_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		const struct counted_op *op = is_kernel(n) ? op_of(s, n, &ops) : NULL;
		if (n->host)
			continue;
		x.all = num_add(x.all, n->end - n->start);
		int64_t *part = op && op->class == CLASS_MATRIX ? &x.matrix
		                : op || !is_kernel(n)           ? &x.other
		                                                : NULL;
		if (part)
			*part = num_add(*part, n->end - n->start);
	}
	return x;
}

/* ---- matrix products outside tensor cores ---- */

static bool is_vector_kernel(const struct why_scene *s, const struct depend_node *n)
{
	static const char *const words[] = { "sgemm", "_simt_", "_ffma_" };

	return why_has(why_name(s, n->event), words, sizeof words / sizeof *words);
}

/* Returns the time of a product on tensor cores, ticks: its length times the vector rate, divided
 * by the rate of tensor cores, but at least the time for reading and writing. */
static int64_t tensor_time(
        const struct why_scene *s, const struct peak *p, const struct flops *f, int64_t length)
{
	double memory = memory_time(s, p, f);
	double compute = (double)length * p->tflops[NUMBERS_F32] * 1e12 / peak_flops(p, f->type);

	return num_from_real(compute > memory ? compute : memory);
}

void why_find_no_tensor_cores(const struct why_scene *s, struct why_change *out)
{
	struct counted_ops ops = { .a = out->a };
	bool any = false, known = false;

	imap_init(&ops.of_event, out->a);
	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (!is_kernel(n))
			continue;
		any = true;
		const struct peak *p = peak_of(s, n);
		const struct counted_op *op = p ? op_of(s, n, &ops) : NULL;
		if (!op || op->class != CLASS_MATRIX || !(peak_flops(p, op->f.type) > 0))
			continue;
		known = true;
		int64_t length = n->end - n->start, least = tensor_time(s, p, &op->f, length);
		if (is_vector_kernel(s, n) && least < length)
			why_shorten(s, out, i, least);
	}
	out->bound = true;
	if (any && !known)
		out->reason = !has_peaks(s)
		                      ? S("the peaks of the device are not known")
		                      : S("the file lacks types and shapes of matrix products");
}

/* ---- one kernel far from the roof ---- */

#define ROOF_FACTOR   4 /* many kernels take up to this many times the time at their roof */
#define ROOF_LEAST_US 5 /* shorter kernels are limited by their start, not by the device */

/* Returns the minimum time of a kernel under the limits of the device, ticks; 0: unknown. */
static int64_t roof_time(
        const struct why_scene *s, const struct depend_node *n, struct counted_ops *known)
{
	const struct peak *p = peak_of(s, n);
	const struct counted_op *op = p ? op_of(s, n, known) : NULL;

	if (!op || op->f.read < 0 || op->f.written < 0)
		return 0;
	double rate = op->class == CLASS_MATRIX ? peak_flops(p, op->f.type)
	                                        : p->tflops[NUMBERS_F32] * 1e12;
	if (!(rate > 0))
		return 0;
	double compute = (double)op->f.flops / rate * 1e6 * (double)s->t->ticks_per_us;
	double memory = memory_time(s, p, &op->f),
	       least = ROOF_LEAST_US * (double)s->t->ticks_per_us;
	return num_from_real(compute > memory && compute > least ? compute
	                     : memory > least                    ? memory
	                                                         : least);
}

/* True if a more specific cause owns the time of a kernel. */
static bool has_other_cause(const struct why_scene *s, const struct depend_node *n)
{
	double share = why_grid_share(s, n);

	return (share > 0 && share < 1) || is_vector_kernel(s, n) || why_converts_layout(s, n);
}

/* All kernels with one name, in the chosen steps. */
struct roofed_name {
	int64_t length, roof;
};

struct roofed {
	int64_t *roof;    /* indexed by node; 0: unknown, or not examined */
	struct imap name; /* key: name; value: index in names */
	VEC(struct roofed_name) names;
};

static void find_roofs(const struct why_scene *s, struct roofed *x, struct arena *a)
{
	struct counted_ops ops = { .a = a };

	imap_init(&ops.of_event, a);
	imap_init(&x->name, a);
	x->roof = ARENA_ARRAY(a, s->d->nodes.n, int64_t);
	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		uint32_t k = (uint32_t)x->names.n;
		if (!is_kernel(n) || why_window(s, i) == ID_NONE ||
		        !(x->roof[i] = roof_time(s, n, &ops)))
			continue;
		if (!imap_get(&x->name, s->t->events.v[n->event].name, &k)) {
			imap_put(&x->name, s->t->events.v[n->event].name, k, false);
			VEC_PUSH(a, &x->names, ((struct roofed_name){ 0 }));
		}
		if (has_other_cause(s, n))
			continue;
		x->names.v[k].length = num_add(x->names.v[k].length, n->end - n->start);
		x->names.v[k].roof = num_add(x->names.v[k].roof, x->roof[i]);
	}
}

/* Returns the index of the name that loses the most time, or ID_NONE. */
static uint32_t find_worst(const struct roofed *x)
{
	uint32_t found = ID_NONE;
	int64_t most = 0;

	for (uint32_t i = 0; i < x->names.n; i++) {
		const struct roofed_name *k = &x->names.v[i];
		int64_t lost = num_sub(k->length, k->roof);
		if (k->length >= num_mul(k->roof, ROOF_FACTOR) && lost > most) {
			most = lost;
			found = i;
		}
	}
	return found;
}

void why_find_one_kernel(const struct why_scene *s, struct why_change *out)
{
	struct roofed x = { 0 };
	uint32_t worst, k;

	find_roofs(s, &x, out->a);
	out->bound = true;
	worst = find_worst(&x);
	if (!x.names.n)
		out->reason = !has_peaks(s) ? S("the peaks of the device are not known")
		                            : S("the file lacks shapes of inputs");
	for (uint32_t i = 0; worst != ID_NONE && i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (x.roof[i] && imap_get(&x.name, s->t->events.v[n->event].name, &k) &&
		        k == worst && !has_other_cause(s, n))
			why_shorten(s, out, i, x.roof[i]);
	}
	if (out->cost)
		out->detail = str_fmt(out->a,
		        "the kernel runs at %.1f%% of the rate that the device allows (roofline "
		        "--by=kernel)",
		        100.0 * (double)x.names.v[worst].roof / (double)x.names.v[worst].length);
}
