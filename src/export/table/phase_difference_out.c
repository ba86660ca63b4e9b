/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a table for each number.
 */
#include "export/table/phase_difference_out.h"

#include "export/table/table.h"

enum { LEFT, RIGHT, RUNS };

/* A number that describes a phase of one run. */
struct phase_number {
	bool known;
	int64_t v; /* ns, or hundredths of a token per second */
};

/* A table: the function that finds its numbers, and its columns, whose names contain the unit. */
struct phase_row {
	struct phase_number (*find)(const struct phase *p);
	const char *key, *title;
	const struct column *columns;
};

static struct phase_number find_time(const struct phase *p)
{
	return (struct phase_number){ p->steps, p->mean };
}

static struct phase_number find_rate(const struct phase *p)
{
	bool known = p->tokens >= 0 && p->total > 0;
	double rate = known ? (double)p->tokens * 1e9 / (double)p->total : 0;

	return (struct phase_number){ known, (int64_t)(rate * 100 + 0.5) };
}

/* Returns the mean busy time per step, summed over the devices. */
static struct phase_number find_busy(const struct phase *p)
{
	return (struct phase_number){ p->steps, p->steps ? p->busy / num_from_u64(p->steps) : 0 };
}

#define COLUMNS_OF(type, unit, suffix)                                                             \
	TEXT_COLUMN("phase"), NUMBER_COLUMN("left_steps", NULL),                                   \
	        NUMBER_COLUMN("right_steps", NULL), type("left" suffix, unit),                     \
	        type("right" suffix, unit), type("difference" suffix, unit),                       \
	        REAL_COLUMN("change", "percent")
static const struct column times[] = { COLUMNS_OF(NUMBER_COLUMN, "ns", "_ns") };
static const struct column rates[] = { COLUMNS_OF(REAL_COLUMN, "count/s", "_per_second") };
static const char *const titles[] = { "phase", "A steps", "B steps", "A", "B", "difference",
	"change" };
static const struct phase_row rows[] = {
	{ find_time, "step_time", "Mean time of a step", times },
	{ find_rate, "tokens", "Tokens per second", rates },
	{ find_busy, "busy", "Busy time of a step, all devices added up", times },
};

/* Returns the phase with an id, or NULL if the run has no steps of this phase. */
static const struct phase *phase_of(const struct phases *x, enum serving_phase id)
{
	for (size_t i = 0; i < x->list.n; i++)
		if (x->list.v[i].phase == id)
			return &x->list.v[i];
	return NULL;
}

static void fill_phase(
        struct table *to, const struct phase_row *row, const struct phase *const *runs)
{
	struct phase_number v[RUNS] = { 0 };

	for (int i = 0; i < RUNS; i++)
		if (runs[i])
			v[i] = row->find(runs[i]);
	bool both = v[LEFT].known && v[RIGHT].known;
	int64_t more = num_sub(v[RIGHT].v, v[LEFT].v);
	table_text(to, str_of(serving_phases[(runs[LEFT] ? runs[LEFT] : runs[RIGHT])->phase]));
	for (int i = 0; i < RUNS; i++)
		table_count(to, runs[i] ? runs[i]->steps : 0);
	for (int i = 0; i < RUNS; i++)
		table_number_if(to, v[i].known, v[i].v);
	table_number_if(to, both, more);
	table_number_if(to, both && v[LEFT].v > 0, table_share(more, v[LEFT].v));
	to->rows++;
}

bool phase_difference_write(const struct phases *left, const struct phases *right,
        const struct opts *o, unsigned columns, struct emit *to, struct err *e)
{
	struct table v[N_COLUMNS(rows)];

	for (size_t i = 0; i < N_COLUMNS(rows); i++) {
		v[i] = (struct table){ .a = to->a,
			.key = rows[i].key,
			.title = rows[i].title,
			.columns = rows[i].columns,
			.titles = titles,
			.n_columns = N_COLUMNS(times) };
		for (int id = 0; id < PHASE_N; id++) {
			const struct phase *runs[RUNS] = { phase_of(left, (enum serving_phase)id),
				phase_of(right, (enum serving_phase)id) };
			if (runs[LEFT] || runs[RIGHT])
				fill_phase(&v[i], &rows[i], runs);
		}
	}
	v[0].command = "diff";
	v[0].schema = "tfprof/diff-phases";
	v[0].version = 2;
	v[0].lead = str_fmt(to->a, "%s:\n", rows[0].title);
	v[0].sections = v + 1;
	v[0].n_sections = N_COLUMNS(rows) - 1;
	return table_write(&v[0], 0, &o->output, columns, to, e);
}
