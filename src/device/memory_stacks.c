/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks of allocations. A site follows its parent, so one pass over the sites suffices.
 */
#include "device/memory_stacks.h"

#define RULE(text, kind, rule) { "" text, sizeof(text) - 1 },
static const struct str rule_marks[] = {
#include "device/memory_rule.def"
};
#undef RULE
#define N_RULES (sizeof rule_marks / sizeof *rule_marks)
_Static_assert(N_RULES <= 32, "a set of rules is 32 bits");

#define RULE(text, kind, rule) kind,
const char *const memory_rule_kinds[] = {
	"unknown",
	"unknown",
	"unknown",
#include "device/memory_rule.def"
};
#undef RULE
#define RULE(text, kind, rule) rule,
const char *const memory_rule_texts[] = {
	"no call stack",
	"allocated before the first entry",
	"no rule matches",
#include "device/memory_rule.def"
};
#undef RULE

enum frame_fact { FRAME_PYTHON = 1, FRAME_LIBRARY = 2, FRAME_OP = 4 };

struct frame_facts {
	uint32_t rules;
	uint8_t is; /* enum frame_fact */
};

/* Returns the part of a frame before "(LINE): ", or "". */
static struct str file_of(struct str frame)
{
	size_t colon = str_find(frame, S("): "));

	if (colon == SIZE_MAX)
		return S("");
	struct str before = str_sub(frame, 0, colon);
	size_t open = str_rfind_char(before, '(');
	return open == SIZE_MAX ? S("") : str_sub(frame, 0, open);
}

static bool is_library(struct str file)
{
	return str_contains(file, S("/site-packages/")) ||
	       str_contains(file, S("/dist-packages/")) || str_contains(file, S("/lib/python3")) ||
	       str_contains(file, S("/torch/")) || str_starts(file, S("<frozen"));
}

/* Returns the text after the last mark of an op, "add_Tensor::call(...)"; empty if none. */
static struct str op_part(struct str frame)
{
	static const struct str marks[] = { { "at::_ops::", 10 }, { "at::native::", 12 } };

	for (size_t i = 0; i < 2; i++) {
		size_t at = str_find(frame, marks[i]);
		if (at != SIZE_MAX)
			return str_sub(frame, at + marks[i].n, SIZE_MAX);
	}
	return S("");
}

static struct frame_facts facts_of(struct str frame)
{
	struct str file = file_of(frame);
	struct frame_facts made = { .rules = 0 };

	if (str_ends(file, S(".py")) || str_starts(file, S("<")))
		made.is |= is_library(file) ? FRAME_PYTHON | FRAME_LIBRARY : FRAME_PYTHON;
	if (op_part(frame).n)
		made.is |= FRAME_OP;
	for (unsigned i = 0; i < N_RULES; i++)
		if (str_contains(frame, rule_marks[i]))
			made.rules |= 1u << i;
	return made;
}

void memory_stacks_make(const struct trace *t, struct memory_stacks *out, struct arena *a)
{
	struct frame_facts *of = ARENA_ARRAY(a, t->events.n, struct frame_facts);
	uint32_t *library = ARENA_ARRAY(a, t->sites.n, uint32_t);
	size_t n = t->sites.n;

	*out = (struct memory_stacks){ t, ARENA_ARRAY(a, n, uint32_t), ARENA_ARRAY(a, n, uint32_t),
		ARENA_ARRAY(a, n, uint32_t) };
	for (size_t i = 0; i < t->events.n; i++)
		if (t->events.v[i].category == CATEGORY_FRAME)
			of[i] = facts_of(trace_str(t, t->events.v[i].name));
	for (size_t i = 0; i < n; i++) {
		const struct trace_site *s = &t->sites.v[i];
		const struct frame_facts *f = &of[s->event];
		bool user = f->is & FRAME_PYTHON && !(f->is & FRAME_LIBRARY),
		     top = s->parent == ID_NONE;
		/* Without a frame of the user's program, the innermost frame of Python counts. */
		library[i] = f->is & FRAME_PYTHON ? s->event : top ? ID_NONE : library[s->parent];
		out->line[i] = user ? s->event : top ? ID_NONE : out->line[s->parent];
		out->op[i] = f->is & FRAME_OP ? s->event : top ? ID_NONE : out->op[s->parent];
		out->rules[i] = f->rules | (top ? 0 : out->rules[s->parent]);
	}
	for (size_t i = 0; i < n; i++)
		out->line[i] = out->line[i] == ID_NONE ? library[i] : out->line[i];
}

unsigned memory_rule(const struct memory_stacks *s, uint32_t site)
{
	return s->rules[site] ? MEMORY_RULE_FIRST + (unsigned)__builtin_ctz(s->rules[site])
	                      : MEMORY_RULE_NONE;
}

void memory_put_line(struct sb *to, const struct trace *t, uint32_t event, bool whole)
{
	struct str frame = trace_str(t, t->events.v[event].name), file = file_of(frame);
	struct str rest = str_sub(frame, file.n + 1, SIZE_MAX); /* LINE): FUNCTION */
	size_t close = str_find(rest, S("): "));

	sb_fmt(to, "%.*s:%.*s %.*s", STR(whole ? file : str_base(file)),
	        STR(str_sub(rest, 0, close)), STR(str_sub(rest, close + 3, SIZE_MAX)));
}

struct str memory_line_text(const struct trace *t, uint32_t event, struct arena *a)
{
	struct sb b = sb_in(a);

	memory_put_line(&b, t, event, true);
	return sb_str(&b);
}

struct str memory_op_text(const struct trace *t, uint32_t event, struct arena *a)
{
	struct str part = op_part(trace_str(t, t->events.v[event].name));
	size_t n = 0;

	while (n < part.n &&
	        (char_is_letter(part.p[n]) || char_is_digit(part.p[n]) || part.p[n] == '_'))
		n++;
	return str_fmt(a, "aten::%.*s", STR(str_sub(part, 0, n)));
}
