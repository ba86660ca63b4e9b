/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the operations of TensorFlow that read, decode and deliver inputs.
 */
#include "view/advise.h"

#include "base/fmt.h"

/* Parts of the types of such operations: at the start, or anywhere. */
static const char *const starts[] = { "Decode", "Iterator", "MultiDeviceIterator",
	"OneShotIterator", "ParseExample", "ParseSequenceExample", "ParseSingle", "ReadFile",
	"ReaderRead" };
static const char *const parts[] = { "Dataset", "QueueDequeue", "RecordReader", "FileReader",
	"TextLineReader" };

static bool reads_inputs(struct str type)
{
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (str_starts(type, str_of(starts[i])))
			return true;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (str_contains(type, str_of(parts[i])))
			return true;
	return false;
}

static void put_time(struct sb *b, const struct result *r, int64_t v, int64_t all)
{
	fmt_fraction(b, QUANTITY_TIME, model_fraction(r->q->m, r->q->over, V_MICROS, v));
	advise_put_share(b, v, all);
}

void advise_inputs(struct advise *ask, const struct result *r, struct strs *reports)
{
	enum value of = ask->m->parallel_times ? V_CPU_MICROS : V_MICROS;
	int64_t sum = 0, all = r->root.v[of];
	struct sb b = sb_in(ask->a), types = sb_in(ask->a);
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++) { /* the largest first */
		struct str type = view_name(r->q, r->shown[i].kept);
		int64_t v = r->shown[i].self->v[of];
		if (v <= 0 || !reads_inputs(type))
			continue;
		sum = num_add(sum, v);
		if (n++ >= ask->rows)
			continue;
		sb_fmt(&types, "\n  %.*s: ", STR(type));
		put_time(&types, r, v, all);
	}
	if (!n)
		return;
	sb_put(&b, S("operations that read and decode inputs: "));
	put_time(&b, r, sum, all);
	sb_put(&b, sb_str(&types));
	strs_add(ask->a, reports, sb_str(&b));
}
