/* SPDX-License-Identifier: Apache-2.0
 *
 * Flaws of a JSON trace: each kind is counted, and reported once with its first place.
 */
#include <inttypes.h>

#include "trace/read/chrome/chrome_json.h"

static const char *const texts[FLAW_N] = {
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text */
	[FLAW_TRUNCATED] = "truncated: the file ends inside an event or list; all complete events "
	                   "were read",
	[FLAW_TRUNCATED_GZIP] = "truncated gzip data: all complete events before the damage were "
	                        "read",
	[FLAW_DAMAGED_GZIP] = "damaged gzip data: the complete events in them were read and may be "
	                      "wrong",
	[FLAW_QUOTE] = "unescaped quote in a string: repaired",
	[FLAW_DAMAGED] = "damaged event: skipped up to the next event",
	[FLAW_DEPTH] =
	        "depth limit: nested more than 512 levels deep: skipped up to the next event",
	[FLAW_DUPLICATE] = "duplicate key: the last value counts",
	[FLAW_OVERFLOW] = "integer overflow: the number is ignored",
	[FLAW_NEGATIVE] = "negative duration: counts as 0",
	[FLAW_TIMELESS] = "event without a time: ignored",
	[FLAW_CONCATENATED] = "concatenated JSON texts: all were read",
	[FLAW_TRAILING] = "text after the end of the JSON: ignored",
};
_Static_assert(JSON_IN_DEPTH_MAX == 512, "the text of FLAW_DEPTH says so");

void chrome_flaw(struct chrome *c, enum chrome_flaw flaw, const char *at)
{
	c->flaws.any = true;
	if (!c->flaws.found[flaw])
		c->flaws.found[flaw] = 1 + json_in_at(&c->json, at);
}

static void take_flaws(struct chrome *c)
{
	struct chrome_flaws *f = &c->flaws;
	const char *item = (const char *)c->json.s->p;

	for (unsigned k = 0; k < FLAW_N; k++) {
		struct json_flaw_count *n = &f->count[k];
		if (!f->found[k])
			continue;
		if (!n->items++) {
			n->at = f->found[k] - 1;
			n->line = json_in_line(&c->json, item + (n->at - src_at(c->json.s)));
		}
		f->found[k] = 0;
	}
	f->any = false;
}

void chrome_take(struct chrome *c)
{
	if (c->flaws.any)
		take_flaws(c);
	json_in_take(&c->json);
}

bool chrome_more(struct chrome *c)
{
	if (!json_in_more(&c->json))
		return false;
	memset(c->flaws.found, 0, sizeof c->flaws.found);
	c->flaws.any = false;
	return true;
}

/* Fails with the first flaw of a list. */
static bool fail_with(
        struct chrome *c, const struct json_flaw_count *f, const char *const *of, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		if (f[k].items)
			return err_set(err_at(c->e, c->json.s->name, f[k].at), ERR_DATA_LOSS,
			        "%.*s: no event could be read: %s (line %" PRIu64 ", byte %" PRIu64
			        ")",
			        STR(c->json.s->name), of[k], f[k].line, f[k].at);
	return true;
}

bool chrome_flaws_end(struct chrome *c)
{
	const struct json_flaw_count *f = c->flaws.count;
	unsigned noted = 0;

	if (!c->events)
		return fail_with(c, c->json.found, json_flaw_texts, JSON_FLAW_N) &&
		       fail_with(c, f, texts, FLAW_N);
	json_in_note_flaws(&c->json, &noted, build_notes(c->b));
	for (unsigned k = 0; k < FLAW_N; k++) {
		struct str more = S("");
		if (!f[k].items)
			continue;
		if (f[k].items > 1)
			more = str_fmt(c->a, "; %" PRIu64 " in all", f[k].items);
		note_line(build_notes(c->b),
		        "note: %.*s: %s (line %" PRIu64 ", byte %" PRIu64 "%.*s)\n",
		        STR(c->json.s->name), texts[k], f[k].line, f[k].at, STR(more));
	}
	return true;
}

/* Returns the name of an unused phase of events. */
static const char *phase_name(char phase)
{
	switch (phase) {
	case 's':
	case 't':
	case 'f': return "flow events";
	case 'N':
	case 'O':
	case 'D': return "events of objects";
	case 'v':
	case 'V': return "memory dumps";
	case 'P':
	case 'p': return "samples";
	case 'c': return "clock synchronizations";
	default: return "events of unknown phases";
	}
}

void chrome_count_unused(struct chrome *c)
{
	struct src *s = c->json.s;

	for (int i = 0; i < 128; i++)
		src_count_unused(s, str_of(phase_name((char)i)), c->skipped[i]);
	for (uint32_t i = 0; i < c->other_names.n; i++)
		src_count_unused(s,
		        str_fmt(c->a, "events of the category %.*s",
		                STR(intern_str(&c->other_names, i))),
		        c->other_counts.v[i]);
	src_count_unused(s, S("events without a time"), c->flaws.count[FLAW_TIMELESS].items);
	src_count_unused(s, S("damaged places"),
	        c->flaws.count[FLAW_DAMAGED].items + c->flaws.count[FLAW_DEPTH].items);
}
