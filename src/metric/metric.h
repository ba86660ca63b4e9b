/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of metrics: the words of -select, -order_by and -min_<name>, the columns of each view,
 * and the related texts. The rows are in metric.def and nowhere else.
 */
#ifndef TFPROF_METRIC_METRIC_H
#define TFPROF_METRIC_METRIC_H

#include "base/err.h"
#include "model/step.h"

/* Kinds of views, in the order of view.def. */
enum vk {
#define VIEW(id, ...) VK_##id,
#include "metric/view.def"
#undef VIEW
	VK_N
};

/* Sets of columns. Views with the same columns share a set. */
enum column_set { COLUMNS_TREE, COLUMNS_OP, COLUMNS_CODE, COLUMNS_N };

enum metric_id {
#define ROW(id, ...) M_##id,
#include "metric/metric.def"
#undef ROW
	M_N,
	M_NONE = M_N
};

enum on { ON_NOTHING, ON_SELF, ON_TOTAL, ON_NODES };
enum unit {
	UNIT_TEXT,
	UNIT_COUNT,
	UNIT_TIME, /* microseconds */
	UNIT_BYTES,
	UNIT_OCCURRENCE,
	UNIT_DEVICES,
	UNIT_TYPES,
	UNIT_INPUT_SHAPES,
	UNIT_TENSOR,
	UNIT_HIDDEN,
	UNIT_PERCENT
};
enum {
	USE_SELECT = 1,
	USE_ORDER = 2,
	USE_MIN = 4,
	USE_PPROF = 8,
	USE_MEMORY = 16 /* only memory snapshots have it, and no other columns */
};

struct metric_in {           /* presentation of the metric in one set of columns */
	uint8_t rank;        /* position of its column; 0: never shown */
	uint8_t min_on;      /* the number that -min_<name> tests */
	uint8_t order_on;    /* the number that -order_by compares; ON_NOTHING: the name */
	const char *legend;  /* NULL: no legend entry */
	const char *suffix;  /* text after a count */
	const char *instead; /* fixed cell text */
};

struct metric {
	const char *name;
	enum value value; /* V_NONE for names, devices, types and shapes */
	enum unit unit;
	unsigned uses;
	unsigned brings; /* bits of the metrics whose columns are shown along with it */
	struct metric_in in[COLUMNS_N];
	const char *doc[4];
	const char *pprof_unit, *pprof_comment;
};

#define METRIC_BIT(id) (1u << (id))
extern const struct metric metrics[M_N];

/* Returns the presentation of a metric in a view. */
const struct metric_in *metric_in(const struct metric *m, enum vk view);

static inline enum quantity unit_quantity(enum unit u)
{
	return u == UNIT_BYTES ? QUANTITY_BYTES : u == UNIT_TIME ? QUANTITY_TIME : QUANTITY_COUNT;
}

static inline enum quantity metric_quantity(enum metric_id m)
{
	return unit_quantity(metrics[m].unit);
}

/* Returns the unit of a metric's numbers. An occurrence is a count. */
static inline enum unit metric_unit(enum metric_id m)
{
	return metrics[m].unit == UNIT_OCCURRENCE ? UNIT_COUNT : metrics[m].unit;
}

/* Returns the metric with a name and all bits of `uses`, or M_NONE. */
enum metric_id metric_find(struct str name, unsigned uses);

/* Lists the columns of a selection in the view's print order. Returns their number. order must have
 * room for M_N elements. */
size_t metric_columns(unsigned select, enum vk view, enum metric_id *order);

/* Lists the selected metrics in byte order of their names (the order of Doc lines and of dumps). */
size_t metric_sorted(unsigned select, enum metric_id *order);

/* Appends the names of the metrics with all bits of `uses`, in table order, joined by `between`. */
void metric_names(struct sb *b, unsigned uses, const char *between);

/* ---- nearest ----
 *
 * Errors for unknown words, with a suggestion.
 */

/* Fails with "-<option>: '<word>' is not known; did you mean ...? Valid values are ..." */
bool unknown_word(struct err *e, const char *option, struct str word, const struct strs *known);

/* Fails like unknown_word, but with a given suggestion, or none, instead of the nearest word. */
bool unknown_word_near(struct err *e, const char *option, struct str word, struct str near,
        const struct strs *known);

/* Fails with "<owner> has no option '<word>'; did you mean '<near>'?", or "unknown option ..."
 * without an owner. has: text that is used if near is empty; lists the existing options, such as
 * "it has --level". */
bool unknown_option(
        struct err *e, struct str owner, struct str word, struct str near, struct str has);

/* Returns the candidate nearest to a word, or an empty text if none is near. */
struct str nearest_word(struct str word, const struct str *candidates, size_t n);
/* Returns the metric for a word of other programs, such as flops; an empty text if there is
 * none. */
struct str nearest_metric(struct str word, unsigned use);

#endif
