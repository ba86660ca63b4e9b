/* SPDX-License-Identifier: Apache-2.0
 *
 * The text before the rows of a view.
 */
#include "export/out.h"

static const char *const MISSING_STREAMS =
        "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
        "It's likely a gpu tracing issue rather than tf-profiler issue.\n"
        "If you found your operation missing accelerator time, consider to post to "
        "discuss@tensorflow.org!\n\n";

/* Writes the lines of the selected metrics, in byte order of their names; unknown names are
 * included. */
static void put_metrics(struct sink *to, struct arena *a, const struct select *s)
{
	enum metric_id order[M_N];
	size_t n = metric_sorted(s->metrics, order);

	if (!n && !s->unknown.n)
		sink_char(to, '\n');

	for (size_t i = 0, j = 0; i < n || j < s->unknown.n;) {
		if (i == n || (j < s->unknown.n && str_cmp(s->unknown.v[j],
		                                           str_of(metrics[order[i]].name)) < 0)) {
			sink_sentence(
			        to, a, str_fmt(a, "Unknown select: %.*s", STR(s->unknown.v[j])));
			j++;
			continue;
		}
		const char *const *doc = metrics[order[i++]].doc;
		for (size_t k = 0; k < 4 && doc[k]; k++)
			sink_sentence(to, a, str_of(doc[k]));
	}
}

/* Writes nothing to a terminal about inputs that the original cannot read: the block fills half of
 * a screen, and 'help columns' explains them. */
void doc_write(struct sink *to, struct arena *a, const struct query *q)
{
	if (q->o->quiet || (q->o->new_input && sink_takes_lines(to)))
		return;
	if (q->m->misses_streams)
		sink_put(to, str_of(MISSING_STREAMS));
	sink_put(to, S("\nDoc:\n"));
	sink_sentence(to, a, str_of(views[q->tree->kind].doc));
	put_metrics(to, a, &q->o->select);
	sink_put(to, S("\nProfile:\n"));
}
