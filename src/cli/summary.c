/* SPDX-License-Identifier: Apache-2.0
 *
 * See summary.h.
 */
#include "cli/summary.h"

#include "base/fmt.h"
#include "io/paths.h"

#define STEPS_SHOWN   12
#define DEVICES_SHOWN 8

static void put_file(struct sink *out, const char *what, struct str file)
{
	if (file.n)
		sink_fmt(out, "  %-12s %.*s\n", what, STR(file));
}

/* The profiles that were read of the folders and patterns that were given; where none is a profile,
 * the words themselves. */
static void put_profiles(struct session *s, const struct flags *f, struct sink *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->sources.n; i++)
		if (str_eq(str_of(s->sources.v[i].kind), S("profile")) && n++ < STEPS_SHOWN)
			put_file(out, n > 1 ? "" : "profile", s->sources.v[i].path);
	if (n > STEPS_SHOWN)
		sink_fmt(out, "  %-12s and %zu more\n", "", n - STEPS_SHOWN);
	for (size_t i = 0; i < f->profiles.n && i < STEPS_SHOWN && !n; i++)
		put_file(out,
		        i                                                   ? ""
		        : path_is_folder(&s->query_arena, f->profiles.v[i]) ? "folder"
		                                                            : "profile",
		        f->profiles.v[i]);
}

static void put_files(struct session *s, const struct flags *f, struct sink *out)
{
	struct strs runs = str_split(&s->query_arena, f->run_meta, ',');

	for (size_t i = 0; i < f->runs.n; i++)
		strs_add(&s->query_arena, &runs, f->runs.v[i]);
	put_file(out, "recording", f->spool);
	put_profiles(s, f, out);
	put_file(out, "graph", f->graph);
	for (size_t i = 0; i < runs.n && i < STEPS_SHOWN; i++)
		put_file(out, i ? "" : "run metadata", runs.v[i]);
	put_file(out, "op log", f->op_log);
	put_file(out, "checkpoint", f->checkpoint);
}

static void put_steps(struct session *s, struct sink *out)
{
	const struct model *m = &s->model;

	sink_fmt(out, "  %-12s %zu", "steps", (size_t)m->steps.n);
	for (size_t i = 0; i < m->step_ids.n && i < STEPS_SHOWN; i++)
		sink_fmt(out, "%s%lld", i ? ", " : ": ", (long long)m->step_ids.v[i]);
	sink_put(out, m->step_ids.n > STEPS_SHOWN ? S(", ...\n") : S("\n"));
	if (s->n_older)
		sink_fmt(out, "  %-12s %zu older %s, read when -step asks for steps of it\n", "",
		        s->n_older, s->n_older == 1 ? "file" : "files");
	for (size_t i = 0; i < m->workers.n && m->workers.n > 1 && i < STEPS_SHOWN; i++)
		sink_fmt(out, "  %-12s %.*s\n", i ? "" : "workers", STR(m->workers.v[i]));
	if (m->workers.n > STEPS_SHOWN)
		sink_fmt(out, "  %-12s and %zu more\n", "", m->workers.n - STEPS_SHOWN);
}

/* Prints the devices that nodes run on, without the streams that are recorded beside them. */
static void put_devices(struct session *s, struct sink *out)
{
	const struct model *m = &s->model;
	size_t n = 0;

	for (uint32_t i = 0; i < m->devices.n; i++) {
		if (m->devices.v[i].kind & DEVICE_ACCELERATOR)
			continue;
		if (n++ < DEVICES_SHOWN)
			sink_fmt(out, "  %-12s %.*s\n", n > 1 ? "" : "devices",
			        STR(device_name(m, i)));
	}
	if (n > DEVICES_SHOWN)
		sink_fmt(out, "  %-12s and %zu more\n", "", n - DEVICES_SHOWN);
}

struct totals {
	int64_t params, float_ops, edges;
};

static struct totals add_up(const struct model *m)
{
	struct totals t = { .edges = (int64_t)m->inputs.n };

	for (size_t i = 0; i < m->nodes.n; i++) {
		t.params = num_add(t.params, m->nodes.v[i].params);
		t.float_ops = num_add(t.float_ops, m->nodes.v[i].float_ops);
	}
	return t;
}

static void put_missing(
        const struct flags *f, const struct model *m, const struct totals *t, struct sink *out)
{
	const struct {
		bool missing;
		const char *text;
	} rows[] = {
		{ t->edges == 0 && !f->profiles.n && !f->spool.n,
		        "the graph itself: --graph_path=FILE, from tf.train.write_graph" },
		{ m->steps.n == 0 && !f->lazy_steps, "times and memory: --run_meta_path=FILE, "
		                                     "from a run with FULL_TRACE" },
		{ !m->has_traces, "lines of Python (code): --op_log_path=FILE, from "
		                  "tfprof_logger.write_op_log" },
		{ t->float_ops == 0,
		        "float operations: --op_log_path=FILE, written with run metadata" },
		{ !f->checkpoint.n, "values of variables: --checkpoint_path=FILE, from "
		                    "tf.train.Saver" },
	};
	bool any = false;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].missing)
			continue;
		if (!any)
			sink_put(out, S("\nNot loaded\n"));
		any = true;
		sink_fmt(out, "  %s\n", rows[i].text);
	}
}

bool summary_write(struct session *s, const struct flags *f, struct sink *out)
{
	const struct model *m = &s->model;
	struct sb b = sb_in(&s->query_arena);

	if (!session_seal(s))
		return false;
	struct totals t = add_up(m);
	sink_fmt(out, "\ntfprof %s\n\nLoaded\n", TFPROF_VERSION);
	put_files(s, f, out);
	sb_fmt(&b, "  %-12s %zu, ", "nodes", (size_t)m->nodes.n);
	fmt_count(&b, t.params);
	sb_put(&b, S(" parameters, "));
	fmt_count(&b, t.float_ops);
	sb_put(&b, S(" float operations\n"));
	sink_put(out, sb_str(&b));
	put_steps(s, out);
	put_devices(s, out);
	put_missing(f, m, &t, out);
	sink_put(out, m->steps.n || f->lazy_steps ? S("\nTry: scope, op -order_by micros, help\n\n")
	                                          : S("\nTry: scope -select params, op -select "
	                                              "occurrence -order_by occurrence, help\n\n"));
	return true;
}
