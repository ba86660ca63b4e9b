/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which device work is communication.
 */
#include "trace/pass/communication.h"

#define COMMUNICATION(library, by, text) { library, COMMUNICATION_##by, text },
const struct communication_row communication_rows[] = {
#include "trace/pass/communication.def"
};
#undef COMMUNICATION
const size_t communication_n = sizeof communication_rows / sizeof *communication_rows;

/* Returns a kernel's name without return type, template arguments and parameters. A mangled name
 * begins with its first identifier. */
static struct str function_name(struct str name)
{
	const struct str hidden = S("(anonymous namespace)");
	size_t at = 0;

	if (str_starts(name, S("void ")))
		name = str_sub(name, 5, SIZE_MAX);
	if (str_starts(name, S("_Z"))) {
		at = name.n > 2 && name.p[2] == 'N' ? 3 : 2;
		while (at < name.n && char_is_digit(name.p[at]))
			at++;
		return str_sub(name, at, SIZE_MAX);
	}
	for (; at < name.n; at++)
		if (str_starts(str_sub(name, at, SIZE_MAX), hidden))
			at += hidden.n - 1;
		else if (name.p[at] == '<' || name.p[at] == '(')
			break;
	return str_sub(name, 0, at);
}

/* True if a row of a kind matches a name. */
static bool matches(enum communication_by by, struct str name)
{
	for (size_t i = 0; i < communication_n; i++) {
		const struct communication_row *row = &communication_rows[i];
		struct str text = str_of(row->text);
		if (row->by == by && (by == COMMUNICATION_NAME ? str_contains(name, text)
		                                               : str_starts(name, text)))
			return true;
	}
	return false;
}

bool communication_is_kernel(struct str name)
{
	name = function_name(name);
	return matches(COMMUNICATION_PREFIX, name) || matches(COMMUNICATION_NAME, name);
}

bool communication_is_op(struct str name)
{
	return matches(COMMUNICATION_OP, name);
}

bool communication_is_event(const struct trace *t, uint32_t event)
{
	struct str packed = t->events.v[event].args;

	for (struct argument a; argument_next(&packed, &a);)
		if (a.key < ARG_N && matches(COMMUNICATION_ARGUMENT, str_of(argument_names[a.key])))
			return true;
	return false;
}
