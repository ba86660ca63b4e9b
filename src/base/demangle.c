/* SPDX-License-Identifier: Apache-2.0
 *
 * Demangles with the C++ runtime, for names of up to 1024 bytes. The runtime does not limit the
 * size of a name with nested references; this file adds a limit. The path of a longer name is read
 * from its mangled form, whose components come first.
 */
#include "base/demangle.h"

#include <stdlib.h>

#define MANGLED_MAX    1024 /* maximum size in bytes; the runtime refuses longer names */
#define REFERENCES_MAX 32   /* references in a name; each level can triple its size */

#if HAVE_DEMANGLE
#define NO_MEMORY (-1)
char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);
#endif

/* MemorySanitizer does not see writes of the C++ runtime, which is not instrumented. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WRITTEN_BY_RUNTIME(z) __msan_unpoison_string(z)
#endif
#endif
#ifndef WRITTEN_BY_RUNTIME
#define WRITTEN_BY_RUNTIME(z) ((void)(z))
#endif

/* Returns the C++ runtime's result, which must be freed; NULL if the name is not mangled. */
static char *runtime_demangle(struct work *w, const char *mangled)
{
#if HAVE_DEMANGLE
	int status = 0;
	char *z = __cxa_demangle(mangled, NULL, NULL, &status);

	if (status == NO_MEMORY)
		work_escape(w);
	if (z)
		WRITTEN_BY_RUNTIME(z);
	return z;
#else
	(void)w;
	(void)mangled;
	return NULL;
#endif
}

static bool is_mangled(struct str s)
{
	return str_starts(s, S("_Z"));
}

/* Counts references to earlier parts: S_, S1_, T_, T0_. Similar text within a name counts too. */
static unsigned references(struct str s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s.n; i++) {
		size_t end = i + 1;
		if (s.p[i] != 'S' && s.p[i] != 'T')
			continue;
		while (end < s.n && ((s.p[end] >= '0' && s.p[end] <= '9') ||
		                            (s.p[end] >= 'A' && s.p[end] <= 'Z')))
			end++;
		n += end < s.n && s.p[end] == '_';
	}
	return n;
}

struct str demangle(struct arena *a, struct str mangled, size_t *budget)
{
	struct str full;
	char *z;

	if (!is_mangled(mangled) || mangled.n > MANGLED_MAX || !*budget ||
	        memchr(mangled.p, 0, mangled.n) || references(mangled) > REFERENCES_MAX)
		return mangled;
	z = runtime_demangle(a->work, str_z(a, mangled));
	if (!z)
		return mangled;
	full = str_of(z);
	*budget -= full.n < *budget ? full.n : *budget;
	full = str_copy(a, str_sub(full, 0, DEMANGLE_BUDGET));
	free(z);
	return full;
}

/* ---- the path of a demangled name ---- */

/* Skips the bracket at i and its contents; skips to the end if the bracket is not closed. */
static size_t skip_bracket(struct str s, size_t i)
{
	size_t depth = 0;

	for (; i < s.n; i++) {
		char c = s.p[i];
		if (c == '-' && i + 1 < s.n && s.p[i + 1] == '>')
			i++;
		else if (c == '<' || c == '(' || c == '{' || c == '[')
			depth++;
		else if ((c == '>' || c == ')' || c == '}' || c == ']') && --depth == 0)
			return i + 1;
	}
	return s.n;
}

static bool at(struct str s, size_t i, struct str part)
{
	return i <= s.n && str_starts(str_sub(s, i, SIZE_MAX), part);
}

/* Appends text in braces. "{lambda(int)#1}", which Nsight Systems writes as "[lambda(int) (instance
 * 1)]", becomes lambda#1; other text stays unchanged. */
static void put_braces(struct sb *b, struct str inside)
{
	const struct str instance = S("(instance ");
	size_t open = str_find_char(inside, '('), number = str_rfind_char(inside, '#'),
	       nth = str_find(inside, instance);

	sb_put(b, str_sub(inside, 0, open == SIZE_MAX ? inside.n : open));
	if (number != SIZE_MAX && open != SIZE_MAX)
		sb_put(b, str_sub(inside, number, SIZE_MAX));
	else if (nth != SIZE_MAX && str_ends(inside, S(")")))
		sb_fmt(b, "#%.*s",
		        STR(str_sub(inside, nth + instance.n, inside.n - nth - instance.n - 1)));
}

/* Skips the operator name at i including its symbols. Returns the end. */
static size_t put_operator(struct sb *b, struct str s, size_t i)
{
	size_t end = i + 8;

	if (at(s, end, S("()")))
		end += 2;
	else
		while (end < s.n && s.p[end] != '(' && !at(s, end, S(" <")))
			end++;
	sb_put(b, str_sub(s, i, end - i));
	return end + at(s, end, S(" <"));
}

static void add_part(struct arena *a, struct sb *b, struct strs *path)
{
	if (b->n)
		strs_add(a, path, str_copy(a, sb_str(b)));
	b->n = 0;
}

/* True if the whole word "operator" is at i, where a component begins. */
static bool is_operator(struct str s, size_t i)
{
	char after = i + 8 < s.n ? s.p[i + 8] : 0;

	return at(s, i, S("operator")) && after && after != '_' &&
	       !(after >= '0' && after <= '9') && !((after | 0x20) >= 'a' && (after | 0x20) <= 'z');
}

/* Finds the path in a demangled name. A blank ends the result type; parameters end the name unless
 * a component follows. */
static void path_of_full(struct arena *a, struct str s, struct strs *path)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < s.n;) {
		if (at(s, i, S("(anonymous namespace)"))) {
			sb_put(&b, S("anonymous"));
			i += 21;
		} else if (!b.n && is_operator(s, i)) {
			i = put_operator(&b, s, i);
		} else if (at(s, i, S("::"))) {
			add_part(a, &b, path);
			i += 2;
		} else if (s.p[i] == ' ') {
			b.n = path->n = 0;
			i++;
		} else if (s.p[i] == '{') {
			size_t end = skip_bracket(s, i);
			put_braces(&b, str_sub(s, i + 1, end - i - 2));
			i = end;
		} else if (s.p[i] == '<' || s.p[i] == '[') {
			i = skip_bracket(s, i);
		} else if (s.p[i] == '(') {
			i = skip_bracket(s, i);
			if (!at(s, i, S("::")))
				break;
		} else {
			sb_char(&b, s.p[i++]);
		}
	}
	add_part(a, &b, path);
}

/* ---- the path of a mangled name ---- */

/* Reads "<length><name>" at *i. */
static bool source_name(struct str s, size_t *i, struct str *name)
{
	size_t n = 0, p = *i;

	while (p < s.n && s.p[p] >= '0' && s.p[p] <= '9' && n < s.n)
		n = n * 10 + (size_t)(s.p[p++] - '0');
	if (p == *i || n == 0 || n > s.n - p)
		return false;
	*name = str_sub(s, p, n);
	*i = p + n;
	return true;
}

static void path_of_mangled(struct arena *a, struct str s, struct strs *path)
{
	struct str name;
	size_t i = 2;

	if (at(s, i, S("N")))
		i++;
	while (i < s.n && strchr("rVKL", s.p[i]))
		i++;
	if (at(s, i, S("St"))) {
		strs_add(a, path, S("std"));
		i += 2;
	}
	while (source_name(s, &i, &name)) {
		strs_add(a, path, str_starts(name, S("_GLOBAL__N_")) ? S("anonymous") : name);
		if (at(s, i, S("L")))
			i++;
	}
}

void demangle_path(struct arena *a, struct str mangled, struct str full, struct strs *path)
{
	path->n = 0;
	if (!str_eq(mangled, full))
		path_of_full(a, full, path);
	else if (is_mangled(mangled))
		path_of_mangled(a, mangled, path);
	if (!path->n)
		strs_add(a, path, mangled);
}

/* ---- the reduced name ---- */

#define LEVELS_MAX 64 /* maximum depth of template arguments inside template arguments */
#define PARTS_MAX  64 /* maximum number of parts of a path, whose last part may be a function */
#define ANONYMOUS  "(anonymous namespace)"
#define UNNAMED    "<unnamed>" /* the same text in names of Nsight Systems */

/* A list of template arguments, or (the first level) the name itself. */
struct reduced_level {
	size_t begin;     /* offset of the current name in the output */
	size_t arguments; /* number of arguments before the current one */
	bool keep; /* true: the current name has arguments or parameters, so "::" does not end a
	              namespace */
};

struct reducing {
	struct str s;
	size_t i;
	struct sb out;
	size_t arguments; /* number of arguments shown in each list */
	struct reduced_level levels[LEVELS_MAX];
	size_t n;
	bool result;   /* true: a result type has been removed */
	bool evidence; /* true: the text contains something that only C++ names contain */
	bool end;      /* true: the parameters of the function have been removed */
};

static bool is_name_char(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
	       c == '$' || c == '~';
}

/* Begins the next name of the level, at the end of the output. */
static void begin_name(struct reducing *r)
{
	struct reduced_level *l = &r->levels[r->n - 1];

	l->begin = r->out.n;
	l->keep = false;
}

/* True if a component of a path begins at the end of the output. */
static bool begins_component(const struct reducing *r)
{
	size_t n = r->out.n, begin = r->levels[r->n - 1].begin;

	return n == begin || (n >= begin + 2 && r->out.p[n - 1] == ':');
}

/* True if the output ends with a part of the current name. */
static bool in_name(const struct reducing *r)
{
	return r->out.n > r->levels[r->n - 1].begin;
}

/* Processes "::": removes the namespace before it, or keeps the function or class with arguments.
 * Removes the operator() of a lambda. */
static bool reduce_colons(struct reducing *r)
{
	struct reduced_level *l = &r->levels[r->n - 1];
	struct str call = S("::operator()");

	r->i += 2;
	r->evidence = true;
	if (l->keep && r->out.n > l->begin + call.n && str_ends(sb_str(&r->out), call))
		r->out.n -= call.n;
	if (l->keep)
		sb_put(&r->out, S("::"));
	else
		r->out.n = l->begin;
	return true;
}

/* Processes '<': begins a list of arguments. */
static bool reduce_open(struct reducing *r)
{
	if (!in_name(r) || r->n == LEVELS_MAX)
		return false;
	r->levels[r->n - 1].keep = true;
	r->evidence = true;
	sb_char(&r->out, '<');
	r->levels[r->n++] = (struct reduced_level){ .begin = r->out.n };
	r->i++;
	return true;
}

/* Processes '>': ends a list of arguments. */
static bool reduce_close(struct reducing *r)
{
	if (r->n == 1)
		return false;
	while (r->out.n && r->out.p[r->out.n - 1] == ' ')
		r->out.n--;
	sb_char(&r->out, '>');
	r->n--;
	r->i++;
	return true;
}

/* Processes ',' between arguments. Skips the arguments that are not shown. */
static bool reduce_comma(struct reducing *r)
{
	struct reduced_level *l = &r->levels[r->n - 1];

	if (r->n == 1)
		return false;
	sb_put(&r->out, S(", "));
	r->i++;
	if (++l->arguments < r->arguments) {
		while (r->i < r->s.n && r->s.p[r->i] == ' ')
			r->i++;
		begin_name(r);
		return true;
	}
	sb_put(&r->out, S("..."));
	while (r->i < r->s.n && r->s.p[r->i] != '>') {
		char c = r->s.p[r->i];
		if (c == '<' || c == '(' || c == '{' || c == '[')
			r->i = skip_bracket(r->s, r->i);
		else
			r->i += 1 + at(r->s, r->i, S("->"));
	}
	return true;
}

/* True if a list of types contains one that only C++ has: a pointer, a reference, a number. */
static bool are_types(struct str list)
{
	static const char *const types[] = { "int", "float", "double", "bool", "char", "long",
		"short", "unsigned", "void", "size_t", "half" };
	struct str first = str_sub(list, 0, str_find_char(list, ','));

	first = str_sub(first, 0, str_find_char(first, ' '));
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_eq(first, str_of(types[i])))
			return true;
	return str_ends(list, S("*")) || str_ends(list, S("&")) ||
	       str_find(list, S("*,")) != SIZE_MAX || str_find(list, S("&,")) != SIZE_MAX ||
	       str_find(list, S("::")) != SIZE_MAX || str_find(list, S("<(")) != SIZE_MAX;
}

/* Processes '(': removes parameters, and the casts of arguments, such as (bool)1. Parameters of the
 * function itself end its name. */
static bool reduce_parameters(struct reducing *r)
{
	size_t end = skip_bracket(r->s, r->i), from = r->i + 1;

	if (at(r->s, r->i, S(ANONYMOUS))) {
		r->i += sizeof ANONYMOUS - 1;
		return at(r->s, r->i, S("::"));
	}
	if (r->s.p[end - 1] != ')' || (r->n == 1 && !in_name(r)))
		return false;
	if (r->n == 1)
		r->evidence |= are_types(str_sub(r->s, from, end - 1 - from));
	r->i = end;
	if (in_name(r))
		r->levels[r->n - 1].keep = true;
	if (at(r->s, end, S(" const::")))
		r->i += 6;
	r->end = r->n == 1 && !at(r->s, r->i, S("::"));
	return true;
}

/* Processes ' ': a blank outside brackets ends the result type. */
static bool reduce_blank(struct reducing *r)
{
	if (r->n == 1) {
		r->evidence |= are_types(sb_str(&r->out));
		if (!r->evidence)
			return false;
		r->result = true;
		r->out.n = 0;
	} else if (in_name(r)) {
		sb_char(&r->out, ' ');
	}
	r->i++;
	begin_name(r);
	return true;
}

/* Processes the next part of a name. Returns false if the text is not a C++ name. */
static bool reduce_next(struct reducing *r)
{
	char c = r->s.p[r->i];

	if (begins_component(r) && at(r->s, r->i, S("operator ()("))) {
		sb_put(&r->out, S("operator()"));
		r->i += 11;
		return true;
	}
	if (begins_component(r) && is_operator(r->s, r->i)) {
		r->i = put_operator(&r->out, r->s, r->i);
		return true;
	}
	if (begins_component(r) && at(r->s, r->i, S(UNNAMED "::"))) {
		r->i += sizeof UNNAMED - 1;
		return true;
	}
	if (at(r->s, r->i, S("::")))
		return reduce_colons(r);
	if (c == '{' || (c == '[' && r->n > 1 && begins_component(r))) {
		size_t end = skip_bracket(r->s, r->i);
		if (r->s.p[end - 1] != c + 2)
			return false;
		put_braces(&r->out, str_sub(r->s, r->i + 1, end - r->i - 2));
		r->levels[r->n - 1].keep = true;
		r->i = end;
		return true;
	}
	if (c == '<')
		return reduce_open(r);
	if (at(r->s, r->i, S("->"))) {
		sb_put(&r->out, S("->"));
		r->i += 2;
		return true;
	}
	if (c == '>')
		return reduce_close(r);
	if (c == ',')
		return reduce_comma(r);
	if (c == '(')
		return reduce_parameters(r);
	if (c == ' ')
		return reduce_blank(r);
	if (r->n == 1 && !is_name_char(c) && !at(r->s, r->i, S("* ")) && !at(r->s, r->i, S("& ")))
		return false;
	sb_char(&r->out, c);
	r->i++;
	return true;
}

/* Returns the end of the template argument at i. */
static size_t argument_end(struct str s, size_t i)
{
	while (i < s.n && s.p[i] != ',' && s.p[i] != '>')
		i = s.p[i] == '<' ? skip_bracket(s, i) : i + 1;
	return i;
}

/* Keeps, for a kernel of Eigen, the operation whose result the kernel stores, and the operation's
 * first argument: EigenMetaKernel<TensorConversionOp<half, ...>>. The other arguments are types of
 * tensors, which are nearly the same in all of these kernels. Leaves other names unchanged. */
static struct str eigen_expression(struct arena *a, struct str name)
{
	const struct str kernel = S("EigenMetaKernel<"), assign = S("TensorAssignOp<");
	size_t at_assign = str_starts(name, kernel) ? str_find(name, assign) : SIZE_MAX;

	if (at_assign == SIZE_MAX)
		return name;
	size_t from = argument_end(name, at_assign + assign.n) + 2;
	struct str operation = str_sub(name, from, SIZE_MAX);
	size_t open = str_find_char(operation, '<');
	if (from >= name.n || open == SIZE_MAX || open > argument_end(operation, 0))
		return name;
	return str_fmt(a, "%.*s%.*s, ...>>", STR(kernel),
	        STR(str_sub(operation, 0, argument_end(operation, open + 1))));
}

/* Returns the reduced name of a function; p is NULL if the text is not a C++ function. */
static struct str reduce_function(struct arena *a, struct str full, size_t arguments)
{
	struct reducing r = { .s = full, .out = { .a = a }, .arguments = arguments, .n = 1 };

	while (r.i < full.n && !r.end)
		if (!reduce_next(&r))
			return STR_NONE;
	struct str rest = str_sub(full, r.i, SIZE_MAX);
	bool whole = !rest.n || str_eq(rest, S(" const")) || str_starts(rest, S(" [clone"));
	if (r.n > 1 || !whole || !r.evidence || (r.result && !r.end && !str_ends(full, S(">"))) ||
	        !r.out.n)
		return STR_NONE;
	return eigen_expression(a, sb_str(&r.out));
}

struct str demangle_reduce(struct arena *a, struct str full, size_t arguments)
{
	struct strs path = { 0 };
	size_t from = 0;

	if (is_mangled(full)) {
		path_of_mangled(a, full, &path);
		return path.n && arguments < SIZE_MAX ? strs_join(a, &path, S("::")) : full;
	}
	if (str_find_char(full, '<') == SIZE_MAX && str_find_char(full, '(') == SIZE_MAX)
		return full;
	for (unsigned part = 0; part < PARTS_MAX; part++) {
		struct str rest = str_sub(full, from, SIZE_MAX);
		struct str name = reduce_function(a, rest, arguments);
		size_t slash = str_find_char(rest, '/');
		if (name.p)
			return from ? str_fmt(a, "%.*s%.*s", STR(str_sub(full, 0, from)), STR(name))
			            : name;
		if (slash == SIZE_MAX)
			break;
		from += slash + 1;
	}
	return full;
}
