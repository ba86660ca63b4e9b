/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds renamed entries. Considers only entries that some side lacks, and of these only the
 * children of an entry that both sides have: the tops of possibly renamed subtrees. Two tops are
 * compared by their signatures: the sorted hashes of relative path and type of all their
 * descendants.
 */
#include "compare/compare.h"

#include "base/sort.h"

#define MATCH_MIN       4   /* number of descendants needed for a reliable signature */
#define MATCH_ALIKE     0.6 /* common share that two scopes must have */
#define MATCH_MIN_LOOSE 8
#define MATCH_LOOSE     0.8 /* required share if scopes below them were renamed too */
#define MATCH_TIE       0.02
#define MATCH_PAIRS_MAX ((size_t)4 << 20) /* limit for pairs of tops below one parent */

/* A top: an entry that may have another name on another side. */
struct top {
	uint32_t entry;
	struct str base;        /* last component of the name */
	struct str stem;        /* last component without its trailing number */
	int64_t number;         /* trailing number, or -1 */
	struct signature sign;  /* signature of all descendants, by path and type */
	struct signature loose; /* signature by last name component and type */
	bool taken;
};

struct pair {
	uint32_t a, b; /* tops; entries, while two are being joined */
	double score;
};

struct tops {
	struct top *v;
	size_t n, cap;
};

struct matcher {
	struct compare *c;
	struct arena *a;        /* arena for scratch data */
	uint32_t *first, *next; /* first child and next sibling of each entry */
	bool *renamed;      /* indexed by entry: true if joined under another name, or below such an
	                       entry */
	VEC(uint32_t) todo; /* entries whose children are still to be examined */
	struct imap rules;  /* key_of of renamed name components */
	VEC(struct alias) found;
	struct tops left, right; /* children of the current parent */
	struct sb text;
	uint32_t side; /* the side that is matched with the earlier sides */
	bool changed;
};

/* ---- names ---- */

static struct str base_of(const struct compare *c, uint32_t i)
{
	return str_base(c->name[i]);
}

static void split_number(struct top *t)
{
	size_t n = str_stem(t->base);

	t->stem = str_sub(t->base, 0, n);
	if (n == t->base.n || !num_parse_i64(str_sub(t->base, n, SIZE_MAX), &t->number))
		t->number = -1;
}

/* ---- signatures ---- */

/* Returns the next entry in the subtree of top; ID_NONE at its end. */
static uint32_t next_below(const struct matcher *m, uint32_t top, uint32_t i)
{
	if (m->first[i] != ID_NONE)
		return m->first[i];
	while (i != top && m->next[i] == ID_NONE)
		i = m->c->parent[i];
	return i == top ? ID_NONE : m->next[i];
}

static void sign(struct matcher *m, struct top *t)
{
	const struct compare *c = m->c;
	struct str top = c->name[t->entry];

	for (uint32_t i = m->first[t->entry]; i != ID_NONE; i = next_below(m, t->entry, i)) {
		struct str name = c->name[i];
		m->text.n = 0;
		sb_put(&m->text, str_starts(name, top) ? str_sub(name, top.n, SIZE_MAX) : name);
		sb_char(&m->text, '\0');
		sb_put(&m->text, compare_type(c, i));
		similarity_add(&t->sign, m->a, sb_str(&m->text));
		m->text.n = 0;
		sb_put(&m->text, base_of(c, i));
		sb_char(&m->text, '\0');
		sb_put(&m->text, compare_type(c, i));
		similarity_add(&t->loose, m->a, sb_str(&m->text));
	}
	similarity_end(&t->sign, m->a);
	similarity_end(&t->loose, m->a);
}

/* ---- joining ---- */

static bool may_join(const struct compare *c, uint32_t a, uint32_t b)
{
	for (uint32_t s = 0; s < c->sides; s++)
		if (compare_has(c, s, a) && compare_has(c, s, b))
			return false;
	return str_eq(compare_type(c, a), compare_type(c, b));
}

static uint64_t key_of(struct str from, struct str to)
{
	return hash_bytes(from.p, from.n) * 0x9e3779b97f4a7c15u ^ hash_bytes(to.p, to.n);
}

/* Returns the next child that has not been joined. */
static uint32_t alive(const struct matcher *m, uint32_t i)
{
	while (i != ID_NONE && m->c->parent[i] == ID_NONE)
		i = m->next[i];
	return i;
}

/* Indexes the children of an entry by their last name component. */
static void list_children(const struct matcher *m, uint32_t parent, struct imap *of)
{
	imap_init(of, m->a);
	for (uint32_t i = alive(m, m->first[parent]); i != ID_NONE; i = alive(m, m->next[i])) {
		struct str base = base_of(m->c, i);
		imap_put(of, hash_bytes(base.p, base.n), i, false);
	}
}

/* Joins entry b with a. */
static void join_one(struct matcher *m, uint32_t a, uint32_t b)
{
	struct compare *c = m->c;

	for (uint32_t s = 0; s < c->sides; s++)
		if (!compare_has(c, s, a))
			c->at[s][a] = c->at[s][b];
	c->parent[b] = ID_NONE;
	m->renamed[a] = m->changed = true;
	VEC_PUSH(m->a, &m->todo, a);
}

/* Merges b into a. Children with equal names are merged as well; the others become children of
 * a. */
static void join(struct matcher *m, uint32_t a, uint32_t b)
{
	struct compare *c = m->c;
	VEC(struct pair) work = { 0 };

	VEC_PUSH(m->a, &work, ((struct pair){ a, b, 0 }));
	while (work.n) {
		struct pair p = work.v[--work.n];
		struct imap of;
		list_children(m, p.a, &of);
		join_one(m, p.a, p.b);
		for (uint32_t i = alive(m, m->first[p.b]), next; i != ID_NONE; i = next) {
			struct str base = base_of(c, i);
			uint32_t same;
			next = alive(m, m->next[i]);
			if (imap_get(&of, hash_bytes(base.p, base.n), &same) &&
			        str_eq(base_of(c, same), base) && may_join(c, same, i)) {
				VEC_PUSH(m->a, &work, ((struct pair){ same, i, 0 }));
				continue;
			}
			m->next[i] = m->first[p.a];
			m->first[p.a] = i;
			c->parent[i] = p.a;
		}
	}
}

/* Joins two tops and records the match. */
static void accept(struct matcher *m, struct top *a, struct top *b)
{
	struct alias x = { a->entry, m->c->name[b->entry] };
	uint64_t key = key_of(a->base, b->base);

	a->taken = b->taken = true;
	VEC_PUSH(m->a, &m->found, x);
	if (a->sign.n >= MATCH_MIN)
		imap_put(&m->rules, key, 1, false);
	join(m, a->entry, b->entry);
}

/* ---- the tops below one parent ---- */

static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
	const struct top *v = ctx, *x = &v[a], *y = &v[b];
	int order = str_cmp(x->stem, y->stem);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Collects the children that the side lacks, and the children that only this side has. */
static bool find_tops(struct matcher *m, uint32_t parent)
{
	const struct compare *c = m->c;

	m->left = m->right = (struct tops){ 0 };
	for (uint32_t i = alive(m, m->first[parent]); i != ID_NONE; i = alive(m, m->next[i])) {
		uint32_t since = compare_first(c, i);
		bool here = compare_has(c, m->side, i);
		struct top t = { .entry = i, .base = base_of(c, i) };
		split_number(&t);
		if (since < m->side && !here)
			VEC_PUSH(m->a, &m->left, t);
		else if (since == m->side)
			VEC_PUSH(m->a, &m->right, t);
	}
	if (!m->left.n || !m->right.n || m->left.n > MATCH_PAIRS_MAX / m->right.n)
		return false;
	sort_array(m->a, m->left.v, m->left.n, sizeof *m->left.v, by_number);
	sort_array(m->a, m->right.v, m->right.n, sizeof *m->right.v, by_number);
	for (size_t i = 0; i < m->left.n; i++)
		sign(m, &m->left.v[i]);
	for (size_t i = 0; i < m->right.n; i++)
		sign(m, &m->right.v[i]);
	return true;
}

/* Applies a rename found elsewhere. */
static void use_rules(struct matcher *m)
{
	uint32_t yes;

	for (size_t i = 0; i < m->left.n && m->rules.n; i++) {
		struct top *a = &m->left.v[i];
		for (size_t k = 0; k < m->right.n && !a->taken; k++) {
			struct top *b = &m->right.v[k];
			if (!b->taken && imap_get(&m->rules, key_of(a->base, b->base), &yes) &&
			        may_join(m->c, a->entry, b->entry))
				accept(m, a, b);
		}
	}
}

static int by_score(const void *ctx, uint32_t a, uint32_t b)
{
	const struct pair *v = ctx;

	return (v[a].score < v[b].score) - (v[a].score > v[b].score);
}

/* Joins the pairs that are similar enough, best first. */
static struct pair *find_pairs(struct matcher *m, size_t least, bool loose, size_t *n)
{
	const double alike = loose ? MATCH_LOOSE : MATCH_ALIKE;
	VEC(struct pair) v = { 0 };

	for (uint32_t i = 0; i < m->left.n; i++) {
		const struct top *a = &m->left.v[i];
		for (uint32_t k = 0; k < m->right.n && !a->taken && a->sign.n >= least; k++) {
			const struct top *b = &m->right.v[k];
			size_t x = a->sign.n, y = b->sign.n;
			double small = (double)(x < y ? x : y), large = (double)(x < y ? y : x);
			if (b->taken || b->sign.n < least || small < alike * large ||
			        !may_join(m->c, a->entry, b->entry))
				continue;
			struct pair p = { i, k,
				loose ? similarity_share(&a->loose, &b->loose)
				      : similarity_share(&a->sign, &b->sign) };
			if (p.score >= alike)
				VEC_PUSH(m->a, &v, p);
		}
	}
	sort_array(m->a, v.v, v.n, sizeof *v.v, by_score);
	*n = v.n;
	return v.v;
}

/* Returns the only unmatched top of the list with a given number; NULL if there is none, or
 * several. */
static struct top *numbered(struct top *const *v, size_t n, int64_t number)
{
	struct top *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (v[i]->taken || v[i]->number != number)
			continue;
		if (found)
			return NULL;
		found = v[i];
	}
	return number < 0 ? NULL : found;
}

/* Resolves ties of similarity by trailing numbers, or by position if the counts agree. If neither
 * decides, joins none of them. */
static void settle(struct matcher *m, struct top **a, size_t n_a, struct top **b, size_t n_b)
{
	size_t k = 0;

	if (n_a != n_b) {
		for (size_t i = 0; i < n_a; i++) {
			struct top *x = numbered(a, n_a, a[i]->number),
			           *y = numbered(b, n_b, a[i]->number);
			if (x == a[i] && y)
				accept(m, x, y);
		}
	}
	for (size_t i = 0; i < n_a; i++) {
		if (n_a == n_b)
			accept(m, a[i], b[k++]);
		a[i]->taken = true;
	}
	for (size_t i = 0; i < n_b; i++)
		b[i]->taken = true;
}

static void use_similarity(struct matcher *m, size_t least, bool loose)
{
	size_t n;
	struct pair *p = find_pairs(m, least, loose, &n);
	struct top **a = ARENA_ARRAY(m->a, m->left.n, struct top *),
	           **b = ARENA_ARRAY(m->a, m->right.n, struct top *);

	for (size_t i = 0; i < n; i++) {
		struct top *x = &m->left.v[p[i].a], *y = &m->right.v[p[i].b];
		size_t n_a = 0, n_b = 0;
		if (x->taken || y->taken)
			continue;
		for (size_t k = i; k < n && p[k].score >= p[i].score - MATCH_TIE; k++) {
			struct top *left = &m->left.v[p[k].a], *right = &m->right.v[p[k].b];
			if (right == y && !left->taken)
				a[n_a++] = left;
			if (left == x && !right->taken)
				b[n_b++] = right;
		}
		settle(m, a, n_a, b, n_b);
	}
}

/* Returns the only free top without descendants that has a given type. */
static struct top *only_leaf(const struct matcher *m, struct tops *v, struct str type)
{
	struct top *found = NULL;

	for (size_t i = 0; i < v->n; i++) {
		struct top *t = &v->v[i];
		if (t->taken || t->sign.n || !str_eq(compare_type(m->c, t->entry), type))
			continue;
		if (found)
			return NULL;
		found = t;
	}
	return found;
}

/* Joins single nodes inside renamed scopes if their type occurs once on each side. */
static void use_types(struct matcher *m)
{
	for (size_t i = 0; i < m->left.n; i++) {
		struct top *a = &m->left.v[i];
		struct str type = compare_type(m->c, a->entry);
		if (a->taken || a->sign.n || !type.n || only_leaf(m, &m->left, type) != a)
			continue;
		struct top *b = only_leaf(m, &m->right, type);
		if (b && may_join(m->c, a->entry, b->entry))
			accept(m, a, b);
	}
}

static void match_children(struct matcher *m, uint32_t parent)
{
	if (!find_tops(m, parent))
		return;
	use_rules(m);
	use_similarity(m, m->renamed[parent] ? 1 : MATCH_MIN, false);
	use_similarity(m, MATCH_MIN_LOOSE, true);
	if (m->renamed[parent])
		use_types(m);
}

/* ---- driver ---- */

static void link_children(struct matcher *m)
{
	const struct compare *c = m->c;

	m->first = ARENA_ARRAY(m->a, c->n, uint32_t);
	m->next = ARENA_ARRAY(m->a, c->n, uint32_t);
	memset(m->first, 0xff, c->n * sizeof *m->first);
	for (uint32_t i = c->n; i-- > 1;) {
		m->next[i] = m->first[c->parent[i]];
		m->first[c->parent[i]] = i;
	}
	m->next[0] = ID_NONE;
}

/* Queues the entries that have children of both kinds. */
static void find_parents(struct matcher *m)
{
	const struct compare *c = m->c;
	uint8_t *kinds = ARENA_ARRAY(m->a, c->n, uint8_t);

	for (uint32_t i = 1; i < c->n; i++) {
		if (c->parent[i] == ID_NONE)
			continue;
		uint32_t since = compare_first(c, i);
		if (since < m->side && !compare_has(c, m->side, i))
			kinds[c->parent[i]] |= 1;
		else if (since == m->side)
			kinds[c->parent[i]] |= 2;
	}
	for (uint32_t i = 0; i < c->n; i++)
		if (kinds[i] == 3)
			VEC_PUSH(m->a, &m->todo, i);
}

/* Processes queued entries in order, and queues joined entries. Renames that are found late are
 * tried again on earlier entries. */
static void match_side(struct matcher *m)
{
	size_t rules;

	do {
		rules = m->rules.n;
		m->todo.n = 0;
		find_parents(m);
		for (size_t i = 0; i < m->todo.n; i++) {
			match_children(m, m->todo.v[i]);
			work_poll(m->a->work);
		}
	} while (m->rules.n > rules);
}

/* True if every side has all entries. All entries of a side are in the tree, so comparing their
 * number suffices. */
static bool all_there(const struct compare *c)
{
	for (uint32_t s = 0; s < c->sides; s++)
		if (c->side[s]->n != c->n)
			return false;
	return true;
}

void match_renamed(struct compare *c, struct alias **aliases, struct arena *a)
{
	struct alias end = { ID_NONE, STR_NONE };
	struct scratch own;

	*aliases = ARENA_NEW(a, struct alias);
	**aliases = end;
	if (c->sides < 2 || view_is(c->side[0]->kind, VIEW_LIST) || all_there(c))
		return;
	scratch_open(&own, a->work);
	struct matcher m = { .c = c, .a = &own.a, .text = sb_in(&own.a) };
	imap_init(&m.rules, &own.a);
	m.renamed = ARENA_ARRAY(&own.a, c->n, bool);
	link_children(&m);
	for (m.side = 1; m.side < c->sides; m.side++)
		match_side(&m);
	if (m.changed)
		*aliases = compare_renumber(c, m.found.v, m.found.n);
	scratch_close(&own);
}
