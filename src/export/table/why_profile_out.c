/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of "why" about a profile of TensorFlow, as text and as a document.
 */
#include "export/table/why_profile_out.h"

#define BUSY_SHARE  80.0 /* a device that is busy for a larger share determines the step */
#define INPUT_SHARE 20.0 /* reading input is named if it takes a larger share of all operations */
#define NAME_ROOM   60   /* maximum width of a name in the verdict */

#define REASON                                                                                     \
	"a TensorFlow profile does not say which operation waited for which, so nothing can "      \
	"be replayed"

struct profile_text {
	const struct why_profile *p;
	const struct origin *from;
	struct arena *a;
	unsigned columns;
};

/* A row of the table of operations. */
static struct str op_name(const struct table *x, size_t row)
{
	return x->cells.v[(row + 1) * x->n_columns - 1].text;
}

static double op_percent(const struct table *x, size_t row)
{
	return (double)x->cells.v[row * x->n_columns + 1].number / 100;
}

/* True for an operation that reads or decodes input, or waits in a queue for it. */
static bool reads_input(struct str name)
{
	static const char *const words[] = { "IteratorGetNext", "Dequeue", "QueueEnqueue",
		"ReaderRead", "ReadFile", "DecodeJpeg", "DecodePng", "DecodeRaw", "DecodeCSV",
		"DecodeImage", "ParseExample", "ParseSingleExample", "TFRecord", "PyFunc",
		"shuffle_batch" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_contains(name, str_of(words[i])))
			return true;
	return false;
}

static void put_op(struct sb *b, const struct table *x, size_t row)
{
	sb_put_name(b, table_shorten(b->a, op_name(x, row), NAME_ROOM));
}

/* Appends the operations that read input, and the one that takes the most time. */
static void put_input(struct sb *b, const struct table *x, double percent)
{
	size_t first = 0;

	while (!reads_input(op_name(x, first)))
		first++;
	sb_fmt(b, "operations that read input take %.1f%% of the time of all operations, mostly ",
	        percent);
	put_op(b, x, first);
}

static void put_device(struct sb *b, const struct device_summary *d)
{
	sb_put_name(b, table_shorten(b->a, d->name, NAME_ROOM));
	sb_fmt(b, " is busy for %.1f%% of all steps (", 100 * (double)d->busy / (double)d->window);
	table_put_time(b, d->window);
	sb_fmt(b, ")");
}

static struct str verdict_of(const struct why_profile *p, struct arena *a)
{
	const struct device_summary *d = p->device;
	double busy = d ? 100 * (double)d->busy / (double)d->window : 0, input = 0;
	const struct table *x = p->ops;
	struct sb b = { .a = a };

	for (size_t i = 0; i < x->rows; i++)
		input += reads_input(op_name(x, i)) ? op_percent(x, i) : 0;
	bool waits = input > INPUT_SHARE && busy < BUSY_SHARE;
	sb_fmt(&b, "%s",
	        waits                ? "Probably input-bound: "
	        : busy >= BUSY_SHARE ? "Device-bound: "
	                             : "");
	if (d)
		put_device(&b, d);
	else
		sb_fmt(&b, "the operations ran on the CPU");
	sb_fmt(&b, "; ");
	if (waits) {
		put_input(&b, x, input);
	} else {
		put_op(&b, x, 0);
		sb_fmt(&b, " takes %.1f%% of the time of all operations", op_percent(x, 0));
	}
	return sb_str(&b);
}

static struct str command_of(const struct profile_text *t, const char *name)
{
	struct sb b = { .a = t->a };

	sb_fmt(&b, "tfprof %s", name);
	for (size_t i = 0; i < t->from->n; i++) {
		sb_fmt(&b, " ");
		sb_put_word(&b, t->from->v[i].path);
	}
	return sb_str(&b);
}

static void put_text(const struct profile_text *t, bool md, struct sink *to)
{
	unsigned columns = md ? 0 : t->columns;

	sink_wrap(to, verdict_of(t->p, t->a), columns, 2);
	sink_wrap(to, S("not judged: " REASON), columns, 2);
	sink_fmt(to, "\n");
	table_put_text(t->p->ops, SUMMARY_ROWS, columns, to);
	sink_fmt(to, md ? "\nNext: `%.*s`\n" : "\nNext: %.*s\n", STR(command_of(t, "advise")));
}

/* ---- outputs ---- */

static struct profile_text text_of(const struct exported *x, struct emit *to)
{
	const struct profile_text *shown = x->of;
	struct profile_text t = *shown;

	t.a = to->a;
	t.from = &to->from;
	return t;
}

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct profile_text t = text_of(x, to);

	(void)e;
	put_text(&t, false, s);
	return true;
}

static void put_numbers(struct document *d, const struct why_profile *p)
{
	int64_t window = p->device ? p->device->window : 0;

	document_i64(d, "step_ns", p->step);
	document_i64(d, "window_ns", window);
	document_fraction(d, "busy",
	        (struct fraction){ p->device ? p->device->busy : 0, window ? window : 1 });
	document_i64(d, "not_known_ns", window);
	document_i64(d, "no_cause_ns", 0);
	document_fraction(d, "model_error", (struct fraction){ 0, 1 });
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct profile_text t = text_of(x, to);
	struct table rows;
	struct document d;

	(void)e;
	document_open(&d, s, to, "tfprof/why", WHY_VERSION);
	document_text(&d, "verdict", verdict_of(t.p, t.a));
	document_text(&d, "cause", S("unknown"));
	document_text(&d, "of", S("all steps"));
	put_numbers(&d, t.p);
	document_key(&d, "causes");
	json_array(&d.j);
	json_array_end(&d.j);
	document_key(&d, "not_judged");
	json_array(&d.j);
	for (int i = 0; i < WHY_IDS; i++) {
		json_object(&d.j);
		document_text(&d, "id", str_of(why_rows[i].id));
		document_text(&d, "reason", S(REASON));
		json_object_end(&d.j);
	}
	json_array_end(&d.j);
	why_no_rows(&rows, t.a);
	table_put_document_rows(&d, &rows, 0);
	document_end(&d);
	return true;
}

static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	const struct profile_text t = text_of(x, to);
	struct table rows;

	(void)e;
	why_no_rows(&rows, t.a);
	if (form == SHEET_MD)
		put_text(&t, true, s);
	else
		table_put_sheet(&rows, 0, form, s);
	return true;
}

bool why_profile_write(const struct why_profile *p, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e)
{
	const struct profile_text shown = { .p = p,
		.columns = columns ? columns : WHY_PLAIN_COLUMNS };
	struct exported x = { .kind = RESULT_GPU,
		.name = "why",
		.of = &shown,
		.output = &o->output,
		.text = as_text,
		.document = as_document,
		.rows = as_rows };

	return out_export(&x, to, e);
}
