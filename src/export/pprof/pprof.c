/* SPDX-License-Identifier: Apache-2.0
 *
 * The code view as a pprof profile, as the original writes it; for inputs that the original
 * cannot read, pprof_tree.c writes all numbers, including the numbers of lines that call others. A
 * sample for each graph node below a shown line without shown children, and the calls that lead
 * there. A location is a line of the caller and the called function. The message is written field
 * by field, gzip-compressed; only the tables are in memory.
 */
#include "base/sort.h"
#include "io/gz.h"
#include "export/message/pbput.h"
#include "export/out.h"

/* Key of a function or a location; texts are ids of names. */
struct source_place {
	uint32_t file, function;
	int32_t line; /* for a function: its first line */
};

struct pprof_sample {
	uint32_t node, entry; /* graph node, and index of the shown entry */
	uint32_t label;       /* string id */
};

struct pprof {
	const struct result *r;
	const struct query *q;
	const struct model *m;
	struct arena *a;
	struct intern names;      /* names of files and functions */
	struct intern functions;  /* struct source_place; ids are smaller by 1 than in the
	                             profile */
	struct intern locations;  /* ids are smaller by 1 than in the profile */
	VEC(uint32_t) name, file; /* indexed by function: string ids */
	VEC(uint32_t) called;     /* indexed by location: the called function */
	struct intern strings;    /* the string table */
	VEC(struct pprof_sample) samples;
	uint32_t *file_of;     /* indexed by shown entry: id of the file's name */
	uint32_t *location_of; /* indexed by shown entry: location + 1; 0 for the root and its
	                          children */
	VEC(uint32_t) path;
	struct sb text;
	struct pbput b;
};

/* ---- tables ---- */

static struct source_place read_place(const struct intern *t, uint32_t id)
{
	struct source_place p;

	memcpy(&p, t->strings[id].p, sizeof p);
	return p;
}

/* Adds the name of a frame. A frame without a name gets none, as in the view. */
static uint32_t add_name(struct pprof *x, uint32_t string, bool gradient)
{
	struct str name = string == ID_NONE ? S("none") : model_str(x->m, string);

	if (!gradient)
		return intern_add_kept(&x->names, name);
	x->text.n = 0;
	sb_put(&x->text, name);
	sb_put(&x->text, GRADIENT_SUFFIX);
	return intern_add(&x->names, sb_str(&x->text));
}

/* Returns "file:function" without folders and without the last extension. */
static struct str full_name(struct pprof *x, const struct source_place *p)
{
	struct str file = str_base(intern_str(&x->names, p->file));

	x->text.n = 0;
	sb_put(&x->text, str_sub(file, 0, str_rfind_char(file, '.')));
	sb_char(&x->text, ':');
	sb_put(&x->text, intern_str(&x->names, p->function));
	return sb_str(&x->text);
}

static uint32_t add_function(struct pprof *x, const struct source_place *p)
{
	size_t before = x->functions.n;
	uint32_t id = intern_add(&x->functions, str_make(p, sizeof *p));

	if (x->functions.n > before) {
		VEC_PUSH(x->a, &x->name, intern_add(&x->strings, full_name(x, p)));
		VEC_PUSH(x->a, &x->file,
		        intern_add_kept(&x->strings, intern_str(&x->names, p->file)));
	}
	return id;
}

/* Quirk 24: the callee's file is ignored. */
static uint32_t add_location(
        struct pprof *x, const struct source_place *p, const struct source_place *callee)
{
	size_t before = x->locations.n;
	uint32_t id = intern_add(&x->locations, str_make(p, sizeof *p));

	if (x->locations.n > before)
		VEC_PUSH(x->a, &x->called, add_function(x, callee));
	return id;
}

/* ---- the walk ---- */

static struct frame entry_frame(const struct pprof *x, uint32_t i, bool *gradient)
{
	uint32_t at = x->q->kept.at[x->r->shown[i].kept];

	*gradient = x->q->tree->gradient[at];
	return model_frame(x->m, x->q->tree->frame[at]);
}

static void walk_entry(struct pprof *x, uint32_t i)
{
	uint32_t up = x->r->shown[i].parent;
	bool gradient;
	struct frame f = entry_frame(x, i, &gradient);

	x->file_of[i] = add_name(x, f.file, false);
	if (up == 0)
		return;
	struct source_place callee = { x->file_of[i], add_name(x, f.function, gradient),
		f.func_start_line };
	struct frame caller = entry_frame(x, up, &gradient);
	struct source_place p = { x->file_of[up], callee.function,
		frame_is_placed(x->m, &caller) ? caller.line : 0 };
	x->location_of[i] = add_location(x, &p, &callee) + 1;
}

static void add_samples(struct pprof *x, uint32_t shown, uint32_t entry)
{
	const struct tree *t = x->q->tree;

	for (uint32_t k = t->member0[entry]; k < t->member0[entry + 1]; k++) {
		struct pprof_sample s = { .node = t->members[k], .entry = shown };
		if (!view_matches(x->q, s.node))
			continue;
		intern_add_kept(&x->strings, S("graph node:"));
		s.label = intern_add_kept(&x->strings, node_name(x->m, s.node));
		VEC_PUSH(x->a, &x->samples, s);
	}
}

/* Quirk 24: only lines without children, shown or not, have samples. */
static void walk(struct pprof *x)
{
	const struct tree *t = x->q->tree;

	for (uint32_t i = 1; i < x->r->n; i++) {
		const struct entry *s = &x->r->shown[i];
		walk_entry(x, i);
		if (s->end > i + 1)
			continue;
		uint32_t at = x->q->kept.at[s->kept];
		for (uint32_t k = at; k < t->end[at]; k++)
			if (t->end[k] == k + 1)
				add_samples(x, i, k);
	}
}

/* ---- writing ---- */

static void flush(struct pprof *x, struct sink *to, unsigned field)
{
	pbsink_open(to, field, pbput_size(&x->b));
	sink_put(to, pbput_str(&x->b));
	pbput_clear(&x->b);
}

static void put_value_type(struct pprof *x, struct sink *to, uint32_t type, uint32_t unit)
{
	pbput_i64(&x->b, 2, unit);
	pbput_i64(&x->b, 1, type);
	flush(x, to, 1);
}

static void put_sample(
        struct pprof *x, struct sink *to, const struct pprof_sample *s, enum value value)
{
	struct pbput *b = &x->b;
	size_t mark = pbput_size(b);

	pbput_i64(b, 2, s->label);
	pbput_i64(b, 1, intern_find(&x->strings, S("graph node:")));
	pbput_close(b, 3, mark);
	mark = pbput_size(b);
	pbput_varint(b, (uint64_t)fraction_in(view_value(x->q, &x->q->tallies[s->node], value),
	                        stacks_parts(x->r, value)));
	pbput_varint(b, 1);
	pbput_close(b, 2, mark);
	x->path.n = 0;
	for (uint32_t i = s->entry; x->location_of[i]; i = x->r->shown[i].parent)
		VEC_PUSH(x->a, &x->path, x->location_of[i]); /* innermost first */
	mark = pbput_size(b);
	for (size_t i = x->path.n; i-- > 0;)
		pbput_varint(b, x->path.v[i]);
	if (x->path.n)
		pbput_close(b, 1, mark);
	flush(x, to, 2);
}

/* Writes the samples in byte order of their nodes' names. */
static void put_samples(struct pprof *x, struct sink *to, enum value value)
{
	uint32_t *of = ARENA_ARRAY(x->a, x->m->nodes.n, uint32_t); /* indexed by node: sample + 1 */

	for (uint32_t i = 0; i < x->samples.n; i++)
		of[x->samples.v[i].node] = i + 1;
	for (size_t i = 0; i < x->m->by_name.n; i++) {
		uint32_t s = of[x->m->by_name.v[i]];
		if (s)
			put_sample(x, to, &x->samples.v[s - 1], value);
	}
}

struct places {
	const struct pprof *x;
	const struct intern *t;
};

static int by_place(const void *ctx, uint32_t a, uint32_t b)
{
	const struct places *v = ctx;
	struct source_place p = read_place(v->t, a), q = read_place(v->t, b);
	const struct str *names = v->x->names.strings;
	int order = str_cmp(names[p.file], names[q.file]);
	uint64_t m = (uint64_t)p.line, n = (uint64_t)q.line; /* -1 sorts last */

	if (!order)
		order = str_cmp(names[p.function], names[q.function]);
	return order ? order : (m > n) - (m < n);
}

/* Returns the ids of a table sorted by their contents. */
static uint32_t *sort_places(const struct pprof *x, const struct intern *t)
{
	return sort_order(x->a, t->n, by_place, &(struct places){ x, t });
}

static void put_locations(struct pprof *x, struct sink *to)
{
	const uint32_t *ids = sort_places(x, &x->locations);

	for (size_t i = 0; i < x->locations.n; i++) {
		struct source_place p = read_place(&x->locations, ids[i]);
		pbput_i64(&x->b, 2, p.line);
		pbput_i64(&x->b, 1, (int64_t)x->called.v[ids[i]] + 1);
		pbput_close(&x->b, 4, 0);
		pbput_i64(&x->b, 1, (int64_t)ids[i] + 1);
		flush(x, to, 4);
	}
}

static void put_functions(struct pprof *x, struct sink *to)
{
	const uint32_t *ids = sort_places(x, &x->functions);

	for (size_t i = 0; i < x->functions.n; i++) {
		struct source_place p = read_place(&x->functions, ids[i]);
		pbput_i64(&x->b, 5, p.line);
		pbput_i64(&x->b, 4, x->file.v[ids[i]]);
		pbput_i64(&x->b, 2, x->name.v[ids[i]]);
		pbput_i64(&x->b, 1, (int64_t)ids[i] + 1);
		flush(x, to, 5);
	}
}

static void put_profile(struct pprof *x, const struct metric *m, struct sink *to)
{
	struct intern *s = &x->strings;
	uint32_t count = intern_add_kept(s, S("count")), type, unit, comment;

	type = intern_add_kept(s, str_of(m->name));
	unit = intern_add_kept(s, stacks_unit(x->r, (enum metric_id)(m - metrics)));
	comment = intern_add_kept(s, str_of(m->pprof_comment));
	put_value_type(x, to, count, count);
	put_value_type(x, to, type, unit);
	put_samples(x, to, m->value);
	put_locations(x, to);
	put_functions(x, to);
	for (uint32_t i = 0; i < s->n; i++) {
		pbsink_open(to, 6, intern_str(s, i).n);
		sink_put(to, intern_str(s, i));
	}
	pbput_varint(&x->b, comment);
	flush(x, to, 13);
}

/* Finds the functions, locations and samples. */
static void prepare(struct pprof *x)
{
	x->file_of = ARENA_ARRAY(x->a, x->r->n, uint32_t);
	x->location_of = ARENA_ARRAY(x->a, x->r->n, uint32_t);
	x->text = sb_in(x->a);
	intern_init(&x->names, x->a);
	intern_init(&x->functions, x->a);
	intern_init(&x->locations, x->a);
	intern_init(&x->strings, x->a);
	intern_add_kept(&x->strings, S(""));
	pbput_init(&x->b, x->a);
	walk(x);
}

/* True if the file has the layout of the original. */
static bool is_original(const struct result *r)
{
	return view_is(r->kind, VIEW_TRACES) && !r->q->m->new_input;
}

/* Writes the gzip-compressed file. The file appears under its name when it is complete. */
static bool put_file(struct pprof *x, enum metric_id m, struct str path, struct err *e)
{
	struct sink *file, *zip;

	if (!sink_file(&file, x->a, path, e))
		return false;
	zip = gzip_sink(x->a, file);
	if (is_original(x->r))
		put_profile(x, &metrics[m], zip);
	else
		pprof_tree_write(x->r, m, zip);
	if (sink_close(zip, e))
		return sink_close(file, e);
	sink_drop(file);
	return false;
}

struct str pprof_accepts(const struct view_ops *v, const struct query *q)
{
	const struct opts *o = q->o;
	struct strs names = { 0 };

	(void)v;
	for (enum metric_id i = 0; i < M_N; i++)
		if (o->select.metrics & METRIC_BIT(i))
			strs_add(q->a, &names, str_of(metrics[i].name));
	for (size_t i = 0; i < o->select.unknown.n; i++)
		strs_add(q->a, &names, o->select.unknown.v[i]);
	if (names.n != 1)
		return S("Can only select 1 attribute for pprof output.");
	if (stacks_metric(o) == M_NONE)
		return str_fmt(q->a, "pprof doesn't support -select=%.*s", STR(names.v[0]));
	return STR_NONE;
}

/* Writes the file and prints how to view it. */
bool pprof_write(const struct exported *of, struct emit *to, struct err *e)
{
	const struct result *r = of->of;
	struct pprof x = { .r = r, .q = r->q, .m = r->q->m, .a = r->q->a };
	struct str path = r->q->o->output.outfile;

	if (is_original(r))
		prepare(&x);
	if (!put_file(&x, stacks_metric(r->q->o), path, e))
		return false;
	if (r->q->o->quiet)
		return true;
	if (!is_original(r)) {
		sink_fmt(to->out, "pprof profile is written to %.*s: go tool pprof -top %.*s\n",
		        STR(path), STR(path));
		return true;
	}
	sink_put(to->out, S("\nRun pprof -png --nodecount=100 --sample_index=1 <"));
	sink_put(to->out, path);
	sink_put(to->out, S(">\n"));
	return true;
}
