/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads recordings: files, facts, survey, processes, steps.
 */
#include "trace/read/recording/recording_internal.h"

static bool survey_all(struct recordings *r)
{
	uint64_t kept = 0;

	r->n = r->files->n;
	r->v = ARENA_ARRAY(r->a, r->n, struct recorded_process);
	for (size_t i = 0; i < r->n; i++) {
		const struct recording_file *f = &r->files->v[i];
		size_t slash = str_rfind_char(f->path, '/');
		r->v[i] = (struct recorded_process){ .file = f,
			.name = slash == SIZE_MAX ? f->path
			                          : str_sub(f->path, slash + 1, SIZE_MAX) };
		if (!survey_process(r, &r->v[i]))
			return false;
		kept += r->v[i].facts.fault.kept;
	}
	/* Without a single record, nothing can be recovered. */
	for (size_t i = 0; i < r->n && !kept; i++)
		if (!spool_fault_judge(&r->v[i].facts.fault, r->v[i].name, false, r->e))
			return false;
	return true;
}

static void find_origin(struct recordings *r)
{
	r->origin = UINT64_MAX;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].first < r->origin)
			r->origin = r->v[i].first;
}

/* ---- steps ---- */

/* A search for the process whose kernels may begin steps. */
struct anchors {
	struct recordings *r;
	struct recorded_process *p;
};

static void take_anchor(void *user, const struct recorded_op *op, struct recorded_call *c)
{
	const struct anchors *x = user;

	if (op->kind == SPOOL_KERNEL && x->r->names.leaves.v[op->leaf].step)
		steps_add(&x->p->steps_kernel, x->r->a, c ? c->start : op->start, S(""));
}

static bool find_anchors(struct recordings *r, struct recorded_process *p)
{
	struct anchors x = { r, p };
	struct recording_reader to = { .operation = take_anchor, .user = &x };

	return recording_operations(r, p, &to);
}

static bool decide_steps(struct recordings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->o->step_kernel.n && !find_anchors(r, &r->v[i]))
			return false;
		steps_decide(r, &r->v[i]);
	}
	if (r->o->steps_by_time)
		steps_follow(r);
	return true;
}

/* ---- all of it ---- */

bool recordings_open(struct recordings *r, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch, struct arena *a,
        struct err *e)
{
	*r = (struct recordings){ .files = files,
		.o = o,
		.a = a,
		.e = e,
		.watch = watch,
		.total = files->bytes * (o->step_kernel.n ? 3 : 2) };
	if (!names_init(&r->names, a, o, e) || !survey_all(r) || !processes_arrange(r))
		return false;
	find_origin(r);
	return decide_steps(r);
}

bool recordings_close(struct recordings *r)
{
	return names_end(&r->names, r->e);
}

bool recording_summary(struct arena *a, struct str path, struct recording_facts *out, struct err *e)
{
	struct recording_file file = { .path = path };
	struct recorded_process p = { .file = &file, .name = path };
	struct recordings r = { .a = a, .e = e };
	struct recording_feed f;
	struct spool_damage d;
	struct spool_record x;
	enum spool_event event;

	recording_facts_init(out);
	if (!feed_open(&f, &r, &p))
		return false;
	while ((event = feed_next(&f, &x, &d)) < SPOOL_EVENT_END)
		recording_facts_take(out, a, event, &x, &d);
	recording_facts_count(out, &f.get->count);
	out->size = src_at(f.s);
	feed_close(&f);
	return event == SPOOL_EVENT_END;
}

bool recording_options_check(const struct recording_options *o, struct arena *a, struct err *e)
{
	struct steps_list steps = { 0 };
	struct recording_names n;

	return names_init(&n, a, o, e) && names_end(&n, e) &&
	       steps_list_read(&steps, a, o->detail_steps, e);
}

void recordings_say_damage(const struct recordings *r, struct notes *to)
{
	for (size_t i = 0; i < r->n; i++) {
		struct sb b = sb_in(r->a);
		if (!r->v[i].facts.fault.places)
			continue;
		spool_fault_text(&b, &r->v[i].facts.fault, r->v[i].name);
		note_line(to, "warning: %.*s\n", STR(sb_str(&b)));
	}
}
