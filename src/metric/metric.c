/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the table of metrics.
 */
#include "metric/metric.h"

#define DOC_CPU                                                                                    \
	"cpu execution time: The time from the start to the end of the operation. It's the sum "   \
	"of actual cpu run time plus the time that it spends waiting if part of computation is "   \
	"launched asynchronously."
#define DOC_ACCELERATOR                                                                            \
	"accelerator execution time: Time spent executing on the accelerator. This is normally "   \
	"measured by the actual hardware library."

#define IN(...)                                                                                    \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define NOT_SHOWN                                                                                  \
	{                                                                                          \
		0, ON_NOTHING, ON_NOTHING, NULL, "", NULL                                          \
	}
#define DOC(...)                                                                                   \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define BIT(id) METRIC_BIT(M_##id)
#define ROW(id, name, title, value, unit, uses, brings, tree, op, code, doc, pprof_unit,           \
        pprof_comment)                                                                             \
	{ name, value, unit, uses, brings, { tree, op, code }, doc, pprof_unit, pprof_comment },
const struct metric metrics[M_N] = {
#include "metric/metric.def"
};
#undef ROW

const struct metric_in *metric_in(const struct metric *m, enum vk view)
{
	static const enum column_set columns[VK_N] = {
#define VIEW(id, name, columns, ...) columns,
#include "metric/view.def"
#undef VIEW
	};

	return &m->in[columns[view]];
}

enum metric_id metric_find(struct str name, unsigned uses)
{
	for (enum metric_id i = 0; i < M_N; i++)
		if ((metrics[i].uses & uses) == uses && str_eq(str_of(metrics[i].name), name))
			return i;
	return M_NONE;
}

size_t metric_columns(unsigned select, enum vk view, enum metric_id *order)
{
	unsigned columns = select;
	size_t n = 0;

	for (enum metric_id i = 0; i < M_N; i++)
		if (select & METRIC_BIT(i))
			columns |= metrics[i].brings;
	for (unsigned rank = 1; rank < M_N; rank++)
		for (enum metric_id i = 0; i < M_N; i++)
			if ((columns & METRIC_BIT(i)) && metric_in(&metrics[i], view)->rank == rank)
				order[n++] = i;
	return n;
}

size_t metric_sorted(unsigned select, enum metric_id *order)
{
	size_t n = 0;

	for (enum metric_id i = 0; i < M_N; i++) {
		if (!(select & METRIC_BIT(i)))
			continue;
		size_t at = n++;
		for (; at > 0 && strcmp(metrics[order[at - 1]].name, metrics[i].name) > 0; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return n;
}

void metric_names(struct sb *b, unsigned uses, const char *between)
{
	size_t n = 0;

	for (enum metric_id i = 0; i < M_N; i++)
		if ((metrics[i].uses & uses) == uses)
			sb_fmt(b, "%s%s", n++ ? between : "", metrics[i].name);
}
