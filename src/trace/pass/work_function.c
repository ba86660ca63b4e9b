/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels and copies in one form for all sources.
 */
#include "trace/pass/work_function.h"

#include "base/demangle.h"

/* Returns "Memcpy DtoH" for "Memcpy DtoH (Device -> Pinned)" and "MemcpyD2H". */
static struct str copy_or_set(struct str name, struct arena *a)
{
	size_t end = str_find(name, S(" ("));
	struct sb b = sb_in(a);

	name = str_sub(name, 0, end);
	if (!str_starts(name, S("Memcpy")) || name.n < 7 || name.p[6] == ' ')
		return name;
	sb_put(&b, S("Memcpy "));
	for (size_t i = 6; i < name.n; i++) {
		if (name.p[i] == '2')
			sb_put(&b, S("to"));
		else
			sb_char(&b, name.p[i]);
	}
	return sb_str(&b);
}

/* True if the name may be a C++ function with parameters or template arguments. */
static bool is_full_name(struct str name)
{
	return str_find_char(name, '(') != SIZE_MAX || str_find_char(name, '<') != SIZE_MAX ||
	       str_contains(name, S("::"));
}

struct str work_function(
        struct str name, enum trace_category category, struct arena *a, size_t *budget)
{
	struct strs path = { 0 };
	struct str full;

	if (category == CATEGORY_COPY || category == CATEGORY_SET)
		return copy_or_set(name, a);
	if (str_ends(name, S(".kd"))) /* descriptor of an AMD kernel */
		name = str_sub(name, 0, name.n - 3);
	full = demangle(a, name, budget);
	if (str_eq(full, name) && !str_starts(name, S("_Z")) && !is_full_name(name))
		return name;
	demangle_path(a, str_starts(name, S("_Z")) ? name : S(""), full, &path);
	return path.n && path.v[path.n - 1].n ? path.v[path.n - 1] : name;
}
