/* SPDX-License-Identifier: Apache-2.0
 *
 * Views as a pprof profile: a function for each shown entry, a sample for each entry with a number
 * of its own, labelled with device and operation type. Code of inputs that the original reads has
 * the layout of the original (pprof.c).
 */
#include "export/message/pbput.h"
#include "export/out.h"

/* Fields of the messages Profile, Sample, Label, Location, Line, Function and ValueType. */
enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_COMMENT = 13
};

struct pprof_out {
	const struct result *r;
	struct intern strings; /* the string table */
	uint32_t device, type; /* string ids of the label keys */
	struct pbput b;
	struct sink *to;
};

static void flush(struct pprof_out *x, unsigned field)
{
	pbsink_open(x->to, field, pbput_size(&x->b));
	sink_put(x->to, pbput_str(&x->b));
	pbput_clear(&x->b);
}

static void put_label(struct pprof_out *x, uint32_t key, struct str value)
{
	size_t mark = pbput_size(&x->b);

	if (!value.n)
		return;
	pbput_i64(&x->b, 2, intern_add_kept(&x->strings, value));
	pbput_i64(&x->b, 1, key);
	pbput_close(&x->b, 3, mark);
}

static void put_labels(struct pprof_out *x, uint32_t i)
{
	const struct model *m = x->r->q->m;
	uint32_t node = stacks_node(x->r, i);

	if (view_is(x->r->kind, VIEW_LIST))
		put_label(x, x->type, view_name(x->r->q, x->r->shown[i].kept));
	if (node == ID_NONE)
		return;
	put_label(x, x->type, model_str(m, m->nodes.v[node].op));
	put_label(x, x->device, device_name(m, m->nodes.v[node].device));
}

/* Writes a sample. Fields are written from the last to the first, so the outermost frame comes
 * first here. */
static void put_sample(struct pprof_out *x, uint32_t i, int64_t value, uint32_t *path)
{
	const struct result *r = x->r;
	size_t n = 0, mark;

	put_labels(x, i);
	mark = pbput_size(&x->b);
	pbput_varint(&x->b, (uint64_t)value);
	pbput_close(&x->b, 2, mark);
	for (uint32_t k = i;; k = r->shown[k].parent) {
		path[n++] = k + 1;
		if (!stacks_has_parent(r, k))
			break;
	}
	mark = pbput_size(&x->b);
	while (n)
		pbput_varint(&x->b, path[--n]);
	pbput_close(&x->b, 1, mark);
	flush(x, PROFILE_SAMPLE);
}

/* Returns the name of an entry as a function, and sets *f to the frame with its source line. The
 * file is ID_NONE if it is unknown. */
static struct str function_name(const struct pprof_out *x, uint32_t i, struct frame *f)
{
	const struct query *q = x->r->q;
	uint32_t at = q->kept.at[x->r->shown[i].kept];
	uint32_t frame = q->tree->frame ? q->tree->frame[at] : ID_NONE;

	*f = (struct frame){ .file = ID_NONE };
	if (frame == ID_NONE)
		return view_name(q, x->r->shown[i].kept);
	*f = model_frame(q->m, frame);
	if (!frame_is_placed(q->m, f))
		f->file = ID_NONE;
	if (f->file == ID_NONE || f->function == ID_NONE)
		return view_name(q, x->r->shown[i].kept);
	/* the full name, because the view shortens it */
	return str_fmt(q->a, "%.*s:%d:%.*s", STR(str_base(model_str(q->m, f->file))), f->line,
	        STR(model_str(q->m, f->function)));
}

/* Writes a location with one line, and its function. Both get the number of the entry. */
static void put_place(struct pprof_out *x, uint32_t i)
{
	size_t mark = pbput_size(&x->b);
	struct frame f;
	struct str name = function_name(x, i, &f);
	bool placed = f.file != ID_NONE;

	if (placed)
		pbput_i64(&x->b, 2, f.line);
	pbput_i64(&x->b, 1, (int64_t)i + 1);
	pbput_close(&x->b, 4, mark);
	pbput_i64(&x->b, 1, (int64_t)i + 1);
	flush(x, PROFILE_LOCATION);
	if (placed) {
		pbput_i64(&x->b, 5, f.line);
		pbput_i64(&x->b, 4, intern_add_kept(&x->strings, model_str(x->r->q->m, f.file)));
	}
	pbput_i64(&x->b, 2, intern_add_kept(&x->strings, name));
	pbput_i64(&x->b, 1, (int64_t)i + 1);
	flush(x, PROFILE_FUNCTION);
}

static void put_strings(struct pprof_out *x)
{
	for (uint32_t i = 0; i < x->strings.n; i++) {
		pbsink_open(x->to, PROFILE_STRING, intern_str(&x->strings, i).n);
		sink_put(x->to, intern_str(&x->strings, i));
	}
}

bool pprof_tree_write(const struct result *r, enum metric_id m, struct sink *to)
{
	struct pprof_out x = { .r = r, .to = to };
	struct arena *a = r->q->a;
	const int64_t *own = stacks_values(r, metrics[m].value);
	uint32_t *path = ARENA_ARRAY(a, r->n, uint32_t), comment;

	intern_init(&x.strings, a);
	intern_add_kept(&x.strings, S(""));
	x.device = intern_add_kept(&x.strings, S("device"));
	x.type = intern_add_kept(&x.strings, S("op_type"));
	pbput_init(&x.b, a);
	pbput_i64(&x.b, 2, intern_add_kept(&x.strings, stacks_unit(r, m)));
	pbput_i64(&x.b, 1, intern_add_kept(&x.strings, str_of(metrics[m].name)));
	flush(&x, PROFILE_TYPE);
	comment = intern_add_kept(&x.strings, str_of(metrics[m].pprof_comment));
	for (uint32_t i = 0; i < r->n; i++) {
		if (i % 4096 == 4095)
			work_poll(a->work);
		if (!stacks_is_frame(r, i))
			continue;
		put_place(&x, i);
		if (own[i] > 0)
			put_sample(&x, i, own[i], path);
	}
	put_strings(&x);
	pbput_varint(&x.b, comment);
	flush(&x, PROFILE_COMMENT);
	return sink_ok(to);
}
