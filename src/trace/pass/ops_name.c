/* SPDX-License-Identifier: Apache-2.0
 *
 * The op of a slice: the rules of each source, and the ways to group by. Time is never lost: slices
 * outside of all levels are below a name in brackets.
 */
#include "trace/pass/ops_internal.h"
#include "trace/pass/work_function.h"

/* The sets of source.def. */
#define SET_NONE      0
#define SET_ALL       NEST_ALL
#define SET_OPS       CATEGORY_BIT(CATEGORY_OP)
#define SET_SYNCS     CATEGORY_BIT(CATEGORY_SYNC)
#define SET_STEPS_OPS (CATEGORY_BIT(CATEGORY_STEP) | SET_OPS)
#define SET_MODULES_OPS                                                                            \
	(CATEGORY_BIT(CATEGORY_MODULE) | CATEGORY_BIT(CATEGORY_ANNOTATION) | SET_OPS)

/* Indexed by source: the slices of threads that are levels of a path. */
#define SOURCE(id, name, table, l, f, g, is_leaf)                                                  \
	[TRACE_##id] = { .levels = SET_##l, .flat = SET_##f, .gaps = SET_##g, .leaf = (is_leaf) },
static const struct ops_rule source_rules[] = {
#include "trace/source.def"
};
#undef SOURCE

#define NO_PROVIDER "(no provider)"

/* Indexed by grouping: the categories that are levels (0: the source defines them), and the op for
 * slices without a level. */
static const struct by_rule {
	uint32_t levels;
	const char *none;
} by_rules[TRACE_BY_N] = {
	[TRACE_BY_PATH] = { 0, OPS_UNATTRIBUTED },
	[TRACE_BY_MODULE] = { CATEGORY_BIT(CATEGORY_MODULE), "(no module)" },
	[TRACE_BY_OP] = { CATEGORY_BIT(CATEGORY_OP), "(no op)" },
	[TRACE_BY_ANNOTATION] = { CATEGORY_BIT(CATEGORY_ANNOTATION), "(no annotation)" },
	[TRACE_BY_SOURCE] = { 0, "(no source)" },
	[TRACE_BY_KERNEL] = { 0, OPS_UNATTRIBUTED },
	[TRACE_BY_CATEGORY] = { 0, OPS_UNATTRIBUTED },
	[TRACE_BY_FUNCTION] = { 0, OPS_UNATTRIBUTED },
	[TRACE_BY_PHASE] = { 0, OPS_UNATTRIBUTED },
	[TRACE_BY_MODULE_CLASS] = { CATEGORY_BIT(CATEGORY_MODULE), "(no module)" },
	[TRACE_BY_PROVIDER] = { 0, NO_PROVIDER },
	[TRACE_BY_STACK] = { 0, OPS_UNATTRIBUTED },
	[TRACE_BY_CALLS] = { 0, OPS_UNATTRIBUTED },
};

struct ops_rule ops_rule_of(enum trace_source source, enum trace_by by)
{
	struct ops_rule rule = source_rules[source];

	if (by == TRACE_BY_CALLS)
		rule.levels |= CATEGORY_BIT(CATEGORY_CALL);
	rule.nested = rule.levels | rule.gaps | by_rules[by].levels;
	if (by_rules[by].levels)
		rule.levels = by_rules[by].levels;
	return rule;
}

uint32_t ops_named(struct finding *x, struct str name, struct str type)
{
	struct trace_ops *o = x->to;
	uint32_t id = intern_add(&o->strings, name), op = (uint32_t)o->ops.n;
	struct trace_op made = { .name = id,
		.category = ID_NONE,
		.device = ID_NONE,
		.frame = ID_NONE,
		.parent = ID_NONE };

	if (imap_get(&x->by_name, id, &op))
		return op;
	made.type = intern_add(&o->strings, type);
	x->path_room -= name.n < x->path_room ? name.n : x->path_room;
	imap_put(&x->by_name, id, op, false);
	VEC_PUSH(o->a, &o->ops, made);
	VEC_PUSH(x->a, &x->last_cell, 0);
	VEC_PUSH(x->a, &x->base, op);
	return op;
}

static struct str join(struct sb *b, struct str before, struct str name)
{
	b->n = 0;
	sb_put(b, before);
	if (before.n)
		sb_char(b, '/');
	sb_put(b, name);
	return sb_str(b);
}

/* Returns the op for all slices outside of all levels. */
static uint32_t op_of_none(struct finding *x)
{
	struct str none = str_of(by_rules[x->by].none);

	return ops_named(x, none, none);
}

static struct str op_name(const struct finding *x, uint32_t op)
{
	return intern_str(&x->to->strings, x->to->ops.v[op].name);
}

/* True if the last level of device work is its kernel. */
static bool ends_with_kernel(enum trace_by by)
{
	return by == TRACE_BY_KERNEL || by == TRACE_BY_CALLS;
}

/* True if nodes of threads are below a name of their own. */
static bool groups_device_work(enum trace_by by)
{
	return by == TRACE_BY_CATEGORY || by == TRACE_BY_FUNCTION;
}

/* ---- threads ---- */

/* True if the levels are modules. */
static bool groups_modules(enum trace_by by)
{
	return by == TRACE_BY_MODULE || by == TRACE_BY_MODULE_CLASS;
}

/* Returns the class of a module: "nn.Module: Linear" of "nn.Module: Linear_12". */
static struct str module_class(struct str name)
{
	size_t n = name.n;

	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n > 1 && n < name.n && name.p[n - 1] == '_' ? str_sub(name, 0, n - 1) : name;
}

/* Returns the name of the level that a slice makes. */
static struct str level_name(const struct finding *x, const struct slice *s)
{
	struct str name = trace_str(x->to->t, s->name);

	return x->by == TRACE_BY_MODULE_CLASS ? module_class(name) : name;
}

/* Returns the type of a slice: the type that the slice states, otherwise the name of an op, or the
 * category of any other slice. */
static struct str type_of_slice(struct finding *x, const struct slice *s)
{
	struct str type = slice_text(x->to->t, s, ARG_OP_TYPE);

	if (x->by == TRACE_BY_CALLS && s->category == CATEGORY_CALL)
		return S(OPS_CALL);
	if (ends_with_kernel(x->by) || groups_device_work(x->by))
		return S(OPS_HOST);
	if (x->by == TRACE_BY_PHASE)
		return join(&x->longer, op_name(x, x->root - 1),
		        s->category == CATEGORY_OP ? trace_str(x->to->t, s->name)
		                                   : str_of(trace_category_names[s->category]));
	if (type.p)
		return type;
	if (s->category == CATEGORY_OP || groups_modules(x->by) || x->by == TRACE_BY_ANNOTATION)
		return level_name(x, s);
	return str_of(trace_category_names[s->category]);
}

/* Finds or adds the op with a name below another op. around: 1 + that other op; 0 and ID_NONE:
 * none. */
static uint32_t named_below(struct finding *x, uint32_t around, struct str name, struct str type)
{
	uint32_t op = ops_named(x, name, type);
	struct trace_op *made = &x->to->ops.v[op];

	if (made->parent == ID_NONE && around && around != ID_NONE && around - 1 < op)
		made->parent = around - 1;
	return op;
}

bool ops_is_deeper(const struct finding *x, uint32_t op)
{
	const struct trace_ops *o = x->to;

	return str_eq(intern_str(&o->strings, o->ops.v[op].type), S(OPS_DEEPER));
}

/* Returns the op of a level below a path. If the level's path would be too long, or long paths
 * already take too much memory, returns the op that represents all such levels. around: as for
 * named_below; b: buffer for the path. */
#define PATH_BYTES_MAX ((size_t)64 << 10)
#define PATH_SHORT     256
static uint32_t op_under(struct finding *x, uint32_t around, struct sb *b, struct str path,
        struct str name, struct str type)
{
	struct str longer = join(b, path, name);

	if (path.n == 0 || longer.n <= PATH_SHORT ||
	        (longer.n <= PATH_BYTES_MAX && longer.n <= x->path_room) ||
	        intern_find(&x->to->strings, longer) != ID_NONE)
		return named_below(x, around, longer, type);
	x->to->deeper = true;
	return named_below(x, around, join(b, path, S(OPS_DEEPER)), S(OPS_DEEPER));
}

/* Returns the op of a slice below the op of the enclosing slice. */
static uint32_t op_below(struct finding *x, uint32_t around, const struct slice *s)
{
	uint64_t key = (uint64_t)around << 32 | s->event;
	struct str before = around ? op_name(x, around - 1) : S("");
	uint32_t op;

	if (around && ops_is_deeper(x, around - 1))
		return around - 1;
	if (imap_get(&x->below, key, &op))
		return op;
	if (!around && groups_device_work(x->by))
		before = S(OPS_HOST);
	op = op_under(x, around, &x->path, before, level_name(x, s), type_of_slice(x, s));
	imap_put(&x->below, key, op, false);
	return op;
}

/* Returns the text of the innermost frame that has a source line, or of the frame itself if no
 * frame around it has one. */
static struct str line_of_frame(const struct finding *x, uint32_t frame)
{
	struct str text, itself = intern_str(&x->to->strings, ops_frame(x->to, frame).text);

	for (; frame != ID_NONE; frame = ops_frame(x->to, frame).parent) {
		text = intern_str(&x->to->strings, ops_frame(x->to, frame).text);
		if (frame_has_line(text))
			return text;
	}
	return itself;
}

/* Returns the op of a source line: its path without a leading '/' or '$'. */
static uint32_t op_of_frame(struct finding *x, uint32_t frame)
{
	struct str text;

	if (frame == ID_NONE)
		return op_of_none(x);
	text = line_of_frame(x, frame);
	while (text.n && (*text.p == '/' || *text.p == '$'))
		text = str_sub(text, 1, text.n);
	return ops_named(x, text, text);
}

void ops_set_root(struct finding *x, uint32_t step)
{
	struct str phase =
	        x->served ? str_of(serving_phases[x->served[step].phase]) : S(OPS_NO_PHASE);

	x->root = 1 + ops_named(x, phase, phase);
	x->phase = x->served ? (uint8_t)(1 + x->served[step].phase) : 0;
}

/* ---- compiled ops ----
 *
 * Executions of compiled ops: device work, or slices of threads if the CPU is the device.
 */

/* Returns the name of the compiled op of a slice: its argument, or on a line of ops the name of the
 * slice. */
static struct str compiled_op(const struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;
	struct str op = slice_text(t, s, ARG_OP);

	return op.n || t->tracks.v[s->track].kind != TRACK_LINE ? op : trace_str(t, s->name);
}

bool ops_is_compiled(const struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;

	return t->keys & ARG_BIT(ARG_OP) && s->category == CATEGORY_OP &&
	       slice_text(t, s, ARG_OP).n;
}

/* Returns the type of a compiled op: the type of its framework op or, without a framework op, the
 * compiler's category. */
static struct str compiled_type(const struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;
	struct str type = slice_text(t, s, ARG_OP_TYPE);

	if (!type.n)
		type = slice_text(t, s, ARG_OP_CATEGORY);
	return type.n ? type : S(OPS_UNKNOWN_TYPE);
}

/* Returns the path of a compiled op: the path of its framework op or, without one or with -by op,
 * "module/fusion.1". Returns an empty path if the slice has neither. Sets *type. */
static struct str compiled_path(struct finding *x, const struct slice *s, struct str *type)
{
	const struct trace *t = x->to->t;
	struct str scope = slice_text(t, s, ARG_SCOPE), op = compiled_op(x, s);

	*type = compiled_type(x, s);
	if (scope.n && (x->by != TRACE_BY_OP || !op.n))
		return scope;
	return op.n ? join(&x->path, slice_text(t, s, ARG_MODULE_NAME), op) : S("");
}

/* Returns the op of a slice below its execution provider. */
static uint32_t op_of_provider(struct finding *x, const struct slice *s)
{
	struct str provider = slice_text(x->to->t, s, ARG_PROVIDER), type;
	struct str path = compiled_path(x, s, &type);

	if (!provider.n)
		provider = S(NO_PROVIDER);
	if (!path.n)
		path = trace_str(x->to->t, s->name);
	return ops_named(x, join(&x->longer, provider, path), provider);
}

static uint32_t below_category(struct finding *x, const struct slice *s, struct str path)
{
	struct str category = slice_text(x->to->t, s, ARG_OP_CATEGORY);

	if (!category.n)
		category = str_of(trace_category_names[s->category]);
	return ops_named(x, join(&x->longer, category, path), category);
}

/* Returns the op for the execution of a compiled op on a thread. */
static uint32_t op_of_compiled(struct finding *x, const struct slice *s)
{
	struct str module = slice_text(x->to->t, s, ARG_MODULE_NAME), type, path;

	if (groups_modules(x->by) && module.n)
		return ops_named(x, module, module);
	path = compiled_path(x, s, &type);
	if (x->by == TRACE_BY_CATEGORY)
		return below_category(x, s, path);
	if (x->by == TRACE_BY_FUNCTION)
		path = join(&x->longer, S(OPS_HOST), path);
	if (x->by == TRACE_BY_FUNCTION || ends_with_kernel(x->by))
		type = S(OPS_HOST);
	return ops_named(x, path, type);
}

/* ---- slices of threads ---- */

uint32_t ops_of_slice(
        struct finding *x, uint32_t around, const struct slice *s, struct frame_walk *frames)
{
	if (x->by == TRACE_BY_SOURCE)
		return op_of_frame(x, ops_frame_of(x, frames, s));
	if (x->by == TRACE_BY_PROVIDER && x->rule.levels & CATEGORY_BIT(s->category))
		return op_of_provider(x, s);
	if (x->by != TRACE_BY_ANNOTATION && ops_is_compiled(x, s))
		return op_of_compiled(x, s);
	if (!(x->rule.levels & CATEGORY_BIT(s->category)))
		return around ? around - 1 : x->root ? x->root - 1 : op_of_none(x);
	if (!around)
		around = x->root;
	if (around && x->by != TRACE_BY_PATH && x->by != TRACE_BY_PHASE &&
	        x->by != TRACE_BY_STACK &&
	        str_eq(op_name(x, around - 1), str_of(by_rules[x->by].none)))
		around = 0;
	return op_below(x, x->rule.flat & CATEGORY_BIT(s->category) ? 0 : around, s);
}

/* ---- devices ---- */

uint32_t ops_launching(struct finding *x, const struct slice *s, const struct launch *launch)
{
	const struct trace *t = x->to->t;
	uint32_t number, track, op;
	struct slice launching;

	if (x->linked)
		return x->launching;
	number = link_op(x->links, s, launch);
	if (number == ID_NONE)
		return 0;
	track = trace_track_of(t, number);
	op = x->op_of[ops_host_index(x, track, number)];
	if (op)
		return op;
	trace_slice(t, number, &launching);
	if (x->rule.leaf && launching.category == CATEGORY_STEP)
		return 0; /* a step is not a level */
	if (slice_site(t, s) != ID_NONE &&
	        (launching.category == CATEGORY_FRAME || launching.category == CATEGORY_STEP))
		return 0; /* the launching function is the same for all graphs */
	return 1 + (by_rules[x->by].levels || x->by == TRACE_BY_SOURCE
	                           ? op_of_none(x)
	                           : op_below(x, x->root, &launching));
}

/* Returns the op around the outermost level of a site. A captured op in a module keeps the modules
 * of the capture; any other captured op is below the op that launched the graph. */
static uint32_t outermost(struct finding *x, uint32_t site, uint32_t around)
{
	if (x->by != TRACE_BY_ANNOTATION && x->to->t->sites.v[site].in_module)
		return x->root;
	return ops_have_stacks(x) && around ? 1 + x->base.v[around - 1] : around;
}

uint32_t ops_of_site(struct finding *x, uint32_t site, uint32_t around)
{
	const struct trace *t = x->to->t;
	VEC(uint32_t) way = { .v = NULL };
	struct site_op *known = &x->site_ops[site];
	struct slice s = ops_site_slice(t, site);

	if (known->known && known->around == around && known->root == x->root)
		return known->op;
	uint32_t op = outermost(x, site, around), frame = ID_NONE;
	if (x->by == TRACE_BY_SOURCE && (frame = ops_frame_of_site(x, site)) != ID_NONE)
		op = 1 + op_of_frame(x, frame);
	for (uint32_t i = site; i != ID_NONE && x->by != TRACE_BY_SOURCE; i = t->sites.v[i].parent)
		if (ops_site_is_level(x, i) && ops_site_belongs(t, i, site))
			VEC_PUSH(x->a, &way, i);
	while (way.n) {
		s = ops_site_slice(t, way.v[--way.n]);
		op = 1 + ops_of_slice(x, op, &s, NULL);
	}
	if (!op)
		op = 1 + op_of_none(x);
	*known = (struct site_op){ true, around, x->root, op - 1 };
	return op - 1;
}

/* Finds the op to which device work belongs by its launch: the op of the place where the work was
 * captured, otherwise the op of the call. Returns false if the file has neither. */
static bool launching_op(
        struct finding *x, const struct slice *s, const struct launch *launch, uint32_t *op)
{
	uint32_t site = slice_site(x->to->t, s), around = ops_launching(x, s, launch);

	*op = site == ID_NONE ? around - 1 : ops_of_site(x, site, around);
	return around || site != ID_NONE;
}

/* Counts work without an op: its launch is not in the file, or is outside of all ops. */
static void count_unlinked(struct finding *x, const struct slice *s)
{
	x->to->unlinked++;
	x->to->unlinked_time = num_add(x->to->unlinked_time, s->length);
}

/* Returns the name and type of the path op to which device work belongs. The name is valid until
 * the next call. */
static struct str path_of_work(
        struct finding *x, const struct slice *s, const struct launch *launch, struct str *type)
{
	struct str path = compiled_path(x, s, type);
	uint32_t launching;

	if (path.n)
		return path;
	if (launching_op(x, s, launch, &launching)) {
		*type = intern_str(&x->to->strings, x->to->ops.v[launching].type);
		return op_name(x, launching);
	}
	count_unlinked(x, s);
	*type = S(OPS_UNATTRIBUTED);
	return join(&x->path, S(OPS_UNATTRIBUTED), trace_str(x->to->t, s->name));
}

/* Returns the op for device work below the op that launched it. */
static uint32_t leaf_of_work(struct finding *x, const struct slice *s, const struct launch *launch)
{
	const struct trace *t = x->to->t;
	uint32_t around = 0, op;

	if (launching_op(x, s, launch, &op)) {
		around = 1 + op;
	} else if (!launch) {
		count_unlinked(x, s);
		around = ID_NONE;
	}
	uint64_t key = (uint64_t)around << 32 | s->event;
	if (imap_get(&x->below, key, &op))
		return op;
	struct str leaf = slice_text(t, s, ARG_SHORT_NAME);
	struct str path = around == ID_NONE ? S(OPS_UNATTRIBUTED)
	                  : around          ? op_name(x, around - 1)
	                                    : S("");
	if (!leaf.n)
		leaf = trace_str(t, s->name);
	op = op_under(x, around, &x->path, path, leaf, leaf);
	imap_put(&x->below, key, op, false);
	return op;
}

/* Gives a kernel the call stack of the op with this path, unless the kernel already has one. */
static void take_frame(struct finding *x, uint32_t kernel, struct str path)
{
	uint32_t id = intern_find(&x->to->strings, path), op;
	struct trace_op *v = x->to->ops.v;

	if (v[kernel].frame == ID_NONE && id != ID_NONE && imap_get(&x->by_name, id, &op))
		v[kernel].frame = v[op].frame;
}

static uint32_t op_of_kernel(struct finding *x, const struct slice *s, const struct launch *launch)
{
	struct str type, path = path_of_work(x, s, launch, &type),
	                 name = trace_str(x->to->t, s->name);

	if (str_starts(path, S(OPS_UNATTRIBUTED)))
		return ops_named(x, path, name);
	uint32_t op = op_under(x, 0, &x->longer, path, name, name);
	if (x->by == TRACE_BY_CALLS)
		take_frame(x, op, path);
	return op;
}

static uint32_t op_of_category(
        struct finding *x, const struct slice *s, const struct launch *launch)
{
	struct str type, path = path_of_work(x, s, launch, &type);

	if (str_starts(path, S(OPS_HOST "/")))
		path = str_sub(path, sizeof OPS_HOST, path.n);
	return below_category(x, s, path);
}

/* Returns the op of all device work of one function, wherever it was launched. */
static uint32_t op_of_function(struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;
	uint64_t key = (uint64_t)ID_NONE << 32 | s->event;
	struct str name;
	uint32_t op;

	if (imap_get(&x->below, key, &op))
		return op;
	name = work_function(trace_str(t, s->name), s->category, x->a, &x->demangling);
	op = ops_named(x, name, name);
	imap_put(&x->below, key, op, false);
	return op;
}

/* Returns the op of device work: the op of the path in the work's arguments, otherwise the op of
 * its launch. */
static uint32_t op_of_path(struct finding *x, const struct slice *s, const struct launch *launch)
{
	const uint64_t keys = ARG_BIT(ARG_SCOPE) | ARG_BIT(ARG_OP) | ARG_BIT(ARG_OP_TYPE) |
	                      ARG_BIT(ARG_MODULE_NAME);
	uint32_t *known = &x->work[s->event].op, op;
	bool shared = !(s->keys & keys);
	struct str path, type;

	if (shared && *known)
		return *known - 1;
	path = compiled_path(x, s, &type);
	if (!path.n && launching_op(x, s, launch, &op))
		return op;
	op = ops_named(x, path.n ? path : path_of_work(x, s, launch, &type), type);
	if (shared && path.n)
		*known = 1 + op;
	return op;
}

uint32_t ops_of_work(struct finding *x, const struct slice *s, const struct launch *launch)
{
	struct str module;
	uint32_t frame, op;

	switch (x->by) {
	case TRACE_BY_KERNEL:
	case TRACE_BY_CALLS: return op_of_kernel(x, s, launch);
	case TRACE_BY_CATEGORY: return op_of_category(x, s, launch);
	case TRACE_BY_FUNCTION: return op_of_function(x, s);
	case TRACE_BY_SOURCE:
		frame = ops_frame_of(x, NULL, s);
		if (frame != ID_NONE)
			return op_of_frame(x, frame);
		break;
	case TRACE_BY_MODULE:
	case TRACE_BY_MODULE_CLASS:
		module = slice_text(x->to->t, s, ARG_MODULE_NAME);
		if (module.n)
			return ops_named(x, module, module);
		break;
	case TRACE_BY_PROVIDER:
		if (slice_text(x->to->t, s, ARG_PROVIDER).n)
			return op_of_provider(x, s);
		break;
	case TRACE_BY_ANNOTATION: break;
	default: return x->rule.leaf ? leaf_of_work(x, s, launch) : op_of_path(x, s, launch);
	}
	if (launching_op(x, s, launch, &op))
		return op;
	count_unlinked(x, s);
	return op_of_none(x);
}
