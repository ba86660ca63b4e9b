/* SPDX-License-Identifier: Apache-2.0
 *
 * Containers of tensors: stacks, which keep the tensors of a loop for its gradient, TensorArrays
 * and TensorLists. An operation that reads an element has the shape that another operation wrote.
 */
#include "model/infer_internal.h"

#define PASSES_MAX 256 /* maximum number of nodes between an operation and its container */
#define WRITES_MAX 8   /* maximum number of examined writes to a container */

static const struct role {
	const char *ops;
	uint32_t input; /* of a writer: the input that is written; of a root: the input that states
	                   the number of elements, or ID_NONE */
	bool first;     /* the first dimension of the input counts the elements */
	enum { ROLE_ROOT = 1, ROLE_PASS = 2, ROLE_WRITE = 4, ROLE_READ = 8 } is;
} roles[] = {
	{ "Stack StackV2 EmptyTensorList", ID_NONE, false, ROLE_ROOT },
	{ "TensorArrayV2 TensorArrayV3", 0, false, ROLE_ROOT },
	{ "TensorListReserve", 1, false, ROLE_ROOT },
	{ "TensorListFromTensor", 0, true, ROLE_ROOT | ROLE_WRITE },
	{ "Enter RefEnter Exit RefExit Identity IdentityN Switch RefSwitch Merge RefMerge "
	  "TensorArrayGradV2 TensorArrayGradV3",
	        0, false, ROLE_PASS },
	{ "StackPush StackPushV2", 1, false, ROLE_WRITE },
	{ "TensorListPushBack", 1, false, ROLE_WRITE | ROLE_PASS },
	{ "TensorArrayWriteV2 TensorArrayWriteV3", 2, false, ROLE_WRITE },
	{ "TensorListSetItem", 2, false, ROLE_WRITE | ROLE_PASS },
	{ "TensorArrayScatterV2 TensorArrayScatterV3", 2, true, ROLE_WRITE },
	{ "TensorListPopBack", 0, false, ROLE_READ | ROLE_PASS },
	{ "StackPop StackPopV2 TensorArrayReadV2 TensorArrayReadV3 TensorArrayGatherV2 "
	  "TensorArrayGatherV3 TensorArraySizeV2 TensorArraySizeV3 TensorListGetItem "
	  "TensorListStack TensorListLength",
	        0, false, ROLE_READ },
};

struct containers {
	const struct model *m;
	struct arena *a;
	struct imap role_of; /* key: string id of an operation; value: index in roles */
	struct imap of_root; /* key: root; value: index in list */
	struct imap of_read; /* key: node that reads; value: index in list */
	VEC(struct container) list;
	VEC(struct container_write) writes;
};

/* Stores the roles of all operations of the graph that have one. */
static void find_roles(struct containers *x)
{
	for (uint32_t i = 0; i < sizeof roles / sizeof *roles; i++)
		infer_put_words(&x->role_of, x->m, roles[i].ops, i);
}

static const struct role *role_of(const struct containers *x, uint32_t node)
{
	uint32_t at;

	return imap_get(&x->role_of, x->m->nodes.v[node].op, &at) ? &roles[at] : NULL;
}

/* Returns the node that creates the container which a node uses as its first input, or ID_NONE. */
static uint32_t find_root(const struct containers *x, uint32_t node)
{
	const struct model *m = x->m;
	const struct role *role = role_of(x, node);

	for (unsigned i = 0; i < PASSES_MAX && role; i++) {
		if (role->is & ROLE_ROOT)
			return node;
		if (m->input0.v[node] == m->input0.v[node + 1] ||
		        m->inputs.v[m->input0.v[node]] & INPUT_UNKNOWN)
			return ID_NONE;
		node = m->inputs.v[m->input0.v[node]];
		role = role_of(x, node);
		if (role && !(role->is & (ROLE_ROOT | ROLE_PASS)))
			return ID_NONE;
	}
	return ID_NONE;
}

/* Returns the index of the container that a node uses, or ID_NONE. */
static uint32_t container_of(struct containers *x, uint32_t node)
{
	uint32_t root = find_root(x, node), at = (uint32_t)x->list.n;

	if (root == ID_NONE || imap_get(&x->of_root, root, &at))
		return root == ID_NONE ? ID_NONE : at;
	const struct role *role = role_of(x, root);
	VEC_PUSH(x->a, &x->list,
	        ((struct container){ root, role->input, role->first, 0, ID_NONE, ID_NONE }));
	imap_put(&x->of_root, root, at, false);
	return at;
}

static void add_write(
        struct containers *x, struct container *c, uint32_t node, const struct role *role)
{
	const struct model *m = x->m;
	uint32_t at = (uint32_t)x->writes.n;

	if (role->input >= m->input0.v[node + 1] - m->input0.v[node] || c->writes == WRITES_MAX)
		return;
	c->writes++;
	VEC_PUSH(x->a, &x->writes,
	        ((struct container_write){ node, role->input, role->first, ID_NONE }));
	if (c->first == ID_NONE)
		c->first = at;
	else
		x->writes.v[c->last].next = at;
	c->last = at;
}

struct containers *containers_find(const struct model *m, struct arena *a)
{
	struct containers *x = ARENA_NEW(a, struct containers);

	x->m = m;
	x->a = a;
	imap_init(&x->role_of, a);
	imap_init(&x->of_root, a);
	imap_init(&x->of_read, a);
	find_roles(x);
	for (uint32_t i = 0; x->role_of.n && i < m->nodes.n; i++) {
		const struct role *role = role_of(x, i);
		if (!role || !(role->is & (ROLE_WRITE | ROLE_READ)))
			continue;
		uint32_t at = container_of(x, i);
		if (at == ID_NONE)
			continue;
		if (role->is & ROLE_READ)
			imap_put(&x->of_read, i, at, false);
		else
			add_write(x, &x->list.v[at], i, role);
	}
	return x;
}

const struct container *containers_read(const struct containers *x, uint32_t node)
{
	uint32_t at;

	return x->of_read.n && imap_get(&x->of_read, node, &at) ? &x->list.v[at] : NULL;
}

const struct container_write *containers_write(const struct containers *x, uint32_t i)
{
	return &x->writes.v[i];
}

/* ---- rules ---- */

/* Returns s with a new first dimension. */
static struct fact_shape with_first(const struct fact_shape *s, int64_t first)
{
	struct fact_shape to = { .known = s->known && s->rank < FACTS_RANK_MAX,
		.rank = s->rank + 1,
		.dim = { first < 0 ? -1 : first } };

	if (!to.known)
		return infer_unknown();
	memcpy(to.dim + 1, s->dim, s->rank * sizeof *s->dim);
	return to;
}

struct fact_shape infer_without_first(const struct fact_shape *s)
{
	struct fact_shape to = { .known = s->known && s->rank > 0 };

	if (!to.known)
		return infer_unknown();
	to.rank = s->rank - 1;
	memcpy(to.dim, s->dim + 1, to.rank * sizeof *s->dim);
	return to;
}

struct fact_shape infer_element(const struct infer_op *o)
{
	return o->element;
}

/* Returns the shape that an input states, or the shape that was written if dimensions are unknown.
 */
static struct fact_shape stated_element(const struct infer_op *o, unsigned input)
{
	const struct fact_list *stated = infer_values(o, input);
	struct fact_shape to = { .known = stated->n > 0 && stated->n <= FACTS_RANK_MAX,
		.rank = stated->n };

	for (unsigned i = 0; to.known && i < stated->n; i++) {
		to.dim[i] = stated->v[i];
		if (to.dim[i] < 0)
			return o->element;
	}
	return to.known ? to : o->element;
}

struct fact_shape infer_list_element(const struct infer_op *o)
{
	return stated_element(o, 2);
}

struct fact_shape infer_stacked_elements(const struct infer_op *o)
{
	const struct fact_shape element = stated_element(o, 1);
	int64_t n = facts_number(o->facts, "num_elements", -1);

	return with_first(&element, n < 0 ? o->count : n);
}

/* The second input lists the indices of the elements. */
struct fact_shape infer_gathered_elements(const struct infer_op *o)
{
	const struct fact_shape *indices = infer_in(o, 1);
	struct fact_shape element = o->element;

	if (!element.known)
		element = facts_shape(o->facts, "element_shape");
	return with_first(&element, indices->known && indices->rank == 1 ? indices->dim[0] : -1);
}
