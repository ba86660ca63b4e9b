/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of metrics: every row is complete, and columns and Doc lines are generated from it.
 */
#include "unit.h"

#include "metric/metric.h"

/* Walks all rows: a row must have everything that its uses require. */
static void test_rows_are_complete(void **state)
{
	(void)state;
	for (enum metric_id i = 0; i < M_N; i++) {
		const struct metric *m = &metrics[i];
		assert_non_null(m->name);
		assert_true(m->uses != 0);
		if (m->uses & USE_MIN)
			assert_true(m->value != V_NONE);
		if (m->uses & USE_SELECT)
			assert_non_null(m->doc[0]);
		if (m->uses & USE_PPROF) {
			assert_non_null(m->pprof_unit);
			assert_non_null(m->pprof_comment);
		}
		for (enum column_set v = 0; v < COLUMNS_N; v++) {
			assert_true(m->in[v].rank == 0 || (m->uses & USE_SELECT));
			if (m->uses & USE_MIN)
				assert_true(m->in[v].rank != 0);
			assert_non_null(m->in[v].suffix);
		}
		for (enum metric_id j = 0; j < i; j++)
			assert_string_not_equal(m->name, metrics[j].name);
	}
}

static void test_find_looks_at_uses(void **state)
{
	(void)state;
	assert_int_equal(metric_find(S("bytes"), USE_SELECT), M_BYTES);
	assert_int_equal(metric_find(S("name"), USE_ORDER), M_NAME);
	assert_int_equal(metric_find(S("name"), USE_SELECT), M_NONE);
	assert_int_equal(metric_find(S("device"), USE_ORDER), M_NONE);
	assert_int_equal(metric_find(S("byte"), USE_SELECT), M_NONE);
}

/* `micros` selects two more columns, and each column only once. */
static void test_columns_of_micros(void **state)
{
	enum metric_id order[M_N];

	(void)state;
	size_t n = metric_columns(METRIC_BIT(M_MICROS) | METRIC_BIT(M_CPU_MICROS), VK_SCOPE, order);
	assert_int_equal(n, 3);
	assert_int_equal(order[0], M_MICROS);
	assert_int_equal(order[1], M_ACCELERATOR_MICROS);
	assert_int_equal(order[2], M_CPU_MICROS);
}

static void test_order_of_columns_differs_by_view(void **state)
{
	enum metric_id order[M_N];
	unsigned both = METRIC_BIT(M_BYTES) | METRIC_BIT(M_PARAMS);

	(void)state;
	metric_columns(both, VK_GRAPH, order);
	assert_int_equal(order[0], M_PARAMS);
	metric_columns(both, VK_OP, order);
	assert_int_equal(order[0], M_BYTES);
}

static void test_sorted_by_name(void **state)
{
	enum metric_id order[M_N];
	size_t n = metric_sorted((1u << M_N) - 1, order);

	(void)state;
	assert_int_equal(n, M_N);
	for (size_t i = 1; i < n; i++)
		assert_true(strcmp(metrics[order[i - 1]].name, metrics[order[i]].name) < 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_rows_are_complete),
		unit_case(test_find_looks_at_uses),
		unit_case(test_columns_of_micros),
		unit_case(test_order_of_columns_differs_by_view),
		unit_case(test_sorted_by_name),
	};

	return unit_main(tests, argc, argv);
}
