/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "version": the build and the libraries.
 */
#include "cli/program.h"

#include "lib/libraries.h"

#ifndef LIBEDIT_VERSION
#define LIBEDIT_VERSION ""
#endif
#ifndef NCURSES_VERSION
#define NCURSES_VERSION ""
#endif

/* Adds the CUPTI library that a recorded program would load. */
static void add_cupti(struct libraries *l, struct arena *a)
{
	struct cupti_found f;

	if (!cupti_find(a, 0, &f)) {
		libraries_add(l, "cupti", false, STR_NONE, "not found at run time");
		return;
	}
	struct str version = f.cuda ? str_fmt(a, "CUDA %d.%d", f.cuda / 1000, f.cuda % 1000 / 10)
	                            : S("version unknown");
	libraries_add(
	        l, "cupti", false, version, str_z(a, str_fmt(a, "found as %.*s", STR(f.path))));
}

bool version_write(struct session *s, const struct strs *words, struct sink *out)
{
	struct strs no_flags = { 0 };
	struct request r = { .opts = s->sticky };
	struct libraries l;

	if (words->n && !cmd_parse(s, words, &no_flags, &r))
		return false;
	const struct output *o = &r.opts.output;
	if ((o->kind != OUT_STDOUT && o->kind != OUT_JSON) || o->outfile.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--version: unknown output '%s': stdout or json expected",
		        output_rows[o->kind].name);
	libraries_list(&l);
	libraries_add(
	        &l, "libedit", HAVE_LIBEDIT, HAVE_LIBEDIT ? S(LIBEDIT_VERSION) : STR_NONE, "");
	libraries_add(&l, "ncurses", HAVE_NCURSES, HAVE_NCURSES ? S(NCURSES_VERSION) : STR_NONE,
	        HAVE_NCURSES ? "" : "no ui");
	libraries_add(&l, "libevent", HAVE_EVENT, STR_NONE, HAVE_EVENT ? "" : "no serve");
	add_cupti(&l, &s->query_arena);
	if (o->kind == OUT_JSON)
		libraries_json(&l, out, &s->query_arena);
	else
		libraries_text(&l, out);
	return true;
}
