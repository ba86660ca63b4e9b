/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks of allocations. A site follows its parent, so one pass over the sites suffices.
 */
#include "device/memory_stacks.h"

struct rule_mark {
	struct str text;
	bool of_name;
};
#define RULE(text, kind, rule)      { { "" text, sizeof(text) - 1 }, false },
#define NAME_RULE(text, kind, rule) { { "" text, sizeof(text) - 1 }, true },
static const struct rule_mark rule_marks[] = {
#include "device/memory_rule.def"
};
#undef RULE
#undef NAME_RULE
#define N_RULES (sizeof rule_marks / sizeof *rule_marks)
_Static_assert(N_RULES <= 32, "a set of rules is 32 bits");

#define RULE(text, kind, rule)      kind,
#define NAME_RULE(text, kind, rule) kind,
const char *const memory_rule_kinds[] = {
	"unknown",
	"unknown",
	"unknown",
	"unknown",
	"unknown",
	"unknown",
	"temporaries",
	"temporaries",
	"temporaries",
	"activations",
	"parameters",
	"parameters",
	"constants",
	"outputs",
	"temporaries",
	"parameters",
	"optimizer state",
	"inputs",
	"temporaries",
	"activations",
	"gradients",
	"autograd detail",
	"unknown",
#include "device/memory_rule.def"
};
#undef RULE
#undef NAME_RULE
#define RULE(text, kind, rule)      rule,
#define NAME_RULE(text, kind, rule) rule,
const char *const memory_rule_texts[] = {
	"no call stack",
	"allocated before the first entry",
	"no rule matches",
	"allocated before the first event",
	"no event in the file",
	"the releases have no addresses",
	"reserved by the runtime for programs",
	"released by the op that allocated it",
	"the region type in the file is temp",
	"the region type in the file is output",
	"a parameter of the program",
	"a parameter of the program, last used before the peak",
	"a constant of the program",
	"an output of the program",
	"a temporary of the program",
	"category in the file",
	"category in the file",
	"category in the file",
	"category in the file",
	"category in the file",
	"category in the file",
	"category in the file",
	"category in the file",
#include "device/memory_rule.def"
};
#undef RULE
#undef NAME_RULE

/* The parts of a frame: "FILE(LINE): FUNCTION" or, in an XSpace, "$FILE:LINE FUNCTION". */
struct frame_parts {
	struct str file, line, function; /* empty if the frame has no line */
};

static struct frame_parts split_frame(struct str frame)
{
	struct frame_parts made = { S(""), S(""), S("") };
	size_t colon = str_find(frame, S("): "));
	bool host = colon == SIZE_MAX && str_starts(frame, S("$"));
	struct str before = str_sub(frame, host, host ? str_find_char(frame, ' ') - 1 : colon);
	size_t open = host ? str_rfind_char(before, ':') : str_rfind_char(before, '(');

	if ((!host && colon == SIZE_MAX) || open == SIZE_MAX)
		return made;
	made.file = str_sub(before, 0, open);
	made.line = str_sub(before, open + 1, SIZE_MAX);
	made.function = str_sub(frame, host + before.n + (host ? 1 : 3), SIZE_MAX);
	return made;
}

bool memory_is_library(struct str file)
{
	return str_contains(file, S("/site-packages/")) ||
	       str_contains(file, S("/dist-packages/")) || str_contains(file, S("/lib/python3")) ||
	       str_contains(file, S("/torch/")) || str_starts(file, S("torch/")) ||
	       str_starts(file, S("<frozen"));
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

/* True if the text occurs in the frame. A text that begins with '/' also matches at the beginning
 * of the frame. */
static bool matches(struct str frame, struct str text)
{
	return str_contains(frame, text) ||
	       (text.p[0] == '/' && str_starts(frame, str_sub(text, 1, SIZE_MAX)));
}

static uint32_t rules_of(struct str text, bool name)
{
	uint32_t rules = 0;

	for (unsigned i = 0; i < N_RULES; i++)
		if (rule_marks[i].of_name == name && matches(text, rule_marks[i].text))
			rules |= 1u << i;
	return rules;
}

uint32_t memory_rules_of_name(struct str name)
{
	return rules_of(name, true);
}

struct memory_frame memory_frame_of(struct str frame)
{
	struct str file = split_frame(frame).file;

	return (struct memory_frame){ .rules = rules_of(frame, false),
		.python = str_ends(file, S(".py")) || str_starts(file, S("<")),
		.installed = memory_is_library(file),
		.op = op_part(frame).n > 0 };
}

void memory_stacks_make(const struct trace *t, struct memory_stacks *out, struct arena *a)
{
	struct memory_frame *of = ARENA_ARRAY(a, t->events.n, struct memory_frame);
	uint32_t *library = ARENA_ARRAY(a, t->sites.n, uint32_t);
	size_t n = t->sites.n;

	*out = (struct memory_stacks){ t, ARENA_ARRAY(a, n, uint32_t), ARENA_ARRAY(a, n, uint32_t),
		ARENA_ARRAY(a, n, uint32_t) };
	for (size_t i = 0; i < t->events.n; i++)
		if (t->events.v[i].category == CATEGORY_FRAME)
			of[i] = memory_frame_of(trace_str(t, t->events.v[i].name));
	for (size_t i = 0; i < n; i++) {
		const struct trace_site *s = &t->sites.v[i];
		const struct memory_frame *f = &of[s->event];
		bool user = f->python && !f->installed, top = s->parent == ID_NONE;
		/* Without a frame of the user's program, the innermost Python frame counts. */
		library[i] = f->python ? s->event : top ? ID_NONE : library[s->parent];
		out->line[i] = user ? s->event : top ? ID_NONE : out->line[s->parent];
		out->op[i] = f->op ? s->event : top ? ID_NONE : out->op[s->parent];
		out->rules[i] = f->rules | (top ? 0 : out->rules[s->parent]);
	}
	for (size_t i = 0; i < n; i++)
		out->line[i] = out->line[i] == ID_NONE ? library[i] : out->line[i];
}

unsigned memory_rule(const struct memory_stacks *s, uint32_t site)
{
	return memory_first_rule(s->rules[site]);
}

unsigned memory_rule_of_category(struct str category)
{
	unsigned i = MEMORY_RULE_CATEGORY;

	while (i + 1 < MEMORY_RULE_CATEGORY_END && !str_eq(str_of(memory_rule_kinds[i]), category))
		i++;
	return i;
}

unsigned memory_first_rule(uint32_t rules)
{
	return rules ? MEMORY_RULE_FIRST + (unsigned)__builtin_ctz(rules) : MEMORY_RULE_NONE;
}

void memory_put_line(struct sb *to, const struct trace *t, uint32_t event, bool whole)
{
	struct frame_parts x = split_frame(trace_str(t, t->events.v[event].name));

	sb_fmt(to, "%.*s:%.*s %.*s", STR(whole ? x.file : str_base(x.file)), STR(x.line),
	        STR(x.function));
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
