/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a recording into a model. trace/read/recording/recordings.h provides the operations; the
 * files recording_*.c here add them up per node and step.
 */
#include "model/read/read.h"

#include "model/read/recording_place.h"
#include "trace/trace_build.h"

/* Makes the label of an operation, before the operation is matched with its call. */
static void take_record(void *user, const struct recording_feed *f, const struct spool_record *x,
        struct recorded_op *op)
{
	const struct lowering_process *l = user;

	(void)f;
	switch (x->kind) {
	case SPOOL_KERNEL: op->label = labels_kernel(l->r, op->leaf, &x->kernel); break;
	case SPOOL_COPY: op->label = labels_copy(l->r, op->leaf, &x->copy); break;
	case SPOOL_SET: op->label = labels_set(l->r, op->leaf, &x->set); break;
	default: break;
	}
}

static void take_operation(void *user, const struct recorded_op *op, struct recorded_call *c)
{
	const struct lowering_process *l = user;

	place_op(l->r, l->p, op, c);
}

static bool place_process(struct recording_lowering *r, struct recorded_process *p)
{
	struct lowering_process l = { r, p };
	struct recording_reader to = { .operation = take_operation, .user = &l };

	if (ingest_model(r->to)->keep_annotations)
		to.record = take_record;
	return recording_operations(&r->all, p, &to);
}

/* Assigns the operations of every process to nodes and steps. If a process launched no work in any
 * of its steps, drops these steps: all of its work is then step 0. */
static bool place_all(struct recording_lowering *r)
{
	for (size_t i = 0; i < r->all.n; i++) {
		struct recorded_process *p = &r->all.v[i];
		if (!place_process(r, p))
			return false;
		if (!p->placed && p->outside && !p->follows) {
			recording_forget_steps(p);
			if (!place_process(r, p))
				return false;
		}
		if (r->all.o->by_op)
			place_ranges(r, p);
	}
	return true;
}

bool recording_lower(struct ingest *to, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch,
        const struct trace *path, struct src_facts *facts, struct arena *a, struct err *e)
{
	struct recording_lowering *r = ARENA_NEW(a, struct recording_lowering);

	r->to = to;
	r->a = a;
	r->path = path ? path_find(path, a) : NULL;
	imap_init(&r->label_of, a);
	if (!recordings_open(&r->all, files, o, watch, a, e) || !place_begin(r) || !place_all(r) ||
	        !recordings_close(&r->all))
		return false;
	place_rest(r);
	emit_model(r);
	recordings_describe(&r->all, facts);
	recordings_say(&r->all, r->place->summed && !r->place->keep_all, ingest_notes(to));
	return true;
}

bool recording_lower_graphs(struct ingest *to, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch,
        const struct graph_source *graphs, struct arena *a, struct err *e)
{
	struct trace *t = trace_new(ingest_model(to)->a);
	struct model_trace kept = { .t = t };
	struct recording_options how = *o;
	const struct recording_request request = { .wants = ARG_BITS_ALL,
		.watch = watch,
		.say = true,
		.graphs = graphs,
		.join = graph_join };

	how.step_implied = true;
	if (!recording_trace(t, files, &how, &request, ingest_notes(to), e))
		return false;
	trace_lower(t, TRACE_BY_PATH, false, to, &kept, a);
	ingest_keep_trace(to, &kept);
	return true;
}

/* Reads one recorded file with default options, for a file that the library passes in memory. */
bool read_spool(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct recording_options o = { .recover = s->damage->recover };
	struct recording_file file = { .path = s->name, .given = s };
	struct recording_set all = { .v = &file, .n = 1 };

	return recording_lower(to, &all, &o, NULL, NULL, s->facts, a, e);
}
