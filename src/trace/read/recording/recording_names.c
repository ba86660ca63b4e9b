/* SPDX-License-Identifier: Apache-2.0
 *
 * Names: framework ranges as paths, and kernel names as components that node names may have: the
 * original ends a node's name at the first ':' and splits it at '/'.
 */
#include "base/demangle.h"
#include "trace/read/recording/recording_internal.h"
#include "trace/pass/communication.h"
#include "trace/pass/step_range.h"

#define PART_MAX        200  /* bytes of a component; longer ones are cut and get a checksum */
#define PARTS_MAX       32   /* components of one range; further components are left out */
#define DEPTH_MAX       256  /* components of a path; deeper ranges are merged */
#define SCOPE_BYTES_MAX 4096 /* bytes of a path; longer ranges are merged */
#define STEP_MARK       "tfprof.step"

bool names_init(struct recording_names *n, struct arena *a, const struct recording_options *o,
        struct err *e)
{
	*n = (struct recording_names){ .a = a, .budget = DEMANGLE_BUDGET };
	intern_init(&n->parts, a);
	intern_init(&n->range_texts, a);
	intern_init(&n->leaf_texts, a);
	imap_init(&n->child, a);
	imap_init(&n->pushed, a);
	VEC_PUSH(a, &n->scopes, ((struct recorded_scope){ 0 }));
	return step_range_compile(&n->step_nvtx, a, o->step_nvtx, e) &&
	       step_range_compile(&n->step_kernel, a, o->step_kernel, e);
}

bool names_end(struct recording_names *n, struct err *e)
{
	bool bad = (n->step_nvtx && pattern_failed(n->step_nvtx, e)) ||
	           (n->step_kernel && pattern_failed(n->step_kernel, e));

	pattern_free(n->step_nvtx);
	pattern_free(n->step_kernel);
	n->step_nvtx = n->step_kernel = NULL;
	return !bad;
}

/* ---- components ---- */

/* Makes a text valid as a component: removes ':', '/', control bytes and invalid UTF-8, and limits
 * the length. */
static struct str clean_part(struct arena *a, struct str s)
{
	bool utf8 = str_is_utf8(s);
	struct sb b = sb_in(a);

	for (size_t i = 0; i < s.n && i < PART_MAX; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == ':' && i && s.p[i - 1] == ':')
			continue;
		if (c == ':' || c == '/')
			sb_char(&b, '.');
		else
			sb_char(&b, c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8) ? '_' : (char)c);
	}
	if (s.n > PART_MAX) {
		while (utf8 && b.n && (s.p[b.n] & 0xc0) == 0x80)
			b.n--;
		sb_fmt(&b, "~%08x", (unsigned)hash_bytes(s.p, s.n));
	}
	return sb_str(&b);
}

/* Makes a text valid for protobuf files. */
static struct str clean_text(struct arena *a, struct str s)
{
	if (str_is_utf8(s))
		return s;
	char *p = arena_copy(a, s.p, s.n);
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)p[i] >= 0x80)
			p[i] = '_';
	return str_make(p, s.n);
}

/* Adds the pieces of a path between slashes. */
static void add_path(struct arena *a, struct strs *to, struct str path)
{
	struct strs pieces = str_split(a, path, '/');

	for (size_t i = 0; i < pieces.n && i < PARTS_MAX; i++)
		strs_add(a, to, clean_part(a, pieces.v[i]));
}

/* ---- ranges ---- */

/* Returns the value of "key=" in "Name:#a=b,key=value#"; empty if the key is missing. */
static struct str trace_value(struct str s, struct str key)
{
	size_t from = str_find(s, key), end;

	if (from == SIZE_MAX)
		return S("");
	s = str_sub(s, from + key.n, SIZE_MAX);
	for (end = 0; end < s.n && s.p[end] != ',' && s.p[end] != '#'; end++)
		if (s.p[end] == '(') /* jit(f) may contain commas */
			while (end + 1 < s.n && s.p[end + 1] != ')' && s.p[end + 1] != '#')
				end++;
	return str_sub(s, 0, end);
}

/* Reads ranges of XLA and TensorFlow that contain values: "Thunk:#name=a/b,hlo_op=fusion.6#". */
static void take_trace(struct arena *a, struct range_name *r, struct str s, size_t at)
{
	struct str name = trace_value(s, S("#name=")), op = trace_value(s, S("hlo_op="));
	struct str module = trace_value(s, S("hlo_module="));

	r->type = str_copy(a, op.n ? op : str_sub(s, 0, at));
	if (module.n && str_starts(s, S("XlaModule"))) {
		strs_add(a, &r->parts, clean_part(a, module));
		return;
	}
	add_path(a, &r->parts, name);
	if (op.n && !str_ends(name, op))
		strs_add(a, &r->parts, clean_part(a, op));
	if (!r->parts.n)
		strs_add(a, &r->parts, clean_part(a, str_sub(s, 0, at)));
}

/* True for "path/of/node:OpType", the form of TensorFlow. Sets *colon to the position of the
 * colon. */
static bool is_node_and_type(struct str s, size_t *colon)
{
	*colon = str_find_char(s, ':');
	if (*colon == SIZE_MAX || *colon == 0 || *colon + 1 >= s.n)
		return false;
	for (size_t i = *colon + 1; i < s.n; i++) {
		char c = s.p[i];
		if (!char_is_digit(c) && !char_is_letter(c) && c != '_')
			return false;
	}
	return s.p[*colon + 1] >= 'A' && s.p[*colon + 1] <= 'Z';
}

/* Removes the arguments that PyTorch appends to a name, and an instance number: "aten::linear, seq
 * = 5, ..." and "ProfilerStep#7". */
static struct str without_arguments(struct str s)
{
	size_t comma = str_find(s, S(", "));

	if (comma != SIZE_MAX && str_find(str_sub(s, comma, SIZE_MAX), S(" = ")) != SIZE_MAX)
		s = str_sub(s, 0, comma);
	size_t n = str_stem(s);
	return n && n < s.n && s.p[n - 1] == '#' ? str_sub(s, 0, n - 1) : s;
}

uint32_t names_range(struct recording_names *n, struct str text)
{
	uint32_t id = intern_add(&n->range_texts, text);
	struct range_name r = { 0 };
	size_t at;

	if (id < n->ranges.n)
		return id;
	text = clean_text(n->a, intern_str(&n->range_texts, id));
	r.step = step_range_matches(n->step_nvtx, text);
	n->too_long += n->step_nvtx && text.n > STEP_RANGE_NAME;
	r.label = text;
	r.mark = str_starts(text, S(STEP_MARK));
	r.implied = r.mark || str_starts(text, S(STEP_RANGE_TORCH));
	at = str_find(text, S(":#"));
	if (at != SIZE_MAX && at) {
		take_trace(n->a, &r, text, at);
	} else {
		struct str s = without_arguments(text);
		r.type = s;
		if (is_node_and_type(s, &at)) {
			r.type = str_sub(s, at + 1, SIZE_MAX);
			s = str_sub(s, 0, at);
		}
		add_path(n->a, &r.parts, s);
	}
	if (r.step)
		r.parts.n = 0;
	VEC_PUSH(n->a, &n->ranges, r);
	return id;
}

/* Returns the scope of a component below another scope. */
static uint32_t child(struct recording_names *n, uint32_t parent, struct str part, struct str type)
{
	uint32_t id = intern_add(&n->parts, part), found;
	uint64_t key = (uint64_t)parent << 32 | id;
	const struct recorded_scope *p = &n->scopes.v[parent];
	struct recorded_scope new = { parent, id, p->depth + 1, p->size + (uint32_t)part.n + 1,
		type };

	if (p->depth == DEPTH_MAX || new.size > SCOPE_BYTES_MAX)
		return parent;
	if (imap_get(&n->child, key, &found))
		return found;
	found = (uint32_t)n->scopes.n;
	imap_put(&n->child, key, found, false);
	VEC_PUSH(n->a, &n->scopes, new);
	return found;
}

uint32_t names_push(struct recording_names *n, uint32_t scope, uint32_t range)
{
	uint64_t key = (uint64_t)scope << 32 | range;
	uint32_t to = scope;

	if (imap_get(&n->pushed, key, &to))
		return to;
	const struct range_name *r = &n->ranges.v[range];
	for (size_t i = 0; i < r->parts.n; i++)
		to = child(n, to, r->parts.v[i], r->type);
	imap_put(&n->pushed, key, to, false);
	return to;
}

void names_put_scope(const struct recording_names *n, struct sb *b, uint32_t scope)
{
	uint32_t way[DEPTH_MAX];
	size_t depth = 0;

	for (; scope; scope = n->scopes.v[scope].parent)
		way[depth++] = scope;
	while (depth-- > 0) {
		if (b->n && b->p[b->n - 1] != '/')
			sb_char(b, '/');
		sb_put(b, intern_str(&n->parts, n->scopes.v[way[depth]].part));
	}
}

/* ---- operations ---- */

uint32_t names_leaf(struct recording_names *n, struct str text)
{
	uint32_t id = intern_add(&n->leaf_texts, text);
	struct leaf_name leaf = { 0 };
	struct strs path = { 0 };

	if (id < n->leaves.n)
		return id;
	text = intern_str(&n->leaf_texts, id);
	leaf.full = clean_text(n->a, demangle(n->a, text, &n->budget));
	demangle_path(n->a, text, leaf.full, &path);
	for (size_t i = 0; i < path.n; i++) {
		if (i == PARTS_MAX - 1 && path.n > PARTS_MAX)
			i = path.n - 1;
		struct str part = clean_part(n->a, path.v[i]);
		if (part.n)
			strs_add(n->a, &leaf.parts, part);
	}
	if (!leaf.parts.n)
		strs_add(n->a, &leaf.parts, S("unnamed"));
	leaf.type = strs_join(n->a, &leaf.parts, S("::"));
	leaf.step = step_range_matches(n->step_kernel, leaf.full) ||
	            step_range_matches(n->step_kernel, leaf.type);
	leaf.communication = communication_is_kernel(text);
	n->too_long += n->step_kernel && leaf.full.n > STEP_RANGE_NAME;
	VEC_PUSH(n->a, &n->leaves, leaf);
	return id;
}
