/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses changes, and finds the nodes to which they apply.
 */
#include "trace/pass/replay_internal.h"

#include "base/pattern.h"

#define REPLAY(id, name, named, help) [REPLAY_##id] = { name, help, named },
const struct replay_target_row replay_targets[REPLAY_TARGETS] = {
#include "trace/pass/replay.def"
};
#undef REPLAY

/* ---- texts ---- */

/* Returns the target of a change, and the rest of the word; REPLAY_TARGETS if the word is not a
 * change. */
static enum replay_target target_of(struct str word, struct str *rest)
{
	for (int i = 0; i < REPLAY_TARGETS; i++) {
		struct str name = str_of(replay_targets[i].name);
		if (!str_starts(word, name) || word.n == name.n)
			continue;
		char next = word.p[name.n];
		*rest = str_sub(word, name.n, word.n);
		if (replay_targets[i].named ? next == ':' : next == '*' || next == '=')
			return (enum replay_target)i;
	}
	return REPLAY_TARGETS;
}

bool replay_is_change(struct str word)
{
	struct str rest;

	return target_of(word, &rest) != REPLAY_TARGETS || str_starts(word, S("rank:"));
}

/* Splits "PATTERN*F" or "PATTERN=0" at the last '*' or '=' before a number. */
static bool split_factor(struct str text, struct str *pattern, double *factor)
{
	size_t i = text.n;

	while (i > 0 && text.p[i - 1] != '*' && text.p[i - 1] != '=')
		i--;
	if (!i || !quantity_parse_real(str_sub(text, i, text.n), factor))
		return false;
	*pattern = str_sub(text, 0, i - 1);
	return *factor >= 0 && *factor <= REPLAY_FACTOR_MAX &&
	       (text.p[i - 1] == '*' || *factor == 0);
}

bool replay_parse(struct str word, struct replay_change *out, struct err *e)
{
	struct str rest;

	*out = (struct replay_change){ .text = word, .what = target_of(word, &rest) };
	if (str_starts(word, S("rank:")))
		return err_set(e, ERR_UNIMPLEMENTED,
		        "'%.*s' needs the files of several ranks, which what-if cannot read yet",
		        STR(word));
	bool named = out->what != REPLAY_TARGETS && replay_targets[out->what].named;
	if (named)
		rest = str_sub(rest, 1, rest.n);
	if (out->what == REPLAY_TARGETS || !split_factor(rest, &out->pattern, &out->factor) ||
	        !out->pattern.n == named)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "'%.*s' does not end with a factor: *0.5 halves a time, =0 removes it (0 "
		        "to "
		        "%g)",
		        STR(word), REPLAY_FACTOR_MAX);
	if (out->what == REPLAY_SYNC && out->factor != 0)
		return err_set(e, ERR_INVALID_ARGUMENT, "'%.*s': waits can only be removed: sync=0",
		        STR(word));
	return true;
}

/* ---- lines ---- */

/* Reads the number that ends at a byte. */
static bool line_number(struct str s, size_t from, size_t to, int64_t *out)
{
	return to > from && num_parse_i64(str_sub(s, from, to - from), out);
}

bool replay_line_of(struct str name, struct replay_line *out)
{
	size_t i = 0, end;

	if (str_starts(name, S("$")))
		name = str_sub(name, 1, name.n);
	for (; i < name.n; i++) {
		if (name.p[i] != '(' && name.p[i] != ':')
			continue;
		for (end = i + 1; end < name.n && name.p[end] >= '0' && name.p[end] <= '9'; end++)
			;
		if (name.p[i] == '(' && (end == name.n || name.p[end] != ')'))
			continue;
		if (line_number(name, i + 1, end, &out->line)) {
			out->file = str_sub(name, 0, i);
			return out->file.n > 0;
		}
	}
	return false;
}

/* True if two paths name the same file: one is the end of the other. */
static bool same_file(struct str full, struct str given)
{
	return str_eq(full, given) ||
	       (full.n > given.n && str_ends(full, given) && full.p[full.n - given.n - 1] == '/');
}

/* ---- names ---- */

static bool is_target(const struct trace *t, enum replay_target what, const struct trace_event *e)
{
	switch (what) {
	case REPLAY_KERNEL:
		return e->category == CATEGORY_KERNEL || e->category == CATEGORY_COMMUNICATION ||
		       e->category == CATEGORY_OP;
	case REPLAY_CALL: return e->category == CATEGORY_CALL;
	case REPLAY_LINE: return e->category == CATEGORY_FRAME;
	default:
		(void)t;
		return e->category == CATEGORY_OP || e->category == CATEGORY_ANNOTATION ||
		       e->category == CATEGORY_MODULE || e->category == CATEGORY_STEP;
	}
}

/* Compiles a pattern that may match anywhere in a name. */
static bool compile(struct pattern_list **out, struct str pattern, struct arena *a, struct err *e)
{
	struct strs one = { 0 };

	strs_add(a, &one, pattern);
	if (!pattern_compile(out, a, &one, e))
		return false;
	pattern_free(*out);
	one.v[0] = str_fmt(a, "(?s:.*)(?:%.*s)(?s:.*)", STR(pattern));
	return pattern_compile(out, a, &one, e);
}

static bool match_line(const struct replay_change *c, struct str name)
{
	struct replay_line want, have;

	return replay_line_of(c->pattern, &want) && replay_line_of(name, &have) &&
	       want.line == have.line && same_file(have.file, want.file);
}

/* Marks the events to which a change applies: those with exactly this name, otherwise those that
 * the pattern matches. Fails if there are none. */
static bool match_events(const struct replay *x, const struct replay_change *c, bool *hit,
        struct arena *a, struct err *e)
{
	const struct trace *t = x->depend.t;
	struct pattern_list *pattern = NULL;
	bool any = false;

	for (size_t i = 0; i < t->events.n; i++) {
		struct str name = trace_str(t, t->events.v[i].name);
		hit[i] = is_target(t, c->what, &t->events.v[i]) &&
		         (c->what == REPLAY_LINE ? match_line(c, name) : str_eq(name, c->pattern));
		any |= hit[i];
	}
	if (!any && c->what != REPLAY_LINE) {
		if (!compile(&pattern, c->pattern, a, e))
			return false;
		for (size_t i = 0; i < t->events.n; i++) {
			hit[i] = is_target(t, c->what, &t->events.v[i]) &&
			         pattern_match(pattern, trace_str(t, t->events.v[i].name));
			any |= hit[i];
		}
		bool failed = pattern_failed(pattern, e);
		pattern_free(pattern);
		if (failed)
			return false;
	}
	return any || err_set(e, ERR_INVALID_ARGUMENT, "'%.*s' matches no %s of the trace",
	                      STR(c->text), replay_targets[c->what].name);
}

/* ---- factors ---- */

static double *ones(struct arena *a, size_t n)
{
	double *v = ARENA_ARRAY(a, n, double);

	for (size_t i = 0; i < n; i++)
		v[i] = 1;
	return v;
}

/* Multiplies the factors of the contexts that are, or are inside, an event. */
static void scale_contexts(
        const struct depend *d, const bool *hit, double factor, double *to, struct arena *a)
{
	bool *inside = ARENA_ARRAY(a, d->contexts.n, bool);

	for (size_t i = 0; i < d->contexts.n; i++) {
		const struct depend_context *c = &d->contexts.v[i];
		inside[i] = hit[c->event] || (c->parent != ID_NONE && inside[c->parent]);
		if (inside[i])
			to[i] *= factor;
	}
}

static bool add_named(const struct replay *x, const struct replay_change *c,
        struct replay_factors *out, struct arena *a, struct err *e)
{
	const struct depend *d = &x->depend;
	bool *hit = ARENA_ARRAY(a, d->t->events.n, bool);

	if (!match_events(x, c, hit, a, e))
		return false;
	if (c->what == REPLAY_KERNEL) {
		out->kernels = out->kernels ? out->kernels : ones(a, d->t->events.n);
		for (size_t i = 0; i < d->t->events.n; i++)
			out->kernels[i] *= hit[i] ? c->factor : 1;
		return true;
	}
	out->contexts = out->contexts ? out->contexts : ones(a, d->contexts.n);
	scale_contexts(d, hit, c->factor, out->contexts, a);
	if (c->what == REPLAY_CALL)
		return true;
	out->launched = out->launched ? out->launched : ones(a, d->contexts.n);
	scale_contexts(d, hit, c->factor, out->launched, a);
	return true;
}

bool replay_factors(const struct replay *x, const struct replay_change *changes, size_t n,
        struct replay_factors *out, struct arena *a, struct err *e)
{
	*out = (struct replay_factors){ .host = 1, .launch = 1, .by_class = { 1, 1, 1 } };
	for (size_t i = 0; i < n; i++) {
		const struct replay_change *c = &changes[i];
		switch (c->what) {
		case REPLAY_COMMUNICATION: out->by_class[USAGE_COMMUNICATION] *= c->factor; break;
		case REPLAY_COPY: out->by_class[USAGE_COPY] *= c->factor; break;
		case REPLAY_LAUNCH: out->launch *= c->factor; break;
		case REPLAY_HOST: out->host *= c->factor; break;
		case REPLAY_SYNC: out->no_sync = true; break;
		default:
			if (!add_named(x, c, out, a, e))
				return false;
		}
	}
	return true;
}
