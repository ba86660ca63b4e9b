/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses changes, and finds the nodes to which they apply.
 */
#include "trace/pass/replay_internal.h"

#include "base/pattern.h"

#define REPLAY(id, name, names, help) [REPLAY_##id] = { name, names, help },
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
		if (replay_targets[i].names ? next == ':' : next == '*' || next == '=')
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
	bool named = out->what != REPLAY_TARGETS && replay_targets[out->what].names;
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

/* Reads the number whose last digit is at a given byte. */
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

/* True if two paths name the same file: one path is the end of the other. */
static bool same_file(struct str full, struct str given)
{
	return str_eq(full, given) ||
	       (full.n > given.n && str_ends(full, given) && full.p[full.n - given.n - 1] == '/');
}

/* ---- names ---- */

static bool match_line(struct str pattern, struct str name)
{
	struct replay_line want, have;

	return replay_line_of(pattern, &want) && replay_line_of(name, &have) &&
	       want.line == have.line && same_file(have.file, want.file);
}

/* True if the target of a change includes this slice of a thread. */
static bool is_around(enum replay_target what, enum trace_category category)
{
	switch (what) {
	case REPLAY_OP:
		return category == CATEGORY_OP || category == CATEGORY_ANNOTATION ||
		       category == CATEGORY_MODULE || category == CATEGORY_STEP;
	case REPLAY_LINE: return category == CATEGORY_FRAME;
	case REPLAY_CALL: return category == CATEGORY_CALL;
	default: return false;
	}
}

/* Marks the events whose nodes a change of this target can alter. Returns an array of flags indexed
 * by event. */
static bool *find_targets(const struct depend *d, enum replay_target what, struct arena *a)
{
	bool *v = ARENA_ARRAY(a, d->t->events.n, bool);

	for (size_t i = 0; i < d->contexts.n; i++) {
		uint32_t event = d->contexts.v[i].event;
		v[event] = is_around(what, d->t->events.v[event].category);
	}
	for (size_t i = 0; i < d->nodes.n; i++) {
		const struct depend_node *n = &d->nodes.v[i];
		if (!n->host && what == (n->class == USAGE_COPY ? REPLAY_COPY : REPLAY_KERNEL))
			v[n->event] = true;
	}
	return v;
}

/* A search for the names that a change of one target matches. */
struct change_match {
	const struct trace *t;
	struct str text;              /* the name or pattern of the change */
	struct pattern_list *pattern; /* compiled pattern; NULL: only whole names match */
	bool line;                    /* true: the text is FILE:LINE */
	uint32_t first;               /* the first event that matched */
};

static bool match_name(const struct change_match *m, struct str name)
{
	if (m->line)
		return match_line(m->text, name);
	return str_eq(name, m->text) || (m->pattern && pattern_match(m->pattern, name));
}

/* Marks the events whose name matches. Returns the number of matching names. */
static size_t match_targets(struct change_match *m, const bool *targets, bool *hit, struct arena *a)
{
	struct intern names;

	intern_init(&names, a);
	for (uint32_t i = 0; i < m->t->events.n; i++) {
		struct str name = trace_str(m->t, m->t->events.v[i].name);
		hit[i] = targets[i] && match_name(m, name);
		if (hit[i] && !names.n)
			m->first = i;
		if (hit[i])
			intern_add_kept(&names, name);
	}
	return names.n;
}

/* Appends the same change for another target: "op:gemm*0.5" for "kernel:gemm*0.5". */
static void put_instead(struct sb *b, const struct replay_change *c, enum replay_target what,
        const struct change_match *m)
{
	const char *factor = c->pattern.p + c->pattern.n;
	struct replay_line line;

	sb_fmt(b, "'%s", replay_targets[what].name);
	if (what == REPLAY_LINE &&
	        replay_line_of(trace_str(m->t, m->t->events.v[m->first].name), &line))
		sb_fmt(b, ":%.*s:%lld", STR(line.file), (long long)line.line);
	else if (replay_targets[what].names)
		sb_fmt(b, ":%.*s", STR(c->pattern));
	sb_fmt(b, "%.*s'", (int)(c->text.p + c->text.n - factor), factor);
}

/* Fails for a change that matches no name of its target. The error suggests the targets whose names
 * it would match. */
static bool fail_unmatched(const struct replay *x, const struct replay_change *c,
        struct change_match *m, struct arena *a, struct err *e)
{
	static const enum replay_target others[] = { REPLAY_KERNEL, REPLAY_OP, REPLAY_LINE,
		REPLAY_CALL, REPLAY_COPY };
	const struct replay_target_row *row = &replay_targets[c->what];
	struct sb found = { .a = a }, instead = { .a = a };
	bool *hit = ARENA_ARRAY(a, m->t->events.n, bool);

	m->line = false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		enum replay_target what = others[i];
		size_t n = match_targets(m, find_targets(&x->depend, what, a), hit, a);
		if (!n)
			continue;
		const char *noun =
		        n > 1 && what == REPLAY_COPY ? "copie" : replay_targets[what].name;
		sb_fmt(&found, "%s%zu %s%s", found.n ? ", " : "", n, noun, n > 1 ? "s" : "");
		sb_fmt(&instead, "%s", instead.n ? " or " : "");
		put_instead(&instead, c, what, m);
	}
	if (found.n)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "'%.*s' matches no %s, but %.*s: %.*s expected", STR(c->text), row->name,
		        STR(sb_str(&found)), STR(sb_str(&instead)));
	return err_set(e, ERR_INVALID_ARGUMENT,
	        "'%.*s' matches nothing in the trace: '%s' lists the %ss", STR(c->text), row->names,
	        row->name);
}

/* Marks the events to which a change applies: the events with exactly this name, otherwise the
 * events that the pattern matches. Fails if there are none. */
static bool match_events(const struct replay *x, const struct replay_change *c, bool *hit,
        struct arena *a, struct err *e)
{
	struct change_match m = {
		.t = x->depend.t, .text = c->pattern, .line = c->what == REPLAY_LINE
	};
	const bool *targets = find_targets(&x->depend, c->what, a);
	size_t n = match_targets(&m, targets, hit, a);

	if (n)
		return true;
	if (!pattern_compile_within(&m.pattern, a, c->pattern, e))
		return false;
	if (!m.line)
		n = match_targets(&m, targets, hit, a);
	bool ok = n || fail_unmatched(x, c, &m, a, e);
	if (pattern_failed(m.pattern, e))
		ok = false;
	pattern_free(m.pattern);
	return ok;
}

/* ---- factors ---- */

static double *ones(struct arena *a, size_t n)
{
	double *v = ARENA_ARRAY(a, n, double);

	for (size_t i = 0; i < n; i++)
		v[i] = 1;
	return v;
}

/* Multiplies the factors of the contexts that are the event, or are inside it. */
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
