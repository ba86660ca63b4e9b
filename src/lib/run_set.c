/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands for the options of a session, and its end: set, reset, help, quit.
 */
#include "lib/options.h"

bool run_set(struct session *s, const struct request *r, struct sink *out)
{
	struct sb b = sb_in(&s->query_arena);

	session_set(s, &r->opts);
	if (r->show_all)
		opts_dump_all(&b, &s->sticky);
	else if (r->prompt && !r->given.n && !r->shown.n)
		if (!opts_dump_set(&b, &s->sticky))
			sb_put(&b, S("nothing is set; set -all shows all options\n"));
	for (size_t i = 0; i < r->shown.n && !r->show_all; i++)
		opts_dump_one(&b, &s->sticky, view_option(r->shown.v[i]));
	sink_put(out, sb_str(&b));
	return true;
}

bool run_reset(struct session *s, const struct request *r, struct sink *out)
{
	struct opts o;

	(void)r;
	(void)out;
	opts_preset(&o, &s->query_arena);
	session_set(s, &o);
	return true;
}

/* Does nothing, because the read loop stops on command->ends. */
bool run_quit(struct session *s, const struct request *r, struct sink *out)
{
	(void)s;
	(void)r;
	(void)out;
	return true;
}

bool run_help(struct session *s, const struct request *r, struct sink *out)
{
	const struct command *c = r->help && r->topics.n ? cmd_find(s, r->topics.v[0]) : NULL;

	if (!c)
		return help_write(s, &r->topics, out);
	help_write_short(s, c, out);
	return true;
}
