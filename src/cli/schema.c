/* SPDX-License-Identifier: Apache-2.0
 *
 * The command schema.
 */
#include "cli/program.h"
#include "lib/schemas.h"

static bool unknown(struct session *s, struct str name)
{
	struct strs names = { 0 };

	for (const struct schema *x = schemas; x->name; x++)
		strs_add(&s->query_arena, &names, str_of(x->name));
	struct str near = nearest_word(name, names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "no schema is named '%.*s'; did you mean '%.*s'?", STR(name), STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "no schema is named '%.*s'; 'schema' lists the schemas", STR(name));
}

bool run_schema(struct session *s, const struct request *r, struct sink *out)
{
	struct option_words w = { .command = r->command };

	if (!options_read(s, &r->topics, &w))
		return false;
	if (w.rest.n > 1)
		return session_fail(s, ERR_INVALID_ARGUMENT, "schema takes one name: schema NAME");
	for (const struct schema *x = schemas; x->name; x++) {
		if (!w.rest.n)
			sink_fmt(out, "%s\n", x->name);
		else if (str_eq(w.rest.v[0], str_of(x->name)))
			return sink_put(out, str_of(x->text)), true;
	}
	return !w.rest.n || unknown(s, w.rest.v[0]);
}
